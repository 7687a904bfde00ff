//! Whether the sender's and the receiver's thread had a processor when they wanted one.

use emu::HostReport;
use host::waiting::Thread;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use units::Span;

/// What ends are called in sentences.
const PLACES: [&str; 2] = ["the sender", "the receiver"];

/// Where a thread says which it is.
pub(super) struct Name(Arc<OnceLock<Thread>>);

impl Name {
    /// The calling thread is meant.
    pub(super) fn take(self) {
        if let Some(thread) = Thread::current() {
            // Set once: this takes the only value.
            let _ = self.0.set(thread);
        }
    }
}

/// The threads at both ends, the sender's first, as they are looked at from outside.
pub(super) struct Ends([End; 2]);

struct End {
    thread: Arc<OnceLock<Thread>>,
    /// When the measured time began, and when the thread was last looked at; what it had waited by then.
    first: Option<(Instant, Span)>,
    last: Option<(Instant, Span)>,
}

/// Two threads to watch, and where each says which it is.
pub(super) fn watched() -> (Ends, [Name; 2]) {
    let threads: [Arc<OnceLock<Thread>>; 2] = Default::default();
    let names = threads.clone().map(Name);
    (Ends(threads.map(|thread| End { thread, first: None, last: None })), names)
}

impl Ends {
    /// Looks at both threads. What they have waited counts from the first time on that the warm-up is `over`.
    pub(super) fn look(&mut self, over: bool) {
        for end in &mut self.0 {
            let waited = end.thread.get().and_then(|thread| thread.waited());
            let Some(waited) = waited.filter(|_| over) else { continue };
            let now = (host::clock::now(), waited);
            end.first.get_or_insert(now);
            end.last = Some(now);
        }
    }

    /// Puts what was seen into a path's report.
    pub(super) fn tell(&self, hosts: &mut [HostReport; 2]) {
        for ((host, end), place) in hosts.iter_mut().zip(&self.0).zip(PLACES) {
            host.place = place;
            if let (Some((from, before)), Some((to, waited))) = (end.first, end.last) {
                let of = u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX);
                host.waited = Some((waited.saturating_sub(before), Span::from_nanos(of)));
            }
        }
    }
}
