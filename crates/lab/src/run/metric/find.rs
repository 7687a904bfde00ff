//! Lookup of a metric by its key.

use super::{Completions, FLOW, GROUP, LINK, Metric, MetricReader, RUN, STATION, TRAFFIC, USERS};
use crate::run::record::{
    FlowSummary, LinkSummary, SessionsSummary, StationSummary, Summary, TrafficSummary,
};

/// A part of a summary that has numbers under a name of its own.
trait NamedPart {
    /// The word before the name in a key.
    const LIST: &'static str;
    fn is_called(&self, name: &str) -> bool;
    fn name(&self) -> String;
}

impl NamedPart for FlowSummary {
    const LIST: &'static str = "flows.";
    fn is_called(&self, name: &str) -> bool {
        self.name == name
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

impl NamedPart for TrafficSummary {
    const LIST: &'static str = "traffic.";
    fn is_called(&self, name: &str) -> bool {
        self.name == name
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

impl NamedPart for LinkSummary {
    const LIST: &'static str = "links.";
    fn is_called(&self, name: &str) -> bool {
        self.key() == name
    }
    fn name(&self) -> String {
        self.key()
    }
}

impl NamedPart for SessionsSummary {
    const LIST: &'static str = "sessions.";
    fn is_called(&self, name: &str) -> bool {
        self.name == name
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

impl NamedPart for StationSummary {
    const LIST: &'static str = "wlan.stations.";
    fn is_called(&self, name: &str) -> bool {
        self.key() == name
    }
    fn name(&self) -> String {
        self.key()
    }
}

/// Returns the stations of a wireless cell; empty if the run had no cell.
fn stations(summary: &Summary) -> &[StationSummary] {
    summary.wlan.as_ref().map_or(&[], |wlan| &wlan.stations)
}

/// Returns the number called `key`, such as `idle_fraction`, `queueing_delay_s.p99` or, of the flow `target`,
/// `flows.target.rtt_s.p95`. Returns `None` for an unknown key, or for a number that the run does not know.
#[must_use]
pub fn value(summary: &Summary, key: &str) -> Option<f64> {
    let found = match RUN.iter().find(|known| known.metric.key == key) {
        Some(known) => (known.get)(summary),
        None => of_one(FLOW, &summary.flows, key)
            .or_else(|| of_group(&summary.flows, key))
            .or_else(|| of_one(TRAFFIC, &summary.traffic, key))
            .or_else(|| of_one(LINK, &summary.links, key))
            .or_else(|| of_one(USERS, &summary.sessions, key))
            .or_else(|| of_one(STATION, stations(summary), key)),
    };
    found.filter(|value| value.is_finite())
}

/// Returns true if `key` is a completion time that the run lacks because a flow has not completed. Such a run meets no
/// bound on it.
#[must_use]
pub fn is_missing(summary: &Summary, key: &str) -> bool {
    let sized = |flow: &FlowSummary| flow.size_bytes.is_some() && flow.completion_s.is_none();
    let lacks = |all: Option<Completions>| all.is_some_and(|all| all.lack_one());
    if let Some((name, _)) = group(key) {
        return lacks(Completions::of_group(&summary.flows, name));
    }
    match key.strip_prefix("flows.").and_then(|rest| rest.strip_suffix(".completion_s")) {
        Some(name) => summary.flows.iter().any(|flow| flow.name == name && sized(flow)),
        None => {
            let of_all = GROUP.iter().any(|known| known.metric.key == key);
            of_all && lacks(Completions::of(summary.flows.iter()))
        }
    }
}

/// Splits `flows.NAME.completion_s.max` into the name of the flows and the metric.
fn group(key: &str) -> Option<(&str, &'static MetricReader<Completions>)> {
    let rest = key.strip_prefix(FlowSummary::LIST)?;
    let named = |known: &'static MetricReader<Completions>| {
        Some((rest.strip_suffix(known.metric.key)?.strip_suffix('.')?, known))
    };
    GROUP.iter().find_map(named)
}

fn of_group(flows: &[FlowSummary], key: &str) -> Option<f64> {
    let (name, known) = group(key)?;
    (known.get)(&Completions::of_group(flows, name)?)
}

fn of_one<T: NamedPart>(list: &'static [MetricReader<T>], all: &[T], key: &str) -> Option<f64> {
    let (name, known) = split(list, key)?;
    (known.get)(all.iter().find(|one| one.is_called(name))?)
}

/// Splits `flows.NAME.KEY` into the name and the metric. Names and keys may both have dots in them.
fn split<'a, T: NamedPart>(
    list: &'static [MetricReader<T>],
    key: &'a str,
) -> Option<(&'a str, &'static MetricReader<T>)> {
    let rest = key.strip_prefix(T::LIST)?;
    list.iter().find_map(|known| Some((rest.strip_suffix(known.metric.key)?.strip_suffix('.')?, known)))
}

/// Returns the metric called `key`, and the name of its flow, link or users if it belongs to one.
#[must_use]
pub fn described(key: &str) -> Option<(&'static Metric, Option<&str>)> {
    fn named<'a, T: NamedPart>(
        list: &'static [MetricReader<T>],
        key: &'a str,
    ) -> Option<(&'static Metric, Option<&'a str>)> {
        split(list, key).map(|(name, known)| (&known.metric, Some(name)))
    }
    let of_run = RUN.iter().find(|known| known.metric.key == key).map(|known| (&known.metric, None));
    let groups = || group(key).map(|(name, known)| (&known.metric, Some(name)));
    let one = named(FLOW, key).or_else(groups).or_else(|| named(TRAFFIC, key)).or_else(|| named(LINK, key));
    of_run.or(one).or_else(|| named(USERS, key)).or_else(|| named(STATION, key))
}

/// Returns every metric with its full key: `utilization`, `flows.NAME.goodput_bps`.
pub fn all() -> impl Iterator<Item = (String, &'static Metric)> {
    fn named<T: NamedPart>(
        list: &'static [MetricReader<T>],
    ) -> impl Iterator<Item = (String, &'static Metric)> {
        list.iter().map(|known| (format!("{}NAME.{}", T::LIST, known.metric.key), &known.metric))
    }
    let run = RUN.iter().map(|known| (known.metric.key.to_owned(), &known.metric));
    let groups = GROUP.iter().map(|known| {
        let key = known.metric.key;
        (format!("flows.NAME.{key}"), &known.metric)
    });
    let run = run.chain(named(FLOW)).chain(groups).chain(named(TRAFFIC));
    run.chain(named(LINK)).chain(named(USERS)).chain(named(STATION))
}

/// Returns the metric of a run called `key`.
///
/// # Panics
/// If [`RUN`] does not have the key, because callers must take keys from that list.
#[must_use]
pub fn of_run(key: &str) -> &'static MetricReader<Summary> {
    RUN.iter().find(|known| known.metric.key == key).expect("a key of the list")
}

/// Returns the keys of every number that `summary` knows; of flows, links and users, those of the first.
#[must_use]
pub fn numbers(summary: &Summary) -> Vec<String> {
    fn named<T: NamedPart>(list: &[MetricReader<T>], first: Option<&T>) -> Vec<String> {
        let of = |one: &T| {
            let known = list.iter().filter(|known| (known.get)(one).is_some());
            known.map(|known| format!("{}{}.{}", T::LIST, one.name(), known.metric.key)).collect()
        };
        first.map(of).unwrap_or_default()
    }
    let mut keys: Vec<String> = (RUN.iter().filter(|known| (known.get)(summary).is_some()))
        .map(|known| known.metric.key.to_owned())
        .collect();
    keys.extend(named(FLOW, summary.flows.first()));
    keys.extend(named(TRAFFIC, summary.traffic.first()));
    keys.extend(named(LINK, summary.links.first()));
    keys.extend(named(USERS, summary.sessions.first()));
    keys.extend(named(STATION, stations(summary).first()));
    keys
}
