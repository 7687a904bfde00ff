//! [`Observer`]: the caller's part that follows a transfer and decides whether to accept it; [`Snapshot`]: its
//! progress.

use crate::name::Name;
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// The progress of a transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The time since the session's connections were established.
    pub elapsed: Span,
    /// The number of entries at the receiver.
    pub entries: u64,
    /// Bytes of files at the receiver.
    pub bytes: u64,
    /// The total number of entries counted so far.
    pub all_entries: Option<u64>,
    /// The total number of bytes counted so far.
    pub all_bytes: Option<u64>,
    /// The rate of the data connections over about the last second, in bits per second.
    pub rate_bps: f64,
    /// The smoothed round-trip time.
    pub rtt: Option<Span>,
    /// The current receive window over all data connections; `None` if it is as large as the kernel allows.
    pub window: Option<Bytes>,
    /// The phase of the window's sizer.
    pub phase: String,
    /// The reason for this phase.
    pub reason: String,
}

/// The outcome for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOutcome {
    /// The entry was transferred.
    Sent,
    /// The entry existed before.
    There,
    /// Another entry of this name was kept.
    Kept,
}

/// A sender's announcement, for the receiver's user to decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// One sentence with the sender's address, the number of files, their size, and anything unusual.
    pub text: String,
}

/// The part of a program that gets the reports of a transfer. Several threads may call it.
pub trait Observer: Sync {
    /// Takes one line for a person.
    fn say(&self, line: &str);
    /// Takes the progress, several times a second.
    fn progress(&self, snapshot: &Snapshot);
    /// Takes the outcome for an entry.
    fn moved(&self, _name: &Name, _fate: EntryOutcome) {}
    /// Asks whether the receiver's user accepts. The answer may take as long as a person takes. `is_over` returns true
    /// once the sender has left and nobody waits for the answer any more.
    fn accept(&self, _question: &Question, _is_over: &dyn Fn() -> bool) -> bool {
        true
    }
}

/// The time over which a rate is taken: several round trips of a long path, whose bytes come in bursts.
const RATE_OVER: Span = Span::from_secs(1);

/// The rate of the data connections. The kernel counts the bytes as they arrive, because a program reads many of them
/// at once.
#[derive(Debug, Default)]
pub(crate) struct PathRate(VecDeque<(Time, u64)>);

impl PathRate {
    /// Records that `bytes` have passed in all, and returns the rate over the last second, in bits per second.
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

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {
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
        // Bytes come at 1 Mbit/s, in bursts of a round trip of 300 ms, and the rate is read at any time.
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
        // The rate is read twice at the same time, as happens at the end.
        let twice = [rate.observe(at(15_000), 37_500 * 47), rate.observe(at(15_000), 37_500 * 47)];
        assert!(twice.iter().all(|shown| *shown <= 1.3e6), "{twice:?}");
    }
}
