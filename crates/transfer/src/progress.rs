//! [`Observer`]: who is told how a transfer goes, and asked whether it shall; [`Snapshot`]: what it is told.

use crate::name::Name;
use units::{Bytes, Span};

/// How far a transfer is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Since the session's connections stood.
    pub elapsed: Span,
    /// Entries at the receiver.
    pub entries: u64,
    /// Bytes of files at the receiver.
    pub bytes: u64,
    /// Entries in all, so far as they are counted.
    pub all_entries: Option<u64>,
    /// Bytes in all, so far as they are counted.
    pub all_bytes: Option<u64>,
    /// Bytes of files per second over the last half second or so, as bits.
    pub rate_bps: f64,
    /// Smoothed round-trip time.
    pub rtt: Option<Span>,
    /// The receive window in force over all data connections; `None`: as large as the kernel allows.
    pub window: Option<Bytes>,
    /// The window's phase.
    pub phase: String,
    /// Why it is in it.
    pub reason: String,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It went from one side to the other.
    Sent,
    /// It was there before.
    There,
    /// Another one of its name was kept.
    Kept,
}

/// What a sender wants to send, for the receiver's user to decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// One sentence: from which address, how many files, how much, and what is unusual about it.
    pub text: String,
}

/// Who is told how a transfer goes. Threads may tell it.
pub trait Observer: Sync {
    /// One line for a person.
    fn say(&self, line: &str);
    /// How far it is, several times a second.
    fn progress(&self, snapshot: &Snapshot);
    /// What became of an entry.
    fn moved(&self, _name: &Name, _fate: Moved) {}
    /// The control connection has a moment for what threads do otherwise.
    #[cfg(fuzzing)]
    #[doc(hidden)]
    fn turn(&self) {}
    /// Whether the receiver's user wants it. May take as long as a person takes; `is_over` says that the sender has
    /// left and nobody waits for the answer any more.
    fn accept(&self, _question: &Question, _is_over: &dyn Fn() -> bool) -> bool {
        true
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn say(&self, _line: &str) {}
    fn progress(&self, _snapshot: &Snapshot) {}
}
