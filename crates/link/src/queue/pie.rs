//! PIE, proportional integral controller enhanced. Arrivals are dropped or marked at random, with a probability that
//! a controller steers by the queueing delay and its trend.
//!
//! Source: RFC 8033; section numbers are its own. Every [`UPDATE`](PieParameters::UPDATE) the probability moves by
//! alpha (delay - target) + beta (delay - delay at the last update), scaled down while it is small (section 4.2).
//! Nothing is dropped within the burst allowance (4.4), from a nearly empty queue, or while delay and probability are
//! low (4.1). Three optional parts are here: ECN (5.1), de-randomization (5.4, a setting) and the cap on steps (5.5).
//! PIE is never turned off (5.3), because with its threshold of a third of the room a large buffer would let the delay
//! grow to many targets first.
//!
//! **Delay** is the time for which the last packet to leave had waited, zero once the queue is empty. The RFC allows
//! this or the backlog over a measured departure rate (4.3, 5.2). Timestamps need no warm-up, hold when the link's rate
//! changes, and the link has them anyway. The estimator saves hardware the stamps, which is not an advantage here.
//!
//! Updates that fell due without a call are made at the next one. Their inputs do not change in between, so the outcome
//! is that of a timer.

use super::store::Store;
use super::{Context, Queue};
use crate::{Backlog, Datagram, DropReason, Ecn};
use units::{Span, Time};

/// Weight of the error, per second (section 4.2, from the stability analysis of RFC 8033's `[HPSR-PIE]`).
const ALPHA: f64 = 0.125;
/// Weight of the trend, per second (section 4.2).
const BETA: f64 = 1.25;
/// Pairs of a probability and a divisor. Below the probability, steps are divided by the divisor, so that they stay
/// small against it (section 4.2).
const AUTO_TUNE: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// The probability from which a step is at most [`STEP_MAX`] (section 5.5: slow start must not be cut down).
const STEP_CAPPED_FROM: f64 = 0.1;
/// The largest step from [`STEP_CAPPED_FROM`] on.
const STEP_MAX: f64 = 0.02;
/// The share of the probability that remains after an update without any delay (section 4.2).
const DECAY: f64 = 0.98;
/// The probability below which nothing is dropped while the delay is under half the target (section 4.1).
const LOW_PROBABILITY: f64 = 0.2;
/// The probability above which packets are dropped even if they could be marked (section 5.1).
const MARK_MAX: f64 = 0.1;
/// Two sums of the probabilities since the last drop: below the first no packet is dropped, from the second on each
/// packet is (section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);
/// The most updates made after a pause. The state of an empty queue stops changing after fewer than 200 updates, which
/// ends the loop. More than 4096 can be due only if the caller leaves a queue unserved for over a minute.
const UPDATES: u64 = 4096;

/// The settings of [`Pie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieParameters {
    /// `QDELAY_REF`: the target queueing delay.
    pub target: Span,
    /// `T_UPDATE`: time between updates. The gains are meant for the default.
    pub interval: Span,
    /// `MAX_BURST`: the time after a period without congestion in which nothing is dropped.
    pub burst: Span,
    /// True if drops are kept from coming too close together or too far apart.
    pub derandomize: bool,
    /// True if capable packets are marked.
    pub ecn: bool,
}

impl PieParameters {
    /// `T_UPDATE`, as in section 4.2.
    pub const UPDATE: Span = Span::from_millis(15);
}

impl Default for PieParameters {
    /// Returns the values of RFC 8033 sections 4.2 and 4.4; de-randomized as in Linux.
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            interval: Self::UPDATE,
            burst: Span::from_millis(150),
            derandomize: true,
            ecn: true,
        }
    }
}

/// The state that updates change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ControlState {
    probability: f64,
    /// The delay at the last update.
    last_delay: Span,
    burst_left: Span,
}

/// A first-in, first-out queue under PIE.
#[derive(Debug)]
pub struct Pie<P> {
    parameters: PieParameters,
    context: Context,
    store: Store<P>,
    steering: ControlState,
    /// The wait of the packet that left last; zero once the queue is empty.
    delay: Span,
    /// Sum of probabilities since the last drop.
    accumulated: f64,
    next_update: Option<Time>,
}

impl<P> Pie<P> {
    /// Creates an empty queue on a link described by `context`.
    ///
    /// # Panics
    /// If the interval is zero.
    #[must_use]
    pub fn new(parameters: PieParameters, context: Context) -> Self {
        assert!(parameters.interval > Span::ZERO, "PIE needs an interval above zero");
        let steering =
            ControlState { probability: 0.0, last_delay: Span::ZERO, burst_left: parameters.burst };
        Self {
            parameters,
            context,
            store: Store::default(),
            steering,
            delay: Span::ZERO,
            accumulated: 0.0,
            next_update: None,
        }
    }

    /// Returns the current drop probability.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.steering.probability
    }

    /// Makes the updates due by `now`.
    fn catch_up(&mut self, now: Time) {
        let interval = self.parameters.interval;
        let mut due = self.next_update.unwrap_or(now + interval);
        let mut left = UPDATES;
        while due <= now && left > 0 {
            let before = self.steering;
            self.steering = before.updated(self.delay, &self.parameters);
            // This update changed nothing, so the other updates due would not change anything either.
            left = if self.steering == before { 0 } else { left - 1 };
            due += interval;
        }
        if due <= now {
            let missed = now.since(due).as_nanos() / interval.as_nanos() + 1;
            due += Span::from_nanos(missed.saturating_mul(interval.as_nanos()));
        }
        self.next_update = Some(due);
    }

    /// Decides at random whether an arrival is dropped or marked.
    fn strikes(&mut self) -> bool {
        let ControlState { probability, last_delay, burst_left } = self.steering;
        let low = last_delay < self.parameters.target.scale(0.5) && probability < LOW_PROBABILITY;
        let nearly_empty = self.store.bytes().get() <= 2 * self.context.mean_packet.get();
        if burst_left > Span::ZERO || low || nearly_empty {
            return false;
        }
        if !self.parameters.derandomize {
            return self.context.stream.chance(probability);
        }
        self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
        let (least, most) = ACCUMULATED;
        let strikes = self.accumulated >= least
            && (self.accumulated >= most || self.context.stream.chance(probability));
        if strikes {
            self.accumulated = 0.0;
        }
        strikes
    }
}

impl ControlState {
    /// Returns the state after one update at `delay`.
    fn updated(self, delay: Span, parameters: &PieParameters) -> Self {
        let seconds = delay.as_secs_f64();
        let mut step = ALPHA * (seconds - parameters.target.as_secs_f64())
            + BETA * (seconds - self.last_delay.as_secs_f64());
        if let Some((_, divisor)) = AUTO_TUNE.iter().find(|(below, _)| self.probability < *below) {
            step /= divisor;
        }
        if self.probability >= STEP_CAPPED_FROM {
            step = step.min(STEP_MAX);
        }
        let mut probability = self.probability + step;
        if delay == Span::ZERO && self.last_delay == Span::ZERO {
            probability *= DECAY;
        }
        let probability = probability.clamp(0.0, 1.0);
        let half = parameters.target.scale(0.5);
        let calm = probability <= 0.0 && delay < half && self.last_delay < half;
        let burst_left =
            if calm { parameters.burst } else { self.burst_left.saturating_sub(parameters.interval) };
        Self { probability, last_delay: delay, burst_left }
    }
}

impl<P: Datagram + Send> Queue<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.catch_up(now);
        if !self.context.limit.admits(self.store.backlog(), packet.wire_len()) {
            self.accumulated = 0.0;
            drops(packet, DropReason::QueueFull);
            return;
        }
        if self.strikes() {
            let markable = self.parameters.ecn && self.steering.probability <= MARK_MAX;
            if !markable || packet.ecn() == Ecn::NotCapable {
                drops(packet, DropReason::Aqm);
                return;
            }
            packet.mark();
        }
        self.store.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.catch_up(now);
        let next = self.store.pop();
        self.delay = match &next {
            Some((arrived, _)) if !self.store.is_empty() => now.since(*arrived),
            _ => Span::ZERO,
        };
        next.map(|(_, packet)| packet)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
