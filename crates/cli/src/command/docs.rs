//! `tightlink docs` makes documents from the options and the schema: the manual, `docs/reference/cli.md` and
//! `docs/reference/defaults.md`. A test compares the two references; `make dist` writes the manual.

mod reasons;

use crate::args::{DocsKind, DocsOptions, described};
use crate::print;
use crate::problem::Problem;
use clap::{Arg, Command};
use lab::files::{make_folder, replace};
use std::fmt::Write;
use std::fs;
use std::io;
use std::process::ExitCode;
use units::Complaint;

const CLI: &str = "# Commands and options

`tightlink COMMAND --help` prints the same. [Commands](commands.md) explains them, with examples.

This page is made from `crates/cli/src/args.rs`: change the option there, then run
`TIGHTLINK_WRITE=1 cargo test -p tightlink --test cli references`.
";

/// The text before a default in the words of a help.
const DEFAULT: &str = "(default: ";

const DEFAULTS: &str = "# Defaults, and why

Every default of the command line, with its reason. [Scenario keys](scenario.md#why-these-defaults) has those of a
scenario. [Commands and options](cli.md) says what each option does.

The values come from the options, the reasons from `crates/cli/src/command/docs/reasons.rs`.
`TIGHTLINK_WRITE=1 cargo test -p tightlink --test cli references` writes this page.

| option | default | reason |
|---|---|---|
";

pub(crate) fn run(options: &DocsOptions) -> Result<ExitCode, Problem> {
    match options.what {
        DocsKind::Man => manual(options)?,
        DocsKind::Cli => print::text(&reference())?,
        DocsKind::Defaults => print::text(&with_reasons())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the program, and one for each command.
fn manual(options: &DocsOptions) -> Result<(), Problem> {
    let folder = &options.folder;
    let write = || -> io::Result<()> {
        // The pages are made in a new folder, because the library follows links in the folder to which it writes.
        let made = tempfile::tempdir()?;
        clap_mangen::generate_to(described(), made.path())?;
        make_folder(folder)?;
        for page in fs::read_dir(made.path())? {
            let page = page?;
            replace(&folder.join(page.file_name()), &fs::read(page.path())?)?;
        }
        Ok(())
    };
    write().map_err(|error| Problem::usage(Complaint::new(folder.display().to_string(), error.to_string())))
}

/// Returns the commands that people see.
fn commands() -> Vec<Command> {
    let mut all = described();
    all.build();
    all.get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .cloned()
        .collect()
}

/// Returns the arguments of a command that people see, except `--help`.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| !argument.is_hide_set() && argument.get_id() != "help")
}

/// Returns the name of an argument: `-s`, `--set KEY=VALUE`, or `FILE`.
fn name(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map_or_else(String::new, |value| format!(" {value}"));
    let value = if argument.get_action().takes_values() { value } else { String::new() };
    match (argument.get_long(), argument.get_short()) {
        (Some(long), Some(short)) => format!("`-{short}`, `--{long}{value}`"),
        (Some(long), None) => format!("`--{long}{value}`"),
        _ => format!("`{}`", value.trim()),
    }
}

/// Returns the default of an option, if it has one: clap's, or the words that the help has in brackets.
fn default(argument: &Arg) -> Option<String> {
    let values: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        return Some(format!("`{}`", values.join(",")));
    }
    let help = argument.get_help()?.to_string();
    let (_, rest) = help.split_once(DEFAULT)?;
    Some(rest.split_once(')')?.0.to_owned())
}

/// Returns the help without the default, which has its own column.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    match help.split_once(DEFAULT).and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => cell(&format!("{}{after}", before.trim_end())),
        None => cell(&help),
    }
}

/// Formats text for one cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn reference() -> String {
    let mut page = CLI.to_owned();
    for command in commands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        // Writing to a string never fails.
        let _ = write!(
            page,
            "\n## `{}`\n\n{about}.\n\n| argument | default | meaning |\n|---|---|---|\n",
            command.get_name()
        );
        for argument in arguments(&command) {
            let choices = argument.get_possible_values();
            let shown = argument.get_action().takes_values()
                && !choices.is_empty()
                && !argument.is_hide_possible_values_set();
            let choices: Vec<_> =
                choices.iter().filter(|_| shown).map(|value| format!("`{}`", value.get_name())).collect();
            let choices =
                if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
            let default = default(argument).unwrap_or_default();
            let _ = writeln!(
                page,
                "| {} | {} | {}{choices} |",
                name(argument),
                cell(&default),
                meaning(argument)
            );
        }
    }
    page
}

fn with_reasons() -> String {
    let mut page = DEFAULTS.to_owned();
    for command in commands() {
        for argument in arguments(&command) {
            let Some(value) = default(argument) else { continue };
            let why = reasons::of(command.get_name(), argument.get_id().as_str()).unwrap_or_default();
            let _ =
                writeln!(page, "| `{}` {} | {} | {why} |", command.get_name(), name(argument), cell(&value));
        }
    }
    page
}
