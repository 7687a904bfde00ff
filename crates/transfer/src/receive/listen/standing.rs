//! [`Standing`]: whether a sender keeps its place when another one comes.

use crate::channel::Channel;
use host::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Span, Time};

/// So many bytes are progress: what a path of 10 kbit/s brings in a minute. A byte now and then holds no place.
const ENOUGH: u64 = 64 << 10;
/// An entry counts as much as this many bytes.
const ENTRY: u64 = 4 << 10;

/// One sender's standing.
#[derive(Debug)]
pub(in crate::receive) struct Standing {
    control: Arc<Channel>,
    clock: Clock,
    /// When there was progress last, nanoseconds.
    progressed: AtomicU64,
    /// What [`Standing::counted`] made of entries and bytes then.
    worth: AtomicU64,
    finished: AtomicBool,
}

impl Standing {
    /// Of the sender on this control connection, which has just begun.
    pub(in crate::receive) fn new(control: Arc<Channel>, clock: Clock) -> Self {
        Self {
            control,
            clock,
            progressed: AtomicU64::new(clock.now().as_nanos()),
            worth: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        }
    }

    /// There is progress.
    pub(in crate::receive) fn touch(&self) {
        self.progressed.store(self.clock.now().as_nanos(), Ordering::Relaxed);
    }

    /// So many entries and bytes are there. Enough more than at the last progress is progress.
    pub(in crate::receive) fn counted(&self, entries: u64, bytes: u64) {
        let worth = bytes.wrapping_add(entries.wrapping_mul(ENTRY));
        let before = self.worth.load(Ordering::Relaxed);
        // What was given up and comes again counts when it is more than before.
        if worth < before || worth - before >= ENOUGH {
            if worth > before {
                self.touch();
            }
            self.worth.store(worth, Ordering::Relaxed);
        }
    }

    /// It has been told that all is there, and only its last word is missing.
    pub(in crate::receive) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    /// Whether nothing has moved for `patience`.
    pub(super) fn stands_still(&self, patience: Span) -> bool {
        let progressed = Time::from_nanos(self.progressed.load(Ordering::Relaxed));
        self.clock.now().since(progressed) >= patience
    }

    /// Whether another sender may take its place: nothing has moved for `patience`, or all is there.
    pub(super) fn yields(&self, patience: Span) -> bool {
        self.finished.load(Ordering::Acquire) || self.stands_still(patience)
    }

    /// Ends its control connection, whatever its thread is doing.
    pub(super) fn cut(&self) {
        self.control.cut();
    }
}
