//! [`Attendant`]: the caller's part while a command runs behind the path.

use crate::{EmuError, Path};
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::BorrowedFd;
use std::process::Command;
use std::time::Duration;

/// The object that shows messages and the path to a person while a command runs. It is called from the thread that
/// waits for the command. A closure that takes messages is one.
pub trait Attendant {
    /// Shows a message.
    fn note(&mut self, message: &str);

    /// Sets the streams of a program that is about to start: of the server, then of the command.
    ///
    /// # Errors
    /// If a stream cannot be made; the program then does not start.
    fn streams(&mut self, _program: &mut Command) -> io::Result<()> {
        Ok(())
    }

    /// Starts to show the path, just before the command starts.
    ///
    /// # Errors
    /// Any error, which ends the run.
    fn begin(&mut self, _path: &Path) -> Result<(), EmuError> {
        Ok(())
    }

    /// Shows the path as it is now; `None` if it belongs to another process. Returns a signal for the command and its
    /// process group.
    ///
    /// # Errors
    /// Any error, which ends the run.
    fn look(&mut self, _path: Option<&Path>) -> Result<Option<Signal>, EmuError> {
        Ok(None)
    }

    /// Returns the descriptors whose input should end the wait for the next [`look`](Self::look).
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Returns the longest time until the next [`look`](Self::look).
    fn pause(&self) -> Duration {
        Duration::MAX
    }

    /// Returns true if the attendant takes the terminal when it begins. It then gets SIGTSTP, too.
    fn takes_terminal(&self) -> bool {
        false
    }

    /// Gives the terminal back, stops this process, and takes the terminal again when the process goes on. SIGTSTP asks
    /// for that; the command's group is stopped meanwhile.
    ///
    /// # Errors
    /// If the terminal cannot be taken again, which ends the run.
    fn stop(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns true if the terminal is the attendant's alone. The command does not get the terminal's signals then, so
    /// they are passed to it.
    fn has_terminal(&self) -> bool {
        false
    }
}

impl<F: FnMut(&str)> Attendant for F {
    fn note(&mut self, message: &str) {
        self(message);
    }
}
