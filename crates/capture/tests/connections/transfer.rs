//! A transfer over one link, computed without any noise, and its capture at a chosen place.

use crate::common::{NANO, RAW, Record, pcap};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The payload of a segment, and its size with IP and TCP headers and time stamps.
pub const SEGMENT: u64 = 1448;
pub const PACKET: u64 = 1500;

/// The place of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Sender,
    Middle,
    Receiver,
}

/// A transfer with a constant window. The link is at the sender, and its queue has room for the whole window.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Bits per second of the link, and its delay in each direction in nanoseconds.
    pub rate: u64,
    pub delay: u64,
    /// Bits per second at which the sender paces its packets; `None` if it sends what the window allows at once.
    pub pace: Option<u64>,
    /// The receive window in bytes, a multiple of `1 << scale`.
    pub window: u64,
    pub scale: u8,
    pub segments: u64,
    /// The segments whose first transmission the link loses.
    pub lost: BTreeSet<u64>,
    pub first_sequence: u32,
    pub stamps: bool,
    pub handshake: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Data(u64, u64),
    Acknowledgement(u64),
}

/// A packet as the place of the capture sees it.
struct Seen {
    at: u64,
    forward: bool,
    flags: u8,
    sequence: u64,
    payload: u64,
    acknowledged: u64,
    stamps: (u64, u64),
    blocks: Vec<(u64, u64)>,
}

const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
/// The time of the first packet.
const BEGIN: u64 = 1_000_000_000_000;

impl Transfer {
    /// Computes the transfer, and returns its capture.
    pub fn capture(&self, place: Place) -> Vec<u8> {
        file(&self.records(place))
    }

    /// Computes the transfer, and returns the records of its capture.
    pub fn records(&self, place: Place) -> Vec<Record> {
        let mut seen = self.packets(place);
        seen.sort_by_key(|packet| packet.at);
        seen.iter().map(|packet| self.record(packet)).collect()
    }

    /// Returns when the place sees data that leave the link at `departed`, having been sent at `sent`.
    fn data_seen(&self, place: Place, sent: u64, departed: u64) -> u64 {
        match place {
            Place::Sender => sent,
            Place::Middle => departed + self.delay / 2,
            Place::Receiver => departed + self.delay,
        }
    }

    fn acknowledgement_seen(&self, place: Place, sent: u64) -> u64 {
        match place {
            Place::Sender => sent + self.delay,
            Place::Middle => sent + self.delay / 2,
            Place::Receiver => sent,
        }
    }

    fn packets(&self, place: Place) -> Vec<Seen> {
        let mut seen = Vec::new();
        let stamp = |at: u64| at / 1_000_000;
        let plain = |at, forward, flags, sequence, acknowledged, stamps| Seen {
            at,
            forward,
            flags,
            sequence,
            payload: 0,
            acknowledged,
            stamps,
            blocks: Vec::new(),
        };
        let answer = BEGIN + self.delay;
        let start = answer + self.delay;
        if self.handshake {
            let at = self.data_seen(place, BEGIN, BEGIN);
            seen.push(plain(at, true, SYN, 0, 0, (stamp(BEGIN), 0)));
            let at = self.acknowledgement_seen(place, answer);
            seen.push(plain(at, false, SYN | ACK, 0, 1, (stamp(answer), stamp(BEGIN))));
            let at = self.data_seen(place, start, start);
            seen.push(plain(at, true, ACK, 1, 1, (stamp(start), stamp(answer))));
        }
        let mut events = BinaryHeap::new();
        let (mut next, mut acknowledged, mut free, mut paced) = (0u64, 0u64, 0u64, 0u64);
        let (mut repeated, mut known): (BTreeSet<u64>, BTreeSet<u64>) = Default::default();
        // The receiver: what it has beyond the first hole, in the order of arrival, and what it has in order.
        let (mut beyond, mut expected, mut pending): (Vec<u64>, u64, u64) = (Vec::new(), 0, 0);
        let mut echo = stamp(answer);
        let mut reports: BTreeMap<u64, (u64, Vec<u64>, u64)> = BTreeMap::new();
        let serialization = PACKET * 8 * 1_000_000_000 / self.rate;
        let room = self.window / SEGMENT;
        let mut now = start;
        loop {
            let mut sending: Vec<u64> = known
                .last()
                .map(|&last| (acknowledged..last).filter(|segment| !known.contains(segment)).collect())
                .unwrap_or_default();
            sending.retain(|segment| known.range(segment..).count() >= 3 && !repeated.contains(segment));
            repeated.extend(&sending);
            let again = sending.len();
            // Slow start, without which the whole window would wait at the link at first.
            while next < self.segments && next - acknowledged < room.min(10 + acknowledged) {
                sending.push(next);
                next += 1;
            }
            for (index, segment) in sending.into_iter().enumerate() {
                let left = now.max(paced);
                paced = left + self.pace.map_or(0, |pace| PACKET * 8 * 1_000_000_000 / pace);
                free = free.max(left) + serialization;
                let is_lost = index >= again && self.lost.contains(&segment);
                if place == Place::Sender || !is_lost {
                    seen.push(Seen {
                        payload: SEGMENT,
                        ..plain(
                            self.data_seen(place, left, free),
                            true,
                            ACK,
                            1 + segment * SEGMENT,
                            1,
                            (stamp(left), echo),
                        )
                    });
                }
                if !is_lost {
                    events.push(Reverse((free + self.delay, Event::Data(segment, stamp(left)))));
                }
            }
            let Some(Reverse((at, event))) = events.pop() else { break };
            now = at;
            match event {
                Event::Data(segment, value) => {
                    let hole = !beyond.is_empty();
                    if segment == expected {
                        expected += 1;
                        while let Some(index) = beyond.iter().position(|other| *other == expected) {
                            beyond.remove(index);
                            expected += 1;
                        }
                    } else {
                        beyond.push(segment);
                    }
                    pending += 1;
                    let ends = segment + 1 == self.segments || expected == self.segments;
                    if pending < 2 && !hole && beyond.is_empty() && !ends {
                        continue;
                    }
                    pending = 0;
                    let blocks = blocks(&beyond, segment);
                    let number = reports.len() as u64;
                    let wire = |segment: u64| 1 + segment * SEGMENT;
                    seen.push(Seen {
                        blocks: blocks.iter().map(|&(left, right)| (wire(left), wire(right))).collect(),
                        ..plain(
                            self.acknowledgement_seen(place, at),
                            false,
                            ACK,
                            1,
                            wire(expected),
                            (stamp(at), value),
                        )
                    });
                    reports.insert(number, (expected, beyond.clone(), stamp(at)));
                    events.push(Reverse((at + self.delay, Event::Acknowledgement(number))));
                }
                Event::Acknowledgement(number) => {
                    let (upto, above, value) = &reports[&number];
                    acknowledged = acknowledged.max(*upto);
                    known.extend(above);
                    known = known.split_off(&acknowledged);
                    echo = *value;
                }
            }
        }
        seen
    }

    fn record(&self, packet: &Seen) -> Record {
        let (from, to) = if packet.forward { (1, 2) } else { (2, 1) };
        let mut options = Vec::new();
        if packet.flags & SYN > 0 {
            // A scale of zero stands for hosts that do not offer window scaling.
            let scaling = if self.scale > 0 { [1, 3, 3, self.scale] } else { [1; 4] };
            options.extend([&[2, 4, 5, 180], &scaling[..], &[1, 1, 4, 2]].concat());
        }
        if self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend((packet.stamps.0 as u32).to_be_bytes());
            options.extend((packet.stamps.1 as u32).to_be_bytes());
        } else {
            // As many bytes, so that segments have the same size.
            options.extend([1; 12]);
        }
        let number = |forward: bool, offset: u64| {
            let first = if forward { self.first_sequence } else { 77 };
            first.wrapping_add(offset as u32)
        };
        if !packet.blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * packet.blocks.len() as u8]);
            for &(left, right) in &packet.blocks {
                options.extend(number(true, left).to_be_bytes());
                options.extend(number(true, right).to_be_bytes());
            }
        }
        let ports: [u16; 2] = if packet.forward { [40_000, 5000] } else { [5000, 40_000] };
        let mut tcp = ports.map(u16::to_be_bytes).concat();
        tcp.extend(number(packet.forward, packet.sequence).to_be_bytes());
        let acknowledged =
            if packet.flags & ACK > 0 { number(!packet.forward, packet.acknowledged) } else { 0 };
        tcp.extend(acknowledged.to_be_bytes());
        let window = if packet.flags & SYN > 0 { 65_535 } else { (self.window >> self.scale) as u16 };
        tcp.extend([((20 + options.len()) as u8 / 4) << 4, packet.flags]);
        tcp.extend(window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&options);
        let length = 20 + tcp.len() as u64 + packet.payload;
        let mut frame = crate::common::ipv4(from, to, 6, &tcp);
        frame[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        ((packet.at / 1_000_000_000) as u32, (packet.at % 1_000_000_000) as u32, frame, length as u32)
    }
}

/// Returns a capture with these records.
pub fn file(records: &[Record]) -> Vec<u8> {
    pcap(NANO, false, RAW, records)
}

/// Returns true if a record has payload.
pub fn has_payload(record: &Record) -> bool {
    u64::from(record.3) >= SEGMENT
}

/// Returns the same record at another time.
pub fn later(record: &Record, nanos: i64) -> Record {
    let at = i64::from(record.0) * 1_000_000_000 + i64::from(record.1) + nanos;
    ((at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, record.2.clone(), record.3)
}

/// Returns the blocks of a selective acknowledgement: the one with the newest segment first, at most three.
fn blocks(beyond: &[u64], newest: u64) -> Vec<(u64, u64)> {
    let sorted: BTreeSet<u64> = beyond.iter().copied().collect();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for segment in sorted {
        match ranges.last_mut() {
            Some(range) if range.1 == segment => range.1 += 1,
            _ => ranges.push((segment, segment + 1)),
        }
    }
    ranges.sort_by_key(|range| (!(range.0 <= newest && newest < range.1), Reverse(range.0)));
    ranges.truncate(3);
    ranges
}
