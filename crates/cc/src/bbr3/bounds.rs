//! What BBR v3 takes from loss: how much may be in flight in the long run, and how fast and how much for now
//! [draft-ietf-ccwg-bbr:5.5.10].

use super::amount;
use crate::RateSample;
use units::Bytes;

/// `BBR.LossThresh`: more loss than this in a round trip is too much.
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
/// `BBR.Beta`: no bound falls to less than this of what it was, by one round.
pub(super) const BETA: f64 = 0.7;
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

/// Bounds in bytes and bytes per second; infinite where nothing is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) inflight_long: f64,
    pub(super) inflight_short: f64,
    pub(super) rate_short: f64,
    /// The largest of a round.
    rate_latest: f64,
    pub(super) inflight_latest: Bytes,
    /// Delivered as the round began in which losses are gathered.
    round_delivered: Bytes,
    pub(super) round_started: bool,
    pub(super) lost_in_round: bool,
    /// Acknowledgements of the round that told of losses: about as many separate ranges were lost.
    pub(super) loss_events: u32,
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
            rate_latest: 0.0,
            inflight_latest: Bytes::ZERO,
            round_delivered: Bytes::ZERO,
            round_started: false,
            lost_in_round: false,
            loss_events: 0,
            before: (infinite, infinite, infinite),
        }
    }

    /// `UpdateLatestDeliverySignals`, but for the rate.
    pub(super) fn observe(&mut self, sample: &RateSample) {
        self.round_started = self.round_starts(sample);
        if self.round_started {
            self.round_delivered = sample.delivered_total;
        }
        self.observe_within_round(sample);
    }

    /// Whether [`observe`](Bounds::observe) would begin a round.
    #[inline]
    pub(super) fn round_starts(&self, sample: &RateSample) -> bool {
        sample.delivered_before >= self.round_delivered
    }

    /// What a sample tells that does not begin a round.
    #[inline]
    pub(super) fn observe_within_round(&mut self, sample: &RateSample) {
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.newly_lost.get() > 0 {
            self.loss_events = self.loss_events.saturating_add(1);
        }
    }

    /// The same of the rate, in bytes per second, zero if there is none.
    pub(super) fn observe_rate(&mut self, rate: f64) {
        self.rate_latest = larger(self.rate_latest, rate);
    }

    /// `AdvanceLatestDeliverySignals`, as a round starts.
    pub(super) fn advance(&mut self, sample: &RateSample, rate: f64) {
        self.rate_latest = rate;
        self.inflight_latest = sample.delivered;
    }

    /// The first loss of a round, when so much had been delivered.
    pub(super) fn note_loss(&mut self, delivered: Bytes) {
        if !self.lost_in_round {
            self.round_delivered = delivered;
            self.save();
        }
        self.lost_in_round = true;
    }

    /// `AdaptLowerBoundsFromCongestion`, at the end of a round with losses that did not come of probing.
    pub(super) fn adapt(&mut self, max_rate: f64, window: f64) {
        if self.rate_short.is_infinite() {
            self.rate_short = max_rate;
        }
        if self.inflight_short.is_infinite() {
            self.inflight_short = window;
        }
        self.rate_short = self.rate_latest.max(BETA * self.rate_short);
        self.inflight_short = amount(self.inflight_latest).max(BETA * self.inflight_short);
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short(&mut self) {
        self.rate_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        self.lost_in_round = false;
        self.rate_latest = 0.0;
        self.inflight_latest = Bytes::ZERO;
    }

    /// `InflightWithHeadroom`.
    pub(super) fn with_headroom(&self, segment: f64, least: f64) -> f64 {
        if self.inflight_long.is_infinite() {
            return f64::INFINITY;
        }
        larger(self.inflight_long - larger(segment, HEADROOM * self.inflight_long), least)
    }

    pub(super) fn save(&mut self) {
        self.before = (self.inflight_long, self.inflight_short, self.rate_short);
    }

    /// The losses were a false alarm.
    pub(super) fn restore(&mut self) {
        self.lost_in_round = false;
        self.inflight_long = self.inflight_long.max(self.before.0);
        self.inflight_short = self.inflight_short.max(self.before.1);
        self.rate_short = self.rate_short.max(self.before.2);
    }
}
