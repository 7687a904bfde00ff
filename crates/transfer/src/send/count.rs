//! [`Count`]: how much there is to send, counted beside everything else.

use super::flight::locked;
use super::sources::Source;
use super::tree::{Found, Tree};
use crate::wire::control::Counted;
use live::Clock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use units::{Span, Time};

/// Entries between two publications: each takes a lock.
const STEP: u64 = 64;
/// For the first announcement: most trees are counted by then, and nobody notices the wait.
const AT_FIRST: Span = Span::from_millis(100);

/// What has been counted so far. It goes on while connections come and go.
#[derive(Debug)]
pub(super) struct Count {
    counted: Mutex<Counted>,
    complete: Condvar,
    stopped: AtomicBool,
    clock: Clock,
    began: Time,
}

/// Counts what is in `sources` while `work` runs, and no longer.
pub(super) fn counting<T>(sources: &[Source], clock: &Clock, work: impl FnOnce(&Count) -> T) -> T {
    let count = Count {
        counted: Mutex::default(),
        complete: Condvar::new(),
        stopped: AtomicBool::new(false),
        clock: *clock,
        began: clock.now(),
    };
    std::thread::scope(|threads| {
        threads.spawn(|| count.run(sources));
        let _stop = Stop(&count);
        work(&count)
    })
}

/// Ends the counting however the work ends.
struct Stop<'a>(&'a Count);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Relaxed);
    }
}

impl Count {
    /// So far.
    pub(super) fn so_far(&self) -> Counted {
        *locked(&self.counted)
    }

    /// What is to be announced first: all of it, if it is counted within a moment from the beginning.
    pub(super) fn at_first(&self) -> Counted {
        let left = (self.began + AT_FIRST).since(self.clock.now());
        let (counted, _) = self
            .complete
            .wait_timeout_while(locked(&self.counted), Duration::from_nanos(left.as_nanos()), |counted| {
                !counted.complete
            })
            .unwrap_or_else(PoisonError::into_inner);
        *counted
    }

    /// What is to be announced anew if so much was `offered`, or is about to be: files grow and come while others are
    /// sent. `None` if it was announced, or is still being counted.
    pub(super) fn grown(&self, offered: Counted) -> Option<Counted> {
        let mut counted = locked(&self.counted);
        let more = offered.entries > counted.entries || offered.bytes > counted.bytes;
        (counted.complete && more).then(|| {
            counted.entries = counted.entries.max(offered.entries);
            counted.bytes = counted.bytes.max(offered.bytes);
            counted.disk = counted.disk.max(offered.disk);
            *counted
        })
    }

    fn run(&self, sources: &[Source]) {
        let mut counted = Counted::default();
        for found in sources.iter().flat_map(Tree::new) {
            add(&mut counted, &found);
            if counted.entries % STEP == 0 {
                *locked(&self.counted) = counted;
            }
            if self.stopped.load(Relaxed) {
                return;
            }
        }
        counted.complete = true;
        *locked(&self.counted) = counted;
        self.complete.notify_all();
    }
}

/// Counts what will be offered, and nothing else.
pub(super) fn add(counted: &mut Counted, found: &Found) {
    if let Found::Entry(_, there, _) = found {
        counted.entries += 1;
        if there.is_file() {
            counted.bytes = counted.bytes.saturating_add(there.size);
            counted.disk = counted.disk.saturating_add(there.disk);
        }
    }
}
