//! The bounds that BBR v3 learns from loss: on the data in flight in the long term, and on rate and data in flight in
//! the short term [draft-ietf-ccwg-bbr:5.5.10].

use super::amount;
use super::signals::Signals;
use super::window::Window;
use crate::LostSegment;
use units::Bytes;

/// `BBR.LossThresh`: the share of loss in a round trip above which loss is too high.
const LOSS_THRESHOLD: f64 = 0.02;
/// `BBR.Beta`: the factor by which one round may reduce a bound at most.
const BETA: f64 = 0.7;
/// `BBR.Headroom`: the share of the long-term bound that is left to others.
const HEADROOM: f64 = 0.15;

/// Returns the larger of two numbers. The library's function handles NaN, at ten times the cost.
pub(super) fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

/// Returns the smaller of two numbers.
pub(super) fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

/// Returns true if more than the threshold of `in_flight` was lost: `IsInflightTooHigh`.
pub(super) fn is_too_high(lost: Bytes, in_flight: Bytes) -> bool {
    lost > Bytes::ZERO && amount(lost) > amount(in_flight) * LOSS_THRESHOLD
}

/// Returns the amount that was in flight when losses crossed the threshold: `InflightAtLoss`.
pub(super) fn in_flight_at_threshold(lost: &LostSegment) -> f64 {
    let size = amount(lost.size);
    let (in_flight, lost) = (amount(lost.sent_in_flight) - size, amount(lost.lost) - size);
    let prefix = (LOSS_THRESHOLD * in_flight - lost) / (1.0 - LOSS_THRESHOLD);
    (in_flight + prefix).max(0.0)
}

/// Bounds in bytes and bytes per second; infinite where unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    inflight_long: f64,
    inflight_short: f64,
    rate_short: f64,
    /// The long-term and the short-term bounds before the last loss episode.
    before: (f64, f64, f64),
}

impl Bounds {
    pub(super) fn new() -> Self {
        let infinite = f64::INFINITY;
        Self {
            inflight_long: infinite,
            inflight_short: infinite,
            rate_short: infinite,
            before: (infinite, infinite, infinite),
        }
    }

    /// Returns the long-term bound on data in flight.
    #[inline]
    pub(super) fn inflight_long(&self) -> f64 {
        self.inflight_long
    }

    /// Returns the short-term bound on data in flight.
    pub(super) fn inflight_short(&self) -> f64 {
        self.inflight_short
    }

    /// Returns the short-term bound on the rate.
    pub(super) fn rate_short(&self) -> f64 {
        self.rate_short
    }

    /// Returns the long-term bound with room left to others: `InflightWithHeadroom`.
    pub(super) fn with_headroom(&self, window: &Window) -> f64 {
        if self.inflight_long.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = larger(window.segment(), HEADROOM * self.inflight_long);
        larger(self.inflight_long - headroom, window.least())
    }

    /// Sets the long-term bound after losses in startup, which show the capacity of the path.
    pub(super) fn learn_long(&mut self, inflight: f64) {
        self.inflight_long = inflight;
    }

    /// Raises the long-term bound to `inflight`, which met little loss. An unknown bound stays infinite.
    pub(super) fn raise_long_to(&mut self, inflight: f64) {
        self.inflight_long = larger(self.inflight_long, inflight);
    }

    /// Raises the long-term bound by `inflight` bytes, for which probing upwards has found room.
    pub(super) fn raise_long_by(&mut self, inflight: f64) {
        self.inflight_long += inflight;
    }

    /// Lowers the long-term bound to `inflight`, which was too much, but not below [`BETA`] times the model's `target`.
    pub(super) fn cut_long(&mut self, inflight: f64, target: f64) {
        self.inflight_long = inflight.max(target * BETA);
    }

    /// Lowers the short-term bounds at the end of a round whose losses did not come from probing:
    /// `AdaptLowerBoundsFromCongestion`.
    pub(super) fn adapt(&mut self, round: &Signals, max_rate: f64, window: f64) {
        if self.rate_short.is_infinite() {
            self.rate_short = max_rate;
        }
        if self.inflight_short.is_infinite() {
            self.inflight_short = window;
        }
        self.rate_short = round.rate_latest().max(BETA * self.rate_short);
        self.inflight_short = amount(round.inflight_latest()).max(BETA * self.inflight_short);
    }

    /// Forgets the short-term bounds: `ResetShortTermModel`.
    pub(super) fn reset_short(&mut self) {
        self.rate_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// Remembers the bounds as a loss episode begins, which may turn out to be a false alarm.
    pub(super) fn save(&mut self) {
        self.before = (self.inflight_long, self.inflight_short, self.rate_short);
    }

    /// Restores the remembered bounds after a false alarm.
    pub(super) fn restore(&mut self) {
        self.inflight_long = self.inflight_long.max(self.before.0);
        self.inflight_short = self.inflight_short.max(self.before.1);
        self.rate_short = self.rate_short.max(self.before.2);
    }
}
