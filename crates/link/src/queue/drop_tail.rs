//! Drop-tail: first in, first out; an arrival that does not fit is dropped.

use super::{Limit, Queue};
use crate::{Backlog, Datagram, DropReason};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A first-in, first-out queue of limited room.
#[derive(Debug)]
pub struct DropTail<P> {
    limit: Limit,
    waiting: VecDeque<P>,
    bytes: Bytes,
}

impl<P> DropTail<P> {
    /// An empty queue with room for `limit`.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }
}

impl<P: Datagram + Send> Queue<P> for DropTail<P> {
    fn enqueue(&mut self, _now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let length = packet.wire_len();
        if self.limit.admits(self.backlog(), length) {
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
