//! An access function that sends what flows give it: its queue, the frames it has handed to the air, airtime limits.

use crate::packet::Packet;
use air::access::Category;
use air::airtime_limits::PendingAirtime;
use air::frame::{ExchangeTime, Sizes};
use air::phy::Phy;
use air::{Cell, Frame, FunctionId};
use link::{Datagram, DropReason, ServedQueue};
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

pub(super) struct Transmitter {
    id: FunctionId,
    category: Category,
    /// Of a station: it sends to the access point, which sends to the station of each packet.
    is_station: bool,
    /// One, or one per station where airtime is limited.
    pub(super) queue: ServedQueue<Packet>,
    limiter: Option<Limiter>,
    /// With the air, in order, and for how long each is expected to take.
    launched: VecDeque<(Packet, Span)>,
}

/// Airtime limits. Stations take turns by packets.
pub(super) struct Limiter {
    pending: PendingAirtime,
    phy: Phy,
    sizes: Sizes,
    control_rate: Rate,
    /// Of each station.
    rates: Vec<Rate>,
    /// The station to ask first.
    turn: usize,
}

impl Limiter {
    /// Of stations with these rates; control frames have `control_rate`.
    pub(super) fn new(
        pending: PendingAirtime,
        phy: Phy,
        sizes: Sizes,
        control_rate: Rate,
        rates: Vec<Rate>,
    ) -> Self {
        Self { pending, phy, sizes, control_rate, rates, turn: 0 }
    }

    fn airtime(&self, station: usize, length: Bytes) -> Span {
        ExchangeTime::new(&self.phy, &self.sizes, length, self.rates[station], self.control_rate).whole
    }
}

impl Transmitter {
    pub(super) fn new(
        id: FunctionId,
        category: Category,
        is_station: bool,
        queue: ServedQueue<Packet>,
        limiter: Option<Limiter>,
    ) -> Self {
        Self { id, category, is_station, queue, limiter, launched: VecDeque::new() }
    }

    pub(super) const fn is_station(&self) -> bool {
        self.is_station
    }

    /// A packet enters the queue.
    pub(super) fn push(&mut self, now: Time, packet: Packet, air: &mut Cell, dropped: &mut Vec<Packet>) {
        let queue = if self.limiter.is_some() { packet.hop as usize } else { 0 };
        match self.queue.offer(now, queue, packet, &mut |packet, _| dropped.push(packet)) {
            Some(packet) => self.launch(now, packet, air),
            None => self.feed(now, air, dropped),
        }
    }

    /// The packet that is being sent.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.launched.front().map(|(packet, _)| packet)
    }

    /// The first packet has been sent, and acknowledged.
    pub(super) fn sent(&mut self, now: Time, air: &mut Cell, dropped: &mut Vec<Packet>) {
        if self.land().is_some() {
            self.queue.sent(now);
        }
        self.feed(now, air, dropped);
    }

    /// The first packet has been given up.
    pub(super) fn given_up(&mut self, now: Time, air: &mut Cell, dropped: &mut Vec<Packet>) {
        if let Some(packet) = self.land() {
            self.queue.given_up(now);
            dropped.push(packet);
        }
        self.feed(now, air, dropped);
    }

    /// Hands the air what it may have: one frame at a time, or as many as the airtime limits allow.
    fn feed(&mut self, now: Time, air: &mut Cell, dropped: &mut Vec<Packet>) {
        let mut drops = |packet, _: DropReason| dropped.push(packet);
        loop {
            let queue = match &mut self.limiter {
                None if self.launched.is_empty() => 0,
                None => return,
                Some(limiter) => {
                    let stations = limiter.rates.len();
                    let turns = (limiter.turn..stations).chain(0..limiter.turn);
                    let mut able = turns.filter(|station| self.queue.holds(*station) > 0);
                    let next = able.find(|station| limiter.pending.may_take(*station, self.category));
                    let Some(station) = next else { return };
                    limiter.turn = (station + 1) % stations;
                    station
                }
            };
            match self.queue.next(now, queue, &mut drops) {
                Some(packet) => self.launch(now, packet, air),
                None if self.limiter.is_none() => return,
                // Active queue management has dropped all of it.
                None => {}
            }
        }
    }

    fn launch(&mut self, now: Time, packet: Packet, air: &mut Cell) {
        let (station, length) = (packet.hop as usize, packet.wire_len());
        let airtime = self.limiter.as_mut().map_or(Span::ZERO, |limiter| {
            let airtime = limiter.airtime(station, length);
            limiter.pending.take(station, self.category, airtime);
            airtime
        });
        self.launched.push_back((packet, airtime));
        let to = if self.is_station { 0 } else { station + 1 };
        air.push(now, self.id, Frame { id: 0, payload: length, to });
    }

    /// Takes the first packet from the air.
    fn land(&mut self) -> Option<Packet> {
        let (packet, airtime) = self.launched.pop_front()?;
        if let Some(limiter) = &mut self.limiter {
            limiter.pending.give_back(packet.hop as usize, self.category, airtime);
        }
        Some(packet)
    }
}
