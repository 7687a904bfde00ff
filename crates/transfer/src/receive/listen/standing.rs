//! [`Standing`]: the rule by which a sender keeps its place when another one comes.

use crate::channel::Channel;
use host::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Span, Time};

/// The number of bytes that counts as progress; a path of 10 kbit/s brings them in a minute. A byte now and then is not
/// enough to keep a place.
const ENOUGH: u64 = 64 << 10;
/// The number of bytes that an entry counts as.
const ENTRY: u64 = 4 << 10;

/// The progress of one sender, which decides if it keeps its place.
#[derive(Debug)]
pub(in crate::receive) struct Standing {
    control: Arc<Channel>,
    clock: Clock,
    /// The time of the last progress, in nanoseconds.
    progressed: AtomicU64,
    /// The worth of entries and bytes at that time, as [`Standing::counted`] computes it.
    worth: AtomicU64,
    finished: AtomicBool,
}

impl Standing {
    /// Makes the standing of the sender on this control connection, which has just begun.
    pub(in crate::receive) fn new(control: Arc<Channel>, clock: Clock) -> Self {
        Self {
            control,
            clock,
            progressed: AtomicU64::new(clock.now().as_nanos()),
            worth: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        }
    }

    /// Records progress.
    pub(in crate::receive) fn touch(&self) {
        self.progressed.store(self.clock.now().as_nanos(), Ordering::Relaxed);
    }

    /// Takes the numbers of entries and bytes so far. They are progress if their worth has grown by [`ENOUGH`] since
    /// the last progress.
    pub(in crate::receive) fn counted(&self, entries: u64, bytes: u64) {
        let worth = bytes.wrapping_add(entries.wrapping_mul(ENTRY));
        let before = self.worth.load(Ordering::Relaxed);
        // Once given-up data has lowered the worth, new data counts from the lower value.
        if worth < before || worth - before >= ENOUGH {
            if worth > before {
                self.touch();
            }
            self.worth.store(worth, Ordering::Relaxed);
        }
    }

    /// Records that the sender knows that everything is stored, and that only its last message is missing.
    pub(in crate::receive) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    /// Returns true if nothing has moved for `patience`.
    pub(super) fn stands_still(&self, patience: Span) -> bool {
        let progressed = Time::from_nanos(self.progressed.load(Ordering::Relaxed));
        self.clock.now().since(progressed) >= patience
    }

    /// Returns true if another sender may take this place: nothing has moved for `patience`, or everything is stored.
    pub(super) fn yields(&self, patience: Span) -> bool {
        self.finished.load(Ordering::Acquire) || self.stands_still(patience)
    }

    /// Ends the sender's control connection, whatever its thread is doing.
    pub(super) fn cut(&self) {
        self.control.cut();
    }
}
