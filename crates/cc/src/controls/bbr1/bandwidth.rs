//! The largest rate that BBR v1 has seen in ten rounds [draft-cardwell-iccrg-bbr-congestion-control-00:4.1.1].

use crate::RateSample;
use crate::controls::bbr::{Rounds, WindowedMax};
use units::Rate;

/// `BtlBwFilterLen`, rounds.
const ROUNDS: usize = 10;

/// `BtlBw`, bits per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    filter: WindowedMax<ROUNDS>,
    largest: f64,
    /// The rate below which a sample is not new to the filter in this round.
    unseen: Rate,
}

impl Bandwidth {
    pub(super) fn new() -> Self {
        Self { filter: WindowedMax::new(), largest: 0.0, unseen: Rate::ZERO }
    }

    /// Returns the largest rate; zero before there is a sample.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns true if the sample's rate is not above the largest one that this round has seen.
    #[inline]
    pub(super) fn has_seen(&self, sample: &RateSample) -> bool {
        sample.falls_short_of(self.unseen)
    }

    /// Begins another round, in which no rate has been seen yet.
    pub(super) fn begin_round(&mut self) {
        self.unseen = Rate::ZERO;
    }

    /// Takes the rate of `sample`; returns true if the largest rate has changed.
    #[inline(never)]
    pub(super) fn take(&mut self, sample: &RateSample, rounds: &Rounds) -> bool {
        let Some(rate) = sample.rate() else { return false };
        let (bits, before) = (rate.as_bps_f64(), self.largest);
        if bits >= before || !rounds.is_limited(sample) {
            self.largest = self.filter.update(rounds.count, bits, ROUNDS as u64);
            self.unseen = rate + Rate::from_bps(1);
        }
        self.largest != before
    }
}
