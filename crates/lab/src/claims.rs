//! Published relations as data: what a paper says must hold, checked against what the engines found.
//!
//! ```toml
//! [[claim]]
//! figure = "sobas:fig1-4"
//! says = "Where no loss occurs, model, simulation and kernel agree on goodput."
//! quantity = "goodput"
//! engines = ["model", "sim", "live"]
//! cases = { loss = "none" }
//! agree = "4% of capacity"
//! ```
//! A claim picks cases (by the sweep's values, or by whether loss occurred), a quantity, engines, and one relation:
//! `agree`, `within_factor`, `at_least`, `at_most` (also of a `baseline`), `exceeds` another case, or `falls_with` and `rises_with` a swept key. The quantity
//! is one of the first flow ([`Quantity`]), or any number of the summary by its key. `disagrees` has the reason of one that is known not
//! to hold.

mod check;
mod quantity;
mod trend;

pub use check::check;
pub use quantity::Quantity;

use crate::record::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One relation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The figure it is about: the scenario's `source`. Empty: whatever scenario it is given with.
    #[serde(default)]
    pub figure: String,
    /// The claim as a sentence.
    pub says: String,
    /// What is compared.
    pub quantity: Quantity,
    /// The engines it is asked of.
    pub engines: Vec<Engine>,
    /// Which cases: sweep keys (or their last part) and values; `loss = "none"` or `"some"` by what happened in
    /// every engine asked. Absent: all.
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
    /// The engines lie within this of each other: "4% of capacity", "1.5ms", "5%".
    pub agree: Option<String>,
    /// The largest value of the engines is at most this many times the smallest: 1.5. For quantities that are never
    /// below zero.
    pub within_factor: Option<f64>,
    /// Every engine finds at least this.
    pub at_least: Option<String>,
    /// Every engine finds at most this.
    pub at_most: Option<String>,
    /// With `at_least` or `at_most`: the bound is a share of what the same engine finds in the case these values select
    /// instead, such as "115%".
    pub baseline: Option<BTreeMap<String, String>>,
    /// With `at_least` or `at_most`: the bound is a share of another quantity of the same case, such as "90%" of
    /// `flows.reno.goodput_bps`.
    pub of: Option<Quantity>,
    /// Every engine finds more than in the case these values select instead.
    pub exceeds: Option<BTreeMap<String, String>>,
    /// Of a claim that is known not to hold here: why, as found by an experiment. Then it is reported as a disagreement with
    /// the source, and is no failure.
    pub disagrees: Option<String>,
    /// Among cases that differ only in this swept key, the quantity never rises with it, and falls over all.
    pub falls_with: Option<String>,
    /// Among cases that differ only in this swept key, the quantity never falls with it, and rises over all.
    pub rises_with: Option<String>,
}

/// A claim file that does not read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct ClaimError {
    file: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    claim: Vec<Claim>,
}

/// Reads a claim file.
///
/// # Errors
/// [`ClaimError`] with the place, also for a claim without exactly one relation, and for a factor below one.
pub fn parse_claims(name: &str, text: &str) -> Result<Vec<Claim>, ClaimError> {
    let fail = |reason: String| ClaimError { file: name.into(), reason };
    let file: ClaimFile = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
    for claim in &file.claim {
        // A claim that asks nobody would hold whatever happened.
        let enough = if claim.agree.is_some() || claim.within_factor.is_some() { 2 } else { 1 };
        if claim.engines.len() < enough {
            let found = claim.engines.len();
            return Err(fail(format!("claim \"{}\": {found} engines, at least {enough} needed", claim.says)));
        }
        let relations = [
            claim.agree.is_some(),
            claim.within_factor.is_some(),
            claim.at_least.is_some(),
            claim.at_most.is_some(),
            claim.exceeds.is_some(),
            claim.falls_with.is_some(),
            claim.rises_with.is_some(),
        ];
        if relations.iter().filter(|present| **present).count() != 1 {
            return Err(fail(format!(
                "claim \"{}\": one of agree, within_factor, at_least, at_most, exceeds, falls_with, rises_with is needed",
                claim.says
            )));
        }
        if claim.disagrees.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            return Err(fail(format!("claim \"{}\": disagrees without a reason", claim.says)));
        }
        let bound = claim.at_least.as_ref().or(claim.at_most.as_ref());
        if claim.of.is_some() && claim.baseline.is_some() {
            return Err(fail(format!(
                "claim \"{}\": of beside baseline; one of the two is needed",
                claim.says
            )));
        }
        if (claim.baseline.is_some() || claim.of.is_some())
            && !bound.is_some_and(|bound| bound.trim().ends_with('%'))
        {
            let found = bound.map_or("no bound", String::as_str);
            return Err(fail(format!(
                "claim \"{}\": a baseline with {found}; at_least or at_most as a percentage of it is needed",
                claim.says
            )));
        }
        if let Some(factor) = claim.within_factor.filter(|factor| !(*factor >= 1.0 && factor.is_finite())) {
            return Err(fail(format!(
                "claim \"{}\": within_factor = {factor}, at least 1 needed",
                claim.says
            )));
        }
    }
    Ok(file.claim)
}
