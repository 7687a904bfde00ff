//! What became of a claim.

use crate::run::record::Engine;
use serde::Serialize;

/// What became of one claim.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The claim as a sentence.
    pub claim: String,
    /// Whether it held.
    pub held: bool,
    /// The numbers: "live 79.1 Mbit/s, model 77.2 Mbit/s, apart 1.9 Mbit/s, allowed 3.9 Mbit/s".
    pub detail: String,
    /// The known reason, if the claim was expected to disagree and its value lies in the band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagrees: Option<String>,
    /// The engines that it was judged for; none if it was left out.
    pub judged: Vec<Engine>,
    /// The engines that it names and that were not asked, or are too few for a relation between engines.
    pub left_out: Vec<Engine>,
}

impl Verdict {
    /// No engine that was asked could judge it.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        self.judged.is_empty()
    }

    /// It did not hold, and that is news.
    #[must_use]
    pub fn failed(&self) -> bool {
        !self.held && self.disagrees.is_none() && !self.is_left_out()
    }

    /// "held", "disagrees", "failed" or "left out".
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
