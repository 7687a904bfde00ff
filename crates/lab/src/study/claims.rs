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
//! A claim picks cases (by the sweep's values, or by whether loss occurred), a quantity, engines, and one relation.
//! Relations are `agree`, `within_factor`, `at_least`, `at_most` or both (also of a `baseline`), and `exceeds`
//! another case. With a swept key they are `falls_with` and `rises_with`. The quantity is one of the first flow
//! ([`Quantity`]), or any number of the summary by its key. Each engine that was asked is judged; `agree` and
//! `within_factor` need two of them. A `*` at the end of a flow's name in the quantity, or of a value in `cases`,
//! stands for any ending. Each flow, and each case, is judged. A claim that is known not to hold has one
//! `[[claim.disagrees]]` or more. Each has the reason, the engines and cases it is about, and the band in which the
//! value is found instead.

mod check;
mod confirm;
mod evidence;
mod outcome;
mod quantity;
mod tally;
mod trend;
mod verdict;

pub use check::check;
pub use confirm::{confirmed, doubted};
pub use evidence::{Evidence, Judging, evidence, kernel_runs};
pub use quantity::Quantity;
pub use tally::Tally;
pub use verdict::Verdict;

use crate::run::record::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;
use units::Fraction;

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
    /// The cases: sweep keys (or their last part) and values, of which the end may be `*`. `loss = "none"` or
    /// `"some"` goes by the losses in every engine asked. Absent: all.
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
    /// The claim is no statement of the source, but its condition on a run. Where the condition does not hold, the
    /// run is made again with the next seed, and is not judged.
    #[serde(default)]
    pub validity: bool,
    /// With a bound: the share of an engine's runs in which the claim must hold, such as "100%". If absent, it is 90
    /// % of a simulation's runs and half of the kernel's, so that their median decides. A single run must.
    pub share: Option<String>,
    /// Of a claim that is known not to hold here. Then the claim is reported as a disagreement with the source. It is
    /// no failure as long as the claim does not hold and the value lies in the band.
    #[serde(default)]
    pub disagrees: Vec<Disagreement>,
    /// Among cases that differ only in this swept key, the quantity never rises with it, and falls over all.
    pub falls_with: Option<String>,
    /// Among cases that differ only in this swept key, the quantity never falls with it, and rises over all.
    pub rises_with: Option<String>,
}

/// What is found where a claim does not hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// Why, as found by an experiment.
    pub reason: String,
    /// The engines that disagree, of those of the claim. Absent: all.
    pub engines: Option<Vec<Engine>>,
    /// The cases that disagree, of those of the claim. Absent: all.
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
    /// The band's lower end, in the form of the claim's own bound: of a claim with a `baseline` or `of`, a share of
    /// that.
    pub at_least: Option<String>,
    /// The band's upper end. Of `agree`: how far the engines are apart; of `within_factor`: the factor.
    pub at_most: Option<String>,
    /// The bound lies among the values of single runs, so that the claim holds in some of them. It is no failure
    /// either way, as long as the value lies in the band.
    #[serde(default)]
    pub sometimes: bool,
}

/// Of ten seeds nine.
const SHARE: f64 = 0.9;
/// Of the kernel's runs their median: the machine disturbs single ones.
const MEDIAN: f64 = 0.5;

/// What kind of relation a claim states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Between engines.
    Between,
    /// Of each engine by itself, to a bound or another case.
    Each,
    /// Of each engine by itself, over a swept key.
    Trend,
}

impl Claim {
    pub(crate) const fn relation(&self) -> Relation {
        if self.agree.is_some() || self.within_factor.is_some() {
            Relation::Between
        } else if self.falls_with.is_some() || self.rises_with.is_some() {
            Relation::Trend
        } else {
            Relation::Each
        }
    }

    /// The share of runs in which it must hold.
    pub(crate) fn share(&self, engine: Engine) -> f64 {
        let share = self.share.as_ref().and_then(|share| share.parse::<Fraction>().ok());
        let usual = if engine == Engine::Live { MEDIAN } else { SHARE };
        share.map_or(usual, Fraction::get)
    }

    /// Of these engines, those that the claim is judged for. A relation between engines needs two.
    #[must_use]
    pub fn judged(&self, asked: &[Engine]) -> Vec<Engine> {
        let least = if self.relation() == Relation::Between { 2 } else { 1 };
        let judged: Vec<Engine> =
            self.engines.iter().copied().filter(|engine| asked.contains(engine)).collect();
        if judged.len() < least { Vec::new() } else { judged }
    }
}

/// The engines of `asked` that judge one of these claims.
#[must_use]
pub fn judged_by(claims: &[Claim], asked: &[Engine]) -> Vec<Engine> {
    let judges = |engine: &Engine| claims.iter().any(|claim| claim.judged(asked).contains(engine));
    asked.iter().copied().filter(judges).collect()
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
        if let Some(reason) = fault(claim) {
            return Err(fail(format!("claim \"{}\": {reason}", claim.says)));
        }
    }
    Ok(file.claim)
}

/// What is wrong with a claim.
fn fault(claim: &Claim) -> Option<String> {
    let relations = [
        claim.agree.is_some(),
        claim.within_factor.is_some(),
        claim.at_least.is_some() || claim.at_most.is_some(),
        claim.exceeds.is_some(),
        claim.falls_with.is_some(),
        claim.rises_with.is_some(),
    ];
    if relations.iter().filter(|present| **present).count() != 1 {
        let known = "agree, within_factor, at_least or at_most or both, exceeds, falls_with, rises_with";
        return Some(format!("one of {known} is needed"));
    }
    // A claim that asks nobody would hold whatever happened.
    let (found, least) = (claim.engines.len(), if claim.relation() == Relation::Between { 2 } else { 1 });
    if found < least {
        return Some(format!("{found} engines, at least {least} needed"));
    }
    if claim.of.is_some() && claim.baseline.is_some() {
        return Some("of beside baseline; one of the two is needed".into());
    }
    let bounds: Vec<&String> = [&claim.at_least, &claim.at_most].into_iter().flatten().collect();
    let shares = claim.baseline.is_some() || claim.of.is_some();
    if shares && (bounds.is_empty() || bounds.iter().any(|bound| !bound.trim().ends_with('%'))) {
        let found = bounds.first().map_or("no bound", |bound| bound.as_str());
        return Some(format!("a baseline with {found}; at_least or at_most as a percentage of it is needed"));
    }
    if let Some(factor) = claim.within_factor.filter(|factor| !(*factor >= 1.0 && factor.is_finite())) {
        return Some(format!("within_factor = {factor}, at least 1 needed"));
    }
    if let Some(share) = &claim.share {
        if claim.relation() != Relation::Each {
            return Some("a share of runs beside a relation that is judged by medians".into());
        }
        let found = share.parse::<Fraction>().ok().filter(|share| share.get() > 0.0 && share.get() <= 1.0);
        if found.is_none() {
            return Some(format!("share = {share}, a share of runs such as 90% needed"));
        }
    }
    if claim.validity
        && (claim.relation() != Relation::Each || claim.baseline.is_some() || claim.exceeds.is_some())
    {
        return Some(
            "validity is of one run: a bound, of an amount or of another quantity, is needed".into(),
        );
    }
    claim.disagrees.iter().find_map(|known| fault_of(known, claim))
}

/// What is wrong with a disagreement.
fn fault_of(known: &Disagreement, claim: &Claim) -> Option<String> {
    if known.reason.trim().is_empty() {
        return Some("disagrees without a reason".into());
    }
    if let Some(other) = known.engines.iter().flatten().find(|engine| !claim.engines.contains(engine)) {
        return Some(format!("disagrees on {other}, which it does not ask"));
    }
    if claim.relation() == Relation::Trend {
        return Some(
            "disagrees on a trend, for which there is no band; state the ends as claims of their own".into(),
        );
    }
    // The statement is the other end of the band.
    let (least, most) = (known.at_least.is_some(), known.at_most.is_some());
    let enough = match (claim.relation(), &claim.at_least, &claim.at_most) {
        (Relation::Between, ..) => most,
        (_, Some(_), Some(_)) => least && most,
        (_, None, Some(_)) => most,
        _ => least,
    };
    (!enough).then(|| {
        "disagrees without a band; at_least and at_most with what is found instead are needed".into()
    })
}
