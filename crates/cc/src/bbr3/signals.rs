//! What each acknowledgement tells BBR v3 of the path: the largest rate, losses of a round, data that came together
//! [draft-ietf-ccwg-bbr:5.5].

use super::bounds::smaller;
use super::{Bbr3, EXTRA_ROUNDS, Probe, RATE_CYCLES, State, amount, seconds};
use crate::RateSample;
use units::Rate;

impl Bbr3 {
    /// The rate of `sample` in bytes per second; zero if there is none, or if it tells nothing.
    pub(super) fn rate_of(&mut self, sample: &RateSample) -> f64 {
        let asked = self.rounds.started || self.bounds.round_started || self.state == State::Probe(Probe::Up);
        if !asked && sample.falls_short_of(self.unseen) {
            return 0.0;
        }
        let Some(rate) = sample.rate() else { return 0.0 };
        let bytes = rate.as_bps_f64() / 8.0;
        if bytes > 0.0 && (bytes >= self.max_rate || !self.rounds.is_limited(sample)) {
            self.max_rate = self.filter.update(self.cycles, bytes, RATE_CYCLES as u64);
            self.unseen = self.unseen.max(rate + Rate::from_bps(1));
        }
        bytes
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_signals(&mut self) {
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(u64::from(self.rounds.started));
        if !self.bounds.round_started {
            return;
        }
        let accelerates = matches!(self.state, State::Startup | State::Probe(Probe::Refill | Probe::Up));
        if self.bounds.lost_in_round && !accelerates {
            self.bounds.adapt(self.max_rate, self.window);
        }
    }

    /// `UpdateACKAggregation`.
    pub(super) fn update_aggregation(&mut self, sample: &RateSample) {
        let extra = self.extra_delivered(sample);
        let rounds = if self.full.reached { EXTRA_ROUNDS as u64 } else { 1 };
        self.extra.update(self.rounds.count, extra, rounds);
    }

    /// What has been delivered beyond what the rate explains.
    #[inline]
    pub(super) fn extra_delivered(&mut self, sample: &RateSample) -> f64 {
        let mut expected = self.rate * seconds(self.now.since(self.extra_from));
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_from, expected) = (0.0, self.now, 0.0);
        }
        self.extra_delivered += amount(sample.newly_delivered);
        smaller(self.extra_delivered - expected, self.window)
    }
}
