//! Checking claims against answers.

use super::outcome::{Outcome, fits, names};
use super::quantity::ClaimQuantity;
use super::tally::listed;
use super::{Claim, Relation, trend};
use crate::run::record::Engine;
use crate::study::claims::Verdict;
use crate::study::task::{Answer, Task, shown as shown_value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Judges each claim for those of its engines that were asked. A claim that selects no case, or whose engine did not
/// answer, fails, so that no claim passes unseen.
#[must_use]
pub fn check(claims: &[Claim], answers: &[Answer], asked: &[Engine]) -> Vec<Verdict> {
    claims.iter().map(|claim| verdict(claim, answers, asked)).collect()
}

fn verdict(claim: &Claim, answers: &[Answer], asked: &[Engine]) -> Verdict {
    let judged = claim.judged(asked);
    let left_out: Vec<Engine> =
        claim.engines.iter().copied().filter(|engine| !judged.contains(engine)).collect();
    let says = |held, detail: String, disagrees| {
        let (judged, left_out) = (judged.clone(), left_out.clone());
        Verdict { claim: claim.says.clone(), held, detail, disagrees, judged, left_out }
    };
    if judged.is_empty() {
        let kind = if claim.relation() == Relation::Between { "between" } else { "of" };
        return says(false, format!("{kind} {}", listed(&claim.engines)), None);
    }
    let outcomes = match outcomes(claim, &judged, answers) {
        Ok(outcomes) => outcomes,
        // A claim that cannot be judged fails, and no known disagreement explains that.
        Err(reason) => return says(false, reason, None),
    };
    let fine = outcomes.iter().filter(|outcome| outcome.held || outcome.known.is_some()).count();
    let mut held = fine as f64 >= claim.share_of_cases() * outcomes.len() as f64;
    // Every claim shows all numbers. One that held shows them, too, because its closest call is not known.
    let mut details: Vec<String> = outcomes.iter().map(|outcome| outcome.detail.clone()).collect();
    if let Some(share) = &claim.of_cases {
        details
            .push(format!("it holds in {fine} of {} cases, at least {share} of them needed", outcomes.len()));
    }
    let mut reasons = Vec::new();
    for (place, known) in claim.disagrees.iter().enumerate() {
        let differing: Vec<&Outcome> =
            outcomes.iter().filter(|outcome| outcome.known == Some(place)).collect();
        if differing.is_empty() {
            if known
                .engines
                .as_ref()
                .is_none_or(|engines| engines.iter().any(|engine| judged.contains(engine)))
            {
                details.push(format!("no case fits `disagrees` with {:?}", known.cases));
                held = false;
            }
            continue;
        }
        if !known.sometimes && differing.iter().all(|outcome| outcome.held) {
            details.push("it holds now, so remove its `disagrees`".into());
            held = false;
        } else if !differing.iter().all(|outcome| outcome.within) {
            let end = |word, bound: &Option<String>| bound.as_ref().map(|bound| format!("{word} {bound}"));
            let ends = [end("at least", &known.at_least), end("at most", &known.at_most)];
            let ends: Vec<String> = ends.into_iter().flatten().collect();
            details.push(format!("outside the band that was found before: {}", ends.join(", ")));
            held = false;
        }
        reasons.push(known.reason.clone());
    }
    let disagrees = (held && !reasons.is_empty()).then(|| reasons.join(" "));
    says(held && reasons.is_empty(), details.join("; "), disagrees)
}

fn outcomes(claim: &Claim, engines: &[Engine], answers: &[Answer]) -> Result<Vec<Outcome>, String> {
    let cases: Vec<&Answer> = answers.iter().filter(|answer| selected(claim, engines, answer)).collect();
    if cases.is_empty() {
        return Err("no case fits".into());
    }
    if claim.relation() == Relation::Trend {
        return trend::trends(claim, engines, &cases);
    }
    if claim.relation() == Relation::Between {
        return cases.iter().map(|case| between(claim, engines, case)).collect();
    }
    let mut all = Vec::new();
    for case in cases {
        for engine in engines {
            for quantity in claim.quantity.of_each_flow(case, *engine)? {
                all.push(each(claim, &quantity, *engine, case, answers)?);
            }
        }
    }
    Ok(all)
}

/// Returns true if the claim is about this answer.
pub(super) fn selected(claim: &Claim, engines: &[Engine], answer: &Answer) -> bool {
    claim.cases.iter().all(|(key, value)| match (key.as_str(), value.as_str()) {
        ("loss", "none") => !lost(engines, answer),
        ("loss", "some") => lost(engines, answer),
        _ => has(answer, key, value),
    })
}

/// Returns true if any of these engines saw loss, the warm-up included: a window may take tens of seconds to regain
/// what it lost in slow start.
fn lost(engines: &[Engine], answer: &Answer) -> bool {
    engines.iter().flat_map(|engine| answer.runs(*engine)).any(|record| {
        let summary = &record.summary;
        let measured = summary
            .flows
            .first()
            .is_some_and(|flow| flow.retransmits.unwrap_or(0) > 0 || flow.loss_rate.unwrap_or(0.0) > 0.0);
        measured || summary.packets_dropped.is_some_and(|drops| drops > 0)
    })
}

/// Returns true if the sweep set `key`, given whole or by its last part, to `value` here.
pub(super) fn has(answer: &Answer, key: &str, value: &str) -> bool {
    sets(&answer.task, key, value)
}

fn sets(task: &Task, key: &str, value: &str) -> bool {
    let (point, value) = (task.point.iter(), shown_value(value));
    point.clone().any(|(full, set)| {
        names(key, full) && value.split(" or ").any(|value| fits(value, &shown_value(set)))
    })
}

impl Claim {
    /// Returns the place in `disagrees` of the known disagreement of `engine` in this case. Without an engine, the
    /// disagreement of any engine counts.
    fn known(&self, engine: Option<Engine>, case: &Answer) -> Option<usize> {
        self.disagrees.iter().position(|known| {
            let asked = engine.zip(known.engines.as_ref());
            asked.is_none_or(|(engine, engines)| engines.contains(&engine))
                && known.cases.iter().all(|(key, value)| has(case, key, value))
        })
    }

    /// Returns true if the claim uses this task, as one of its cases or as the case that they are compared with.
    /// Conditions on loss count as met, because losses are not known before the runs.
    #[must_use]
    pub fn concerns(&self, task: &Task) -> bool {
        let fits = |other: Option<&BTreeMap<String, String>>| {
            let others = || other.into_iter().flatten();
            let same = |one: &str, other: &str| names(one, other) || names(other, one);
            let kept = self.cases.iter().filter(|(key, _)| others().all(|(set, _)| !same(set, key)));
            let mut all = kept.chain(others()).filter(|(key, _)| *key != "loss");
            all.all(|(key, value)| sets(task, key, value))
        };
        let rivals = [&self.exceeds, &self.baseline].into_iter().flatten();
        fits(None) || rivals.into_iter().any(|other| fits(Some(other)))
    }
}

/// Judges a relation between engines, by the medians of their runs.
fn between(claim: &Claim, engines: &[Engine], case: &Answer) -> Result<Outcome, String> {
    let values =
        engines.iter().map(|engine| claim.quantity.value(case, *engine)).collect::<Result<Vec<_>, _>>()?;
    let shown: Vec<String> = (engines.iter().zip(&values))
        .map(|(engine, value)| format!("{engine} {}", claim.quantity.show(*value)))
        .collect();
    let shown = format!("{}{}", at(case), shown.join(", "));
    let known = claim.known(None, case);
    let band = known.map(|place| &claim.disagrees[place]);
    let least = band.and_then(|band| band.at_least.as_ref());
    let most = band.and_then(|band| band.at_most.as_ref());
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    if let Some(factor) = claim.within_factor {
        // A factor between something and zero does not exist, and a negative one would hold by accident.
        let is_within = |factor: f64| low >= 0.0 && high <= factor * low;
        let least = least.map(|end| number(end)).transpose()?;
        let most = most.map(|end| number(end)).transpose()?;
        let within = least.is_none_or(|least| !is_within(least)) && most.is_none_or(is_within);
        let apart = if low > 0.0 { format!("a factor of {:.2}", high / low) } else { "no factor".into() };
        let detail = format!("{shown}, {apart} apart, allowed {factor}");
        return Ok(Outcome { held: is_within(factor), known, within, detail });
    }
    let allowed = claim.agree.as_ref().ok_or("the claim states no relation between engines")?;
    let apart = high - low;
    let amount = |text: &String| claim.quantity.amount(text, case, high);
    let within = least.map(amount).transpose()?.is_none_or(|least| apart >= least)
        && most.map(amount).transpose()?.is_none_or(|most| apart <= most);
    let detail = format!("{shown}, apart {}, allowed {allowed}", claim.quantity.show(apart));
    Ok(Outcome { held: apart <= amount(allowed)?, known, within, detail })
}

/// Judges a relation of one engine by itself: it holds if it does in enough of its runs.
fn each(
    claim: &Claim,
    quantity: &ClaimQuantity,
    engine: Engine,
    case: &Answer,
    answers: &[Answer],
) -> Result<Outcome, String> {
    let values = quantity.values(case, engine)?;
    let reference = Reference::of(claim, quantity, engine, case, answers)?;
    let count = values.len().max(reference.values.len());
    // A side that does not depend on the seed has one run, which is compared with every run of the other side.
    let at_run = |values: &[f64], run: usize| values.get(if values.len() == 1 { 0 } else { run }).copied();
    let pairs: Vec<(f64, Option<f64>)> = (0..count)
        .filter_map(|run| {
            let other =
                if reference.values.is_empty() { None } else { Some(at_run(&reference.values, run)?) };
            Some((at_run(&values, run)?, other))
        })
        .collect();
    let inside = |(value, other): &(f64, Option<f64>), least: Option<&String>, most: Option<&String>| {
        let bound = |text: &String| match other {
            Some(other) => factor(text).map(|share| share * other),
            None => quantity.amount(text, case, 0.0),
        };
        let above = least.map(bound).transpose()?.is_none_or(|least| *value >= least);
        let below = most.map(bound).transpose()?.is_none_or(|most| *value <= most);
        Ok::<bool, String>(above && below)
    };
    let holds = |pair: &(f64, Option<f64>)| match pair {
        (value, Some(other)) if claim.exceeds.is_some() => Ok(value > other),
        pair => inside(pair, claim.at_least.as_ref(), claim.at_most.as_ref()),
    };
    let held =
        pairs.iter().map(holds).collect::<Result<Vec<bool>, _>>()?.into_iter().filter(|held| *held).count();
    let mut sorted = pairs.clone();
    let size = |(value, other): &(f64, Option<f64>)| other.map_or(*value, |other| value / other);
    sorted.sort_by(|one, other| size(one).total_cmp(&size(other)));
    let (median, first, last) = (sorted[(sorted.len() - 1) / 2], sorted[0], sorted[sorted.len() - 1]);
    let known = claim.known(Some(engine), case);
    let band = known.map(|place| &claim.disagrees[place]);
    let within = inside(
        &median,
        band.and_then(|band| band.at_least.as_ref()),
        band.and_then(|band| band.at_most.as_ref()),
    )?;
    let show = |value| quantity.show(value);
    let mut detail =
        format!("{}{engine} {}{}", at(case), quantity.named_flow(&claim.quantity), show(median.0));
    let against = match median.1 {
        Some(other) if claim.exceeds.is_some() => format!("against {}", reference.shown(other)),
        other => {
            let words = [("at least", &claim.at_least), ("at most", &claim.at_most)];
            let words = words.into_iter().filter_map(|(word, end)| Some(format!("{word} {}", end.as_ref()?)));
            let of = other.map_or_else(String::new, |other| format!(" of {}", reference.shown(other)));
            format!("{}{of}", words.collect::<Vec<_>>().join(", "))
        }
    };
    let _ = write!(detail, ", {against}");
    if count > 1 {
        // Where the other value is zero, a share has no meaning, and the value itself is shown.
        let ends = |(value, other): (f64, Option<f64>)| match other.filter(|other| *other != 0.0) {
            Some(other) => format!("{:.1} %", 100.0 * value / other),
            None => show(value),
        };
        let _ =
            write!(detail, "; {} to {} in {count} runs, in {held} of them it holds", ends(first), ends(last));
    }
    Ok(Outcome { held: held as f64 >= claim.share(engine) * pairs.len() as f64, known, within, detail })
}

fn at(case: &Answer) -> String {
    let label = case.task.label();
    if label.is_empty() { label } else { format!("{label}: ") }
}

/// The value that is 100 % for a claim whose bounds are shares: that of another case, or of another quantity.
struct Reference {
    /// The value of each run; empty where bounds are amounts.
    values: Vec<f64>,
    /// The quantity that the values are of.
    quantity: ClaimQuantity,
    /// The words that distinguish it from the claim's own value.
    name: String,
}

impl Reference {
    fn of(
        claim: &Claim,
        quantity: &ClaimQuantity,
        engine: Engine,
        case: &Answer,
        answers: &[Answer],
    ) -> Result<Self, String> {
        if let Some(other) = &claim.of {
            let (values, name) = (other.values(case, engine)?, format!(", {}", other.name()));
            return Ok(Self { values, quantity: other.clone(), name });
        }
        let quantity = quantity.clone();
        let Some(other) = claim.baseline.as_ref().or(claim.exceeds.as_ref()) else {
            return Ok(Self { values: Vec::new(), quantity, name: String::new() });
        };
        let label = case.task.label();
        let rival = rival(case, other, answers)
            .ok_or_else(|| format!("{label}: no case {other:?} to compare with"))?;
        let name = format!(" with {}", rival.task.label());
        Ok(Self { values: quantity.values(rival, engine)?, quantity, name })
    }

    fn shown(&self, value: f64) -> String {
        format!("{}{}", self.quantity.show(value), self.name)
    }
}

fn number(text: &str) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    found.ok_or_else(|| format!("{text}: a number is needed"))
}

/// Reads "115%" as 1.15.
fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let factor = number.map(|number| number / 100.0).filter(|factor| factor.is_finite() && *factor >= 0.0);
    factor.ok_or_else(|| format!("{text}: a percentage of the baseline is needed"))
}

/// Finds the case that differs from `case` only in the keys that `other` sets.
fn rival<'a>(case: &Answer, other: &BTreeMap<String, String>, answers: &'a [Answer]) -> Option<&'a Answer> {
    let changed = |full: &str| other.keys().any(|key| names(key, full));
    let same = |answer: &Answer| {
        let kept = case.task.point.iter().filter(|(full, _)| !changed(full));
        kept.clone().all(|pair| answer.task.point.contains(pair))
    };
    answers.iter().find(|answer| other.iter().all(|(key, value)| has(answer, key, value)) && same(answer))
}
