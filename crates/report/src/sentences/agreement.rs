//! The agreement of engines: by the sum of the goodputs, then flow by flow.

use super::outcome::{Group, MOST_NAMED, groups};
use crate::text::{capitalized, in_words};
use lab::run::record::{Record, Summary};
use lab::run::resolve::Resolved;
use lab::study::task::Answer;

/// Goodputs agree if they differ by at most this many percent of the capacity.
const AGREE: f64 = 4.0;

/// Describes the distance between the engines whose assumptions hold.
pub(super) fn agreement(resolved: &Resolved, answer: &Answer) -> Vec<String> {
    let exact = |record: &&Record| record.summary.is_exact() && !record.summary.flows.is_empty();
    let runs: Vec<&Summary> = answer.records.iter().filter(exact).map(|record| &record.summary).collect();
    if runs.len() < 2 {
        return Vec::new();
    }
    let capacity = resolved.link.rate.as_bps_f64().max(1.0);
    let sums: Vec<f64> = runs.iter().map(|run| run.goodput_bps()).collect();
    let apart = distance(&sums) / capacity * 100.0;
    let engines: Vec<String> = runs.iter().map(|run| run.engine.to_string()).collect();
    let engines = capitalized(&in_words(&engines));
    let several = runs.iter().any(|run| run.flows.len() > 1);
    let what = if several { "the sums of their goodputs" } else { "their goodputs" };
    let verb = if apart <= AGREE { "agree" } else { "differ" };
    let verdict = format!("{engines} {verb}: {what} lie {}.", within(apart));
    std::iter::once(verdict).chain(flow_by_flow(resolved, &runs, capacity)).collect()
}

/// Writes "Flow by flow they differ most for bbr, by 6.1 % of the capacity: its share is 83 % in sim and 88 % in live."
fn flow_by_flow(resolved: &Resolved, runs: &[&Summary], capacity: f64) -> Option<String> {
    let all: Vec<Vec<Group<'_>>> = runs.iter().map(|run| groups(resolved, run)).collect();
    let count = all.first()?.len();
    if !(2..=MOST_NAMED).contains(&count) || all.iter().any(|groups| groups.len() != count) {
        return None;
    }
    let of = |index: usize| -> Vec<f64> { all.iter().map(|groups| groups[index].goodput_bps()).collect() };
    let furthest = (0..count).max_by(|a, b| distance(&of(*a)).total_cmp(&distance(&of(*b))))?;
    let apart = distance(&of(furthest)) / capacity * 100.0;
    let name = &all[0][furthest].name;
    if apart <= AGREE {
        return Some(format!("Flow by flow they agree, too: {}, and {name} differs most.", within(apart)));
    }
    let shares: Vec<String> = runs
        .iter()
        .zip(&all)
        .map(|(run, groups)| {
            let total: f64 = groups.iter().map(Group::goodput_bps).sum();
            let share = groups[furthest].goodput_bps() / total.max(1.0) * 100.0;
            format!("{share:.0} % in {}", run.engine)
        })
        .collect();
    Some(format!(
        "Flow by flow they differ most for {name}, by {apart:.1} % of the capacity: its share is {}.",
        in_words(&shares)
    ))
}

fn within(apart: f64) -> String {
    if apart <= AGREE {
        format!("within {apart:.1} % of the capacity")
    } else {
        format!("{apart:.1} % of the capacity apart")
    }
}

fn distance(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    high - low
}
