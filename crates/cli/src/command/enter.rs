//! `tightlink enter` goes to an end of a path that `tightlink emulate` runs in another terminal, or shows the path.

use crate::args::EnterOptions;
use crate::chart::{CommandOutput, LiveView};
use crate::entry::{self, Description};
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::print;
use crate::problem::Problem;
use crate::user_shell::UserShell;
use emu::{Attendant, EmuError, Entry, Path, User, running};
use lab::run::emulated::PathReading;
use nix::sys::signal::Signal;
use std::io::{self, ErrorKind, IsTerminal, stdin};
use std::process::ExitCode;
use std::time::Duration;
use units::Complaint;

/// The longest time between two looks at the keys.
const KEYS_WITHIN: Duration = Duration::from_millis(50);

pub(crate) fn run(options: &EnterOptions) -> Result<ExitCode, Problem> {
    let (entry, description) = chosen(options)?;
    if options.live {
        return show(entry, &description);
    }
    if options.program.is_empty() && !stdin().is_terminal() {
        let complaint = Complaint::new("CMD", "none, and standard input is not a terminal for a shell");
        return Err(Problem::usage(complaint.accepted("a command behind --").help("tightlink enter -- CMD")));
    }
    let user = if options.as_root { None } else { User::behind_sudo()? };
    let [near, far] = description.namespaces;
    let namespace = entry.namespace(if options.far { far } else { near })?;
    let end = if options.far { "far end of " } else { "" };
    let shell = match &options.program[..] {
        [] => Some(UserShell::at(&format!("{end}{}", description.label), user.as_ref())?),
        _ => None,
    };
    let words = shell
        .as_ref()
        .map_or_else(|| options.program.iter().map(Into::into).collect(), |shell| shell.command.clone());
    let Some((program, arguments)) = words.split_first() else { return Ok(ExitCode::SUCCESS) };
    let mut command = namespace.command_as(program, user.as_ref());
    let [near, far] = description.addresses.map(|address| address.to_string());
    let far_namespace = format!("/proc/{}/fd/{}", entry.pid(), description.namespaces[1]);
    command.args(arguments).env("TIGHTLINK_NEAR", near).env("TIGHTLINK_FAR", far);
    command.env("TIGHTLINK_FAR_NETNS", far_namespace);
    command.envs(shell.iter().flat_map(|shell| shell.environment.iter().cloned()));
    let code = emu::shell::inside(command, &mut Visitor { entry, ended: false })?;
    Ok(ExitCode::from(code))
}

/// Finds the path that the user means.
fn chosen(options: &EnterOptions) -> Result<(Entry, Description), Problem> {
    let described =
        |entry: Entry| Description::read(entry.description()).map(|description| (entry, description));
    let mut paths: Vec<_> = running().into_iter().filter_map(described).collect();
    if paths.is_empty() {
        let complaint = Complaint::new("tightlink enter", "you run no `tightlink emulate` now");
        return Err(Problem::environment(complaint.help(
            "start one in another terminal; one that runs under sudo is root's, so enter it with sudo, too",
        )));
    }
    let is_meant = |(entry, description): &(Entry, Description)| match &options.path {
        None => true,
        Some(path) => path.parse() == Ok(entry.pid()) || description.name.as_ref() == Some(path),
    };
    let meant: Vec<usize> = (0..paths.len()).filter(|&place| is_meant(&paths[place])).collect();
    if let [place] = meant[..] {
        return Ok(paths.swap_remove(place));
    }
    let asked = options.path.as_deref();
    let found = match (asked, meant.len()) {
        (Some(path), 0) => format!("no path of yours is called {path}"),
        (Some(path), count) => format!("{count} paths are called {path}"),
        (None, count) => format!("you run {count} paths"),
    };
    let list: Vec<String> = paths.iter().map(listed).collect();
    let complaint = Complaint::new("tightlink enter", found).accepted(list.join("; "));
    Err(Problem::usage(complaint.help(format!("name one: tightlink enter {}", paths[0].0.pid()))))
}

/// Returns a path as an item of a list: process, name, rate and age.
fn listed((entry, description): &(Entry, Description)) -> String {
    let name = description.name.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
    let seconds = entry.age().as_secs();
    let age = match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    };
    format!("{} ({name}{}, {age} old)", entry.pid(), description.label)
}

/// The attendant of a program at an end of another process's path.
struct Visitor {
    entry: Entry,
    /// True once the end of the path has been reported.
    ended: bool,
}

impl Attendant for Visitor {
    fn note(&mut self, message: &str) {
        print::talk(format_args!("note: {message}"));
    }

    fn look(&mut self, _path: Option<&Path>) -> Result<Option<Signal>, EmuError> {
        if !self.ended && self.entry.has_ended() {
            self.ended = true;
            self.note("`tightlink emulate` has ended, and nothing crosses the link any more");
        }
        Ok(None)
    }
}

/// Shows the path until it ends or the user does.
fn show(mut entry: Entry, description: &Description) -> Result<ExitCode, Problem> {
    let wrong = |what: &str, error: &io::Error| {
        Problem::environment(Complaint::new("--live", format!("{what}: {error}")))
    };
    let name = description.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let chart = entry::chart(format!("{}, process {}{name}", description.label, entry.pid()));
    let mut view = LiveView::open(chart, CommandOutput::Elsewhere, "q: end")
        .map_err(|error| wrong("the chart", &error))?;
    let interrupt = Interrupt::attend_ends();
    view.begin().map_err(|error| wrong("the terminal", &error))?;
    let mut dropped = [0.0; 2];
    let result = loop {
        if view.look().is_some() {
            break Ok(ExitCode::SUCCESS);
        }
        match interrupt.as_ref().and_then(Interrupt::signal) {
            Some(Signal::SIGTSTP) => {
                if let Err(error) = view.stop() {
                    break Err(wrong("the terminal", &error));
                }
            }
            Some(_) => break Ok(ExitCode::from(INTERRUPTED)),
            None => {}
        }
        match entry.line(KEYS_WITHIN) {
            Ok(Some(line)) => {
                let reading: Result<PathReading, _> = serde_json::from_str(&line);
                match reading {
                    Ok(reading) => entry::show(&mut view.chart, &reading, &mut dropped),
                    Err(error) => break Err(wrong("a reading of the path", &error.into())),
                }
                view.changed();
            }
            Ok(None) => break Ok(ExitCode::SUCCESS),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => break Err(wrong("the other process", &error)),
        }
    };
    view.end();
    result
}
