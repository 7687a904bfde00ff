//! [`Attending`]: messages, the live chart and the way in for other terminals while CMD runs.

use crate::chart::{CommandOutput, LiveView};
use crate::entry::{self, Description};
use crate::print;
use crate::problem::Problem;
use emu::{Attendant, EmuError, Entrance, Path, PathConfig, PathSample, User};
use lab::run::emulated::PathReadings;
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use units::{Complaint, Span};

/// The time between two samples of the path.
const EVERY: Span = Span::from_millis(100);
/// The longest time until readers get a sample, or a new reader an answer.
const ANSWER_WITHIN: Duration = Duration::from_millis(100);

/// The attendant of `tightlink emulate`.
pub(super) struct Attending {
    label: String,
    name: Option<String>,
    /// The chart of `--live`.
    view: Option<LiveView>,
    /// The user who runs the programs, if another one.
    user: Option<u32>,
    entrance: Option<Entrance>,
    /// The samples of the path, while anybody wants them.
    samples: Option<Receiver<PathSample>>,
    readings: PathReadings,
    dropped: [f64; 2],
    /// Lines for a person just before the command starts.
    greeting: Vec<String>,
}

impl Attending {
    pub(super) fn new(path: &PathConfig, label: String, name: Option<String>, user: Option<&User>) -> Self {
        Self {
            label,
            name,
            view: None,
            user: user.map(User::id),
            entrance: None,
            samples: None,
            readings: PathReadings::of(path),
            dropped: [0.0; 2],
            greeting: Vec::new(),
        }
    }

    /// Shows the path while the command runs.
    pub(super) fn live(mut self, command: &str, output: CommandOutput) -> Result<Self, Problem> {
        let chart = entry::chart(format!("{}: {command}", self.label));
        let view = LiveView::open(chart, output, "q: Ctrl-C");
        self.view = Some(view.map_err(|error| {
            Problem::environment(Complaint::new("--live", format!("a pseudo terminal: {error}")))
        })?);
        Ok(self)
    }

    /// Prints these lines just before the command starts.
    pub(super) fn greeting(self, greeting: Vec<String>) -> Self {
        Self { greeting, ..self }
    }

    /// Gives the terminal back and closes the way in.
    pub(super) fn end(self) {
        if let Some(view) = self.view {
            view.end();
        }
    }
}

impl Attendant for Attending {
    fn note(&mut self, message: &str) {
        print::talk(format_args!("note: {message}"));
    }

    fn streams(&mut self, program: &mut Command) -> io::Result<()> {
        self.view.as_ref().map_or(Ok(()), |view| view.streams(program, self.user))
    }

    fn begin(&mut self, path: &Path) -> Result<(), EmuError> {
        let description = Description::of(path, self.label.clone(), self.name.take());
        // Without an entrance the command runs all the same; `enter` then reports that it finds no path.
        self.entrance = serde_json::to_string(&description).ok().and_then(|line| Entrance::open(line).ok());
        self.greeting.drain(..).for_each(print::talk);
        if let Some(view) = &mut self.view {
            self.samples = Some(path.watch(EVERY)?);
            let wrong = |error: io::Error| Complaint::new("--live", format!("the terminal: {error}"));
            view.begin().map_err(|error| EmuError::Missing(wrong(error)))?;
        }
        Ok(())
    }

    fn look(&mut self, path: Option<&Path>) -> Result<Option<Signal>, EmuError> {
        if let Some(entrance) = &mut self.entrance {
            entrance.accept();
            let read = entrance.is_read();
            if self.view.is_none() && read != self.samples.is_some() {
                self.samples = path.filter(|_| read).map(|path| path.watch(EVERY)).transpose()?;
            }
        }
        while let Some(sample) = self.samples.as_ref().and_then(|samples| samples.try_recv().ok()) {
            let Some(reading) = self.readings.next(&sample) else { continue };
            if let Some(entrance) = self.entrance.as_mut().filter(|entrance| entrance.is_read())
                && let Ok(line) = serde_json::to_string(&reading)
            {
                entrance.send(&line);
            }
            if let Some(view) = &mut self.view {
                entry::show(&mut view.chart, &reading, &mut self.dropped);
                view.changed();
            }
        }
        Ok(self.view.as_mut().and_then(LiveView::look))
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let view = self.view.iter().flat_map(LiveView::descriptors);
        self.entrance.iter().map(AsFd::as_fd).chain(view).collect()
    }

    fn pause(&self) -> Duration {
        if self.view.is_some() {
            LiveView::pause()
        } else if self.samples.is_some() {
            ANSWER_WITHIN
        } else {
            Duration::MAX
        }
    }

    fn takes_terminal(&self) -> bool {
        self.view.as_ref().is_some_and(LiveView::is_screen)
    }

    fn stop(&mut self) -> io::Result<()> {
        self.view.as_mut().map_or(Ok(()), LiveView::stop)
    }

    fn has_terminal(&self) -> bool {
        self.view.as_ref().is_some_and(LiveView::has_terminal)
    }
}
