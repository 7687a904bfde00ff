//! [`Observer`]: who is told how a transfer goes; [`Snapshot`]: what it is told.

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

/// Who is told how a transfer goes. Threads may tell it.
pub trait Observer: Sync {
    /// One line for a person.
    fn say(&self, line: &str);
    /// How far it is, several times a second.
    fn progress(&self, snapshot: &Snapshot);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn say(&self, _line: &str) {}
    fn progress(&self, _snapshot: &Snapshot) {}
}
