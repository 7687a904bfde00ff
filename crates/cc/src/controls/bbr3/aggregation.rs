//! Data that arrive together, beyond those that the rate explains [draft-ietf-ccwg-bbr:5.5.9].

use super::bounds::smaller;
use super::{amount, seconds};
use crate::RateSample;
use crate::controls::bbr::WindowedMax;
use units::Time;

/// `BBR.ExtraAckedFilterLen`, rounds.
const ROUNDS: usize = 10;

/// The most that arrived together in ten rounds, or in one while the pipe fills, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    extra: WindowedMax<ROUNDS>,
    from: Time,
    delivered: f64,
}

impl Aggregation {
    pub(super) fn new() -> Self {
        Self { extra: WindowedMax::new(), from: Time::ZERO, delivered: 0.0 }
    }

    #[inline]
    pub(super) fn largest(&self) -> f64 {
        self.extra.largest()
    }

    /// Returns true if the filter covers ten rounds. When the pipe has filled, it still covers one round for one more
    /// acknowledgement.
    pub(super) fn is_long(&self) -> bool {
        self.extra.length() == ROUNDS as u64
    }

    /// Takes a sample of the `count`th round; the filter covers ten rounds if the pipe is `filled`, else one.
    pub(super) fn observe(&mut self, sample: &Delivery<'_>, count: u64, filled: bool) {
        let extra = self.beyond(sample);
        self.extra.update(count, extra, if filled { ROUNDS as u64 } else { 1 });
    }

    /// Takes a sample of the same round as the last one.
    #[inline]
    pub(super) fn observe_within_round(&mut self, sample: &Delivery<'_>) {
        let extra = self.beyond(sample);
        self.extra.raise(extra);
    }

    /// Returns the amount delivered beyond the amount that the rate explains.
    #[inline]
    fn beyond(&mut self, of: &Delivery<'_>) -> f64 {
        let mut expected = of.rate * seconds(of.now.since(self.from));
        if self.delivered <= expected {
            (self.delivered, self.from, expected) = (0.0, of.now, 0.0);
        }
        self.delivered += amount(of.sample.newly_delivered);
        smaller(self.delivered - expected, of.window)
    }
}

/// A sample at `now`, the rate that explains deliveries, and the window, which is the most that can arrive together.
pub(super) struct Delivery<'a> {
    pub(super) now: Time,
    pub(super) sample: &'a RateSample,
    pub(super) rate: f64,
    pub(super) window: f64,
}
