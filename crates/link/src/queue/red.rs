//! RED, random early detection. Arrivals are dropped or marked at random, with a probability that rises with the
//! *average* queue. So short bursts pass, and senders slow down one by one.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993, `[red93]`; the gentle variant from S. Floyd, "Recommendation on using
//! the 'gentle_' variant of RED", 2000. With avg the average queue, on each arrival:
//!
//! - avg ← (1 - `w_q`) avg + `w_q` q; after an idle time that `m` mean packets would have filled, first
//!   avg ← (1 - `w_q`)^m avg;
//! - `p_b` = 0 below `min_th`; `max_p` (avg - `min_th`)/(`max_th` - `min_th`) up to `max_th`; then, gentle,
//!   `max_p` + (1 - `max_p`)(avg - `max_th`)/`max_th` up to 2 `max_th`; then 1;
//! - `p_a` = `p_b` / (1 - count `p_b`), count being the packets since the last one dropped: the gap between drops is
//!   then uniform rather than geometric. As in `[red93:fig2]`, count is raised before its use. So the gap is uniform
//!   on 1 … 1/`p_b` - 1, and the share dropped is 2 `p_b`.
//!
//! A capable packet is marked instead of dropped, except where `p_b` is 1. There every packet is dropped, because
//! senders would not react to marks in time: RFC 3168 section 7 requires drops.
//!
//! **Units.** Queue and thresholds are in mean packets. [`LengthUnit::Bytes`] counts waiting bytes over the mean
//! packet, and makes a packet's probability proportional to its length.

use super::store::Store;
use super::{Context, Queue};
use crate::{Backlog, Datagram, DropReason, Ecn};
use units::{Bytes, Time};

/// The unit in which RED measures the length of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Packets; each is dropped with the same probability.
    Packets,
    /// Bytes, in units of the mean packet; the probability of a packet is proportional to its length.
    Bytes,
}

/// The settings of [`Red`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// `min_th`: the average, in mean packets, below which nothing is dropped.
    pub min_threshold: f64,
    /// `max_th`, in mean packets; above `min_threshold`.
    pub max_threshold: f64,
    /// `max_p`: the probability at `max_threshold`, in (0, 1].
    pub max_probability: f64,
    /// `w_q`: the weight of one arrival in the average, in (0, 1].
    pub weight: f64,
    /// True if the probability climbs from `max_p` at `max_th` to 1 at 2 `max_th`; otherwise it jumps to 1 at `max_th`.
    pub gentle: bool,
    /// True if there are at least 1/`p_b` packets between drops: a number uniform on 1/`p_b` … 2/`p_b` (ns-2's
    /// `wait_`).
    pub wait: bool,
    /// The unit of the queue's length.
    pub unit: LengthUnit,
    /// True if capable packets are marked.
    pub ecn: bool,
}

impl RedParameters {
    /// The round trip for which default thresholds are set, in seconds. RFC 8289 section 4.2 assumes this value as the
    /// longest that a path should be expected to have.
    pub const ROUND_TRIP: f64 = 0.1;

    /// Returns thresholds as in `[P1.red]`, with M the lesser of limit and bandwidth-delay product (at
    /// [`ROUND_TRIP`](Self::ROUND_TRIP)), at least one packet. `min_th` = 0.4 M and `max_th` = M. `max_p` = 0.1 and
    /// gentle are after Floyd 2000, `w_q` = 0.002 after `[red93]`.
    #[must_use]
    pub fn defaults(context: &Context) -> Self {
        let room = context.limit_packets().min(context.packet_rate() * Self::ROUND_TRIP).max(1.0);
        Self {
            min_threshold: 0.4 * room,
            max_threshold: room,
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            wait: false,
            unit: LengthUnit::Packets,
            ecn: true,
        }
    }

    /// Returns `p_b` at the average `average`, for a packet of mean length.
    #[must_use]
    pub fn base_probability(&self, average: f64) -> f64 {
        let Self { min_threshold, max_threshold, max_probability, .. } = *self;
        if average < min_threshold {
            0.0
        } else if average < max_threshold {
            max_probability * (average - min_threshold) / (max_threshold - min_threshold)
        } else if self.gentle && average < 2.0 * max_threshold {
            max_probability + (1.0 - max_probability) * (average - max_threshold) / max_threshold
        } else {
            1.0
        }
    }

    /// Returns `p_a`: the probability once `count` mean packets have come since the last drop.
    #[must_use]
    pub fn spread_probability(&self, base: f64, count: f64) -> f64 {
        let expected = count * base;
        if self.wait {
            match expected {
                x if x < 1.0 => 0.0,
                x if x < 2.0 => (base / (2.0 - x)).min(1.0),
                _ => 1.0,
            }
        } else if expected < 1.0 {
            (base / (1.0 - expected)).min(1.0)
        } else {
            1.0
        }
    }
}

/// RED's decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    /// The sender is notified of congestion, by a mark if it understands marks.
    Notify,
    /// The packet is dropped, because the average is too high for marks to lower it.
    Drop,
}

/// A first-in, first-out queue under RED.
#[derive(Debug)]
pub struct Red<P> {
    parameters: RedParameters,
    context: Context,
    store: Store<P>,
    average: f64,
    /// Mean packets since the last drop; -1 while the average is below `min_th`.
    count: f64,
    /// The time since which the link has had nothing to send.
    idle_since: Option<Time>,
}

impl<P> Red<P> {
    /// Creates an empty queue on a link described by `context`.
    #[must_use]
    pub fn new(parameters: RedParameters, context: Context) -> Self {
        Self { parameters, context, store: Store::default(), average: 0.0, count: -1.0, idle_since: None }
    }

    /// Returns the current settings.
    #[must_use]
    pub fn parameters(&self) -> &RedParameters {
        &self.parameters
    }

    pub(super) fn set_max_probability(&mut self, probability: f64) {
        self.parameters.max_probability = probability;
    }

    /// Returns the average queue that an arrival at `now` would find, in mean packets.
    #[must_use]
    pub fn average(&self, now: Time) -> f64 {
        match self.idle_since {
            Some(since) => {
                let packets = now.since(since).as_secs_f64() * self.context.packet_rate();
                self.average * libm::pow(1.0 - self.parameters.weight, packets)
            }
            None => self.average,
        }
    }

    fn mean_packets(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.context.mean_packet.get().max(1) as f64
    }

    /// Updates the average for an arrival of `length`, and decides at random about the arrival.
    fn judge(&mut self, now: Time, length: Bytes) -> Verdict {
        let RedParameters { weight, unit, .. } = self.parameters;
        let backlog = self.store.backlog();
        let (queue, size) = match unit {
            LengthUnit::Packets => (backlog.packets as f64, 1.0),
            LengthUnit::Bytes => (self.mean_packets(backlog.bytes), self.mean_packets(length)),
        };
        self.average = (1.0 - weight) * self.average(now) + weight * queue;
        self.idle_since = None;

        let base = self.parameters.base_probability(self.average);
        if base <= 0.0 {
            self.count = -1.0;
            return Verdict::Accept;
        }
        if base >= 1.0 {
            self.count = 0.0;
            return Verdict::Drop;
        }
        self.count += size;
        let probability = self.parameters.spread_probability(base, self.count) * size;
        if self.context.stream.chance(probability) {
            self.count = 0.0;
            Verdict::Notify
        } else {
            Verdict::Accept
        }
    }
}

impl<P: Datagram> Red<P> {
    /// Returns the arrival, marked if necessary, unless it is dropped early.
    fn admit(&mut self, now: Time, mut packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        match self.judge(now, packet.wire_len()) {
            Verdict::Accept => Some(packet),
            Verdict::Notify if self.parameters.ecn && packet.ecn() != Ecn::NotCapable => {
                packet.mark();
                Some(packet)
            }
            Verdict::Notify | Verdict::Drop => {
                drops(packet, DropReason::Aqm);
                None
            }
        }
    }
}

impl<P: Datagram + Send> Queue<P> for Red<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let Some(packet) = self.admit(now, packet, drops) else { return };
        if self.context.limit.admits(self.store.backlog(), packet.wire_len()) {
            self.store.push(now, packet);
        } else {
            // The queue is full. For the sender this drop is like an early one, so the count to the next early drop
            // starts anew.
            self.count = 0.0;
            drops(packet, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let next = self.store.pop();
        if next.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
        next.map(|(_, packet)| packet)
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let passed = self.admit(now, packet, drops);
        if passed.is_none() {
            // The link stays idle; the average already includes the idle time so far.
            self.idle_since = Some(now);
        }
        passed
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
