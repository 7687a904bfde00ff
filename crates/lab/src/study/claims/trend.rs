//! Trends: the fall or rise of a quantity with a swept key, in the mean over the runs of each case.

use super::Claim;
use super::outcome::{Outcome, names};
use crate::run::record::Engine;
use crate::study::task::Answer;
use units::split_quantity;

/// Judges a trend. Returns one outcome per engine and group of cases that differ only in the key.
pub(super) fn trends(claim: &Claim, engines: &[Engine], cases: &[&Answer]) -> Result<Vec<Outcome>, String> {
    let (key, rises) = match (&claim.falls_with, &claim.rises_with) {
        (Some(key), _) => (key, false),
        (None, Some(key)) => (key, true),
        (None, None) => return Err("the claim states no trend".into()),
    };
    let mut outcomes = Vec::new();
    for group in groups(key, cases)? {
        for engine in engines {
            let (held, detail) = trend(claim, *engine, rises, &group)?;
            outcomes.push(Outcome { held, known: None, within: true, detail });
        }
    }
    Ok(outcomes)
}

/// Cases that differ only in the key, by its value, with a label that distinguishes them from other groups.
struct Group<'a> {
    label: String,
    by_value: Vec<(f64, &'a Answer)>,
}

fn groups<'a>(key: &str, cases: &[&'a Answer]) -> Result<Vec<Group<'a>>, String> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for case in cases {
        let swept = case.task.point.iter().find(|(full, _)| names(key, full));
        let (_, typed) = swept.ok_or_else(|| format!("the sweep does not vary {key}"))?;
        let value = split_quantity(typed, "a number").map_err(|error| error.to_string())?.value();
        let others = case.task.point.iter().filter(|(full, _)| !names(key, full));
        let one =
            |(full, set): &(String, String)| format!("{} = {set}", full.rsplit('.').next().unwrap_or(full));
        let label = others.map(one).collect::<Vec<_>>().join(", ");
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.by_value.push((value, case)),
            None => groups.push(Group { label, by_value: vec![(value, case)] }),
        }
    }
    for group in &mut groups {
        group.by_value.sort_by(|a, b| a.0.total_cmp(&b.0));
        if group.by_value.len() < 2 {
            return Err(format!("{}: one value of {key} makes no trend", group.label));
        }
    }
    Ok(groups)
}

/// Judges the trend of one group: the mean must never go the wrong way from one value to the next, and go the right way
/// over all. Returns the numbers, too.
fn trend(claim: &Claim, engine: Engine, rises: bool, group: &Group<'_>) -> Result<(bool, String), String> {
    let quantity = &claim.quantity;
    let values = group
        .by_value
        .iter()
        .map(|(at, case)| Ok((*at, mean(&quantity.values(case, engine)?))))
        .collect::<Result<Vec<_>, String>>()?;
    let ordered = |from: f64, to: f64| if rises { to >= from } else { to <= from };
    let wrong = values.windows(2).find(|pair| !ordered(pair[0].1, pair[1].1));
    let ((first_at, first), (last_at, last)) = (values[0], values[values.len() - 1]);
    let held = wrong.is_none() && first != last;
    let at = if group.label.is_empty() { String::new() } else { format!("{}: ", group.label) };
    let shown =
        format!("{at}{engine} {} at {first_at}, {} at {last_at}", quantity.show(first), quantity.show(last));
    Ok((
        held,
        match wrong {
            Some(pair) => {
                let (from, to) = (quantity.show(pair[0].1), quantity.show(pair[1].1));
                format!("{shown}; but {from} at {} and {to} at {}", pair[0].0, pair[1].0)
            }
            None => shown,
        },
    ))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
