//! [`Count`]: the amount to send, which a thread of its own counts.

use super::sources::Source;
use super::tree::{Tree, WalkedEntry};
use crate::lock::locked;
use crate::wire::control::Counted;
use host::Clock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use units::{Span, Time};

/// The number of entries after which the count is published again; each publication takes a lock.
const STEP: u64 = 64;
/// The time for the first announcement. Most trees are counted by then, and nobody notices the wait.
const AT_FIRST: Span = Span::from_millis(100);

/// The amount counted so far. Counting continues while connections come and go.
#[derive(Debug)]
pub(super) struct Count {
    state: Mutex<State>,
    complete: Condvar,
    stopped: AtomicBool,
    clock: Clock,
    began: Time,
}

#[derive(Debug, Default)]
struct State {
    counted: Counted,
    /// The amount offered over this connection. Files grow, and folders are filled, after they were counted.
    offered: Counted,
}

impl State {
    fn at_least(&self) -> Counted {
        Counted {
            entries: self.counted.entries.max(self.offered.entries),
            bytes: self.counted.bytes.max(self.offered.bytes),
            disk: self.counted.disk.max(self.offered.disk),
            complete: self.counted.complete,
        }
    }
}

/// Counts the entries in `sources` while `work` runs, and no longer.
pub(super) fn counting<T>(sources: &[Source], clock: &Clock, work: impl FnOnce(&Count) -> T) -> T {
    let count = Count::new(clock);
    std::thread::scope(|threads| {
        threads.spawn(|| count.run(sources));
        let _stop = StopGuard(&count);
        work(&count)
    })
}

/// A guard that ends the counting when the work returns or panics.
struct StopGuard<'a>(&'a Count);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Relaxed);
    }
}

impl Count {
    pub(super) fn new(clock: &Clock) -> Self {
        Self {
            state: Mutex::default(),
            complete: Condvar::new(),
            stopped: AtomicBool::new(false),
            clock: *clock,
            began: clock.now(),
        }
    }

    /// Returns the count so far.
    pub(super) fn so_far(&self) -> Counted {
        locked(&self.state).at_least()
    }

    /// Returns the first announcement: the whole amount, if it is counted within a moment from the beginning.
    pub(super) fn at_first(&self) -> Counted {
        let left = (self.began + AT_FIRST).since(self.clock.now());
        let mut state = locked(&self.state);
        state.offered = Counted::default();
        let left = Duration::from_nanos(left.as_nanos());
        let (state, _) = self
            .complete
            .wait_timeout_while(state, left, |state| !state.counted.complete)
            .unwrap_or_else(PoisonError::into_inner);
        state.counted
    }

    /// Adds an entry that is about to be offered. `size` has its bytes and its bytes on the disk, and `before` those of
    /// an earlier offer. Returns the new count if it exceeds a complete count; the caller announces it before the
    /// offer.
    pub(super) fn offer(&self, size: (u64, u64), before: Option<(u64, u64)>) -> Option<Counted> {
        let mut state = locked(&self.state);
        let offered = &mut state.offered;
        offered.entries += u64::from(before.is_none());
        let before = before.unwrap_or_default();
        offered.bytes = offered.bytes.saturating_add(size.0).saturating_sub(before.0);
        offered.disk = offered.disk.saturating_add(size.1).saturating_sub(before.1);
        let more = state.at_least();
        let announce = more.complete && more != state.counted;
        if announce {
            state.counted = more;
        }
        announce.then_some(more)
    }

    pub(super) fn run(&self, sources: &[Source]) {
        let mut counted = Counted::default();
        for found in sources.iter().flat_map(Tree::new) {
            add(&mut counted, &found);
            if counted.entries % STEP == 0 {
                locked(&self.state).counted = counted;
            }
            if self.stopped.load(Relaxed) {
                return;
            }
        }
        counted.complete = true;
        locked(&self.state).counted = counted;
        self.complete.notify_all();
    }
}

/// Adds an entry to the count if it will be offered.
pub(super) fn add(counted: &mut Counted, found: &WalkedEntry) {
    if let WalkedEntry::Entry(_, there, _) = found {
        counted.entries += 1;
        if there.is_file() {
            counted.bytes = counted.bytes.saturating_add(there.size);
            counted.disk = counted.disk.saturating_add(there.disk);
        }
    }
}
