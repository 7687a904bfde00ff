//! Adaptive RED is RED that slowly changes its own `max_p`, so that the average queue stays around a target at any
//! load. It sets its other parameters from the link's rate.
//!
//! Source: S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's
//! Active Queue Management", 2001, `[ared01]`. It acts every [`INTERVAL`](AdaptiveRedParameters::INTERVAL). Above the
//! target band `max_p` grows by alpha = min(0.01, `max_p`/4). Below the band `max_p` shrinks by the factor beta = 0.9.
//! It stays within 0.01 … 0.5. The band is `min_th` + 0.4 … 0.6 (`max_th` - `min_th`).
//!
//! The steps are due at fixed times from the first arrival. Steps that fell due without a call are taken at the next
//! call, each with the average of its own time. So the outcome is that of a timer.

use super::red::{Red, RedParameters};
use super::{Context, Queue};
use crate::{Backlog, Datagram, DropReason};
use units::{Span, Time};

/// The largest step up `[ared01:4.1]`: one step moves the average by less than the target band.
const ALPHA: f64 = 0.01;
/// The factor of a step down `[ared01:4.1]`. With any factor of at least 0.83 one step stays within the band.
const BETA: f64 = 0.9;
/// Bounds of `max_p` `[ared01:4]`: outside them the average leaves the band but not the room.
const MAX_PROBABILITY: (f64, f64) = (0.01, 0.5);
/// The target band as shares of the way from `min_th` to `max_th`. `[ared01:fig2]`
const BAND: (f64, f64) = (0.4, 0.6);
/// The most steps taken after a pause. From any `max_p` 53 steps up or 38 down reach the bound, so later ones change
/// nothing.
const STEPS: u64 = 64;

/// The settings of [`AdaptiveRed`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRedParameters {
    /// RED's settings; `max_probability` is the initial value.
    pub red: RedParameters,
    /// Time between steps.
    pub interval: Span,
}

impl AdaptiveRedParameters {
    /// Time between steps: a few round trips, so that senders have responded to the last one `[ared01:4.1]`.
    pub const INTERVAL: Span = Span::from_millis(500);
    /// The target queueing delay if none is given: ns-2's default for `[ared01]`.
    pub const TARGET: Span = Span::from_millis(5);

    /// Returns the default settings. C is the link's rate in packets per second. `min_th` = max(5, C target/2) packets,
    /// and `max_th` = 3 `min_th`, so that the middle of the band is the target delay. `w_q` = 1 - exp(-1/C), a time
    /// constant of a second `[ared01:5]`. It is gentle, and `max_p` starts at 0.1. If the queue has less room than that
    /// `max_th`, the limit is `max_th`.
    #[must_use]
    pub fn defaults(context: &Context, target: Span) -> Self {
        let rate = context.packet_rate();
        let room = context.limit_packets().max(1.0);
        let min_threshold = (rate * target.as_secs_f64() / 2.0).max(5.0).min(room / 3.0);
        let red = RedParameters {
            min_threshold,
            max_threshold: 3.0 * min_threshold,
            weight: 1.0 - libm::exp(-1.0 / rate),
            ..RedParameters::defaults(context)
        };
        Self { red, interval: Self::INTERVAL }
    }
}

/// A first-in, first-out queue under adaptive RED.
#[derive(Debug)]
pub struct AdaptiveRed<P> {
    red: Red<P>,
    interval: Span,
    next_step: Option<Time>,
}

impl<P> AdaptiveRed<P> {
    /// Creates an empty queue on a link described by `context`.
    ///
    /// # Panics
    /// If the interval is zero.
    #[must_use]
    pub fn new(parameters: AdaptiveRedParameters, context: Context) -> Self {
        let AdaptiveRedParameters { red, interval } = parameters;
        assert!(interval > Span::ZERO, "adaptive RED needs an interval above zero");
        Self { red: Red::new(red, context), interval, next_step: None }
    }

    /// Returns the RED inside, with the current `max_p`.
    #[must_use]
    pub fn red(&self) -> &Red<P> {
        &self.red
    }

    /// Takes the steps due by `now`.
    fn adapt(&mut self, now: Time) {
        let mut due = self.next_step.unwrap_or(now + self.interval);
        let mut left = STEPS;
        while due <= now && left > 0 {
            self.step(due);
            due += self.interval;
            left -= 1;
        }
        if due <= now {
            let missed = now.since(due).as_nanos() / self.interval.as_nanos() + 1;
            due += Span::from_nanos(missed.saturating_mul(self.interval.as_nanos()));
        }
        self.next_step = Some(due);
    }

    fn step(&mut self, at: Time) {
        let RedParameters { min_threshold, max_threshold, max_probability, .. } = *self.red.parameters();
        let average = self.red.average(at);
        let place = (average - min_threshold) / (max_threshold - min_threshold);
        let (least, most) = MAX_PROBABILITY;
        if place > BAND.1 {
            let alpha = ALPHA.min(max_probability / 4.0);
            self.red.set_max_probability((max_probability + alpha).min(most));
        } else if place < BAND.0 {
            self.red.set_max_probability((max_probability * BETA).max(least));
        }
    }
}

impl<P: Datagram + Send> Queue<P> for AdaptiveRed<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.adapt(now);
        self.red.enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.red.dequeue(now, drops)
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.adapt(now);
        self.red.pass(now, packet, drops)
    }

    fn backlog(&self) -> Backlog {
        self.red.backlog()
    }
}
