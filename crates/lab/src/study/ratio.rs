//! The ratios of numbers at a sweep's points to those at their baselines, which `[sweep] baseline` names. A point's
//! baseline is the point with the baseline's values in place of its own: the same draw, and the same values of all
//! other keys.

use super::sweep::{PointResult, Ratios};
use super::task::setting;
use crate::run::metric::{COLUMNS, FLOW, MetricReader, RUN, USERS, of_run};
use crate::run::record::Summary;
use scenario::Sweep;
use std::collections::HashMap;

/// The numbers that are compared in addition to [`COLUMNS`], where a run, a flow or a population has them.
const MORE: [&str; 4] = ["completion_s", "completion_s.mean", "completion_s.p95", "delivered_bytes"];
/// The most flows and populations whose numbers are compared.
const MOST: usize = 32;
/// The quantiles have a line for the goodput of each flow and population if there are this many of them.
const FEW: std::ops::RangeInclusive<usize> = 2..=12;

/// The ratios of the points that share the values of the baseline's keys.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioGroup {
    /// The values, in the words of labels: "socket buffer = sobas".
    pub label: String,
    /// The number's words, and the quantiles of its ratios.
    pub lines: Vec<(String, RatioQuantiles)>,
}

/// Quantiles of some ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioQuantiles {
    /// The number of points that have the ratio.
    pub points: usize,
    /// The least ratio.
    pub least: f64,
    /// The ratio that a tenth of them are below.
    pub p10: f64,
    /// The ratio that half of them are below.
    pub median: f64,
    /// The ratio that nine tenths of them are below.
    pub p90: f64,
}

/// Sets the ratios of each point that is not a baseline itself. Returns their quantiles, a group for each combination
/// of values of the baseline's keys; empty without a baseline.
pub(crate) fn compare_with_baseline(sweep: &Sweep, results: &mut [PointResult]) -> Vec<RatioGroup> {
    let baseline = sweep.baseline();
    if baseline.is_empty() {
        return Vec::new();
    }
    let numbers: Vec<Ratios> = results.iter().map(|result| numbers(&result.summary)).collect();
    let places: HashMap<_, _> =
        results.iter().enumerate().map(|(place, result)| (result.point.clone(), place)).collect();
    for (own, result) in numbers.iter().zip(results.iter_mut()) {
        let mut point = result.point.clone();
        for (key, value) in &mut point {
            if let Some((_, instead)) = baseline.iter().find(|(of, _)| of == key) {
                value.clone_from(instead);
            }
        }
        let Some(of) = places.get(&point).filter(|_| point != result.point).map(|place| &numbers[*place])
        else {
            continue;
        };
        let ratio = |(key, value): &(String, f64)| {
            let (_, of) = of.iter().find(|(other, _)| other == key)?;
            Some((key.clone(), value / of)).filter(|(_, ratio)| ratio.is_finite())
        };
        result.ratios = own.iter().filter_map(ratio).collect();
    }
    groups(sweep, results)
}

/// Returns the compared numbers of a run, and of its first flows and populations.
fn numbers(summary: &Summary) -> Ratios {
    let mut numbers = known("", RUN, summary);
    for flow in summary.flows.iter().take(MOST) {
        numbers.extend(known(&format!("flows.{}.", flow.name), FLOW, flow));
    }
    for users in summary.sessions.iter().take(MOST) {
        numbers.extend(known(&format!("sessions.{}.", users.name), USERS, users));
    }
    numbers
}

fn known<T>(place: &str, list: &[MetricReader<T>], of: &T) -> Ratios {
    let compared =
        list.iter().filter(|known| COLUMNS.contains(&known.metric.key) || MORE.contains(&known.metric.key));
    compared.filter_map(|known| Some((format!("{place}{}", known.metric.key), (known.get)(of)?))).collect()
}

fn groups(sweep: &Sweep, results: &[PointResult]) -> Vec<RatioGroup> {
    let mut groups: Vec<(String, Vec<&PointResult>)> = Vec::new();
    for result in results.iter().filter(|result| !result.ratios.is_empty()) {
        let of_baseline = |(key, _): &&(String, String)| sweep.baseline().iter().any(|(of, _)| of == key);
        let label: Vec<String> = result.point.iter().filter(of_baseline).map(setting).collect();
        let label = label.join(", ");
        match groups.iter_mut().find(|(of, _)| *of == label) {
            Some((_, members)) => members.push(result),
            None => groups.push((label, vec![result])),
        }
    }
    groups.into_iter().map(|(label, members)| RatioGroup { label, lines: lines(&members) }).collect()
}

fn lines(members: &[&PointResult]) -> Vec<(String, RatioQuantiles)> {
    let of = |key: &str| {
        let ratio =
            |result: &&PointResult| result.ratios.iter().find(|(one, _)| one == key).map(|(_, ratio)| *ratio);
        quantiles(members.iter().filter_map(ratio).collect())
    };
    let mut lines: Vec<(String, RatioQuantiles)> =
        COLUMNS.iter().filter_map(|key| Some((of_run(key).metric.words.to_owned(), of(key)?))).collect();
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for (key, _) in members.iter().flat_map(|result| &result.ratios) {
        let name = ["flows.", "sessions."].iter().find_map(|place| key.strip_prefix(place));
        if let Some(name) = name.and_then(|name| name.strip_suffix(".goodput_bps"))
            && !parts.iter().any(|(other, _)| other == key)
        {
            parts.push((key, name));
        }
    }
    let shown = parts.iter().filter(|_| FEW.contains(&parts.len()));
    lines.extend(shown.filter_map(|(key, name)| Some((format!("goodput of {name}"), of(key)?))));
    lines
}

/// Returns the quantiles of `ratios`, with linear interpolation; `None` if there are none.
fn quantiles(mut ratios: Vec<f64>) -> Option<RatioQuantiles> {
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let (low, high) = (ratios[place.floor() as usize], ratios[place.ceil() as usize]);
        low + place.fract() * (high - low)
    };
    Some(RatioQuantiles {
        points: ratios.len(),
        least: ratios[0],
        p10: at(0.1),
        median: at(0.5),
        p90: at(0.9),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_sorted_ratios() {
        assert_eq!(quantiles(Vec::new()), None);
        let one = quantiles(vec![0.5]).expect("one");
        assert_eq!((one.points, one.least, one.p10, one.median, one.p90), (1, 0.5, 0.5, 0.5, 0.5));
        let many = quantiles((0..=10).rev().map(f64::from).collect()).expect("eleven");
        assert_eq!((many.points, many.least, many.p10, many.median, many.p90), (11, 0.0, 1.0, 5.0, 9.0));
        let two = quantiles(vec![2.0, 1.0]).expect("two");
        assert_eq!((two.p10, two.median), (1.1, 1.5));
    }
}
