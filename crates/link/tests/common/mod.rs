//! What the tests of queue policies share: a packet that knows itself, and ways to offer load.
#![expect(dead_code, reason = "each test binary uses a part")]

use tightlink_link::queue::Context;
use tightlink_link::{Datagram, DropReason, Ecn, Limit, Link, Queue};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// A packet with a number, a flow, a sending host, an ECN field and a DSCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub id: u64,
    pub flow: u64,
    pub host: u64,
    pub length: u64,
    pub ecn: Ecn,
    pub dscp: u8,
}

impl Datagram for Probe {
    fn wire_len(&self) -> Bytes {
        Bytes::new(self.length)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn mark(&mut self) {
        assert_ne!(self.ecn, Ecn::NotCapable, "a packet that cannot be marked is dropped");
        self.ecn = Ecn::Marked;
    }
    fn flow_key(&self) -> u64 {
        self.flow
    }
    fn hosts(&self) -> (u64, u64) {
        (self.host, self.flow)
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
}

/// Packet `id` of flow 0: 1500 bytes, not capable of ECN.
pub fn plain(id: u64) -> Probe {
    Probe { id, flow: 0, host: 0, length: 1500, ecn: Ecn::NotCapable, dscp: 0 }
}

pub fn capable(id: u64) -> Probe {
    Probe { ecn: Ecn::Capable, ..plain(id) }
}

pub fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

pub fn millis(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

pub fn context(limit: u64, rate_mbps: u64) -> Context {
    let rate = Rate::from_bps(rate_mbps * 1_000_000);
    Context::new(Limit::Packets(limit), rate, Stream::new(7, "queue"))
}

/// What became of a packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was sent, having waited so long.
    Sent(Span),
    Dropped(DropReason),
}

/// What left a driven queue, when and how, in order.
pub type Fates = Vec<(Time, Probe, Fate)>;

/// A serializer of constant `service` time per packet before a queue, driven by hand so that the tests see
/// the policy itself: the wire takes the next packet as the last one ends.
pub struct TestLink<Q> {
    pub queue: Q,
    service: Span,
    free_at: Option<Time>,
    arrived: Vec<Time>,
    pub fates: Fates,
}

impl<Q: Queue<Probe>> TestLink<Q> {
    pub fn new(queue: Q, service: Span) -> Self {
        Self { queue, service, free_at: None, arrived: Vec::new(), fates: Vec::new() }
    }

    /// Sends what can be sent before or at `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(free) = self.free_at.filter(|free| *free <= now) {
            let fates = &mut self.fates;
            let next =
                self.queue.dequeue(free, &mut |packet, why| fates.push((free, packet, Fate::Dropped(why))));
            self.free_at = next.map(|packet| self.send(free, packet));
        }
    }

    fn send(&mut self, now: Time, packet: Probe) -> Time {
        let wait = now.since(self.arrived[packet.id as usize]);
        self.fates.push((now, packet, Fate::Sent(wait)));
        now + self.service
    }

    /// A packet arrives; its id must be the number of those before it.
    pub fn arrive(&mut self, now: Time, packet: Probe) {
        self.advance(now);
        assert_eq!(packet.id as usize, self.arrived.len());
        self.arrived.push(now);
        let fates = &mut self.fates;
        let mut log = |packet, why| fates.push((now, packet, Fate::Dropped(why)));
        if self.free_at.is_some() {
            self.queue.enqueue(now, packet, &mut log);
        } else if let Some(packet) = self.queue.pass(now, packet, &mut log) {
            self.free_at = Some(self.send(now, packet));
        }
    }

    /// How many packets have arrived: the next id.
    pub fn arrivals(&self) -> u64 {
        self.arrived.len() as u64
    }

    /// Waits of packets sent from `since` on.
    pub fn waits(&self, since: Time) -> Vec<Span> {
        let sent = |(time, _, fate): &(Time, Probe, Fate)| match fate {
            Fate::Sent(wait) if *time >= since => Some(*wait),
            _ => None,
        };
        self.fates.iter().filter_map(sent).collect()
    }

    /// When packets were dropped for `reason`.
    pub fn drops(&self, reason: DropReason) -> Vec<Time> {
        let dropped = |(_, _, fate): &&(Time, Probe, Fate)| *fate == Fate::Dropped(reason);
        self.fates.iter().filter(dropped).map(|(time, ..)| *time).collect()
    }
}

pub fn mean(spans: &[Span]) -> f64 {
    spans.iter().map(|span| span.as_secs_f64()).sum::<f64>() / spans.len() as f64
}

/// Drives a link without propagation delay through `arrivals` in order of time and until it is empty: what
/// left, in order, with each packet's time of leaving.
pub fn drive(link: &mut Link<Probe>, arrivals: &[(Time, Probe)]) -> (Vec<(Time, Probe)>, Fates) {
    let (mut out, mut dropped) = (Vec::new(), Vec::new());
    let mut arrivals = arrivals.iter().copied().peekable();
    loop {
        let arrival = arrivals.peek().map(|(time, _)| *time);
        let Some(now) = [arrival, link.wakeup()].into_iter().flatten().min() else { break };
        let mut log = |packet, why| dropped.push((now, packet, Fate::Dropped(why)));
        while let Some(packet) = link.poll(now, &mut log) {
            out.push((now, packet));
        }
        if arrival == Some(now)
            && let Some((_, packet)) = arrivals.next()
        {
            link.push(now, packet, &mut log);
        }
    }
    (out, dropped)
}
