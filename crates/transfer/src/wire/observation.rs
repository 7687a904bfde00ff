//! [`Observation`]: the evidence about one connection with a load, as it travels.
//!
//! Only facts of the sockets of a test are in it. All times are in microseconds, and intervals follow each other from the
//! beginning of the load, so that the clocks of both ends do not matter. An [`Evidence`] is made of whatever a peer
//! claims, with every number cut to one that sums up.

use super::bounded::{self, MOST_OBSERVED};
use estimate::diagnosis::{
    BufferEstimate, Direction, Evidence, Interval, KernelClocks, LossEpisode, Vantage, WindowSizing, diagnose,
};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use units::{Bytes, Rate, Span, Time};

/// The greatest number that a peer may claim of bytes or segments: sums of all intervals still fit.
const MOST: u64 = 1 << 48;
/// The longest time that a peer may claim, in microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;

/// The evidence about one connection with a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The end that sends the load, as the observer knows it.
    pub source: SocketAddr,
    /// The end that receives it.
    pub destination: SocketAddr,
    /// True if the observer is the end that sends.
    pub of_sender: bool,
    /// The scale of the receive window.
    pub window_scale: Option<u8>,
    /// Payload of a full segment.
    pub segment: u64,
    /// The least round trip.
    pub base: Option<u64>,
    /// The congestion control of the sender; empty if it is not known.
    #[serde(with = "bounded::text")]
    pub control: String,
    /// True if the handshake left window scaling out.
    pub scaling_off: bool,
    /// The owner of the decision on the receive window's size.
    pub sizing: Option<ObservedSizing>,
    /// The bottleneck's rate in bits per second.
    pub capacity: Option<u64>,
    /// The buffer in front of it, and true if it never overflowed.
    pub buffer: Option<(u64, bool)>,
    /// Segments sent again that had arrived.
    pub needless: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The number of connections that had the load together.
    pub connections: u16,
    /// The number of these that have the same first limit as this one, which moved the most data.
    pub alike: u16,
    /// Episodes of loss: the first [`MOST_OBSERVED`].
    #[serde(deserialize_with = "bounded::observed")]
    pub episodes: Vec<ObservedLoss>,
    /// The intervals in order.
    #[serde(deserialize_with = "bounded::observed")]
    pub intervals: Vec<ObservedInterval>,
}

/// The owner of the decision on the size of a receive window ([`WindowSizing`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObservedSizing {
    /// The receiving kernel.
    Kernel,
    /// The receiving program.
    Program,
    /// Nobody, because autotuning is off.
    AutotuningOff,
}

impl ObservedSizing {
    const fn of(sizing: WindowSizing) -> Self {
        match sizing {
            WindowSizing::Kernel => Self::Kernel,
            WindowSizing::Program => Self::Program,
            WindowSizing::AutotuningOff => Self::AutotuningOff,
        }
    }

    const fn sizing(self) -> WindowSizing {
        match self {
            Self::Kernel => WindowSizing::Kernel,
            Self::Program => WindowSizing::Program,
            Self::AutotuningOff => WindowSizing::AutotuningOff,
        }
    }
}

/// An episode of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedLoss {
    /// The time since the load began.
    pub at: u64,
    /// The segments lost.
    pub segments: u64,
    /// The growth of the round trip before it.
    pub queueing: Option<u64>,
    /// True if a timeout repaired it.
    pub by_timeout: bool,
}

/// An interval, with the facts of [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedInterval {
    length: u64,
    delivered: u64,
    sent: Option<u64>,
    flight: Option<u64>,
    peak_flight: Option<u64>,
    receive_window: Option<u64>,
    least_window: Option<u64>,
    congestion_window: Option<u64>,
    unsent: Option<u64>,
    buffer_full: Option<bool>,
    unread: Option<u64>,
    segments: Option<u64>,
    round_trip: Option<u64>,
    idle: u64,
    /// The kernel's clocks: busy, limited by the receive window, limited by the send buffer.
    kernel: Option<(u64, u64, u64)>,
    retransmitted: u64,
    out_of_order: u64,
    marked: u64,
    ran_dry: bool,
}

impl Observation {
    /// Chooses the connection with most data among those that carried a load, and writes its evidence down.
    pub(crate) fn of(connections: Vec<Evidence>) -> Option<Self> {
        let causes: Vec<_> = connections.iter().map(|one| diagnose(one).cause).collect();
        let place = (0..connections.len()).max_by_key(|&place| connections[place].delivered())?;
        let alike = causes.iter().filter(|cause| **cause == causes[place]).count() as u16;
        let count = causes.len() as u16;
        let evidence = connections.into_iter().nth(place)?;
        Some(Self { connections: count, alike, ..Self::from(evidence) })
    }

    /// Joins the evidence of both ends: the sender's view, with the facts that only the receiver knows.
    pub(crate) fn joined(sending: Option<Self>, receiving: Option<Self>) -> Option<Self> {
        let (Some(sending), Some(receiving)) = (&sending, &receiving) else { return sending.or(receiving) };
        let mut evidence = sending.evidence();
        live::watch::learn(&mut evidence, &receiving.evidence());
        let Self { connections, alike, .. } = *sending;
        Some(Self { connections, alike, ..Self::from(evidence) })
    }

    /// Returns the evidence.
    pub(crate) fn evidence(&self) -> Evidence {
        let direction = Direction { source: self.source, destination: self.destination };
        let vantage = if self.of_sender { Vantage::SenderSocket } else { Vantage::ReceiverSocket };
        let mut from = Time::ZERO;
        let intervals = self.intervals.iter().map(|interval| {
            let interval = interval.at(from);
            from += interval.length;
            interval
        });
        Evidence {
            window_scale: self.window_scale.map(|scale| scale.min(14)),
            segment: bytes(self.segment),
            base_round_trip: self.base.map(span),
            control: (!self.control.is_empty()).then(|| self.control.clone()),
            scaling_off: self.scaling_off,
            sizing: self.sizing.map(ObservedSizing::sizing),
            bulk: true,
            capacity: self.capacity.map(|bps| Rate::from_bps(bps.min(MOST))),
            buffer: self.buffer.map(|(size, at_least)| BufferEstimate { size: bytes(size), at_least }),
            episodes: self.episodes.iter().map(ObservedLoss::episode).collect(),
            needless: self.needless.min(MOST),
            timeouts: self.timeouts.min(MOST),
            intervals: intervals.collect(),
            ..Evidence::new(direction, vantage)
        }
    }
}

impl From<Evidence> for Observation {
    fn from(mut evidence: Evidence) -> Self {
        // The load has a beginning and an end, and the rest is not its own.
        let is_pause = |interval: &Interval| interval.idle == interval.length;
        let first = evidence.intervals.iter().position(|one| !is_pause(one)).unwrap_or(0);
        evidence.intervals.drain(..first);
        while evidence.intervals.len() > MOST_OBSERVED {
            let pairs = evidence.intervals.chunks(2);
            evidence.intervals =
                pairs.map(|pair| pair.iter().skip(1).fold(pair[0], |one, next| one.joined(*next))).collect();
        }
        let began = evidence.intervals.first().map_or(Time::ZERO, |one| one.from);
        evidence.episodes.truncate(MOST_OBSERVED);
        Self {
            source: evidence.direction.source,
            destination: evidence.direction.destination,
            of_sender: evidence.vantage == Vantage::SenderSocket,
            window_scale: evidence.window_scale,
            segment: evidence.segment.get(),
            base: evidence.base_round_trip.map(micros),
            control: evidence.control.unwrap_or_default(),
            scaling_off: evidence.scaling_off,
            sizing: evidence.sizing.map(ObservedSizing::of),
            capacity: evidence.capacity.map(Rate::as_bps),
            buffer: evidence.buffer.map(|buffer| (buffer.size.get(), buffer.at_least)),
            needless: evidence.needless,
            timeouts: evidence.timeouts,
            connections: 1,
            alike: 1,
            episodes: evidence.episodes.iter().map(|one| ObservedLoss::of(one, began)).collect(),
            intervals: evidence.intervals.iter().map(ObservedInterval::of).collect(),
        }
    }
}

impl ObservedLoss {
    fn of(episode: &LossEpisode, began: Time) -> Self {
        Self {
            at: micros(episode.at.since(began)),
            segments: episode.segments,
            queueing: episode.queueing.map(micros),
            by_timeout: episode.by_timeout,
        }
    }

    fn episode(&self) -> LossEpisode {
        LossEpisode {
            at: Time::ZERO + span(self.at),
            segments: self.segments.min(MOST),
            queueing: self.queueing.map(span),
            by_timeout: self.by_timeout,
        }
    }
}

impl ObservedInterval {
    fn of(interval: &Interval) -> Self {
        let bytes = |bytes: Option<Bytes>| bytes.map(Bytes::get);
        Self {
            length: micros(interval.length),
            delivered: interval.delivered.get(),
            sent: bytes(interval.sent),
            flight: bytes(interval.flight),
            peak_flight: bytes(interval.peak_flight),
            receive_window: bytes(interval.receive_window),
            least_window: bytes(interval.least_window),
            congestion_window: bytes(interval.congestion_window),
            unsent: bytes(interval.unsent),
            buffer_full: interval.buffer_full,
            unread: bytes(interval.unread),
            segments: interval.segments,
            round_trip: interval.round_trip.map(micros),
            idle: micros(interval.idle),
            kernel: interval.kernel.map(|clocks| {
                (micros(clocks.busy), micros(clocks.window_limited), micros(clocks.buffer_limited))
            }),
            retransmitted: interval.retransmitted,
            out_of_order: interval.out_of_order,
            marked: interval.marked,
            ran_dry: interval.ran_dry,
        }
    }

    /// Returns the interval that begins at `from`. The data that went the other way, requests of the test, are left out.
    fn at(&self, from: Time) -> Interval {
        let known = |count: Option<u64>| count.map(bytes);
        let length = span(self.length.max(1));
        let part = |micros| span(micros).min(length);
        Interval {
            from,
            length,
            delivered: bytes(self.delivered),
            sent: known(self.sent),
            flight: known(self.flight),
            peak_flight: known(self.peak_flight),
            receive_window: known(self.receive_window),
            least_window: known(self.least_window),
            congestion_window: known(self.congestion_window),
            unsent: known(self.unsent),
            buffer_full: self.buffer_full,
            unread: known(self.unread),
            returned: None,
            segments: self.segments.map(|segments| segments.min(MOST)),
            round_trip: self.round_trip.map(span),
            idle: part(self.idle),
            kernel: self.kernel.map(|(busy, window, buffer)| KernelClocks {
                busy: part(busy),
                window_limited: part(window),
                buffer_limited: part(buffer),
            }),
            retransmitted: self.retransmitted.min(MOST),
            out_of_order: self.out_of_order.min(MOST),
            marked: self.marked.min(MOST),
            ran_dry: self.ran_dry,
        }
    }
}

fn micros(span: Span) -> u64 {
    span.as_nanos() / 1000
}

fn span(micros: u64) -> Span {
    Span::from_micros(micros.min(LONGEST))
}

fn bytes(count: u64) -> Bytes {
    Bytes::new(count.min(MOST))
}

#[cfg(test)]
#[path = "../../tests/within/observation.rs"]
mod tests;
