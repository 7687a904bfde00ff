//! A direction without a link: a [`Line`] is only a delay. [`Direction`] is one of either kind.

use super::lane::{Frame, Lane, Pace, Store};
use crate::flow::FlowKey;
use crate::segment::PROTOCOL_UDP;
use crate::tun::Tun;
use crate::vnet::VNET_LEN;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use units::{Span, Time};

/// A line. Whole packets leave it after a constant delay, which may be longer for single flows.
#[derive(Debug)]
pub(super) struct Line {
    /// The time at which each packet leaves, its number, and its slot. Packets of equal delay leave in the order of
    /// arrival.
    under_way: BinaryHeap<Reverse<(Time, u64, u32)>>,
    delay: Span,
    /// The extra delay of flows: see [`PathConfig`](super::PathConfig).
    extra: HashMap<u16, Span>,
    pace: Pace,
    pub(super) packets: u64,
}

impl Line {
    pub(super) fn new(delay: Span, extra: HashMap<u16, Span>) -> Self {
        let (pace, delay) = Pace::of(delay);
        Self { under_way: BinaryHeap::new(), delay, extra, pace, packets: 0 }
    }

    /// Returns the delay of a packet from the receiver's end.
    fn delay_of(&self, packet: &[u8]) -> Span {
        let key = FlowKey::of(packet);
        let port = if key.protocol == PROTOCOL_UDP { key.source_port } else { key.destination_port };
        self.delay + self.extra.get(&port).copied().unwrap_or_default()
    }

    pub(super) fn arrive(&mut self, now: Time, frame: &Frame, store: &mut Store) {
        let Some(split) = frame.split else {
            store.refused += 1;
            return;
        };
        let out = now + self.delay_of(&store.scratch[VNET_LEN..frame.length]);
        let slot = store.pool.store(&mut store.scratch, frame.length, split, 0);
        self.under_way.push(Reverse((out, self.packets, slot)));
        self.packets += 1;
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.under_way.peek().map(|Reverse((out, ..))| self.pace.ready(*out))
    }

    pub(super) fn deliver(&mut self, now: Time, by: Time, store: &mut Store, tun: &Tun) -> io::Result<()> {
        if self.due().is_none_or(|due| due > by) {
            return Ok(());
        }
        while let Some(&Reverse((out, _, slot))) = self.under_way.peek()
            && self.pace.joins(out, now, by)
        {
            self.under_way.pop();
            store.lateness.record(now.since(self.pace.due(out)));
            let count = store.pool.get(slot).split.count();
            store.write(tun, slot, 0..count, false)?;
        }
        Ok(())
    }
}

/// A direction of either kind.
pub(super) enum Direction {
    Limited(Box<Lane>),
    Free(Line),
}

impl Direction {
    /// Returns the link, if the direction has one.
    pub(super) fn lane(&mut self) -> Option<&mut Lane> {
        match self {
            Self::Limited(lane) => Some(lane),
            Self::Free(_) => None,
        }
    }

    pub(super) fn arrive(&mut self, now: Time, frame: &Frame, store: &mut Store) {
        match self {
            Self::Limited(lane) => lane.arrive(now, frame, store),
            Self::Free(line) => line.arrive(now, frame, store),
        }
    }

    pub(super) fn due(&self) -> Option<Time> {
        match self {
            Self::Limited(lane) => lane.due(),
            Self::Free(line) => line.due(),
        }
    }

    pub(super) fn deliver(&mut self, now: Time, by: Time, store: &mut Store, tun: &Tun) -> io::Result<()> {
        match self {
            Self::Limited(lane) => lane.deliver(now, by, store, tun),
            Self::Free(line) => line.deliver(now, by, store, tun),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Split;
    use crate::vnet::VnetHeader;

    /// Reads a packet from port 5001 to `port` as the emulator would.
    fn read(store: &mut Store, protocol: u8, port: u16) -> Frame {
        let mut packet = [0u8; 40];
        packet[0] = 0x45;
        packet[9] = protocol;
        packet[20..22].copy_from_slice(&5001u16.to_be_bytes());
        packet[22..24].copy_from_slice(&port.to_be_bytes());
        let vnet = VnetHeader::default();
        let length = VNET_LEN + packet.len();
        store.scratch[..VNET_LEN].copy_from_slice(&vnet.bytes());
        store.scratch[VNET_LEN..length].copy_from_slice(&packet);
        Frame { length, split: Split::of(vnet, &packet).ok() }
    }

    #[test]
    fn on_the_way_back_each_flow_has_its_own_delay_and_keeps_its_order() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let extra = HashMap::from([(1025, Span::from_millis(40)), (5001, Span::from_millis(7))]);
        let (mut store, mut line) = (Store::new(), Line::new(Span::from_millis(10), extra));
        // The delay of a TCP packet depends on its destination port, that of a UDP packet on its source port.
        for (at, protocol, port) in
            [(0, 6, 1025), (0, 6, 1024), (1, 6, 1025), (1, 6, 1024), (34, 17, 1024), (41, 6, 1024)]
        {
            let frame = read(&mut store, protocol, port);
            line.arrive(ms(at), &frame, &mut store);
        }
        let mut came = Vec::new();
        while let Some(Reverse((out, number, _))) = line.under_way.pop() {
            came.push((line.pace.due(out), number));
        }
        assert_eq!(came, [(ms(10), 1), (ms(11), 3), (ms(50), 0), (ms(51), 2), (ms(51), 4), (ms(51), 5)]);
    }
}
