//! Drop-head: first in, first out; an arrival that does not fit pushes out the oldest.
//!
//! The sender learns of the drop one queueing delay earlier than from drop-tail, because the packet behind the hole is
//! about to leave. RFC 2309 section 2 calls the policy "drop front on full".

use super::drop_tail::mark_above;
use super::store::Store;
use super::{Limit, Queue};
use crate::{Backlog, Datagram, DropReason};
use units::Time;

/// A first-in, first-out queue that makes room at its head.
#[derive(Debug)]
pub struct DropHead<P> {
    limit: Limit,
    step: Option<Limit>,
    store: Store<P>,
}

impl<P> DropHead<P> {
    /// Creates an empty queue with room for `limit`.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { limit, step: None, store: Store::default() }
    }

    /// Adds step marking to the queue: it marks arrivals that a queue with room for only `step` would drop
    /// [rfc8257:3.1].
    #[must_use]
    pub fn marking_above(self, step: Option<Limit>) -> Self {
        Self { step, ..self }
    }
}

impl<P: Datagram + Send> Queue<P> for DropHead<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let length = packet.wire_len();
        // A packet that would not fit an empty queue is dropped itself, because it must not push out all the others.
        if !self.limit.admits(Backlog::default(), length) {
            drops(packet, DropReason::QueueFull);
            return;
        }
        while !self.limit.admits(self.store.backlog(), length) {
            let Some((_, oldest)) = self.store.pop() else { break };
            drops(oldest, DropReason::QueueFull);
        }
        mark_above(self.step, self.store.backlog(), &mut packet);
        self.store.push(now, packet);
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.store.pop().map(|(_, packet)| packet)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
