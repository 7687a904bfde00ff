//! [`LiveView`]: a chart on a terminal, or as plain lines.

use super::Chart;
use super::pane::Pane;
use super::screen::{Key, Screen, is_possible};
use crate::print;
use nix::sys::signal::{Signal, raise};
use std::fs::File;
use std::io::{self, IsTerminal, stdin, stdout};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::fchown;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The least time between two pictures.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// The time between two plain lines, seconds.
const LINE_EVERY_S: f64 = 1.0;

/// The place for a command's output while the chart is shown.
#[derive(Debug)]
pub(crate) enum CommandOutput {
    /// The lower part of the screen.
    Pane,
    /// A file.
    File(File),
    /// None: the chart belongs to a command in another terminal.
    Elsewhere,
}

/// A chart while a command runs.
#[derive(Debug)]
pub(crate) struct LiveView {
    pub(crate) chart: Chart,
    /// The words on the keys, at the right of the title.
    hint: &'static str,
    output: CommandOutput,
    display: Display,
    drawn: Option<Instant>,
    /// True if the picture is not up to date.
    changed: bool,
    /// The time of the last plain line, seconds.
    line_s: f64,
}

#[derive(Debug)]
enum Display {
    /// Plain lines at standard error.
    Lines,
    /// A screen, which begins when the command does. Programs get `slave`, the other end of the pane.
    Screen { screen: Option<Box<Screen>>, pane: Option<Box<Pane>>, slave: Option<OwnedFd> },
}

impl LiveView {
    /// Makes a view of `chart`; a screen if standard error is a terminal. The terminal stays as it is until
    /// [`begin`](Self::begin).
    ///
    /// # Errors
    /// If a pseudo terminal cannot be made.
    pub(crate) fn open(chart: Chart, output: CommandOutput, hint: &'static str) -> io::Result<Self> {
        let display = match &output {
            _ if !is_possible() => Display::Lines,
            CommandOutput::Pane => {
                let (columns, rows) = Screen::size();
                let (pane, slave) = Pane::open(columns, rows)?;
                Display::Screen { screen: None, pane: Some(Box::new(pane)), slave: Some(slave) }
            }
            _ => Display::Screen { screen: None, pane: None, slave: None },
        };
        Ok(Self { chart, hint, output, display, drawn: None, changed: true, line_s: 0.0 })
    }

    /// Sets the streams of a program: its output goes to the pane or the file. Only its messages go to the pane if standard output is not a terminal. It gets no keys from the terminal, because the chart has them. `user` becomes
    /// the owner of the pane.
    ///
    /// # Errors
    /// If a descriptor cannot be copied.
    pub(crate) fn streams(&self, program: &mut Command, user: Option<u32>) -> io::Result<()> {
        if let CommandOutput::File(file) = &self.output {
            program.stdout(file.try_clone()?).stderr(file.try_clone()?);
        }
        let Display::Screen { slave, .. } = &self.display else { return Ok(()) };
        if let Some(slave) = slave {
            if let Some(user) = user {
                fchown(slave, Some(user), None)?;
            }
            if stdout().is_terminal() {
                program.stdout(slave.try_clone()?);
            }
            program.stderr(slave.try_clone()?);
        }
        if stdin().is_terminal() {
            program.stdin(Stdio::null());
        }
        emu::children::lead_session(program);
        Ok(())
    }

    /// Takes the terminal over.
    ///
    /// # Errors
    /// If the terminal cannot be changed.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        if let Display::Screen { screen, slave, .. } = &mut self.display {
            // The programs have their own copies. The pane ends with the last of them.
            *slave = None;
            *screen = Some(Box::new(Screen::begin()?));
        }
        Ok(())
    }

    /// Marks the chart as changed.
    pub(crate) fn changed(&mut self) {
        self.changed = true;
    }

    /// Reads keys and output, and draws if that is due. Returns the signal of a key.
    pub(crate) fn look(&mut self) -> Option<Signal> {
        let Display::Screen { screen: Some(screen), pane, .. } = &mut self.display else {
            self.print_line();
            return None;
        };
        self.changed |= pane.as_deref_mut().is_some_and(Pane::read);
        let mut signal = None;
        for key in screen.typed() {
            match key {
                Key::Signal(typed) => signal = Some(typed),
                Key::Redraw => {
                    screen.redraw();
                    self.changed = true;
                }
            }
        }
        let now = host::clock::now();
        if self.changed && self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= DRAW_EVERY) {
            let (columns, rows) = Screen::size();
            if let Some(pane) = pane {
                pane.resize(columns, rows);
            }
            screen.draw(&self.chart, pane.as_deref().map(Pane::lines), self.hint);
            (self.drawn, self.changed) = (Some(now), false);
        }
        signal
    }

    fn print_line(&mut self) {
        let now_s = self.chart.now_s();
        if now_s >= self.line_s + LINE_EVERY_S {
            print::talk(self.chart.plain(self.line_s));
            self.line_s = now_s.floor();
        }
    }

    /// Returns the descriptors to wait for.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match &self.display {
            Display::Screen { screen: Some(screen), pane, .. } => {
                screen.descriptor().into_iter().chain(pane.as_deref().and_then(Pane::descriptor)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the longest time until the next look.
    pub(crate) fn pause() -> Duration {
        DRAW_EVERY
    }

    /// Gives the terminal back, stops this process as SIGTSTP does, and takes the terminal again when the process goes
    /// on.
    ///
    /// # Errors
    /// If the terminal cannot be changed.
    pub(crate) fn stop(&mut self) -> io::Result<()> {
        let Display::Screen { screen, .. } = &mut self.display else { return Ok(raise(Signal::SIGSTOP)?) };
        let shown = screen.take().is_some();
        // The kernel stops all threads. SIGCONT lets them go on.
        raise(Signal::SIGSTOP)?;
        if shown {
            *screen = Some(Box::new(Screen::begin()?));
        }
        self.changed = true;
        Ok(())
    }

    /// Returns true if the terminal is to be a screen.
    pub(crate) fn is_screen(&self) -> bool {
        matches!(self.display, Display::Screen { .. })
    }

    /// Returns true if the terminal is a screen now.
    pub(crate) fn has_terminal(&self) -> bool {
        matches!(self.display, Display::Screen { screen: Some(_), .. })
    }

    /// Gives the terminal back, and prints the command's last output, which was only on the screen.
    pub(crate) fn end(self) {
        let Display::Screen { screen, pane, .. } = self.display else { return };
        drop(screen);
        let Some(mut pane) = pane else { return };
        while pane.read() {}
        let lines = pane.lines();
        let lines = lines.strip_suffix(&[String::new()]).unwrap_or(lines);
        if pane.left_out() > 0 {
            let left_out = pane.left_out();
            print::talk(format_args!("note: {left_out} lines of output left out; --output FILE keeps all"));
        }
        for line in lines {
            // An error means that nobody reads the output.
            let _ = print::data(line);
        }
    }
}
