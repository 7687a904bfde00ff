//! Drop-tail with departures known on arrival, at a rate that changes.
//!
//! The capacity over time is known, and a later arrival still does not change the time at which a packet leaves. Unlike
//! in [`Fifo`](crate::fifo), a packet may have to wait for capacity although no packet is being sent.

use crate::capacity::ChangingServer;
use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::{Backlog, Limit};
use std::collections::VecDeque;
use units::{Bytes, Rate, Time};

#[derive(Clone, Debug)]
pub(crate) struct ChangingFifo {
    limit: Limit,
    server: ChangingServer,
    /// The packet being sent, if one is, then those that wait.
    in_system: VecDeque<Service>,
    /// True if the first packet of `in_system` is being sent.
    sending: bool,
    /// The backlog of the packets that wait.
    waiting: Backlog,
    /// The departure of the last packet.
    free_at: Time,
}

impl ChangingFifo {
    pub(crate) fn new(limit: Limit, server: ChangingServer) -> Self {
        let in_system = VecDeque::new();
        Self { limit, server, in_system, sending: false, waiting: Backlog::default(), free_at: Time::ZERO }
    }

    /// Goes on with `server`. Packets that are already here leave as they would have.
    pub(crate) fn replace(&mut self, server: ChangingServer) {
        self.server = server;
        if self.free_at < Time::NEVER {
            self.server.opens(self.free_at);
        }
    }

    /// Returns the departure of a packet of `length` that arrives now, or `None` if it does not fit.
    pub(crate) fn admit(&mut self, now: Time, length: Bytes, meter: &mut Meter) -> Option<Time> {
        self.settle(now, meter);
        let starts = self.server.opens(now);
        let waits = starts > now || !self.in_system.is_empty();
        if waits {
            if !self.limit.admits(self.waiting, length) {
                return None;
            }
            meter.held(self.waiting.packets, now);
            self.waiting.packets += 1;
            self.waiting.bytes += length;
        }
        let departs = self.server.send(length);
        self.in_system.push_back(Service { arrived: now, starts, departs, length });
        self.sending |= !waits;
        self.free_at = departs;
        Some(departs)
    }

    /// Removes all packets that have left by `now`. A departure at `now` precedes an arrival at `now`.
    pub(crate) fn settle(&mut self, now: Time, meter: &mut Meter) {
        while let Some(head) = self.in_system.front() {
            if !self.sending {
                if head.starts > now || head.starts == Time::NEVER {
                    break;
                }
                meter.held(self.waiting.packets, head.starts);
                self.waiting.packets -= 1;
                self.waiting.bytes -= head.length;
                self.sending = true;
            }
            if head.departs > now || head.departs == Time::NEVER {
                break;
            }
            meter.served_by(head, &mut self.server);
            meter.waited(head.arrived, head.starts, head.length);
            self.in_system.pop_front();
            self.sending = false;
        }
    }

    /// Returns the long-run mean rate.
    pub(crate) fn rate(&self) -> Rate {
        self.server.mean_rate()
    }

    /// Returns the time at which all its packets have been sent.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.waiting
    }

    /// Starts the measured interval.
    pub(crate) fn begin(&mut self, now: Time) {
        self.server.begin(now);
    }

    /// Returns the link's state at `now`, up to which it is settled.
    pub(crate) fn state(&mut self, now: Time, meter: &Meter) -> LinkState {
        meter.changing_state(now, self.waiting, self.free_at.since(now), &mut self.server)
    }

    /// Closes the measurement at `end`. Packets that have not left count with the part of their waiting that lies before
    /// `end`.
    pub(crate) fn report(&mut self, end: Time, meter: &Meter) -> LinkReport {
        let mut meter = meter.clone();
        meter.held(self.waiting.packets, end);
        for packet in &self.in_system {
            meter.waited(packet.arrived, packet.starts.min(end), packet.length);
        }
        meter.changing_report(end, self.in_system.len() as u64, &mut self.server)
    }
}
