//! [`Stretch`]: the intervals of about one round trip together, since the data in flight repeats itself in that time.

use super::evidence::{Evidence, Interval, Vantage};
use units::{Bytes, Rate, Span, Time};

/// The least length of a stretch: the kernel's clocks and its estimate of the receiver's round trip have steps of some
/// milliseconds.
const LEAST: Span = Span::from_millis(60);
/// The segments that may be missing from a window in use: the kernel gathers some before it sends.
const GATHERED: u64 = 2;
/// The least share of a window in flight with which the window is full.
const FULL: f64 = 0.9;
/// The share of the data in flight that may wait in the send buffer of a sender without enough data.
const WAITING: f64 = 0.1;

/// The intervals of about one round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    pub(super) from: Time,
    pub(super) length: Span,
    /// The time without data in flight or waiting.
    pub(super) idle: Span,
    pub(super) delivered: Bytes,
    /// Payload that arrived, in order or not, as far as the segments show it.
    pub(super) arrived: Bytes,
    /// The largest rate of arrival of an interval.
    pub(super) peak: Rate,
    pub(super) sent: Option<Bytes>,
    /// The time with a full receive window, by the data in flight or the kernel's clock.
    pub(super) full: Span,
    /// The time with room in both windows and nothing to send.
    pub(super) dry: Span,
    /// The time in which a part of the data in flight was known.
    pub(super) known: Span,
    /// The time after a short segment, as a capture shows it: the sender has no more.
    pub(super) short: Span,
    pub(super) peak_flight: Option<Bytes>,
    /// The receive window: at the first interval, at the last, the least, the largest.
    pub(super) windows: Option<[Bytes; 4]>,
    pub(super) least_unread: Option<Bytes>,
    /// The time with a full send buffer.
    pub(super) buffer_full: Span,
    pub(super) returned: Option<Bytes>,
    pub(super) segments: Option<u64>,
    /// The round trip: the least, the mean and the largest of the intervals' means.
    pub(super) round_trips: Option<[Span; 3]>,
    /// Segments retransmitted or out of order.
    pub(super) strays: u64,
    pub(super) marked: u64,
}

impl Stretch {
    /// Returns the time that is not idle.
    pub(super) fn busy(&self) -> Span {
        self.length.saturating_sub(self.idle)
    }

    /// Returns the rate of delivery while data was in flight or waited.
    pub(super) fn rate(&self) -> Rate {
        if self.busy() == Span::ZERO { Rate::ZERO } else { Rate::of(self.arrived, self.busy()) }
    }

    fn add(&mut self, interval: &Interval, evidence: &Evidence) {
        let (segment, vantage) = (evidence.segment, evidence.vantage);
        // A program that has more data at all times waits with little of it in the kernel.
        let waiting = if evidence.bulk { 0.0 } else { WAITING };
        let share = |time: Span, of: Span| {
            if time > Span::ZERO { of.as_secs_f64() / time.as_secs_f64() } else { 0.0 }
        };
        let before = share(self.length + interval.length, self.length);
        let flight = interval.peak_flight.or(interval.flight);
        let gathered = segment * GATHERED;
        let fills = |window: Bytes| {
            flight.is_some_and(|flight| (flight + gathered).get() as f64 >= FULL * window.get() as f64)
        };
        let busy = interval.length.saturating_sub(interval.idle);
        let clock = interval.kernel.map_or(Span::ZERO, |kernel| kernel.window_limited);
        let full = if interval.receive_window.is_some_and(fills) { busy } else { clock.min(busy) };
        let is_dry = interval.unsent.zip(flight).is_some_and(|(unsent, flight)| {
            unsent <= gathered.max(flight.scale(waiting)) && !interval.congestion_window.is_some_and(fills)
        });
        self.length += interval.length;
        self.idle += interval.idle.min(interval.length);
        self.delivered += interval.delivered;
        let arrived = match (vantage, interval.segments) {
            (Vantage::ReceiverSocket, Some(segments)) => interval.delivered.max(segment * segments),
            (Vantage::ReceiverCapture, _) => interval.sent.unwrap_or(interval.delivered),
            _ => interval.delivered,
        };
        self.arrived += arrived;
        if interval.length > Span::ZERO {
            self.peak = self.peak.max(Rate::of(arrived, interval.length));
        }
        self.sent = sum(self.sent, interval.sent);
        self.full += full;
        self.dry += if is_dry { busy } else { Span::ZERO };
        self.short +=
            if interval.ran_dry && interval.unsent.is_none() { interval.length } else { interval.idle };
        self.known += if interval.unsent.is_some() { busy } else { Span::ZERO };
        self.peak_flight = self.peak_flight.max(flight);
        if let Some(last) = interval.receive_window {
            let least = interval.least_window.unwrap_or(last).min(last);
            let [first, _, lowest, largest] = self.windows.unwrap_or([last; 4]);
            self.windows = Some([first, last, lowest.min(least), largest.max(last)]);
        }
        self.least_unread = match (self.least_unread, interval.unread) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.buffer_full += if interval.buffer_full == Some(true) { busy } else { Span::ZERO };
        self.returned = sum(self.returned, interval.returned);
        self.segments = match (self.segments, interval.segments) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        if let Some(time) = interval.round_trip {
            let [least, mean, largest] = self.round_trips.unwrap_or([time; 3]);
            let mean = mean.scale(before) + time.scale(1.0 - before);
            self.round_trips = Some([least.min(time), mean, largest.max(time)]);
        }
        self.strays += interval.retransmitted + interval.out_of_order;
        self.marked += interval.marked;
    }
}

fn sum(one: Option<Bytes>, other: Option<Bytes>) -> Option<Bytes> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// Returns the number of intervals without those at the end in which a connection only closes: at most `longest`.
fn ended(evidence: &Evidence, longest: Span) -> usize {
    let closes = |interval: &&Interval| {
        interval.delivered == Bytes::ZERO
            && interval.unread.is_none_or(|unread| unread == Bytes::ZERO)
            && interval.unsent.is_none_or(|unsent| unsent == Bytes::ZERO)
            && (interval.idle > Span::ZERO || interval.sent.is_none())
    };
    let last: Vec<&Interval> = evidence.intervals.iter().rev().take_while(closes).collect();
    let time = last.iter().fold(Span::ZERO, |sum, interval| sum + interval.length);
    evidence.intervals.len() - if time <= longest { last.len() } else { 0 }
}

/// Returns the stretches of a connection, in order.
pub(super) fn stretches(evidence: &Evidence) -> Vec<Stretch> {
    let length = evidence.base_round_trip.unwrap_or_default().max(LEAST);
    let mut all: Vec<Stretch> = Vec::new();
    let mut current = Stretch::default();
    let ended = ended(evidence, length * 2);
    for interval in &evidence.intervals[..ended] {
        if current.length == Span::ZERO {
            current.from = interval.from;
        }
        current.add(interval, evidence);
        if current.length >= length {
            all.push(std::mem::take(&mut current));
        }
    }
    all.extend((current.length > Span::ZERO).then_some(current));
    all
}
