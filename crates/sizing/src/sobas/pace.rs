//! How fast the sender may send, where it is ours.

use super::{Phase, Sobas};
use crate::Action;
use estimate::Estimator;
use units::Rate;

impl Sobas {
    /// What the sender is to be paced at: during the ramp as fast as the window moves and a little more, never above C',
    /// or above what the window gives if that is more; a sender that finds its own rate, at C'.
    #[must_use]
    pub fn pace(&self) -> Option<Rate> {
        if !self.paced || matches!(self.phase, Phase::Measure | Phase::Contend(_) | Phase::Open { .. }) {
            return None;
        }
        let limits = &self.config.thresholds;
        let by_window = self.window * 8.0 / self.path.times()?.exogenous.as_secs_f64();
        let capacity = self.path.capacity.estimate().map(|rate| limits.pace_share * rate.as_bps_f64());
        let ahead = by_window * limits.pace_ahead;
        if let (true, Phase::Linear { .. }, Some(capacity)) = (self.rate_based, self.phase, capacity) {
            return Some(Rate::from_bps_f64(capacity));
        }
        Some(Rate::from_bps_f64(capacity.map_or(ahead, |capacity| ahead.min(capacity.max(by_window)))))
    }

    /// The pace, if it is to be said: changes of less than a twentieth are not, with S in force of less than a hundredth.
    pub(super) fn new_pace(&mut self) -> Option<Action> {
        let (pace, said) = (self.pace(), self.said_pace);
        let least = if matches!(self.phase, Phase::Hold(_)) { 0.01 } else { 0.05 };
        let differs = match (pace, said) {
            (Some(pace), Some(said)) => (pace.as_bps_f64() / said.as_bps_f64() - 1.0).abs() > least,
            (pace, said) => pace != said,
        };
        differs.then(|| {
            self.said_pace = pace;
            Action::Pace(pace)
        })
    }
}
