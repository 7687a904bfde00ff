//! Drop-tail: first in, first out; an arrival that does not fit is dropped. It may mark above a step.

use super::{Limit, Queue};
use crate::{Backlog, Datagram, DropReason, Ecn};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A first-in, first-out queue of limited room.
#[derive(Debug)]
pub struct DropTail<P> {
    limit: Limit,
    step: Option<Limit>,
    waiting: VecDeque<P>,
    bytes: Bytes,
}

impl<P> DropTail<P> {
    /// Creates an empty queue with room for `limit`.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { limit, step: None, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// Adds step marking to the queue: it marks arrivals that a queue with room for only `step` would drop
    /// [rfc8257:3.1].
    #[must_use]
    pub fn marking_above(self, step: Option<Limit>) -> Self {
        Self { step, ..self }
    }
}

impl<P: Datagram + Send> Queue<P> for DropTail<P> {
    fn enqueue(&mut self, _now: Time, mut packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let length = packet.wire_len();
        if self.limit.admits(self.backlog(), length) {
            mark_above(self.step, self.backlog(), &mut packet);
            self.bytes += length;
            self.waiting.push_back(packet);
        } else {
            drops(packet, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= packet.wire_len();
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }
}

/// Marks `packet`, about to join `backlog`, if a queue with room for `step` would drop it.
pub(super) fn mark_above<P: Datagram>(step: Option<Limit>, backlog: Backlog, packet: &mut P) {
    if let Some(step) = step
        && packet.ecn() != Ecn::NotCapable
        && !step.admits(backlog, packet.wire_len())
    {
        packet.mark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Segment(Ecn);

    impl Datagram for Segment {
        fn wire_len(&self) -> Bytes {
            Bytes::new(1500)
        }
        fn ecn(&self) -> Ecn {
            self.0
        }
        fn mark(&mut self) {
            self.0 = Ecn::Marked;
        }
    }

    #[test]
    fn only_what_can_be_marked_is_and_only_above_the_step() {
        for step in [Limit::Packets(2), Limit::Bytes(Bytes::new(3000))] {
            let mut queue = DropTail::new(Limit::Packets(9)).marking_above(Some(step));
            for ecn in [Ecn::Capable, Ecn::Capable, Ecn::Capable, Ecn::NotCapable, Ecn::Capable] {
                queue.enqueue(Time::ZERO, Segment(ecn), &mut |_, _| panic!("there is room"));
            }
            let left: Vec<Ecn> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut |_, _| {}))
                .map(|segment| segment.0)
                .collect();
            assert_eq!(left, [Ecn::Capable, Ecn::Capable, Ecn::Marked, Ecn::NotCapable, Ecn::Marked]);
        }
    }
}
