//! The controller of PIE: the state of one queue. `pie.rs` has one, and `fq_pie.rs` keeps one for each flow.

use super::PieParameters;
use crate::queue::Context;
use crate::{Datagram, DropReason, Ecn};
use units::{Bytes, Span, Time};

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
/// Two sums of the probabilities since the last drop: below the first no packet is dropped, from the second on each
/// packet is (section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);
/// The most updates made after a pause. The state of an empty queue stops changing after fewer than 200 updates, which
/// ends the loop. More than 4096 can be due only if the caller leaves a queue unserved for over a minute.
const UPDATES: u64 = 4096;

/// The state of one controlled queue.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Control {
    state: ControlState,
    /// The wait of the packet that left last; zero once the queue is empty.
    delay: Span,
    /// Sum of probabilities since the last drop.
    accumulated: f64,
    next_update: Option<Time>,
}

/// The state that updates change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ControlState {
    probability: f64,
    /// The delay at the last update.
    last_delay: Span,
    burst_left: Span,
}

impl Control {
    /// Creates the state of a queue that was never congested.
    pub(in crate::queue) fn new(parameters: &PieParameters) -> Self {
        let state = ControlState { probability: 0.0, last_delay: Span::ZERO, burst_left: parameters.burst };
        Self { state, delay: Span::ZERO, accumulated: 0.0, next_update: None }
    }

    /// Returns the current drop probability.
    pub(in crate::queue) fn probability(&self) -> f64 {
        self.state.probability
    }

    /// Makes the updates due by `now`.
    pub(in crate::queue) fn catch_up(&mut self, now: Time, parameters: &PieParameters) {
        let interval = parameters.interval;
        let mut due = self.next_update.unwrap_or(now + interval);
        let mut left = UPDATES;
        while due <= now && left > 0 {
            let before = self.state;
            self.state = before.updated(self.delay, parameters);
            // This update changed nothing, so the other updates due would not change anything either.
            left = if self.state == before { 0 } else { left - 1 };
            due += interval;
        }
        if due <= now {
            let missed = now.since(due).as_nanos() / interval.as_nanos() + 1;
            due += Span::from_nanos(missed.saturating_mul(interval.as_nanos()));
        }
        self.next_update = Some(due);
    }

    /// Decides at random about an arrival at a queue with a backlog of `waiting`, after
    /// [`catch_up`](Control::catch_up). Returns the packet, perhaps marked, unless it drops it.
    pub(in crate::queue) fn admitted<P: Datagram>(
        &mut self,
        mut packet: P,
        waiting: Bytes,
        parameters: &PieParameters,
        context: &mut Context,
        drops: &mut dyn FnMut(P, DropReason),
    ) -> Option<P> {
        if self.strikes(waiting, parameters, context) {
            let markable = parameters.ecn && self.state.probability <= parameters.ecn_probability;
            if !markable || packet.ecn() == Ecn::NotCapable {
                drops(packet, DropReason::Aqm);
                return None;
            }
            packet.mark();
        }
        Some(packet)
    }

    /// Notes that an arrival was dropped because the queue had no room.
    pub(in crate::queue) fn refused(&mut self) {
        self.accumulated = 0.0;
    }

    /// Notes that the packet to send next had waited for `wait`, or that nothing waits any more.
    pub(in crate::queue) fn departed(&mut self, wait: Option<Span>) {
        self.delay = wait.unwrap_or(Span::ZERO);
    }

    /// Decides at random whether an arrival is dropped or marked.
    fn strikes(&mut self, waiting: Bytes, parameters: &PieParameters, context: &mut Context) -> bool {
        let ControlState { probability, last_delay, burst_left } = self.state;
        let low = last_delay < parameters.target.scale(0.5) && probability < LOW_PROBABILITY;
        let nearly_empty = waiting.get() <= 2 * context.mean_packet.get();
        if burst_left > Span::ZERO || low || nearly_empty {
            return false;
        }
        if !parameters.derandomize {
            return context.stream.chance(probability);
        }
        self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
        let (least, most) = ACCUMULATED;
        let strikes =
            self.accumulated >= least && (self.accumulated >= most || context.stream.chance(probability));
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
        let mut step = parameters.alpha * (seconds - parameters.target.as_secs_f64())
            + parameters.beta * (seconds - self.last_delay.as_secs_f64());
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
