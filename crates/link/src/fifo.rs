//! Drop-tail with departures known on arrival.
//!
//! In a first-in, first-out queue at a constant rate a later arrival does not change the time at which a packet leaves.
//! So a packet's departure is computed at its arrival, and the queue needs no events of its own. `queue/drop_tail.rs`
//! is the same policy for a link that must hold its packets; a test keeps the two equal, packet by packet.

use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::{Backlog, Limit, Serializer};
use std::collections::VecDeque;
use units::{Bytes, Rate, Time};

#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Limit,
    serializer: Serializer,
    /// The packet being sent, then those that wait.
    in_system: VecDeque<Service>,
    /// The backlog of the packets that wait.
    waiting: Backlog,
}

impl Fifo {
    pub(crate) fn new(limit: Limit, serializer: Serializer) -> Self {
        Self { limit, serializer, in_system: VecDeque::new(), waiting: Backlog::default() }
    }

    /// Returns the departure of a packet of `length` that arrives now, or `None` if it does not fit.
    #[inline(always)]
    pub(crate) fn admit(&mut self, now: Time, length: Bytes, meter: &mut Meter) -> Option<Time> {
        self.settle(now, meter);
        if !self.in_system.is_empty() {
            if !self.limit.admits(self.waiting, length) {
                return None;
            }
            meter.held(self.waiting.packets, now);
            self.waiting.packets += 1;
            self.waiting.bytes += length;
        }
        let starts = now.max(self.serializer.free_at());
        let departs = self.serializer.send(now, length);
        self.in_system.push_back(Service { arrived: now, starts, departs, length });
        Some(departs)
    }

    /// Removes all packets that have left by `now`. A departure at `now` precedes an arrival at `now`.
    #[inline(always)]
    pub(crate) fn settle(&mut self, now: Time, meter: &mut Meter) {
        while let Some(head) = self.in_system.front() {
            if head.departs > now {
                break;
            }
            meter.served(head);
            meter.waited(head.arrived, head.starts, head.length);
            let left = head.departs;
            self.in_system.pop_front();
            if let Some(next) = self.in_system.front() {
                meter.held(self.waiting.packets, left);
                self.waiting.packets -= 1;
                self.waiting.bytes -= next.length;
            }
        }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.serializer.rate()
    }

    /// Returns the time at which all its packets have been sent.
    pub(crate) fn free_at(&self) -> Time {
        self.serializer.free_at()
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.waiting
    }

    /// Returns the link's state at `now`, up to which it is settled.
    pub(crate) fn state(&self, now: Time, meter: &Meter) -> LinkState {
        meter.state(now, self.waiting, self.in_system.front(), self.serializer.rate())
    }

    /// Closes the measurement at `end`. Packets that have not left count with the part of their waiting and sending
    /// that lies before `end`.
    pub(crate) fn report(&self, end: Time, meter: &Meter) -> LinkReport {
        let mut meter = meter.clone();
        meter.held(self.waiting.packets, end);
        for packet in &self.in_system {
            meter.waited(packet.arrived, packet.starts.min(end), packet.length);
            meter.sending(packet, packet.departs.min(end));
        }
        meter.report(end, self.in_system.len() as u64, self.serializer.rate())
    }
}
