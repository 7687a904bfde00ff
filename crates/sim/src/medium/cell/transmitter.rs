//! An access function that sends the packets of flows: its queue, the frames it has handed to the air, airtime limits.

use crate::packet::Packet;
use crate::plan::CellPlan;
use air::access::Category;
use air::airtime_limits::{AirtimeLimits, PendingAirtime};
use air::frame::{ExchangeTime, Sizes};
use air::phy::Phy;
use air::{Cell, Frame, FunctionId};
use link::{Datagram, DropReason, ServedQueue};
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

pub(super) struct Transmitter {
    id: FunctionId,
    category: Category,
    /// True for a function of a station, which sends to the access point; false for one of the access point, which
    /// sends to each packet's station.
    is_station: bool,
    /// One queue, or one per station if airtime is limited.
    pub(super) queue: ServedQueue<Packet>,
    /// The station whose turn comes first, if airtime is limited.
    turn: Option<usize>,
    /// Packets handed to the air, in order, each with its expected airtime.
    launched: VecDeque<(Packet, Span)>,
}

/// The airtime that an access point has pending, in all categories.
pub(super) struct Limiter {
    pending: PendingAirtime,
    phy: Phy,
    sizes: Sizes,
    control_rate: Rate,
    /// The rate of each station.
    rates: Vec<Rate>,
}

impl Limiter {
    /// Creates the limiter of a cell, with nothing pending.
    pub(super) fn new(limits: AirtimeLimits, cell: &CellPlan) -> Self {
        Self {
            pending: PendingAirtime::new(limits, cell.stations.len()),
            phy: cell.phy,
            sizes: cell.sizes,
            control_rate: cell.control_rate,
            rates: cell.stations.iter().map(|station| station.rate).collect(),
        }
    }

    fn airtime(&self, station: usize, length: Bytes) -> Span {
        ExchangeTime::new(&self.phy, &self.sizes, length, self.rates[station], self.control_rate).whole
    }
}

/// The state outside an access function on which it acts.
pub(super) struct Surroundings<'a> {
    pub(super) now: Time,
    pub(super) air: &'a mut Cell,
    pub(super) limiter: Option<&'a mut Limiter>,
    /// Packets dropped and not yet reported to their flows.
    pub(super) dropped: &'a mut Vec<Packet>,
}

impl Transmitter {
    /// Creates a function with its queue, or its queues, one per station, if its airtime is limited.
    pub(super) fn new(
        id: FunctionId,
        category: Category,
        is_station: bool,
        queue: ServedQueue<Packet>,
        limited: bool,
    ) -> Self {
        let turn = limited.then_some(0);
        Self { id, category, is_station, queue, turn, launched: VecDeque::new() }
    }

    pub(super) const fn is_station(&self) -> bool {
        self.is_station
    }

    pub(super) const fn is_limited(&self) -> bool {
        self.turn.is_some()
    }

    /// Puts a packet into the queue.
    pub(super) fn push(&mut self, packet: Packet, around: &mut Surroundings<'_>) {
        let queue = if self.is_limited() { packet.hop as usize } else { 0 };
        let dropped = &mut around.dropped;
        match self.queue.offer(around.now, queue, packet, &mut |packet, _| dropped.push(packet)) {
            Some(packet) => self.launch(packet, around),
            None => self.feed(around),
        }
    }

    /// Returns the packet that is being sent.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.launched.front().map(|(packet, _)| packet)
    }

    /// Handles the end of the first packet: sent and acknowledged, or given up.
    pub(super) fn on_outcome(&mut self, sent: bool, around: &mut Surroundings<'_>) {
        let Some((packet, airtime)) = self.launched.pop_front() else { return };
        if let Some(limiter) = self.limiter(around) {
            limiter.pending.give_back(packet.hop as usize, self.category, airtime);
        }
        if sent {
            self.queue.sent(around.now);
        } else {
            self.queue.given_up(around.now);
            around.dropped.push(packet);
        }
        self.feed(around);
    }

    /// Hands packets to the air: one frame at a time, or as many as the airtime limits allow. Stations take turns
    /// packet by packet.
    pub(super) fn feed(&mut self, around: &mut Surroundings<'_>) {
        loop {
            let queue = match (self.turn, self.limiter(around)) {
                (Some(turn), Some(limiter)) => {
                    let stations = limiter.rates.len();
                    let mut turns = (turn..stations).chain(0..turn);
                    let next = turns.find(|station| {
                        !self.queue.is_dry(*station) && limiter.pending.may_take(*station, self.category)
                    });
                    let Some(station) = next else { return };
                    self.turn = Some((station + 1) % stations);
                    station
                }
                _ if self.launched.is_empty() => 0,
                _ => return,
            };
            let dropped = &mut around.dropped;
            let mut drops = |packet, _: DropReason| dropped.push(packet);
            match self.queue.next(around.now, queue, &mut drops) {
                Some(packet) => self.launch(packet, around),
                None if !self.is_limited() => return,
                // This queue is empty. Its policy has been asked for a packet, so it knows that the air would take
                // more. Another station's turn follows.
                None => {}
            }
        }
    }

    fn launch(&mut self, packet: Packet, around: &mut Surroundings<'_>) {
        let (station, length) = (packet.hop as usize, packet.wire_len());
        let airtime = self.limiter(around).map_or(Span::ZERO, |limiter| {
            let airtime = limiter.airtime(station, length);
            limiter.pending.take(station, self.category, airtime);
            airtime
        });
        self.launched.push_back((packet, airtime));
        let to = if self.is_station { 0 } else { station + 1 };
        around.air.push(around.now, self.id, Frame { id: 0, payload: length, to });
    }

    /// Returns the airtime limits, if they apply to this function.
    fn limiter<'a>(&self, around: &'a mut Surroundings<'_>) -> Option<&'a mut Limiter> {
        around.limiter.as_deref_mut().filter(|_| self.is_limited())
    }
}
