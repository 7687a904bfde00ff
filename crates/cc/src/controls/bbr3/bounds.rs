//! What BBR v3 takes from loss: how much may be in flight in the long run, and how fast and how much for now
//! [draft-ietf-ccwg-bbr:5.5.10].

use super::amount;
use super::signals::Signals;
use super::window::Window;
use crate::LostSegment;
use units::Bytes;

/// `BBR.LossThresh`: more loss than this in a round trip is too much.
const LOSS_THRESHOLD: f64 = 0.02;
/// `BBR.Beta`: no bound falls to less than this of what it was, by one round.
const BETA: f64 = 0.7;
/// `BBR.Headroom`: left to others below the long-term bound.
const HEADROOM: f64 = 0.15;

/// The larger of two numbers. That of the library minds what is no number, at ten times the cost.
pub(super) fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

/// The smaller of two numbers.
pub(super) fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

/// `IsInflightTooHigh`.
pub(super) fn is_too_high(lost: Bytes, in_flight: Bytes) -> bool {
    lost > Bytes::ZERO && amount(lost) > amount(in_flight) * LOSS_THRESHOLD
}

/// What was in flight as losses crossed the threshold, `InflightAtLoss`.
pub(super) fn in_flight_at_threshold(lost: &LostSegment) -> f64 {
    let size = amount(lost.size);
    let (in_flight, lost) = (amount(lost.sent_in_flight) - size, amount(lost.lost) - size);
    let prefix = (LOSS_THRESHOLD * in_flight - lost) / (1.0 - LOSS_THRESHOLD);
    (in_flight + prefix).max(0.0)
}

/// Bounds in bytes and bytes per second; infinite where nothing is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    inflight_long: f64,
    inflight_short: f64,
    rate_short: f64,
    /// Before the last loss episode: the long-term and the short-term bounds.
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

    /// On what is in flight, in the long run.
    #[inline]
    pub(super) fn inflight_long(&self) -> f64 {
        self.inflight_long
    }

    /// On what is in flight, for now.
    pub(super) fn inflight_short(&self) -> f64 {
        self.inflight_short
    }

    /// On the rate, for now.
    pub(super) fn rate_short(&self) -> f64 {
        self.rate_short
    }

    /// `InflightWithHeadroom`.
    pub(super) fn with_headroom(&self, window: &Window) -> f64 {
        if self.inflight_long.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = larger(window.segment(), HEADROOM * self.inflight_long);
        larger(self.inflight_long - headroom, window.least())
    }

    /// Startup met losses: what the path holds is known.
    pub(super) fn learn_long(&mut self, inflight: f64) {
        self.inflight_long = inflight;
    }

    /// So much was in flight without too much loss: the long-term bound is no less, where there is one.
    pub(super) fn raise_long_to(&mut self, inflight: f64) {
        self.inflight_long = larger(self.inflight_long, inflight);
    }

    /// Probing upwards has found room for `inflight` more bytes.
    pub(super) fn raise_long_by(&mut self, inflight: f64) {
        self.inflight_long += inflight;
    }

    /// So much in flight was too much, where the model aims at `target`.
    pub(super) fn cut_long(&mut self, inflight: f64, target: f64) {
        self.inflight_long = inflight.max(target * BETA);
    }

    /// `AdaptLowerBoundsFromCongestion`, at the end of a round with losses that did not come of probing.
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

    /// `ResetShortTermModel`.
    pub(super) fn reset_short(&mut self) {
        self.rate_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// A loss episode begins, which may turn out to be a false alarm.
    pub(super) fn save(&mut self) {
        self.before = (self.inflight_long, self.inflight_short, self.rate_short);
    }

    /// The losses were a false alarm.
    pub(super) fn restore(&mut self) {
        self.inflight_long = self.inflight_long.max(self.before.0);
        self.inflight_short = self.inflight_short.max(self.before.1);
        self.rate_short = self.rate_short.max(self.before.2);
    }
}
