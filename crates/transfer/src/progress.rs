//! [`Observer`]: who is told how a transfer goes, and asked whether it shall; [`Snapshot`]: what it is told.

use crate::name::Name;
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

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
    /// Bits per second that the data connections carried over the last second or so.
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
    /// Whether the receiver's user wants it. May take as long as a person takes; `is_over` says that the sender has
    /// left and nobody waits for the answer any more.
    fn accept(&self, _question: &Question, _is_over: &dyn Fn() -> bool) -> bool {
        true
    }
}

/// The time over which a rate is taken: several round trips of a long path, whose bytes come in bursts.
const RATE_OVER: Span = Span::from_secs(1);

/// The rate at which the data connections' bytes grow. They are the kernel's: what a program takes in at once has come
/// at the path's rate.
#[derive(Debug, Default)]
pub(crate) struct PathRate(VecDeque<(Time, u64)>);

impl PathRate {
    /// Observes that `bytes` have passed in all, and returns the rate over the last second, in bits per second.
    pub(crate) fn observe(&mut self, now: Time, bytes: u64) -> f64 {
        self.0.push_back((now, bytes));
        while self.0.get(1).is_some_and(|&(then, _)| now.since(then) >= RATE_OVER) {
            self.0.pop_front();
        }
        let &(then, before) = self.0.front().expect("one was pushed");
        let passed = now.since(then);
        if passed == Span::ZERO {
            return 0.0;
        }
        bytes.saturating_sub(before) as f64 * 8.0 / passed.as_secs_f64()
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn say(&self, _line: &str) {}
    fn progress(&self, _snapshot: &Snapshot) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_never_more_than_the_path_carries() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut rate = PathRate::default();
        assert!(rate.observe(at(1000), 0).abs() < 1e-9, "of one look nothing is known");
        // 1 Mbit/s, in bursts of a round trip of 300 ms, and looks at any time.
        let mut most: f64 = 0.0;
        for look in 1..2000 {
            let now = at(1000 + look * 7);
            let bursts = look * 7 / 300;
            let shown = rate.observe(now, bursts * 37_500);
            if look > 150 {
                most = most.max(shown);
            }
        }
        assert!(most <= 1.3e6, "{most}");
        // Two looks at once, as at the end.
        let twice = [rate.observe(at(15_000), 37_500 * 47), rate.observe(at(15_000), 37_500 * 47)];
        assert!(twice.iter().all(|shown| *shown <= 1.3e6), "{twice:?}");
    }
}
