//! The times for which the senders' and the receivers' threads waited for a processor.

use emu::HostReport;
use host::waiting::Thread;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use units::Span;

/// The names of the ends in sentences.
const PLACES: [&str; 2] = ["the sender", "the receiver"];

/// The slot in which a thread registers itself.
pub(super) struct ThreadSlot(Arc<OnceLock<Thread>>);

impl ThreadSlot {
    /// Registers the calling thread.
    pub(super) fn take(self) {
        if let Some(thread) = Thread::current() {
            // The slot is set once, because `take` consumes the only `ThreadSlot`.
            let _ = self.0.set(thread);
        }
    }
}

/// The senders' and the receivers' threads, whose waits another thread reads.
#[derive(Default)]
pub(super) struct Ends(Vec<[End; 2]>);

#[derive(Default)]
struct End {
    thread: Arc<OnceLock<Thread>>,
    /// The time at which measurement began, and the thread's wait until then.
    first: Option<(Instant, Span)>,
    /// The time of the latest reading, and the thread's wait until then.
    last: Option<(Instant, Span)>,
}

impl Ends {
    /// Adds a sender's and a receiver's thread, and returns the slots in which they register themselves.
    pub(super) fn watch(&mut self) -> [ThreadSlot; 2] {
        let added: [End; 2] = Default::default();
        let slots = [&added[0], &added[1]].map(|end| ThreadSlot(Arc::clone(&end.thread)));
        self.0.push(added);
        slots
    }

    /// Reads the waits of all threads. They count from the first call for which the warm-up is `over`.
    pub(super) fn look(&mut self, over: bool) {
        for end in self.0.iter_mut().flatten() {
            let waited = end.thread.get().and_then(|thread| thread.waited());
            let Some(waited) = waited.filter(|_| over) else { continue };
            let now = (host::clock::now(), waited);
            end.first.get_or_insert(now);
            end.last = Some(now);
        }
    }

    /// Puts the waits of the threads that waited longest into a path's report.
    pub(super) fn report(&self, hosts: &mut [HostReport; 2]) {
        for (side, (host, place)) in hosts.iter_mut().zip(PLACES).enumerate() {
            host.place = place;
            host.waited = self.0.iter().filter_map(|ends| ends[side].waited()).max();
        }
    }
}

impl End {
    /// Returns the time for which the thread waited, and the period over which that was counted.
    fn waited(&self) -> Option<(Span, Span)> {
        let ((from, before), (to, waited)) = (self.first?, self.last?);
        let of = u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX);
        Some((waited.saturating_sub(before), Span::from_nanos(of)))
    }
}
