//! `tightlink emulate` runs any program behind an emulated link.

mod link;

use crate::args::EmulateOptions;
use crate::problem::Problem;
use crate::{pictures, print, source};
use emu::User;
use emu::shell::{Shell, run as run_shell};
use lab::files::{replace, try_replace};
use lab::run::emulated::{Control, EVERY, Emulated, PacketFile, path, uncopied, unwritable_capture};
use lab::run::resolve::resolve_document;
use lab::study::experiment::ExperimentError;
use scenario::Faults;
use std::path::Path;
use std::process::ExitCode;

/// The note about a command without traffic. The usual reason is a shell that expands the variable before `emulate`
/// runs.
const SILENT: &str = "no packet crossed the link; a command that names $TIGHTLINK_FAR needs a shell behind the link: \
                      sh -c 'curl http://$TIGHTLINK_FAR:8000/'";

pub(crate) fn run(options: EmulateOptions) -> Result<ExitCode, Problem> {
    let document = match &options.file {
        Some(file) => source::document(file, &options.changes)?,
        None => link::document(&options)?,
    };
    let resolved = resolve_document(&document)?;
    let path = path(&resolved, options.one_way)
        .map_err(|misfit| Faults::from(document.complain(misfit.complaint)))?;
    let drawn = options.report.is_some() || options.pictures.are_wanted();
    let path = emu::PathConfig { sample_every: drawn.then_some(EVERY), ..path };
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
    let program = options.program.iter().map(Into::into).collect();
    let asked = options.control.is_some();
    let (server, control) = (options.server, options.control);
    let sink = options.pcap.as_deref().map(PacketFile::create).transpose().map_err(Problem::environment)?;
    let sink = sink.map(|file| Box::new(file) as Box<dyn emu::tap::PacketSink>);
    let shell = Shell { path: path.clone(), command: program, server, control, user, sink };
    let outcome = run_shell(shell, &|note| print::talk(format_args!("note: {note}")))?;
    let control = Control { name: outcome.control, asked };
    let emulated = Emulated::of(&outcome.report, &path, control, outcome.code);
    for line in emulated.lines() {
        print::talk(line);
    }
    for note in resolved.notes.iter().chain(&emulated.notes) {
        print::talk(format_args!("note: {note}"));
    }
    if emulated.to_far.packets == 0 && emulated.packets_back == 0 {
        print::talk(format_args!("note: {SILENT}"));
    }
    if let Some(file) = &options.report {
        let (program, command) = (options.program.join(" "), source::command_line());
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

fn unwritable(page: &Path, source: &std::io::Error) -> Problem {
    ExperimentError::page(page, source).into()
}
