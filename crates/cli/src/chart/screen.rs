//! [`Screen`]: the terminal while a chart is shown, and its state before, which every way out restores.

use super::Chart;
use super::ansi::{self, Ansi};
use super::draw::{Look, draw};
use nix::sys::signal::Signal;
use ratatui::Terminal;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, IsTerminal, Write, stderr, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, Once, PoisonError};

/// The sequences that begin: the second screen, a hidden cursor, long lines are cut.
const BEGIN: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// The sequences that undo them.
const END: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The settings of the terminal before the screen began. It is here once for all threads, so that the handler of panics
/// finds it.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// The installation of that handler.
static HANDLER: Once = Once::new();

/// The terminal at standard error as a screen. Dropping it restores the terminal.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<Ansi>,
    /// The terminal's keys; `None` if the terminal is gone.
    keys: Option<File>,
    look: Look,
}

/// A key that the user typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A key that sends a signal.
    Signal(Signal),
    /// Ctrl-L: draw anew.
    Redraw,
}

/// Returns true if charts can be shown at standard error.
pub(super) fn is_possible() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// If the terminal cannot be changed.
    pub(super) fn begin() -> io::Result<Self> {
        // Keys come from the terminal even if another stream is standard input.
        let keys = if stdin().is_terminal() {
            Some(File::from(stdin().as_fd().try_clone_to_owned()?))
        } else {
            File::open("/dev/tty").ok()
        };
        let before = tcgetattr(stderr())?;
        let mut raw = before.clone();
        raw.make_raw();
        HANDLER.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                report(panic);
            }));
        });
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        // From here on dropping this value restores the terminal.
        let mut screen = Self { terminal: Terminal::new(Ansi::default())?, keys, look: Look::here() };
        tcsetattr(stderr(), OptionalActions::Now, &raw)?;
        stderr().write_all(BEGIN)?;
        screen.terminal.clear()?;
        Ok(screen)
    }

    /// Draws the chart, and the last lines of `output`. If the terminal has gone, that is not an error, because the command goes on.
    pub(super) fn draw(&mut self, chart: &Chart, output: Option<&[String]>, hint: &str) {
        let look = self.look;
        let _ = self.terminal.draw(|frame| draw(frame, chart, output, hint, look));
    }

    /// Returns the size in columns and rows.
    pub(super) fn size() -> (u16, u16) {
        let size = ansi::size();
        (size.width, size.height)
    }

    /// Returns the keys typed since the last call.
    pub(super) fn typed(&mut self) -> Vec<Key> {
        let Some(keys) = &self.keys else { return Vec::new() };
        let waiting =
            host::wait(&mut [host::PollFd::new(keys, host::PollFlags::IN)], Some(units::Span::ZERO));
        if !matches!(waiting, Ok(host::WaitResult::Ready)) {
            return Vec::new();
        }
        let mut bytes = [0; 64];
        match rustix::io::read(keys, &mut bytes) {
            // The terminal is gone. The kernel sends SIGHUP as well.
            Ok(0) | Err(rustix::io::Errno::IO) => {
                self.keys = None;
                Vec::new()
            }
            Ok(count) => bytes[..count].iter().filter_map(|byte| key(*byte)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Draws everything anew with the next picture.
    pub(super) fn redraw(&mut self) {
        let _ = self.terminal.clear();
    }

    /// Returns the descriptor of the keys.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.keys.as_ref().map(File::as_fd)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Returns the meaning of a byte from the keyboard.
fn key(byte: u8) -> Option<Key> {
    match byte {
        b'q' | b'Q' | 0x03 => Some(Key::Signal(Signal::SIGINT)),
        0x1c => Some(Key::Signal(Signal::SIGQUIT)),
        0x0c => Some(Key::Redraw),
        _ => None,
    }
}

/// Gives the terminal back as it was before. Does nothing if that has been done.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // Errors mean that the terminal is gone.
        let _ = stderr().write_all(END);
        let _ = tcsetattr(stderr(), OptionalActions::Flush, &before);
    }
}
