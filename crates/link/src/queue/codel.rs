//! CoDel, controlled delay. Packets are dropped or marked at the head of the queue while every packet has waited longer
//! than a target for a whole interval. Each next drop comes sooner than the last.
//!
//! Source: RFC 8289. The [`Control`] here is the state of one queue; `fq_codel.rs` keeps one per flow.
//!
//! - A packet may be dropped if for `interval` no packet has waited less than `target`. In that time the queue must
//!   always have held more than one maximum packet (section 5.6).
//! - The first drop of an episode comes at that time. The n-th drop after it comes `interval/sqrt(n)` after the one
//!   before. At that loss rate a Reno sender's rate falls linearly (section 5.5).
//! - An episode that begins within 16 intervals of the last drop time does not begin at count 1. It takes over the
//!   drops that the last episode added to its own first count (section 5.5).
//!
//! A capable packet is marked and sent instead of dropped, on the same schedule (RFC 3168, RFC 8290 section 5.2.6). A
//! mark ends the search for a packet to send, as in Linux.

use super::store::Store;
use super::{Limit, Queue};
use crate::{Backlog, Datagram, DropReason, Ecn};
use units::{Bytes, Span, Time};

/// The intervals within which an episode continues the count of the last one: RFC 8289 section 5.5.
const MEMORY_INTERVALS: u64 = 16;

/// The settings of [`Codel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// The queueing delay that may persist.
    pub target: Span,
    /// The time for which the delay may exceed the target: about the longest round trip.
    pub interval: Span,
    /// The longest packet of the interface. A longer arrival raises it.
    pub mtu: Bytes,
    /// True if capable packets are marked.
    pub ecn: bool,
}

impl Default for CodelParameters {
    /// Returns the values of RFC 8289 section 4.3 (target) and 4.2 (interval), and the frame of an Ethernet interface.
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes::new(1514),
            ecn: true,
        }
    }
}

/// The state of one controlled queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// The time at which the delay will have been above target for an interval.
    due: Option<Time>,
    dropping: bool,
    /// The time of the next drop, while `dropping` is true.
    drop_next: Time,
    /// Drops of this episode, plus the count that it took over from the last one.
    count: u64,
    /// The value of `count` at the start of this episode.
    count_at_start: u64,
}

impl Control {
    /// Returns the next packet of `store` to send.
    pub(super) fn dequeue<P: Datagram>(
        &mut self,
        now: Time,
        store: &mut Store<P>,
        parameters: &CodelParameters,
        drops: &mut dyn FnMut(P, DropReason),
    ) -> Option<P> {
        let (mut packet, mut droppable) = self.next(now, store, parameters);
        if self.dropping {
            self.dropping &= droppable;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                packet = match notify(packet, parameters.ecn, drops) {
                    Some(marked) => {
                        self.drop_next = self.after(self.drop_next, parameters);
                        return Some(marked);
                    }
                    None => {
                        let (next, next_droppable) = self.next(now, store, parameters);
                        droppable = next_droppable;
                        next
                    }
                };
                self.dropping &= droppable;
                if self.dropping {
                    self.drop_next = self.after(self.drop_next, parameters);
                }
            }
        } else if droppable {
            packet = notify(packet, parameters.ecn, drops).or_else(|| self.next(now, store, parameters).0);
            self.dropping = true;
            let reached = self.count - self.count_at_start;
            let memory = parameters.interval.as_nanos().saturating_mul(MEMORY_INTERVALS);
            let recent = now < self.drop_next + Span::from_nanos(memory);
            self.count = if reached > 1 && recent { reached } else { 1 };
            self.drop_next = self.after(now, parameters);
            self.count_at_start = self.count;
        }
        packet
    }

    /// Takes the oldest packet; returns it, and true if it may be dropped.
    fn next<P: Datagram>(
        &mut self,
        now: Time,
        store: &mut Store<P>,
        parameters: &CodelParameters,
    ) -> (Option<P>, bool) {
        let Some((arrived, packet)) = store.pop() else {
            self.due = None;
            return (None, false);
        };
        if now.since(arrived) < parameters.target || store.bytes() <= parameters.mtu {
            self.due = None;
            return (Some(packet), false);
        }
        let due = *self.due.get_or_insert(now + parameters.interval);
        (Some(packet), now >= due)
    }

    /// Returns the time of the drop after one at `time`, by the control law.
    fn after(&self, time: Time, parameters: &CodelParameters) -> Time {
        time + parameters.interval.scale(1.0 / (self.count.max(1) as f64).sqrt())
    }
}

/// Marks `packet` and returns it, or drops it.
fn notify<P: Datagram>(packet: Option<P>, ecn: bool, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
    let mut packet = packet?;
    if ecn && packet.ecn() != Ecn::NotCapable {
        packet.mark();
        return Some(packet);
    }
    drops(packet, DropReason::Aqm);
    None
}

/// A first-in, first-out queue under CoDel.
#[derive(Debug)]
pub struct Codel<P> {
    parameters: CodelParameters,
    limit: Limit,
    store: Store<P>,
    control: Control,
}

impl<P> Codel<P> {
    /// Creates an empty queue with room for `limit`.
    #[must_use]
    pub fn new(parameters: CodelParameters, limit: Limit) -> Self {
        Self { parameters, limit, store: Store::default(), control: Control::default() }
    }

    /// Returns true if packets are being dropped or marked.
    #[must_use]
    pub fn dropping(&self) -> bool {
        self.control.dropping
    }
}

impl<P: Datagram + Send> Queue<P> for Codel<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let length = packet.wire_len();
        if self.limit.admits(self.store.backlog(), length) {
            self.parameters.mtu = self.parameters.mtu.max(length);
            self.store.push(now, packet);
        } else {
            drops(packet, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.control.dequeue(now, &mut self.store, &self.parameters, drops)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
