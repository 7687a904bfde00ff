//! The verdict on a claim.

use crate::run::record::Engine;
use serde::Serialize;

/// The verdict on one claim.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The claim as a sentence.
    pub claim: String,
    /// True if the claim held.
    pub held: bool,
    /// The numbers: "live 79.1 Mbit/s, model 77.2 Mbit/s, apart 1.9 Mbit/s, allowed 3.9 Mbit/s".
    pub detail: String,
    /// The known reason, if the claim was expected to disagree and its value lies in the band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagrees: Option<String>,
    /// The engines that it was judged for; empty if it was left out.
    pub judged: Vec<Engine>,
    /// The engines that it names and that were not asked, or that are too few for a relation between engines.
    pub left_out: Vec<Engine>,
}

impl Verdict {
    /// Returns true if no engine that was asked could judge the claim.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        self.judged.is_empty()
    }

    /// Returns true if the claim did not hold, and no known disagreement explains that.
    #[must_use]
    pub fn failed(&self) -> bool {
        !self.held && self.disagrees.is_none() && !self.is_left_out()
    }

    /// Returns "held", "disagrees", "failed" or "left out".
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.held, &self.disagrees) {
            _ if self.is_left_out() => "left out",
            (true, _) => "held",
            (false, Some(_)) => "disagrees",
            (false, None) => "failed",
        }
    }
}
