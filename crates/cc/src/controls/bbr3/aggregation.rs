//! What arrived together: data delivered beyond what the rate explains [draft-ietf-ccwg-bbr:5.5.9].

use super::bounds::smaller;
use super::{amount, seconds};
use crate::RateSample;
use crate::controls::bbr::WindowedMax;
use units::Time;

/// `BBR.ExtraAckedFilterLen`, rounds.
const ROUNDS: usize = 10;

/// The most that arrived together in ten rounds, in one while the pipe fills. Bytes.
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

    /// Whether it looks at ten rounds: as the pipe fills, the filter goes over one round for one acknowledgement more.
    pub(super) fn is_long(&self) -> bool {
        self.extra.length() == ROUNDS as u64
    }

    /// Another sample, in the round that is the `count`th; over ten rounds if the pipe is `filled`.
    pub(super) fn observe(&mut self, sample: &Delivery<'_>, count: u64, filled: bool) {
        let extra = self.beyond(sample);
        self.extra.update(count, extra, if filled { ROUNDS as u64 } else { 1 });
    }

    /// The same in the round of the last sample.
    #[inline]
    pub(super) fn observe_within_round(&mut self, sample: &Delivery<'_>) {
        let extra = self.beyond(sample);
        self.extra.raise(extra);
    }

    /// What has been delivered beyond what the rate explains.
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

/// A sample at `now`, and the rate that explains it. No more than a window arrives together.
pub(super) struct Delivery<'a> {
    pub(super) now: Time,
    pub(super) sample: &'a RateSample,
    pub(super) rate: f64,
    pub(super) window: f64,
}
