//! `tightlink emulate` runs any program behind an emulated link.

mod attend;
mod link;

use crate::args::EmulateOptions;
use crate::chart::CommandOutput;
use crate::entry;
use crate::problem::Problem;
use crate::user_shell::UserShell;
use crate::{pictures, print, source};
use attend::Attending;
use emu::User;
use emu::shell::{Shell, run as run_shell};
use lab::files::{replace, try_replace};
use lab::run::captured::CapturedEnds;
use lab::run::emulated::{Control, EVERY, Emulated, PacketFile, SECOND, path, uncopied, unwritable_capture};
use lab::run::resolve::resolve_document;
use lab::study::experiment::ExperimentError;
use scenario::Faults;
use std::fs::File;
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;
use units::Complaint;

/// The note about a command without traffic. The usual reason is a shell that expands the variable before `emulate`
/// runs.
const SILENT: &str = "no packet crossed the link; a command that names $TIGHTLINK_FAR needs a shell behind the link: \
                      sh -c 'curl http://$TIGHTLINK_FAR:8000/'";

/// The shells that need the keys of a terminal if they have no arguments.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "ksh"];

pub(crate) fn run(options: EmulateOptions) -> Result<ExitCode, Problem> {
    check_terminal(&options)?;
    let (document, resolved) = match &options.file {
        Some(file) => {
            let document = source::document(file, &options.changes)?;
            let resolved = resolve_document(&document)?;
            (document, resolved)
        }
        None => link::document(&options)?,
    };
    let path = path(&resolved, options.one_way)
        .map_err(|misfit| Faults::from(document.complain(misfit.complaint)))?;
    let drawn = options.report.is_some() || options.pictures.are_wanted();
    // The shorter interval has a sample at the end of each second, too.
    let counted = (options.json && resolved.changes()).then_some(SECOND);
    let path = emu::PathConfig { sample_every: drawn.then_some(EVERY).or(counted), ..path };
    path.check()?;
    if let Some(file) = &options.report {
        try_replace(file).map_err(|error| unwritable(file, &error))?;
    }
    pictures::check(&options.pictures)?;
    let user = if options.as_root { None } else { User::behind_sudo()? };
    emu::prepare()?;
    if let Some(user) = &user {
        let (name, id) = (user.name(), user.id());
        print::talk(format_args!(
            "note: the command runs as {name} (uid {id}), who called sudo; --as-root runs it as root"
        ));
    }
    let label = entry::label(&path);
    let mut attending = Attending::new(&path, label.clone(), options.name.clone(), user.as_ref());
    let mut program: Vec<_> = options.program.iter().map(Into::into).collect();
    let mut environment = Vec::new();
    let shell = if program.is_empty() { Some(UserShell::at(&label, user.as_ref())?) } else { None };
    if let Some(shell) = &shell {
        (program, environment) = (shell.command.clone(), shell.environment.clone());
        attending = attending.greeting(greeting(&label, options.server.as_deref()));
    }
    if options.live {
        let output = match &options.output {
            Some(file) => CommandOutput::File(made(file, user.as_ref())?),
            None => CommandOutput::Pane,
        };
        attending = attending.live(&options.program.join(" "), output)?;
    }
    let asked = options.control.is_some();
    let (server, control) = (options.server, options.control);
    let ends = CapturedEnds::from(options.pcap_at);
    let sink =
        options.pcap.as_deref().map(|file| packets(file, ends)).transpose().map_err(Problem::environment)?;
    let sink = sink.map(|file| Box::new(file) as Box<dyn emu::tap::PacketSink>);
    let shell = Shell { path: path.clone(), command: program, environment, server, control, user, sink };
    let outcome = run_shell(shell, &mut attending);
    attending.end();
    let outcome = outcome?;
    let control = Control { name: outcome.control, asked };
    let emulated = Emulated::of(&outcome.report, &path, control, outcome.code);
    for line in emulated.lines() {
        print::talk(line);
    }
    let of_shapers = resolved.shaper_notes();
    for note in resolved.notes.iter().chain(&of_shapers).chain(&emulated.notes) {
        print::talk(format_args!("note: {note}"));
    }
    if emulated.to_far.packets == 0 && emulated.packets_back == 0 && !options.program.is_empty() {
        print::talk(format_args!("note: {SILENT}"));
    }
    if let Some(file) = &options.report {
        let program = if options.program.is_empty() { "a shell".into() } else { options.program.join(" ") };
        let command = source::command_line();
        let set = document.overrides().iter().map(|(key, value)| format!("# with {key} = {value}\n"));
        let text = set.collect::<String>() + document.text();
        let html = report::emulated::html(&emulated, &program, &text, &command);
        replace(file, html.as_bytes()).map_err(|error| unwritable(file, &error))?;
        print::talk(format_args!("report: {}", file.display()));
    }
    if let (Some(file), Some(copies)) = (&options.pcap, outcome.copies) {
        let missed = copies.map_err(|error| Problem::environment(unwritable_capture(file, &error)))?;
        print::talk(format_args!("capture: {}", file.display()));
        if let Some(note) = uncopied(missed) {
            print::talk(format_args!("note: {note}"));
        }
    }
    if options.json {
        print::json(&emulated)?;
    }
    pictures::write(&options.pictures, || report::emulated::pictures(&emulated))?;
    Ok(ExitCode::from(outcome.code))
}

/// Checks that the command can have the terminal that it needs.
fn check_terminal(options: &EmulateOptions) -> Result<(), Problem> {
    let Some(name) = options.program.first() else {
        if stdin().is_terminal() {
            return Ok(());
        }
        let complaint = Complaint::new("CMD", "none, and standard input is not a terminal for a shell");
        return Err(Problem::usage(
            complaint.accepted("a command behind --").help("tightlink emulate --rate 100Mbit/s -- CMD"),
        ));
    };
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    if options.live && options.program.len() == 1 && SHELLS.contains(&name.as_ref()) && stdin().is_terminal()
    {
        let complaint = Complaint::new("--live", format!("{name} needs the terminal for itself"));
        return Err(Problem::usage(
            complaint.help("run it without --live, and `tightlink enter --live` in a second terminal"),
        ));
    }
    Ok(())
}

/// Returns the words with which a shell begins.
fn greeting(label: &str, server: Option<&str>) -> Vec<String> {
    let try_line = |what: &str, why: &str| format!("  {what:<44} {why}");
    let mut lines = vec![
        format!("This shell is behind the link ({label}). `exit` leaves it and prints a summary. Try:"),
        try_line("ping $TIGHTLINK_FAR", "the round trip"),
    ];
    if server.is_none() {
        lines.push(try_line(
            "tightlink enter --far -- python3 -m http.server",
            "in a second terminal: a server",
        ));
    }
    lines.push(try_line("curl -o /dev/null http://$TIGHTLINK_FAR:8000/", "a download from a server there"));
    lines.push(try_line("tightlink enter --live", "in a second terminal: the queue as it fills"));
    lines
}

/// Creates the file for the packets, unless another user's link is on its path.
fn packets(file: &Path, ends: CapturedEnds) -> Result<PacketFile, Complaint> {
    try_replace(file).map_err(|error| unwritable_capture(file, &error))?;
    PacketFile::create(file, ends)
}

/// Makes the file for the command's output, with the rights of the user who runs the command.
fn made(file: &Path, user: Option<&User>) -> Result<File, Problem> {
    let made = match user {
        Some(user) => user.lend(|| File::create(file)).and_then(|made| made),
        None => File::create(file),
    };
    made.map_err(|error| {
        Problem::environment(Complaint::new(format!("--output {}", file.display()), error.to_string()))
    })
}

fn unwritable(page: &Path, source: &std::io::Error) -> Problem {
    ExperimentError::page(page, source).into()
}
