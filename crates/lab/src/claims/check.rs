//! Checking claims against answers.

use super::{Claim, Quantity};
use crate::compare::Answer;
use crate::record::{Engine, Record};
use crate::report::Verdict;
use std::collections::BTreeMap;
use units::{Fraction, Rate, Span};

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
    } else {
        cases.iter().map(|case| relation(claim, case, answers)).collect::<Result<Vec<_>, _>>()
    };
    match result {
        Ok(outcomes) => {
            let held = outcomes.iter().all(|(held, _)| *held);
            // All numbers when it failed; the closest call is not known, so all when it held, too.
            let details: Vec<String> = outcomes.into_iter().map(|(_, detail)| detail).collect();
            Verdict { claim: claim.says.clone(), held, detail: details.join("; ") }
        }
        Err(reason) => Verdict { claim: claim.says.clone(), held: false, detail: reason },
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
    let fits = |full: &str| full == key || full.rsplit('.').next() == Some(key);
    answer.task.point.iter().any(|(full, set)| fits(full) && set == value)
}

fn relation(claim: &Claim, case: &Answer, answers: &[Answer]) -> Result<(bool, String), String> {
    let values = claim
        .engines
        .iter()
        .map(|engine| value(claim.quantity, case, *engine))
        .collect::<Result<Vec<_>, _>>()?;
    let label = case.task.label();
    let at = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let shown: Vec<String> = (claim.engines.iter().zip(&values))
        .map(|(engine, value)| format!("{engine} {}", show(claim.quantity, *value)))
        .collect();
    let shown = shown.join(", ");
    if let Some(band) = &claim.agree {
        let (low, high) =
            values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
        let allowed = amount(claim.quantity, band, case, high)?;
        let apart = show(claim.quantity, high - low);
        return Ok((high - low <= allowed, format!("{at}{shown}, apart {apart}, allowed {band}")));
    }
    if let Some(bound) = &claim.at_least {
        let bound_value = amount(claim.quantity, bound, case, 0.0)?;
        return Ok((values.iter().all(|v| *v >= bound_value), format!("{at}{shown}, at least {bound}")));
    }
    if let Some(bound) = &claim.at_most {
        let bound_value = amount(claim.quantity, bound, case, 0.0)?;
        return Ok((values.iter().all(|v| *v <= bound_value), format!("{at}{shown}, at most {bound}")));
    }
    let other = claim.exceeds.as_ref().ok_or("the claim states no relation")?;
    let rival =
        rival(case, other, answers).ok_or_else(|| format!("{at}no case {other:?} to compare with"))?;
    let rivals = claim
        .engines
        .iter()
        .map(|engine| value(claim.quantity, rival, *engine))
        .collect::<Result<Vec<_>, _>>()?;
    let held = values.iter().zip(&rivals).all(|(own, other)| own > other);
    let theirs: Vec<String> = rivals.iter().map(|value| show(claim.quantity, *value)).collect();
    Ok((held, format!("{at}{shown}, against {} with {}", theirs.join(", "), rival.task.label())))
}

/// The case that differs from `case` only in what `other` sets.
fn rival<'a>(case: &Answer, other: &BTreeMap<String, String>, answers: &'a [Answer]) -> Option<&'a Answer> {
    let changed =
        |full: &str| other.keys().any(|key| full == key || full.rsplit('.').next() == Some(key.as_str()));
    let same = |answer: &Answer| {
        let kept = case.task.point.iter().filter(|(full, _)| !changed(full));
        kept.clone().all(|pair| answer.task.point.contains(pair))
    };
    answers.iter().find(|answer| other.iter().all(|(key, value)| has(answer, key, value)) && same(answer))
}

fn value(quantity: Quantity, case: &Answer, engine: Engine) -> Result<f64, String> {
    let record: &Record = case.record(engine).ok_or_else(|| {
        let own = format!("{engine}: ");
        let reason =
            case.absent.iter().find_map(|absent| absent.strip_prefix(&own)).unwrap_or("it was not asked");
        format!("{engine} gave no answer: {reason}")
    })?;
    let flow = record.summary.flows.first().ok_or("there is no flow")?;
    let value = match quantity {
        Quantity::Goodput => Some(flow.goodput_bps),
        Quantity::Rtt => flow.rtt_s.map(|rtt| rtt.mean),
        Quantity::Retransmits => flow.retransmits.map(|count| count as f64),
        Quantity::Drops => drops(record),
        Quantity::LossRate => flow.loss_rate,
        Quantity::Utilization => record.summary.utilization,
        Quantity::Occupancy => record.summary.mean_occupancy,
    };
    // NaN compares as nothing does, so that a claim could hold by it.
    let value = value.filter(|value| value.is_finite());
    value.ok_or_else(|| format!("{engine} does not know the {}", name(quantity)))
}

/// Drops over the whole run; `None` if the series does not count them.
fn drops(record: &Record) -> Option<f64> {
    let drops = &record.series.link.drops;
    (!drops.is_empty()).then(|| drops.iter().sum::<u64>() as f64)
}

/// A band or bound in the quantity's base unit: "4% of capacity", "5%" of `whole`, "1.5ms", "25Mbit/s", "3".
fn amount(quantity: Quantity, text: &str, case: &Answer, whole: f64) -> Result<f64, String> {
    let share =
        |text: &str| text.trim().parse::<Fraction>().map(Fraction::get).map_err(|error| error.to_string());
    if let Some(text) = text.strip_suffix("of capacity") {
        if quantity != Quantity::Goodput {
            return Err(format!("the capacity is no measure of the {}", name(quantity)));
        }
        return Ok(share(text)? * case.task.resolved.link.rate.as_bps_f64());
    }
    if text.ends_with('%') && matches!(quantity, Quantity::Goodput | Quantity::Rtt) {
        return Ok(share(text)? * whole);
    }
    match quantity {
        Quantity::Goodput => text.parse::<Rate>().map(Rate::as_bps_f64).map_err(|error| error.to_string()),
        Quantity::Rtt => text.parse::<Span>().map(Span::as_secs_f64).map_err(|error| error.to_string()),
        Quantity::Retransmits | Quantity::Drops => text.parse().map_err(|error| format!("{text}: {error}")),
        Quantity::LossRate | Quantity::Utilization | Quantity::Occupancy => share(text),
    }
}

fn name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Goodput => "goodput",
        Quantity::Rtt => "RTT",
        Quantity::Retransmits => "retransmissions",
        Quantity::Drops => "drops",
        Quantity::LossRate => "loss rate",
        Quantity::Utilization => "utilization",
        Quantity::Occupancy => "occupancy",
    }
}

fn show(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Goodput => format!("{:.1} Mbit/s", value / 1e6),
        Quantity::Rtt => format!("{:.2} ms", value * 1e3),
        Quantity::Retransmits | Quantity::Drops => format!("{value:.0}"),
        Quantity::LossRate => format!("{:.3} %", value * 100.0),
        Quantity::Utilization | Quantity::Occupancy => format!("{:.1} %", value * 100.0),
    }
}
