//! The evidence and the sums of a flow, once no more packets come.

use super::Flow;
use super::halves::Side;
use super::slots::Slot;
use crate::connections::failure::{FailureKind, STUCK, UNANSWERED};
use crate::connections::statistics::{Overshoot, Retransmissions, RoundTrips, Statistics};
use estimate::diagnosis::{BufferEstimate, Direction, Evidence, Interval, Vantage};
use units::{Bytes, Rate, Span, Time};

/// The payload from which a direction has evidence: less is over before anything limits it.
pub(super) const LEAST_EVIDENCE: u64 = 30_000;
/// The share of a window in flight from which the window may be the limit.
const FULL: f64 = 0.9;
/// The share of the largest growth of the round trip from which a loss is one of a full buffer.
const OVERFLOWED: f64 = 0.6;
/// The largest share of the data in flight that the path holds while the rest stands in a queue. The round trip grows by
/// at least this part of the time there.
const HELD: f64 = 0.9;
const SEEN: f64 = 0.5;
/// The intervals with a queue from which a rate is the path's, and the part of all intervals that they are.
const LEAST_QUEUED: usize = 4;
const QUEUED: usize = 20;
/// The least queue and the least buffer, in segments: shorter ones are noise.
const LEAST_BUFFER: u64 = 4;
/// The part of the intervals with the largest growth that is left out, because stalls of hosts may be among them.
const STALLED: usize = 50;
/// The hops of a packet that no router has forwarded yet.
const WHOLE: [u8; 3] = [64, 128, 255];

impl Flow {
    /// Returns the sums, and the evidence of a flow that carries enough.
    pub(in crate::connections) fn finish(mut self, direction: Direction) -> (Statistics, Option<Evidence>) {
        self.slots.close();
        let last = self.slots.bounds().1;
        if let Some(since) = self.zero_since {
            self.counts.zero_window_time += last.saturating_sub(since);
        }
        let statistics = self.statistics();
        let enough = self.counts.payload.max(self.counts.delivered) >= LEAST_EVIDENCE;
        let stuck = self.counts.zero_window_time >= STUCK;
        let mut evidence = (enough || stuck).then(|| self.evidence(direction));
        if let Some(evidence) = evidence.as_mut().filter(|_| !enough) {
            // The few data waited for the window, and not for the path.
            evidence.base_round_trip = None;
            evidence.intervals.iter_mut().for_each(|interval| interval.round_trip = None);
        }
        (statistics, evidence)
    }

    /// Returns the failure of the receiver, if it failed; the capture's last packet of the connection came at `last`.
    pub(in crate::connections) fn failure(&self, last: u64) -> Option<FailureKind> {
        let closed = self.zero_since.map_or(0, |since| last.saturating_sub(since));
        if closed >= STUCK {
            return Some(FailureKind::WindowClosed { over: Span::from_nanos(closed) });
        }
        let (heard_at, retransmissions) = self.unheard;
        let over = self.last_data.saturating_sub(heard_at);
        // A capture of one direction never hears the other end. Few of its segments are sent again.
        let missed = self.heard || 2 * u64::from(retransmissions) >= self.counts.segments;
        let silent = over >= STUCK && retransmissions >= UNANSWERED;
        (silent && missed && self.next > self.acked)
            .then_some(FailureKind::Silent { retransmissions, over: Span::from_nanos(over) })
    }

    fn statistics(&self) -> Statistics {
        let counts = &self.counts;
        let half = &self.halves.receiver;
        let some = half.count > 0;
        let first = self.episodes.iter().find(|episode| episode.segments > 0);
        Statistics {
            packets: 0,
            bytes: Bytes::ZERO,
            segments: counts.segments,
            payload: Bytes::new(counts.payload),
            retransmitted: Retransmissions {
                segments: counts.retransmitted,
                payload: Bytes::new(counts.retransmitted_payload),
                fast: counts.fast,
                by_timeout: counts.by_timeout,
                probes: counts.probes,
                needless: counts.needless,
            },
            out_of_order: counts.out_of_order,
            duplicates: counts.duplicates + counts.delivered_twice,
            unseen: Bytes::new(counts.unseen),
            marked: counts.marked.max(counts.echoes),
            keep_alives: counts.keep_alives,
            zero_windows: counts.zero_windows,
            zero_window_time: Span::from_nanos(counts.zero_window_time),
            round_trip: RoundTrips {
                handshake: None,
                least: half.least.map(Span::from_nanos),
                mean: half.sum.checked_div(half.count).map(Span::from_nanos),
                largest: some.then(|| Span::from_nanos(half.largest)),
                samples: half.count,
            },
            largest_burst: Bytes::new(counts.largest_burst),
            idle: Span::from_nanos(self.slots.iter().map(|slot| slot.idle).sum()),
            pauses: counts.pauses,
            overshoot: first.map(|episode| Overshoot {
                at: episode.at,
                peak: Bytes::new(counts.first_peak),
                lost: episode.segments,
            }),
        }
    }

    fn evidence(&self, direction: Direction) -> Evidence {
        let side = self.halves.side();
        let vantage = match side.unwrap_or_else(|| self.guessed_side()) {
            Side::Sender => Vantage::SenderCapture,
            Side::Middle => Vantage::MiddleCapture,
            Side::Receiver => Vantage::ReceiverCapture,
        };
        let mut evidence = Evidence::new(direction, vantage);
        evidence.inferred_scale = self.scale.is_inferred();
        evidence.window_scale = self.scale.found();
        evidence.scaling_off = self.scale.is_off();
        evidence.segment = Bytes::new(self.full().into());
        // Without the sender's half, only a capture at the sender has the whole round trip.
        let whole = side.is_some() || vantage == Vantage::SenderCapture;
        evidence.base_round_trip = self.halves.least().filter(|_| whole).map(Span::from_nanos);
        evidence.episodes = self.episodes.iter().filter(|episode| episode.segments > 0).copied().collect();
        evidence.needless = self.counts.needless;
        evidence.timeouts = self.counts.timeouts;
        evidence.capacity = self.capacity(vantage).filter(|&rate| self.is_of_path(&evidence, rate));
        evidence.buffer = evidence.capacity.and_then(|rate| self.buffer(vantage, rate));
        evidence.intervals = self.interval_list(vantage, whole && self.heard);
        evidence
    }

    /// Guesses the place of the capture if only the receiver's half of the round trip is known.
    fn guessed_side(&self) -> Side {
        match (WHOLE.contains(&self.hops.0), WHOLE.contains(&self.hops.1)) {
            (true, false) => Side::Sender,
            (false, true) => Side::Receiver,
            _ if self.halves.receiver.least.is_none_or(|least| least >= 1_000_000) => Side::Sender,
            _ => Side::Receiver,
        }
    }

    /// Returns the bottleneck's rate. Acknowledgements have the pace of the reader, not the path's, while the window is
    /// small because a program reads slowly.
    fn capacity(&self, vantage: Vantage) -> Option<Rate> {
        let rates = self.rates.as_ref()?;
        let closing =
            |slot: &&Slot| slot.least_window.is_some_and(|window| window <= self.largest_window / 2);
        let paced = self.slots.iter().filter(closing).count() * 2 > self.slots.len();
        let (data, acknowledgements) = (rates.data.estimate(), rates.acknowledgements.estimate());
        match vantage {
            Vantage::ReceiverCapture => data.or(acknowledgements),
            Vantage::SenderCapture => acknowledgements.filter(|_| !paced),
            _ => [data, acknowledgements].into_iter().flatten().min(),
        }
    }

    /// Returns true if a rate is the path's. A sender may pace its packets more slowly than the path carries them, as BBR
    /// does behind a small window. The rate is the path's if more was in flight than the path holds without a queue, or if
    /// trains left faster than they arrived. Losses show it, too, unless the receive window bounded the rate.
    fn is_of_path(&self, evidence: &Evidence, rate: Rate) -> bool {
        (!evidence.episodes.is_empty() && !self.is_window_full())
            || self.trains.as_ref().is_some_and(|trains| trains.confirm(rate))
            || evidence.base_round_trip.is_some_and(|base| self.has_queued(evidence.vantage, rate, base))
    }

    /// Returns true if the receive window was full in most intervals. A capture of one direction does not show it.
    fn is_window_full(&self) -> bool {
        let window = u64::from(self.largest_window) << self.scale.value();
        let (mut full, mut used) = (0, 0);
        for slot in self.slots.iter().filter(|slot| slot.peak > 0) {
            used += 1;
            full += usize::from(slot.peak as f64 >= FULL * window as f64);
        }
        window > 0 && full * 2 > used
    }

    /// Returns true if data in flight stood in a queue at times. Then more was in flight than the path holds at this rate,
    /// and the round trip grew by the time that the rest needs.
    fn has_queued(&self, vantage: Vantage, rate: Rate, base: Span) -> bool {
        let full = u64::from(self.full()).max(1);
        let holds = rate.volume(base).get();
        let is_queued = |slot: &&Slot| {
            let flight = slot.peak.div_ceil(full) * (full + u64::from(self.headers));
            let queue = rate.serialization(Bytes::new(flight.saturating_sub(holds))).as_nanos();
            let grown = self.round_trip(vantage, slot).map_or(0, |now| now.saturating_sub(base.as_nanos()));
            let long = flight >= holds + LEAST_BUFFER * full && holds as f64 <= HELD * flight as f64;
            long && grown as f64 >= SEEN * queue as f64
        };
        let queued = self.slots.iter().filter(is_queued).count();
        let used = self.slots.iter().filter(|slot| slot.sent + slot.delivered > 0).count();
        queued >= LEAST_QUEUED && queued * QUEUED >= used
    }

    fn buffer(&self, vantage: Vantage, rate: Rate) -> Option<BufferEstimate> {
        let largest = |pick: fn(&Slot) -> u64, least: Option<u64>| {
            let mut all: Vec<u64> = self.slots.iter().map(pick).filter(|&sample| sample > 0).collect();
            let rank = (all.len() / STALLED).max(2).min(all.len().checked_sub(1)?);
            all.sort_unstable_by(|one, other| other.cmp(one));
            Some(all[rank].saturating_sub(least?))
        };
        let receiver = largest(|slot| slot.receiver_half.largest, self.halves.receiver.least);
        // A sender may wait for its program before it answers, but not each time.
        let sender = largest(|slot| slot.sender_half.least, self.halves.sender.least);
        let growth = match vantage {
            Vantage::ReceiverCapture => sender,
            Vantage::SenderCapture => receiver,
            _ => receiver.max(sender),
        }?;
        // Losses at random find any queue; a buffer that overflows is full.
        let some = self.episodes.iter().filter(|episode| episode.segments > 0);
        let mut queues: Vec<Span> = some.filter_map(|episode| episode.queueing).collect();
        queues.sort_unstable();
        let few = Bytes::new(LEAST_BUFFER * u64::from(self.full()));
        let full = |queue: &&Span| {
            queue.as_nanos() as f64 >= OVERFLOWED * growth as f64 && rate.volume(**queue) >= few
        };
        let full = queues.get(queues.len() / 2).filter(full);
        let size = rate.volume(full.copied().unwrap_or(Span::from_nanos(growth)));
        Some(BufferEstimate { size, at_least: full.is_none() })
    }

    /// Returns the intervals; the flights only if it is known what the sender knew.
    fn interval_list(&self, vantage: Vantage, flights: bool) -> Vec<Interval> {
        let (origin, until) = self.slots.bounds();
        let (length, scale) = (self.slots.length(), self.scale.value());
        let bytes = |window: u32| Bytes::new(u64::from(window) << scale);
        let (mut window, mut largest, mut peak) = (None::<u32>, 0u32, 0u64);
        let mut episodes = self.episodes.iter().filter(|episode| episode.segments > 0).peekable();
        let mut list = Vec::with_capacity(self.slots.len());
        for (index, slot) in self.slots.iter().enumerate() {
            let from = origin + index as u64 * length;
            let length = length.min(until.saturating_sub(from));
            if length == 0 {
                break;
            }
            let least = slot.least_window.into_iter().chain(window).min();
            window = slot.window.or(window);
            largest = largest.max(window.unwrap_or(0));
            let mut lost = false;
            while episodes.next_if(|episode| episode.at.as_nanos() < from + length).is_some() {
                lost = true;
            }
            peak = if lost { slot.peak } else { peak.max(slot.peak) };
            let limited = least.is_some_and(|least| slot.peak as f64 >= FULL * bytes(least).get() as f64);
            let unread = least.filter(|&least| least <= largest / 2).map(|least| bytes(largest - least));
            list.push(Interval {
                from: Time::from_nanos(from),
                length: Span::from_nanos(length),
                delivered: Bytes::new(if self.heard { slot.delivered } else { slot.sent }),
                sent: Some(Bytes::new(slot.sent)),
                flight: flights.then(|| Bytes::new((slot.flight / length as f64) as u64)),
                peak_flight: flights.then(|| Bytes::new(slot.peak)),
                receive_window: window.map(bytes),
                least_window: least.map(bytes),
                congestion_window: (flights && !limited && peak > 0).then(|| Bytes::new(peak)),
                unread,
                returned: Some(Bytes::new(slot.returned)),
                segments: Some(slot.segments),
                round_trip: self.round_trip(vantage, slot).map(Span::from_nanos),
                idle: Span::from_nanos(slot.idle.min(length)),
                retransmitted: slot.retransmitted.into(),
                out_of_order: slot.out_of_order.into(),
                marked: slot.marked.into(),
                ran_dry: slot.dry * 2 >= length,
                ..Interval::default()
            });
        }
        list
    }

    fn round_trip(&self, vantage: Vantage, slot: &Slot) -> Option<u64> {
        let (receiver, sender) = (slot.receiver_half.mean(), slot.sender_half.mean());
        let (least_receiver, least_sender) = (self.halves.receiver.least, self.halves.sender.least);
        match vantage {
            Vantage::SenderCapture => Some(receiver? + least_sender.unwrap_or(0)),
            Vantage::ReceiverCapture => Some(sender? + least_receiver.unwrap_or(0)),
            _ if receiver.is_none() && sender.is_none() => None,
            _ => Some(receiver.or(least_receiver)? + sender.or(least_sender)?),
        }
    }
}
