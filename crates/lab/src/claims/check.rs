//! Checking claims against answers.

use super::quantity::drops;
use super::{Claim, trend};
use crate::compare::{Answer, Task, shown as shown_value};
use crate::report::Verdict;
use std::collections::BTreeMap;

/// What became of each claim. A claim that selects no case, or asks an engine that did not answer, has failed:
/// nothing may pass by not being looked at.
#[must_use]
pub fn check(claims: &[Claim], answers: &[Answer]) -> Vec<Verdict> {
    claims.iter().map(|claim| verdict(claim, answers)).collect()
}

fn verdict(claim: &Claim, answers: &[Answer]) -> Verdict {
    let cases: Vec<&Answer> = answers.iter().filter(|answer| selected(claim, answer)).collect();
    let result = if cases.is_empty() {
        Err("no case fits".to_owned())
    } else if claim.falls_with.is_some() || claim.rises_with.is_some() {
        trend::trends(claim, &cases)
    } else {
        cases.iter().map(|case| relation(claim, case, answers)).collect::<Result<Vec<_>, _>>()
    };
    match result {
        Ok(outcomes) => {
            let held = outcomes.iter().all(|(held, _)| *held);
            // All numbers when it failed; the closest call is not known, so all when it held, too.
            let details: Vec<String> = outcomes.into_iter().map(|(_, detail)| detail).collect();
            let disagrees = claim.disagrees.clone().filter(|_| !held);
            Verdict { claim: claim.says.clone(), held, detail: details.join("; "), disagrees }
        }
        // What cannot be judged disagrees with nothing.
        Err(reason) => Verdict { claim: claim.says.clone(), held: false, detail: reason, disagrees: None },
    }
}

/// Whether the claim is about this answer.
fn selected(claim: &Claim, answer: &Answer) -> bool {
    claim.cases.iter().all(|(key, value)| match (key.as_str(), value.as_str()) {
        ("loss", "none") => !lost(claim, answer),
        ("loss", "some") => lost(claim, answer),
        _ => has(answer, key, value),
    })
}

/// Whether any engine the claim asks saw loss, the warm-up included: what a slow start lost can take a window
/// tens of seconds to regain.
fn lost(claim: &Claim, answer: &Answer) -> bool {
    let mut records = answer.records.iter().filter(|record| claim.engines.contains(&record.summary.engine));
    records.any(|record| {
        let measured = record
            .summary
            .flows
            .first()
            .is_some_and(|flow| flow.retransmits.unwrap_or(0) > 0 || flow.loss_rate.unwrap_or(0.0) > 0.0);
        measured || drops(record).is_some_and(|drops| drops > 0.0)
    })
}

/// Whether the sweep set `key`, given whole or by its last part, to `value` here.
fn has(answer: &Answer, key: &str, value: &str) -> bool {
    sets(&answer.task, key, value)
}

fn sets(task: &Task, key: &str, value: &str) -> bool {
    let (point, value) = (task.point.iter(), shown_value(value));
    point.clone().any(|(full, set)| names(key, full) && shown_value(set) == value)
}

impl Claim {
    /// Whether the claim looks at this task, as one of its cases or as what they are compared with. Of whether loss
    /// occurred nothing is known before.
    #[must_use]
    pub fn concerns(&self, task: &Task) -> bool {
        let fits = |other: Option<&BTreeMap<String, String>>| {
            let others = || other.into_iter().flatten();
            let kept = self.cases.iter().filter(|(key, _)| others().all(|(set, _)| set != *key));
            let mut all = kept.chain(others()).filter(|(key, _)| *key != "loss");
            all.all(|(key, value)| sets(task, key, value))
        };
        let rivals = [&self.exceeds, &self.baseline].into_iter().flatten();
        fits(None) || rivals.into_iter().any(|other| fits(Some(other)))
    }
}

/// Whether `key` names the swept key `full`, whole or by its last part.
pub(super) fn names(key: &str, full: &str) -> bool {
    full == key || full.rsplit('.').next() == Some(key)
}

fn relation(claim: &Claim, case: &Answer, answers: &[Answer]) -> Result<(bool, String), String> {
    let values = claim
        .engines
        .iter()
        .map(|engine| claim.quantity.value(case, *engine))
        .collect::<Result<Vec<_>, _>>()?;
    let label = case.task.label();
    let at = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let shown: Vec<String> = (claim.engines.iter().zip(&values))
        .map(|(engine, value)| format!("{engine} {}", claim.quantity.show(*value)))
        .collect();
    let shown = shown.join(", ");
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    if let Some(factor) = claim.within_factor {
        // Of something and nothing there is no factor, and a negative one would hold by accident.
        let held = low >= 0.0 && high <= factor * low;
        let apart = if low > 0.0 { format!("a factor of {:.2}", high / low) } else { "no factor".into() };
        return Ok((held, format!("{at}{shown}, {apart} apart, allowed {factor}")));
    }
    if let Some(band) = &claim.agree {
        let allowed = claim.quantity.amount(band, case, high)?;
        let apart = claim.quantity.show(high - low);
        return Ok((high - low <= allowed, format!("{at}{shown}, apart {apart}, allowed {band}")));
    }
    if let Some(bound) = &claim.at_least {
        let (bounds, of) = bounds(claim, bound, case, answers)?;
        let held = values.iter().zip(bounds).all(|(value, bound)| *value >= bound);
        return Ok((held, format!("{at}{shown}, at least {bound}{of}")));
    }
    if let Some(bound) = &claim.at_most {
        let (bounds, of) = bounds(claim, bound, case, answers)?;
        let held = values.iter().zip(bounds).all(|(value, bound)| *value <= bound);
        return Ok((held, format!("{at}{shown}, at most {bound}{of}")));
    }
    let other = claim.exceeds.as_ref().ok_or("the claim states no relation")?;
    let (rival, rivals) = rivals(claim, case, other, answers)?;
    let held = values.iter().zip(&rivals).all(|(own, other)| own > other);
    Ok((held, format!("{at}{shown}, against {} with {}", listed(claim, &rivals), rival.task.label())))
}

/// The bound for each engine, and of what it is a share.
fn bounds(
    claim: &Claim,
    bound: &str,
    case: &Answer,
    answers: &[Answer],
) -> Result<(Vec<f64>, String), String> {
    if let Some(other) = &claim.of {
        let found = claim.engines.iter().map(|engine| other.value(case, *engine));
        let found: Vec<f64> = found.collect::<Result<_, _>>()?;
        let share = factor(bound)?;
        let shown: Vec<String> = found.iter().map(|value| other.show(*value)).collect();
        let of = format!(" of {}, {}", shown.join(", "), other.name());
        return Ok((found.iter().map(|value| value * share).collect(), of));
    }
    let Some(other) = &claim.baseline else {
        let same = claim.quantity.amount(bound, case, 0.0)?;
        return Ok((vec![same; claim.engines.len()], String::new()));
    };
    let (rival, rivals) = rivals(claim, case, other, answers)?;
    let share = factor(bound)?;
    let of = format!(" of {} with {}", listed(claim, &rivals), rival.task.label());
    Ok((rivals.iter().map(|value| value * share).collect(), of))
}

/// "115%" as 1.15.
fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let factor = number.map(|number| number / 100.0).filter(|factor| factor.is_finite() && *factor >= 0.0);
    factor.ok_or_else(|| format!("{text}: a percentage of the baseline is needed"))
}

/// What `case` is compared with, and what each engine found there.
fn rivals<'a>(
    claim: &Claim,
    case: &Answer,
    other: &BTreeMap<String, String>,
    answers: &'a [Answer],
) -> Result<(&'a Answer, Vec<f64>), String> {
    let label = case.task.label();
    let rival =
        rival(case, other, answers).ok_or_else(|| format!("{label}: no case {other:?} to compare with"))?;
    let found = claim.engines.iter().map(|engine| claim.quantity.value(rival, *engine));
    Ok((rival, found.collect::<Result<_, _>>()?))
}

fn listed(claim: &Claim, values: &[f64]) -> String {
    values.iter().map(|value| claim.quantity.show(*value)).collect::<Vec<_>>().join(", ")
}

/// The case that differs from `case` only in what `other` sets.
fn rival<'a>(case: &Answer, other: &BTreeMap<String, String>, answers: &'a [Answer]) -> Option<&'a Answer> {
    let changed = |full: &str| other.keys().any(|key| names(key, full));
    let same = |answer: &Answer| {
        let kept = case.task.point.iter().filter(|(full, _)| !changed(full));
        kept.clone().all(|pair| answer.task.point.contains(pair))
    };
    answers.iter().find(|answer| other.iter().all(|(key, value)| has(answer, key, value)) && same(answer))
}
