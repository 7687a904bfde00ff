//! The largest rate that BBR v3 has seen in this probing cycle and the last [draft-ietf-ccwg-bbr:5.5.5].

use crate::RateSample;
use crate::controls::bbr::{Rounds, WindowedMax};
use units::Rate;

/// `BBR.MaxBwFilterLen`, cycles.
const CYCLES: usize = 2;

/// The largest rate of two cycles, bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxRate {
    filter: WindowedMax<CYCLES>,
    cycles: u64,
    largest: f64,
    /// The rate below which a sample is not new to the filter in this round.
    unseen: Rate,
}

impl MaxRate {
    pub(super) fn new() -> Self {
        Self { filter: WindowedMax::new(), cycles: 0, largest: 0.0, unseen: Rate::ZERO }
    }

    #[inline]
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns true if the sample's rate is not above the largest one that this round has seen.
    #[inline]
    pub(super) fn has_seen(&self, sample: &RateSample) -> bool {
        sample.falls_short_of(self.unseen)
    }

    /// Takes the rate of `sample`, and returns it in bytes per second; zero if it has none.
    pub(super) fn take(&mut self, sample: &RateSample, rounds: &Rounds) -> f64 {
        let Some(rate) = sample.rate() else { return 0.0 };
        let bytes = rate.as_bps_f64() / 8.0;
        if bytes > 0.0 && (bytes >= self.largest || !rounds.is_limited(sample)) {
            self.largest = self.filter.update(self.cycles, bytes, CYCLES as u64);
            self.unseen = self.unseen.max(rate + Rate::from_bps(1));
        }
        bytes
    }

    /// Begins another round, to which any rate is new.
    pub(super) fn begin_round(&mut self) {
        self.unseen = Rate::ZERO;
    }

    /// Begins another cycle.
    pub(super) fn begin_cycle(&mut self) {
        self.cycles += 1;
        self.unseen = Rate::ZERO;
    }
}
