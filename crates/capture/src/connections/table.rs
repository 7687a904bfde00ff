//! Connections by their ends, with bounded memory.

use super::failure::{Failure, FailureKind};
use super::flow::{Flow, Handshake, Scaling};
use super::segment::{End, Segment};
use super::{Connection, DirectionReport, Others};
use estimate::diagnosis::{Direction, Evidence};
use std::collections::HashMap;
use std::net::SocketAddr;
use units::{Bytes, Span, Time};

/// The most connections, which take 600 MB; the packets of later ones are counted only.
const MOST_CONNECTIONS: usize = 2_000_000;
/// The most directions that are followed at a time; of more, those that have been quiet longest are summed up.
const MOST_FLOWS: usize = 60_000;
/// The most intervals of one direction.
const MOST_INTERVALS: usize = 512;
/// The most intervals of all directions, which take 77 MB. Each direction has room for its few, so that intervals are
/// merged a few times at most.
const ALL_INTERVALS: usize = MOST_FLOWS * FEW_INTERVALS;
/// The most intervals of a direction that has carried little.
const FEW_INTERVALS: usize = 8;
/// The payload from which a direction has all its intervals, and keeps all its sums once it is summed up.
const LITTLE: u64 = 20_000;
/// The most connections that are listed: those with most payload.
const MOST_LISTED: usize = 100_000;
/// The time within which two equal SYNs are one that was captured twice, in nanoseconds.
const TWICE: u64 = 1_000_000;
/// The most directions whose rates are measured, each with 29 kB.
const MOST_METERS: usize = 1500;

/// The ends of a connection, the smaller first, and the interface where it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    ends: [End; 2],
    interface: u32,
}

/// The packets that one end of a connection has sent.
#[derive(Debug, Default)]
struct Side {
    packets: u64,
    bytes: u64,
    /// Its SYNs.
    requests: u16,
    /// True once it has sent anything but SYNs and resets.
    spoke: bool,
    /// Its first sequence number, once its SYN has come.
    begin: Option<u32>,
    /// The time of the last SYN; `None` if there were several, so that the answer is ambiguous.
    syn_at: Option<u64>,
    largest_segment: Option<u16>,
    scale: Option<u8>,
    first_window: u16,
    /// True once it has closed the connection (FIN), and once it has reset it before.
    closed: bool,
    reset: bool,
    flow: Option<Box<Flow>>,
    summed: Option<Box<DirectionReport>>,
    little: Little,
}

/// The sums of a direction that carried little and has been summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Little {
    payload: u64,
    segments: u32,
    retransmitted: u32,
    fast: u32,
    by_timeout: u32,
    needless: u32,
    out_of_order: u32,
}

#[derive(Debug)]
struct Pair {
    key: Key,
    first: u64,
    last: u64,
    sides: [Side; 2],
    /// The end that opened the connection: the first or the second.
    client: Option<u8>,
    /// The halves of the handshake: from the SYN to its answer, and from that to the acknowledgement.
    answered: Option<u64>,
    completed: Option<u64>,
}

/// All connections of a capture.
#[derive(Debug)]
pub(super) struct Table {
    places: HashMap<Key, u32>,
    pairs: Vec<Pair>,
    /// The places of pairs with directions that are followed; a place may occur twice.
    live: Vec<u32>,
    /// The directions that are followed.
    flows: usize,
    intervals: usize,
    most_intervals: usize,
    meters: usize,
    /// Packets of connections beyond the limit.
    pub beyond: u64,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            places: HashMap::new(),
            pairs: Vec::new(),
            live: Vec::new(),
            flows: 0,
            intervals: 0,
            most_intervals: MOST_INTERVALS,
            meters: MOST_METERS,
            beyond: 0,
        }
    }

    /// Takes the next packet.
    pub(super) fn take(&mut self, segment: &Segment) {
        let from = usize::from(segment.source > segment.destination);
        let ends = if from == 0 {
            [segment.source, segment.destination]
        } else {
            [segment.destination, segment.source]
        };
        let key = Key { ends, interface: segment.interface };
        let place = match self.places.get(&key) {
            Some(&place) if !self.pairs[place as usize].is_over(segment, from) => place as usize,
            _ if self.pairs.len() == MOST_CONNECTIONS => {
                self.beyond += 1;
                return;
            }
            _ => {
                self.pairs.push(Pair::new(key, segment.at));
                self.places.insert(key, self.pairs.len() as u32 - 1);
                self.pairs.len() - 1
            }
        };
        let pair = &mut self.pairs[place];
        pair.count(segment, from);
        let begins = (segment.payload > 0 && !segment.rst) && pair.sides[from].flow.is_none();
        if begins {
            let flow = Box::new(pair.flow(segment, from));
            pair.sides[from].flow = Some(flow);
            self.flows += 1;
            self.live.push(place as u32);
        }
        let (mut before, mut after) = (0, 0);
        for (side, back) in [(from, false), (1 - from, true)] {
            let Some(flow) = pair.sides[side].flow.as_deref_mut() else { continue };
            before += flow.intervals();
            let most = if flow.counts.payload < LITTLE { FEW_INTERVALS } else { self.most_intervals };
            flow.limit_intervals(most);
            if back {
                flow.acknowledge(segment, segment.at);
            } else if !segment.rst {
                flow.data(segment, segment.at, &mut self.meters);
            }
            after += flow.intervals();
        }
        self.intervals = self.intervals + after - before;
        if self.flows > MOST_FLOWS {
            self.sum_up();
        }
        if self.intervals > ALL_INTERVALS {
            self.merge();
        }
    }

    /// Halves the number of intervals of those that have most.
    fn merge(&mut self) {
        self.most_intervals = (self.most_intervals / 2).max(FEW_INTERVALS);
        let most = self.most_intervals;
        self.intervals = 0;
        self.live.sort_unstable();
        self.live.dedup();
        for &place in &self.live {
            for flow in
                self.pairs[place as usize].sides.iter_mut().filter_map(|side| side.flow.as_deref_mut())
            {
                if flow.intervals() > most {
                    flow.limit_intervals(most);
                }
                self.intervals += flow.intervals();
            }
        }
    }

    /// Sums up the half of all directions that has been quiet longest.
    fn sum_up(&mut self) {
        self.live.sort_unstable();
        self.live.dedup();
        let sides = self.live.iter().flat_map(|&place| &self.pairs[place as usize].sides);
        let mut times: Vec<u64> = sides.filter_map(|side| Some(side.flow.as_deref()?.last_data())).collect();
        let middle = times.len() / 2;
        let (_, &mut limit, _) = times.select_nth_unstable(middle);
        for &place in &self.live {
            let pair = &mut self.pairs[place as usize];
            for side in 0..2 {
                let quiet = pair.sides[side].flow.as_deref().is_some_and(|flow| flow.last_data() <= limit);
                if let Some(flow) = pair.sides[side].flow.take_if(|_| quiet) {
                    self.flows -= 1;
                    self.intervals = self.intervals.saturating_sub(flow.intervals());
                    pair.sum_up(side, *flow);
                }
            }
        }
        let pairs = &self.pairs;
        self.live.retain(|&place| pairs[place as usize].sides.iter().any(|side| side.flow.is_some()));
    }

    /// Returns the connections with most payload, largest first, and the sums of the others.
    pub(super) fn finish(mut self) -> (Vec<Connection>, Others) {
        drop(self.places);
        self.pairs.sort_by_cached_key(|pair| {
            let sum = |of: fn(&Side) -> u64| pair.sides.iter().map(of).sum::<u64>();
            std::cmp::Reverse((sum(Side::payload), sum(|side| side.packets)))
        });
        let others = self.pairs.get(MOST_LISTED..).unwrap_or_default();
        let payload = others.iter().flat_map(|pair| &pair.sides).map(Side::payload).sum();
        let others = Others { connections: others.len() as u64, payload: Bytes::new(payload) };
        self.pairs.truncate(MOST_LISTED);
        (self.pairs.into_iter().map(Pair::finish).collect(), others)
    }
}

impl Side {
    fn payload(&self) -> u64 {
        let followed = self.flow.as_ref().map_or(0, |flow| flow.counts.payload);
        let summed = self.summed.as_ref().map_or(0, |report| report.statistics.payload.get());
        followed + summed + self.little.payload
    }
}

impl Pair {
    fn new(key: Key, at: u64) -> Self {
        let sides = [Side::default(), Side::default()];
        Self { key, first: at, last: at, sides, client: None, answered: None, completed: None }
    }

    /// Returns true if a packet begins another connection between the same ends.
    fn is_over(&self, segment: &Segment, from: usize) -> bool {
        let side = &self.sides[from];
        let other = side.begin.is_some_and(|begin| begin != segment.sequence);
        let carried = side.flow.is_some() || side.summed.is_some() || side.closed || side.reset;
        segment.syn && (other || (side.begin.is_none() && carried))
    }

    /// Counts a packet, and takes what it says of the handshake.
    fn count(&mut self, segment: &Segment, from: usize) {
        self.last = segment.at;
        let peer_syn = self.sides[1 - from].syn_at;
        let peer_begin = self.sides[1 - from].begin;
        let answers = |begin: u32| segment.acknowledgement == Some(begin.wrapping_add(1));
        let side = &mut self.sides[from];
        side.packets += 1;
        side.bytes += u64::from(segment.size);
        side.spoke |= !segment.syn && !segment.rst;
        side.closed |= segment.fin;
        side.reset |= segment.rst;
        if segment.syn {
            // A SYN is sent again after a second or later (RFC 6298), unless it was captured twice.
            let twice = side.begin == Some(segment.sequence)
                && side.syn_at.is_some_and(|at| segment.at.saturating_sub(at) <= TWICE);
            if twice {
                return;
            }
            side.requests = side.requests.saturating_add(1);
            side.syn_at = side.begin.is_none().then_some(segment.at);
            side.begin = Some(segment.sequence);
            (side.largest_segment, side.scale) = (segment.largest_segment, segment.scale);
            side.first_window = segment.window;
            if segment.acknowledgement.is_none() {
                self.client = Some(from as u8);
            } else if peer_begin.is_some_and(answers) {
                self.client = Some(1 - from as u8);
                self.answered = side.syn_at.and_then(|at| at.checked_sub(peer_syn?));
            }
        } else if self.client == Some(from as u8)
            && self.completed.is_none()
            && peer_begin.is_some_and(answers)
        {
            self.completed = peer_syn.and_then(|at| segment.at.checked_sub(at));
        }
    }

    /// Makes the flow that begins with `segment`.
    fn flow(&self, segment: &Segment, from: usize) -> Flow {
        let (side, peer) = (&self.sides[from], &self.sides[1 - from]);
        let scaling = match [side, peer].map(|side| side.begin.map(|_| side.scale)) {
            [Some(None), _] | [_, Some(None)] => Scaling::Off,
            [Some(Some(_)), Some(Some(scale))] => Scaling::By(scale),
            _ => Scaling::Unknown,
        };
        let is_client = self.client == Some(from as u8);
        let (receiver_half, sender_half) =
            if is_client { (self.answered, self.completed) } else { (self.completed, self.answered) };
        let largest_segment = peer.largest_segment;
        let handshake = Handshake { largest_segment, scaling, receiver_half, sender_half };
        let mut flow = Flow::new(segment, &handshake, FEW_INTERVALS);
        if peer.begin.is_some() {
            flow.first_window(peer.first_window);
        }
        flow
    }

    fn direction(&self, from: usize) -> Direction {
        let address = |end: &End| SocketAddr::new(end.address, end.port);
        Direction { source: address(&self.key.ends[from]), destination: address(&self.key.ends[1 - from]) }
    }

    fn sum_up(&mut self, side: usize, flow: Flow) {
        let counts = flow.counts;
        if counts.payload < LITTLE && flow.counts.delivered < LITTLE {
            let little = &mut self.sides[side].little;
            little.payload += counts.payload;
            let add =
                |sum: &mut u32, count: u64| *sum = sum.saturating_add(count.try_into().unwrap_or(u32::MAX));
            add(&mut little.segments, counts.segments);
            add(&mut little.retransmitted, counts.retransmitted);
            add(&mut little.fast, counts.fast);
            add(&mut little.by_timeout, counts.by_timeout);
            add(&mut little.needless, counts.needless);
            add(&mut little.out_of_order, counts.out_of_order);
            return;
        }
        self.keep(side, flow);
    }

    /// Adds all sums of a flow that ends.
    fn keep(&mut self, side: usize, flow: Flow) {
        let (statistics, evidence) = flow.finish(self.direction(side));
        let Some(before) = &mut self.sides[side].summed else {
            self.sides[side].summed = Some(Box::new(DirectionReport { statistics, evidence }));
            return;
        };
        before.statistics.add(&statistics);
        let carried =
            |evidence: &Option<Evidence>| evidence.as_ref().map_or(Bytes::ZERO, Evidence::delivered);
        if carried(&evidence) > carried(&before.evidence) {
            before.evidence = evidence;
        }
    }

    /// Returns the way in which the connection failed, if it did.
    fn failure(&self) -> Option<Failure> {
        let first = usize::from(self.client.unwrap_or(0));
        let failed = |side: usize, kind| Some(Failure { by: self.direction(side).source, kind });
        let (client, server) = (&self.sides[first], &self.sides[1 - first]);
        if self.client.is_some() && !client.spoke {
            let over = Span::from_nanos(self.last.saturating_sub(self.first));
            let requests = u32::from(client.requests);
            return match (server.packets, server.reset && server.begin.is_none()) {
                (0, _) => failed(1 - first, FailureKind::NoAnswer { requests, over }),
                (_, true) => failed(1 - first, FailureKind::Refused),
                _ => None,
            };
        }
        for side in [first, 1 - first] {
            let failure = self.sides[side].flow.as_deref().and_then(|flow| flow.failure(self.last));
            if let Some(kind) = failure {
                return failed(1 - side, kind);
            }
        }
        let abrupt = !client.closed && !server.closed;
        let side = [first, 1 - first].into_iter().find(|&side| self.sides[side].reset)?;
        abrupt.then_some(Failure { by: self.direction(side).source, kind: FailureKind::Reset })
    }

    fn finish(mut self) -> Connection {
        let failure = self.failure();
        for side in 0..2 {
            if let Some(flow) = self.sides[side].flow.take() {
                self.keep(side, *flow);
            }
        }
        let handshake = self.answered.zip(self.completed).map(|(one, other)| Span::from_nanos(one + other));
        let first = usize::from(self.client.unwrap_or(0));
        let mut report = |from: usize| {
            let side = &mut self.sides[from];
            let mut report = side.summed.take().map_or_else(DirectionReport::default, |report| *report);
            let (sums, little) = (&mut report.statistics, side.little);
            sums.payload += Bytes::new(little.payload);
            sums.segments += u64::from(little.segments);
            sums.retransmitted.segments += u64::from(little.retransmitted);
            sums.retransmitted.fast += u64::from(little.fast);
            sums.retransmitted.by_timeout += u64::from(little.by_timeout);
            sums.retransmitted.probes +=
                u64::from(little.retransmitted.saturating_sub(little.fast.saturating_add(little.by_timeout)));
            sums.retransmitted.needless += u64::from(little.needless);
            sums.out_of_order += u64::from(little.out_of_order);
            report.statistics.packets = side.packets;
            report.statistics.bytes = Bytes::new(side.bytes);
            report.statistics.round_trip.handshake = handshake;
            report
        };
        let directions = [report(first), report(1 - first)];
        Connection {
            forward: self.direction(first),
            opened: self.client.is_some(),
            interface: self.key.interface,
            from: Time::from_nanos(self.first),
            until: Time::from_nanos(self.last),
            failure,
            directions,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/within/table.rs"]
mod tests;
