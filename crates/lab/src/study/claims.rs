//! Published relations as data: statements of a paper, checked against the results of the engines.
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
//! A claim picks cases (by the sweep's values, or by the presence of loss), a quantity, engines, and one relation. The
//! relations are `agree`, `within_factor`, `at_least` and `at_most` (one or both, also as shares of a `baseline`),
//! `exceeds` (another case), and for a swept key `falls_with` and `rises_with`. The quantity is one of the first flow
//! ([`ClaimQuantity`]), or any number of the summary by its key. Each engine that was asked is judged; `agree` and
//! `within_factor` need two of them. A `*` at the end of a flow's name in the quantity, or of a value in `cases`,
//! stands for any ending. Each flow, and each case, is judged. A claim that is known not to hold has one
//! `[[claim.disagrees]]` or more. Each of these has the reason, the engines and cases that disagree, and the band in
//! which their value lies instead.

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
pub use evidence::{ClaimSettings, Evidence, evidence, kernel_runs};
pub use quantity::ClaimQuantity;
pub use tally::Tally;
pub use verdict::Verdict;

use crate::run::record::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;
use units::Fraction;

/// A claim, which states one relation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The figure that the claim is about: the scenario's `source`. If empty, the claim is about any scenario that it
    /// is given with.
    #[serde(default)]
    pub figure: String,
    /// The claim as a sentence.
    pub says: String,
    /// The quantity that is compared.
    pub quantity: ClaimQuantity,
    /// The engines that the claim is about.
    pub engines: Vec<Engine>,
    /// The cases: sweep keys (or their last part) and values, whose end may be `*`; "reno or
    /// cubic" selects both. `loss = "none"` or `"some"` selects
    /// cases without or with losses in the engines asked. Absent: all cases.
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
    /// The largest distance between the engines: "4% of capacity", "1.5ms", "5%", or the larger of two: "10% or 0.3ms".
    pub agree: Option<String>,
    /// The largest ratio of the engines' largest value to their smallest, such as 1.5. It is only for quantities that
    /// are never below zero.
    pub within_factor: Option<f64>,
    /// The least value that every engine must find.
    pub at_least: Option<String>,
    /// The largest value that every engine may find.
    pub at_most: Option<String>,
    /// The case whose value, found by the same engine, is 100 % for shares in `at_least` and `at_most`, such as "115%".
    pub baseline: Option<BTreeMap<String, String>>,
    /// The quantity of the same case that is 100 % for shares in `at_least` and `at_most`, such as "90%" of
    /// `flows.reno.goodput_bps`.
    pub of: Option<ClaimQuantity>,
    /// The values that select the other case, in which every engine must find less.
    pub exceeds: Option<BTreeMap<String, String>>,
    /// True if the claim is not a statement of the source, but its condition on a run. Where the condition does not
    /// hold, the run is made again with the next seed, and is not judged.
    #[serde(default)]
    pub validity: bool,
    /// The share of an engine's runs in which a claim with a bound must hold, such as "100%". If absent, it is 90 % of
    /// a simulation's runs and half of the kernel's, so that their median decides. In a single run the claim must hold.
    pub share: Option<String>,
    /// The share of cases in which a claim must hold, such as "90%". If absent, it must hold in all of them. With "50%"
    /// a bound is one on the median of the cases.
    pub of_cases: Option<String>,
    /// The known disagreements of a claim that does not hold here. Such a claim is reported as a disagreement with the
    /// source. It does not fail as long as the claim does not hold and the value lies in the band.
    #[serde(default)]
    pub disagrees: Vec<Disagreement>,
    /// The swept key with which the quantity falls: among cases that differ only in it, the quantity never rises, and
    /// falls over all.
    pub falls_with: Option<String>,
    /// The swept key with which the quantity rises: among cases that differ only in it, the quantity never falls, and
    /// rises over all.
    pub rises_with: Option<String>,
}

/// A known result that differs from a claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// The reason, as an experiment found it.
    pub reason: String,
    /// The engines that disagree, out of those of the claim. Absent: all.
    pub engines: Option<Vec<Engine>>,
    /// The cases that disagree, out of those of the claim. Absent: all.
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
    /// The band's lower end, in the form of the claim's own bound: with a `baseline` or `of`, a share of that.
    pub at_least: Option<String>,
    /// The band's upper end. For `agree` it is the distance between the engines; for `within_factor`, the factor.
    pub at_most: Option<String>,
    /// True if the bound lies among the values of single runs, so that the claim holds in some of them. It does not
    /// fail either way, as long as the value lies in the band.
    #[serde(default)]
    pub sometimes: bool,
}

/// The share of simulated runs in which a claim must hold: nine of ten seeds.
const SHARE: f64 = 0.9;
/// The share of the kernel's runs in which a claim must hold. It is a half so that the median decides, because the
/// machine disturbs single runs.
const MEDIAN: f64 = 0.5;

/// The kind of relation that a claim states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// A relation between engines.
    Between,
    /// A relation of each engine by itself, to a bound or another case.
    Each,
    /// A relation of each engine by itself, over a swept key.
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

    /// Returns the share of runs of `engine` in which the claim must hold.
    pub(crate) fn share(&self, engine: Engine) -> f64 {
        let share = self.share.as_ref().and_then(|share| share.parse::<Fraction>().ok());
        let usual = if engine == Engine::Live { MEDIAN } else { SHARE };
        share.map_or(usual, Fraction::get)
    }

    /// Returns the share of cases in which the claim must hold.
    pub(crate) fn share_of_cases(&self) -> f64 {
        self.of_cases.as_ref().and_then(|share| share.parse::<Fraction>().ok()).map_or(1.0, Fraction::get)
    }

    /// Returns the engines out of `asked` for which the claim is judged. A relation between engines needs two of them.
    #[must_use]
    pub fn judged(&self, asked: &[Engine]) -> Vec<Engine> {
        let least = if self.relation() == Relation::Between { 2 } else { 1 };
        let judged: Vec<Engine> =
            self.engines.iter().copied().filter(|engine| asked.contains(engine)).collect();
        if judged.len() < least { Vec::new() } else { judged }
    }
}

/// Returns the engines of `asked` that judge one of these claims.
#[must_use]
pub fn judged_by(claims: &[Claim], asked: &[Engine]) -> Vec<Engine> {
    let judges = |engine: &Engine| claims.iter().any(|claim| claim.judged(asked).contains(engine));
    asked.iter().copied().filter(judges).collect()
}

/// The error for a claim file that cannot be read.
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

/// Returns the first fault of a claim, if it has one.
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
    // A claim with too few engines is refused, because it would always hold.
    let (found, least) = (claim.engines.len(), if claim.relation() == Relation::Between { 2 } else { 1 });
    if found < least {
        return Some(format!("{found} engines, at least {least} needed"));
    }
    if claim.of.is_some() && claim.baseline.is_some() {
        return Some("of together with baseline; one of the two is needed".into());
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
    if claim.share.is_some() && claim.relation() != Relation::Each {
        return Some("a share of runs together with a relation that is judged by medians".into());
    }
    for (key, share, of) in [("share", &claim.share, "runs"), ("of_cases", &claim.of_cases, "cases")] {
        let is_share = |share: &String| {
            share
                .parse::<Fraction>()
                .is_ok_and(|share| (0.0..=1.0).contains(&share.get()) && share.get() > 0.0)
        };
        if let Some(share) = share.as_ref().filter(|share| !is_share(share)) {
            return Some(format!("{key} = {share}, a share of {of} such as 90% needed"));
        }
    }
    if claim.of_cases.is_some() && claim.engines.len() != least {
        return Some(
            "of_cases for several engines, whose cases would be counted together; a claim for each".into(),
        );
    }
    if claim.of_cases.is_some() && !claim.disagrees.is_empty() {
        return Some(
            "of_cases together with disagrees; state the cases that disagree as a claim of their own".into(),
        );
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

/// Returns the first fault of a disagreement of `claim`, if it has one.
fn fault_of(known: &Disagreement, claim: &Claim) -> Option<String> {
    if known.reason.trim().is_empty() {
        return Some("disagrees without a reason".into());
    }
    if let Some(other) = known.engines.iter().flatten().find(|engine| !claim.engines.contains(engine)) {
        return Some(format!("disagrees on {other}, which it does not ask"));
    }
    if claim.relation() == Relation::Trend {
        return Some("disagrees on a trend, which has no band; state the ends as claims of their own".into());
    }
    // The claim's own bound is the other end of the band.
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
