//! One direction of a path with a link: a [`Lane`] is the link with its cross traffic. The parts that it shares with a
//! direction without a link are also here.
//!
//! **Delivery in groups.** Waking up for each packet would cost more than the packet. Packets leave a link or line up
//! to [`LEAD`] before they are due at the far end. A group is written when its first packet *is* due, or earlier by the
//! usual lateness of the clock. It includes all packets that are due within [`GROUP`] after that. Neighbouring segments
//! of one super-packet leave in one write. So the first packet of a group is on time and those behind it are early by
//! at most `GROUP`.

use crate::flow::{FlowKey, Flows};
use crate::pool::Pool;
use crate::segment::{HEADERS_MAX, Split};
use crate::tap::Tap;
use crate::tun::{Tun, WriteOutcome};
use crate::vnet::{VNET_LEN, VnetHeader};
use crate::{class, ecn};
use link::traffic::Source;
use link::{Datagram, Ecn, Histogram, Link};
use std::collections::HashSet;
use std::io::{self, IoSlice};
use std::ops::Range;
use units::{Bytes, Span, Time};

/// The time after the first packet of a group within which other packets are delivered with it.
const GROUP: Span = Span::from_micros(50);

/// The time by which a packet leaves the link before it is due at the far end, if the link's delay is that long.
const LEAD: Span = Span::from_micros(200);

/// The rule for the times at which packets that left a link or line are delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    lead: Span,
}

impl Pace {
    /// Splits `delay` into a pace, which takes up to [`LEAD`] of it, and the rest, which is the delay of the link
    /// itself.
    pub(super) fn of(delay: Span) -> (Self, Span) {
        let lead = LEAD.min(delay);
        (Self { lead }, delay.saturating_sub(lead))
    }

    /// Returns the time at which the group of a packet that left at `out` is written. If the delay is shorter than
    /// [`GROUP`], the packet is delivered later than it is due.
    pub(super) fn ready(self, out: Time) -> Time {
        out + self.lead.max(GROUP)
    }

    /// Returns true if a packet that leaves at `out` belongs to a group written `now` for packets due `by`.
    pub(super) fn joins(self, out: Time, now: Time, by: Time) -> bool {
        out <= now && self.due(out) <= by + GROUP
    }

    /// Returns the time at which the packet should be at the far end.
    pub(super) fn due(self, out: Time) -> Time {
        out + self.lead
    }
}

/// The longest time by which a group may be written early to make up for a late clock.
pub(super) const EASE_MAX: Span = LEAD;

/// A packet in a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packet {
    /// A segment of a stored packet.
    Real { slot: u32, index: u32, length: u32, flow: u32, hosts: (u32, u32), ecn: Ecn, dscp: u8 },
    /// A packet of cross traffic: it takes room and time and has no body.
    Cross { length: u32, source: u32, dscp: u8 },
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        let (Self::Real { length, .. } | Self::Cross { length, .. }) = *self;
        Bytes::new(u64::from(length))
    }
    fn ecn(&self) -> Ecn {
        match *self {
            Self::Real { ecn, .. } => ecn,
            Self::Cross { .. } => Ecn::NotCapable,
        }
    }
    fn mark(&mut self) {
        if let Self::Real { ecn, .. } = self {
            *ecn = Ecn::Marked;
        }
    }
    fn flow_key(&self) -> u64 {
        match *self {
            Self::Real { flow, .. } => 1 + u64::from(flow),
            // Each source of cross traffic has a key of its own, which no real flow has.
            Self::Cross { source, .. } => u64::from(source) << 33,
        }
    }
    fn hosts(&self) -> (u64, u64) {
        match *self {
            Self::Real { hosts: (source, destination), .. } => (u64::from(source), u64::from(destination)),
            Self::Cross { .. } => (self.flow_key(), self.flow_key()),
        }
    }
    fn dscp(&self) -> u8 {
        let (Self::Real { dscp, .. } | Self::Cross { dscp, .. }) = *self;
        dscp
    }
    fn source(&self) -> Option<usize> {
        match *self {
            Self::Real { .. } => None,
            Self::Cross { source, .. } => Some(source as usize),
        }
    }
}

/// The parts that both directions share: stored packets and measurements of their delivery.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) pool: Pool,
    pub(super) lateness: Histogram,
    pub(super) refused: u64,
    pub(super) scratch: Box<[u8]>,
    headers: Box<[u8; HEADERS_MAX]>,
    /// The tap for copies of the packets, if there is a capture.
    pub(super) tap: Option<Box<Tap>>,
}

impl Store {
    pub(super) fn new() -> Self {
        let mut pool = Pool::default();
        let scratch = pool.scratch();
        Self {
            pool,
            scratch,
            lateness: Histogram::default(),
            refused: 0,
            headers: Box::new([0; HEADERS_MAX]),
            tap: None,
        }
    }

    /// Reads the next packet of `tun`, if one waits.
    pub(super) fn read(&mut self, tun: &Tun) -> io::Result<Option<Frame>> {
        let Some(length) = tun.read(&mut self.scratch)? else { return Ok(None) };
        let frame = &self.scratch[..length];
        let split = frame
            .split_first_chunk::<VNET_LEN>()
            .and_then(|(vnet, packet)| Split::of(VnetHeader::read(vnet), packet).ok());
        Ok(Some(Frame { length, split }))
    }

    /// Copies packets for a capture, if there is a tap.
    pub(super) fn tapped(self, tap: Option<Box<Tap>>) -> Self {
        Self { tap, ..self }
    }

    /// Copies a packet that was just read for the capture, segment by segment.
    pub(super) fn copy_read(&mut self, now: Time, far: bool, frame: &Frame) {
        let (Some(tap), Some(split)) = (&mut self.tap, frame.split) else { return };
        let bytes = &self.scratch[..frame.length];
        for index in 0..split.count() {
            let (headers, rest) = split.frame(bytes, index..index + 1, &mut self.headers);
            tap.copy(now, far, &self.headers[..headers], &bytes[rest]);
        }
    }

    /// Copies the segments `run` of the packet in `slot` for the capture, as they are delivered.
    fn copy_delivered(&mut self, slot: u32, run: Range<u32>, marked: bool) {
        for index in run {
            let (headers, rest) = self.frame(slot, index..index + 1, marked);
            let frame = self.pool.get(slot).frame();
            if let Some(tap) = &mut self.tap {
                tap.delivered(&self.headers[..headers], &frame[rest]);
            }
        }
    }

    /// Writes the segments `run` of the packet in `slot`, marked or not, and releases them.
    pub(super) fn write(&mut self, tun: &Tun, slot: u32, run: Range<u32>, marked: bool) -> io::Result<()> {
        let segments = run.end - run.start;
        if self.tap.is_some() {
            self.copy_delivered(slot, run.clone(), marked);
        }
        let (headers, rest) = self.frame(slot, run, marked);
        let frame = self.pool.get(slot).frame();
        let parts = [IoSlice::new(&self.headers[..headers]), IoSlice::new(&frame[rest])];
        let parts = if headers == 0 { &parts[1..] } else { &parts[..] };
        if tun.write(parts)? == WriteOutcome::Refused {
            self.refused += u64::from(segments);
        }
        self.pool.release(slot, segments);
        Ok(())
    }

    /// Makes the headers of the segments `run`. Returns the number of bytes of `headers` that they take, and the place
    /// of the rest in the packet. A whole packet has its own headers, and is marked in place.
    fn frame(&mut self, slot: u32, run: Range<u32>, marked: bool) -> (usize, Range<usize>) {
        let stored = self.pool.get_mut(slot);
        let (length, rest) = stored.split.frame(stored.frame(), run, &mut self.headers);
        if marked {
            let headers = if length == 0 { stored.frame_mut() } else { &mut self.headers[..length] };
            ecn::mark(&mut headers[VNET_LEN..]);
        }
        (length, rest)
    }
}

/// A packet that was just read and is still in the scratch buffer.
pub(super) struct Frame {
    pub(super) length: usize,
    /// The packet's segments; `None` if the packet contradicts its own header.
    pub(super) split: Option<Split>,
}

/// The direction with the tight link.
pub(super) struct Lane {
    link: Link<Packet>,
    pace: Pace,
    sources: Vec<Source>,
    /// The class (DSCP) of each source's packets.
    classes: Vec<u8>,
    pub(super) flows: Flows,
    /// The number of real segments in the link.
    in_flight: u64,
}

impl Lane {
    /// Makes the direction over `link`, whose delay leaves room for `pace`, on a path with this base RTT. `ports`
    /// are the UDP ports of flows.
    pub(super) fn new(link: Link<Packet>, pace: Pace, base_rtt: Span, ports: HashSet<u16>) -> Self {
        Self {
            link,
            pace,
            sources: Vec::new(),
            classes: Vec::new(),
            flows: Flows::new(base_rtt, ports),
            in_flight: 0,
        }
    }

    /// Lets the changes of the link begin at `now`.
    pub(super) fn begin_changes(&mut self, now: Time) {
        self.link.begin_changes(now);
    }

    /// Sets the class of each source's packets.
    pub(super) fn with_classes(self, classes: Vec<u8>) -> Self {
        Self { classes, ..self }
    }

    /// Starts cross traffic.
    pub(super) fn set_sources(&mut self, sources: Vec<Source>) {
        if !sources.is_empty() {
            self.link.meter_sources(sources.len(), self.pace.lead);
        }
        self.sources = sources;
    }

    /// Returns true if cross traffic is still to come, so that the direction must be updated regularly.
    pub(super) fn has_sources(&self) -> bool {
        self.next_cross() < Time::NEVER
    }

    /// Lets cross traffic up to `now` arrive, each packet at its own time.
    pub(super) fn advance(&mut self, now: Time, pool: &mut Pool) {
        while let Some((at, index, source)) = (0..)
            .zip(&mut self.sources)
            .filter_map(|(index, source)| Some((source.wakeup()?, index, source)))
            .min_by_key(|(at, ..)| *at)
            && at <= now
        {
            let length = source.emit().get() as u32;
            let dscp = self.classes.get(index as usize).copied().unwrap_or_default();
            self.push(at, Packet::Cross { length, source: index, dscp }, pool);
        }
    }

    fn next_cross(&self) -> Time {
        self.sources.iter().filter_map(Source::wakeup).min().unwrap_or(Time::NEVER)
    }

    /// Puts the packet just read into the link. Cross traffic must have been [advanced](Lane::advance) to `now`.
    pub(super) fn arrive(&mut self, now: Time, frame: &Frame, store: &mut Store) {
        let Some(split) = frame.split else {
            store.refused += 1;
            return;
        };
        let packet = &store.scratch[VNET_LEN..frame.length];
        let (flow, ecn) = (self.flows.number(FlowKey::of(packet), now), ecn::of(packet));
        let (hosts, dscp) = (class::hosts(packet), class::dscp(packet));
        let slot = store.pool.store(&mut store.scratch, frame.length, split, flow);
        for index in 0..split.count() {
            let length = split.wire_len(index);
            self.flows.arrived(flow, length);
            self.in_flight += 1;
            self.push(now, Packet::Real { slot, index, length, flow, hosts, ecn, dscp }, &mut store.pool);
        }
    }

    fn push(&mut self, now: Time, packet: Packet, pool: &mut Pool) {
        let Self { link, flows, in_flight, .. } = self;
        link.push(now, packet, &mut |packet, _reason| dropped(packet, pool, flows, in_flight));
        flows.group_drops(now, || link.state(now).queueing_delay());
    }

    /// Returns the time of the next delivery.
    pub(super) fn due(&self) -> Option<Time> {
        let real = self.in_flight > 0;
        self.link.wakeup().filter(|_| real).map(|at| self.pace.ready(at))
    }

    /// Delivers the packets due by `by`, which is now or a little later, and those due soon after.
    pub(super) fn deliver(&mut self, now: Time, by: Time, store: &mut Store, tun: &Tun) -> io::Result<()> {
        if self.link.wakeup().is_none_or(|at| self.pace.ready(at) > by) {
            return Ok(());
        }
        let mut run: Option<(u32, Range<u32>, bool)> = None;
        while let Some(at) = self.link.wakeup()
            && self.pace.joins(at, now, by)
        {
            let Self { link, flows, in_flight, .. } = self;
            let pool = &mut store.pool;
            let polled = link.poll(at, &mut |packet, _reason| dropped(packet, pool, flows, in_flight));
            flows.group_drops(at, || link.state(at).queueing_delay());
            let Some(Packet::Real { slot, index, ecn, .. }) = polled else { continue };
            let marked = ecn == Ecn::Marked;
            self.in_flight -= 1;
            store.lateness.record(now.since(self.pace.due(at)));
            match &mut run {
                Some((of, run, mark)) if *of == slot && run.end == index && *mark == marked => run.end += 1,
                _ => {
                    if let Some((slot, run, marked)) = run.replace((slot, index..index + 1, marked)) {
                        store.write(tun, slot, run, marked)?;
                    }
                }
            }
        }
        if let Some((slot, run, marked)) = run {
            store.write(tun, slot, run, marked)?;
        }
        Ok(())
    }

    /// Starts the measured interval.
    pub(super) fn begin_measuring(&mut self, now: Time) {
        self.link.begin_measuring(now);
        self.flows.clear();
    }

    /// Returns the link's state at `now`. Packets that leave by then have left, although they are delivered later.
    pub(super) fn state(&mut self, now: Time, pool: &mut Pool) -> link::LinkState {
        let Self { link, flows, in_flight, .. } = self;
        link.advance(now, &mut |packet, _reason| dropped(packet, pool, flows, in_flight));
        flows.group_drops(now, || link.state(now).queueing_delay());
        link.state(now)
    }

    /// Returns the link's report up to `end`.
    pub(super) fn report(&mut self, end: Time, pool: &mut Pool) -> link::LinkReport {
        self.state(end, pool);
        self.link.report(end)
    }
}

fn dropped(packet: Packet, pool: &mut Pool, flows: &mut Flows, in_flight: &mut u64) {
    if let Packet::Real { slot, length, .. } = packet {
        flows.dropped(pool.get(slot).flow, length);
        pool.release(slot, 1);
        *in_flight -= 1;
    }
}

#[cfg(test)]
#[path = "../../tests/within/lane.rs"]
mod tests;
