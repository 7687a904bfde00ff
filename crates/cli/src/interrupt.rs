//! Ctrl-C during the work: the work ends at its next event, so that the program can name the finished part.
//!
//! No thread waits for the signal, because runs on the kernel get their rights only in a process of one thread. A
//! transfer needs no such rights, so in a transfer a thread waits ([`print_when_interrupted`]).

use crate::print;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The exit code that a shell reports for a program that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// A descriptor from which Ctrl-C can be read. Dropping this value restores the usual effect of Ctrl-C.
pub(crate) struct Interrupt {
    descriptor: SignalFd,
    set: SigSet,
}

impl Interrupt {
    /// Takes SIGINT over for this thread and the threads that it starts later. Returns `None` if the parent process
    /// ignores SIGINT, or if the kernel gives no signal descriptor.
    pub(crate) fn attend() -> Option<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGINT);
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let descriptor = if is_ignored() { None } else { SignalFd::with_flags(&set, flags).ok() }?;
        set.thread_block().ok()?;
        Some(Self { descriptor, set })
    }

    /// Takes over all signals that ask a program to end or to stop, as [`attend`](Self::attend) does SIGINT. A program
    /// that shows a screen needs them, because it restores the terminal.
    pub(crate) fn attend_ends() -> Option<Self> {
        let set: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGTSTP]
            .into_iter()
            .collect();
        let descriptor = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).ok()?;
        set.thread_block().ok()?;
        Some(Self { descriptor, set })
    }

    /// Returns true if Ctrl-C was typed since the last call.
    pub(crate) fn is_asked(&self) -> bool {
        self.signal().is_some()
    }

    /// Returns the next signal that has come.
    pub(crate) fn signal(&self) -> Option<Signal> {
        let info = self.descriptor.read_signal().ok().flatten()?;
        Signal::try_from(info.ssi_signo as i32).ok()
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // Further Ctrl-C are discarded, because they were meant for the work, which has ended.
        while self.is_asked() {}
        let _ = self.set.thread_unblock();
    }
}

/// Makes Ctrl-C print `kept` and end the program. Call it before other threads are started.
pub(crate) fn print_when_interrupted(kept: String) {
    let mut set = SigSet::empty();
    set.add(Signal::SIGINT);
    if is_ignored() || set.thread_block().is_err() {
        return;
    }
    let wait = move || {
        if set.wait().is_ok() {
            print::talk(kept);
            std::process::exit(INTERRUPTED.into());
        }
    };
    if std::thread::Builder::new().name("interrupt".into()).spawn(wait).is_err() {
        // If the thread cannot start, Ctrl-C ends the program as usual.
        let _ = set.thread_unblock();
    }
}

fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (Signal::SIGINT as u32 - 1)) != 0
}
