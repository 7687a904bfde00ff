//! The times for which the sender's and the receiver's thread waited for a processor.

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

/// The sender's and the receiver's thread, whose waits another thread reads.
pub(super) struct Ends([End; 2]);

struct End {
    thread: Arc<OnceLock<Thread>>,
    /// The time at which measurement began, and the thread's wait until then.
    first: Option<(Instant, Span)>,
    /// The time of the latest reading, and the thread's wait until then.
    last: Option<(Instant, Span)>,
}

/// Makes two threads to watch, and the slots in which they register themselves.
pub(super) fn watched() -> (Ends, [ThreadSlot; 2]) {
    let threads: [Arc<OnceLock<Thread>>; 2] = Default::default();
    let names = threads.clone().map(ThreadSlot);
    (Ends(threads.map(|thread| End { thread, first: None, last: None })), names)
}

impl Ends {
    /// Reads the waits of both threads. They count from the first call for which the warm-up is `over`.
    pub(super) fn look(&mut self, over: bool) {
        for end in &mut self.0 {
            let waited = end.thread.get().and_then(|thread| thread.waited());
            let Some(waited) = waited.filter(|_| over) else { continue };
            let now = (host::clock::now(), waited);
            end.first.get_or_insert(now);
            end.last = Some(now);
        }
    }

    /// Puts the waits into a path's report.
    pub(super) fn report(&self, hosts: &mut [HostReport; 2]) {
        for ((host, end), place) in hosts.iter_mut().zip(&self.0).zip(PLACES) {
            host.place = place;
            if let (Some((from, before)), Some((to, waited))) = (end.first, end.last) {
                let of = u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX);
                host.waited = Some((waited.saturating_sub(before), Span::from_nanos(of)));
            }
        }
    }
}
