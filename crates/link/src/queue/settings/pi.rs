//! The settings of the policies that a PI controller steers: PIE, FQ-PIE and DualPI2.

use super::{BuildError, Settings, within};
use crate::queue::{DualPi2Parameters, FqPieParameters, PieParameters};

/// The largest gain, per second. Linux's DualPI2 takes up to 8 388 607.
const GAIN_MAX: f64 = 1e6;

impl Settings {
    /// Returns the keys that only these policies have, each with true if it is given.
    pub(super) fn given_of_pi(&self) -> [(&'static str, bool); 8] {
        let Self { alpha, beta, ecn_probability, coupling, .. } = self;
        let Self { step_threshold, step_queue, classic_protection, drop_on_overload, .. } = self;
        [
            ("alpha", alpha.is_some()),
            ("beta", beta.is_some()),
            ("ecn_probability", ecn_probability.is_some()),
            ("coupling", coupling.is_some()),
            ("step_threshold", step_threshold.is_some()),
            ("step_queue", step_queue.is_some()),
            ("classic_protection", classic_protection.is_some()),
            ("drop_on_overload", drop_on_overload.is_some()),
        ]
    }

    /// Checks the range of each of these keys.
    pub(super) fn check_pi(&self) -> Result<(), BuildError> {
        let is_gain = |gain: &f64| *gain > 0.0 && *gain <= GAIN_MAX;
        let gain = "a number per second, above 0, at most 1000000";
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        within("alpha", self.alpha, is_gain, gain)?;
        within("beta", self.beta, is_gain, gain)?;
        within("ecn_probability", self.ecn_probability, is_share, "0 to 1")?;
        within("coupling", self.coupling, |k| (1..=255).contains(k), "1 to 255, as in Linux")?;
        within("classic_protection", self.classic_protection, is_share, "0 to 1")
    }

    pub(in crate::queue) fn pie(&self) -> PieParameters {
        let defaults = PieParameters::default();
        PieParameters {
            target: self.target.unwrap_or(defaults.target),
            interval: self.interval.unwrap_or(defaults.interval),
            burst: self.burst.unwrap_or(defaults.burst),
            alpha: self.alpha.unwrap_or(defaults.alpha),
            beta: self.beta.unwrap_or(defaults.beta),
            derandomize: self.derandomize.unwrap_or(defaults.derandomize),
            ecn: self.ecn.unwrap_or(defaults.ecn),
            ecn_probability: self.ecn_probability.unwrap_or(defaults.ecn_probability),
        }
    }

    pub(in crate::queue) fn fq_pie(&self) -> FqPieParameters {
        let defaults = FqPieParameters::default();
        FqPieParameters {
            pie: self.pie(),
            quantum: self.quantum.unwrap_or(defaults.quantum),
            flows: self.flows.unwrap_or(defaults.flows),
        }
    }

    /// Returns the parameters of DualPI2.
    ///
    /// # Errors
    /// If `ecn` is false, because a scalable flow understands nothing but marks.
    pub(in crate::queue) fn dualpi2(&self) -> Result<DualPi2Parameters, BuildError> {
        let marks = "true, because scalable flows need marks; kind = \"pie\" has ecn = false";
        within("ecn", self.ecn, |ecn| *ecn, marks)?;
        let defaults = DualPi2Parameters::default();
        Ok(DualPi2Parameters {
            target: self.target.unwrap_or(defaults.target),
            interval: self.interval.unwrap_or(defaults.interval),
            alpha: self.alpha.unwrap_or(defaults.alpha),
            beta: self.beta.unwrap_or(defaults.beta),
            coupling: self.coupling.unwrap_or(defaults.coupling),
            step_threshold: self.step_threshold.unwrap_or(defaults.step_threshold),
            step_queue: self.step_queue.unwrap_or(defaults.step_queue),
            classic_protection: self.classic_protection.unwrap_or(defaults.classic_protection),
            drop_on_overload: self.drop_on_overload.unwrap_or(defaults.drop_on_overload),
        })
    }
}
