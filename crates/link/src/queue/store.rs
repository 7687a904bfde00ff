//! The line of packets that every policy keeps: first in, first out, each with the time of its arrival.

use crate::{Backlog, Datagram};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Packets waiting, oldest first, and the number of their bytes.
#[derive(Debug)]
pub(super) struct Store<P> {
    waiting: VecDeque<(Time, P)>,
    bytes: Bytes,
}

impl<P> Default for Store<P> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }
}

impl<P> Store<P> {
    pub(super) fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Returns the arrival time of the oldest packet.
    pub(super) fn head(&self) -> Option<Time> {
        self.waiting.front().map(|(arrived, _)| *arrived)
    }
}

impl<P: Datagram> Store<P> {
    pub(super) fn push(&mut self, now: Time, packet: P) {
        self.bytes += packet.wire_len();
        self.waiting.push_back((now, packet));
    }

    /// Takes the oldest packet; returns it with its arrival time.
    pub(super) fn pop(&mut self) -> Option<(Time, P)> {
        let (arrived, packet) = self.waiting.pop_front()?;
        self.bytes -= packet.wire_len();
        Some((arrived, packet))
    }
}
