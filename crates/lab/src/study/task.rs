//! A [`Task`] is one point of a scenario's sweep, resolved; an [`Answer`] has the engines' results there.

use crate::run::engine::{self, Misfit};
use crate::run::record::{Engine, Record, Summary};
use crate::run::resolve::{Resolved, Room, resolve_document};
use scenario::{Document, Faults, Point};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use units::one_line;

/// One point of a scenario's sweep, resolved.
#[derive(Clone, Debug)]
pub struct Task {
    /// The scenario with its sweep, which all points share.
    pub document: Arc<Document>,
    /// The keys the sweep sets and their values; empty without a sweep.
    pub point: Point,
    /// The scenario at this point. Copies of a task share it: it can have a hundred thousand flows.
    pub resolved: Arc<Resolved>,
}

impl Task {
    /// Creates the task at `point`. Settings of `point` beyond the document's sweep are set over the document.
    ///
    /// # Errors
    /// All faults of the scenario at a point.
    pub fn at(document: &Arc<Document>, point: Point) -> Result<Self, Faults> {
        let resolved = Arc::new(resolve_document(&document.at(&point)?)?);
        Ok(Self { document: Arc::clone(document), point, resolved })
    }

    /// Returns the names of the files that the scenario reads, such as traces.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let scenario = self.document.at(&self.point).and_then(|document| document.scenario());
        scenario
            .map_or_else(|_| Vec::new(), |read| read.replays.into_iter().map(|replay| replay.file).collect())
    }

    /// Returns a misfit of an engine as a fault of the scenario's text.
    fn fault(&self, misfit: Misfit) -> Faults {
        match self.document.at(&self.point) {
            Ok(here) => here.complain(misfit.complaint).into(),
            Err(faults) => faults,
        }
    }

    /// Returns the swept keys and values of this point as labels have them: ("socket buffer", "400kB").
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        let last = |key: &str| one_line(key.rsplit('.').next().unwrap_or(key)).replace('_', " ");
        self.point.iter().map(|(key, value)| (last(key), shown(value).into_owned())).collect()
    }

    /// Returns "socket buffer = 400kB, limit = 120kB"; empty without a sweep.
    #[must_use]
    pub fn label(&self) -> String {
        self.point.iter().map(setting).collect::<Vec<_>>().join(", ")
    }
}

/// Returns "socket buffer = 400kB" for a key's last part and its value.
#[must_use]
pub fn setting((key, value): &(String, String)) -> String {
    let last = one_line(key.rsplit('.').next().unwrap_or(key)).replace('_', " ");
    format!("{last} = {}", shown(value))
}

/// Returns a swept value as labels, tables and claims have it: on one line, and for a sizer without settings its name.
#[must_use]
pub fn shown(value: &str) -> Cow<'_, str> {
    let sizer = || {
        let table = format!("value = {value}").parse::<toml::Table>().ok()?;
        let mut keys = table.get("value")?.as_table()?.iter();
        let (key, name) = keys.next()?;
        (key == "sizer" && keys.next().is_none()).then(|| name.as_str().map(str::to_owned))?
    };
    let sizer = if value.starts_with('{') { sizer() } else { None };
    sizer.map_or_else(|| one_line(value), |name| one_line(&name).into_owned().into())
}

/// One task and the engines' results.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The task.
    pub task: Task,
    /// The record of each engine that could answer; of several runs the one with the median goodput.
    pub records: Vec<Record>,
    /// Every run of the engines that ran several times, in the order of their seeds.
    pub runs: Vec<Record>,
    /// The engines that could not answer, and the reasons.
    pub absent: Vec<String>,
    /// The result of a search at this point, if there was one.
    pub found: Option<SearchResult>,
}

/// The target of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// A key of the summary: `idle_fraction`, `loss_rate`, `queueing_delay_s.p99`, …
    pub metric: String,
    /// The bound of the metric.
    #[serde(flatten)]
    pub bound: Bound,
}

/// A bound of a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The number is at most this.
    AtMost(f64),
    /// The number is at least this.
    AtLeast(f64),
}

impl Bound {
    /// Returns the number.
    #[must_use]
    pub const fn value(self) -> f64 {
        let (Self::AtMost(value) | Self::AtLeast(value)) = self;
        value
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.bound {
            Bound::AtMost(_) => "<=",
            Bound::AtLeast(_) => ">=",
        };
        write!(f, "{} {sign} {}", self.metric, self.bound.value())
    }
}

/// The kind of value that a search seeks among those that meet the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The smallest value: the metric comes nearer to the target as the value grows.
    Smallest,
    /// The largest value: the metric comes nearer to the target as the value falls.
    Largest,
}

/// The result of a search: the smallest or the largest value of a key that meets a target.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResult {
    /// The key that was searched.
    pub over: String,
    /// The target.
    #[serde(flatten)]
    pub target: Target,
    /// The kind of value that was sought.
    pub sought: Goal,
    /// The value that meets the target, as a scenario writes it; for a queue's room, whole packets.
    pub value: String,
    /// The same in the scenario's own unit, where that is another: a number that gives the same room with the
    /// scenario's seed.
    pub written: Option<String>,
    /// A queue's room in every unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
    /// The mean of the metric there, over the repetitions.
    #[serde(rename = "mean")]
    pub metric: f64,
    /// Half the width of its 95 % confidence interval.
    #[serde(rename = "ci95")]
    pub half_width: f64,
    /// True if that interval lies on one side of the bound. If not, the value is undecided after the last repetition.
    pub decided: bool,
    /// The value nearest to an undecided one that surely meets the target, within a tenth, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<SureValue>,
    /// Larger values that were tried and miss the target, and the metric there: near its bound it is not monotone.
    pub misses_above: Vec<(String, f64)>,
    /// Smaller values that were tried and miss the target, where the largest is sought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses_below: Vec<(String, f64)>,
    /// The number of simulations.
    pub runs: usize,
    /// The number of those in which the metric had no value, such as the completion time of a flow that did not end:
    /// they miss the target.
    pub runs_without_value: usize,
    /// One of the runs at that value.
    #[serde(skip)]
    pub summary: Summary,
}

/// A value at which the whole 95 % confidence interval of the metric meets the target.
#[derive(Clone, Debug, Serialize)]
pub struct SureValue {
    /// The value, as a scenario writes it.
    pub value: String,
    /// A queue's room in every unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
    /// The mean of the metric there, over the repetitions.
    #[serde(rename = "mean")]
    pub metric: f64,
    /// Half the width of its 95 % confidence interval.
    #[serde(rename = "ci95")]
    pub half_width: f64,
}

/// The most parts ([`Resolved::parts`]) that all points of a sweep may have together. They take some gigabytes.
const MOST_PARTS: usize = 4_000_000;
/// The most bytes that the values of all points may have as they are typed.
const MOST_TYPED: usize = 500_000_000;

/// Returns every point of the document's sweep, all checked before any runs.
///
/// # Errors
/// All faults of the scenario or its sweep, and a sweep whose points do not fit into memory together.
pub fn tasks(document: &Document) -> Result<Vec<Task>, Faults> {
    tasks_within(document, MOST_PARTS, MOST_TYPED)
}

fn tasks_within(document: &Document, most: usize, most_typed: usize) -> Result<Vec<Task>, Faults> {
    let document = Arc::new(document.clone());
    let sweep = document.sweep()?;
    let (mut tasks, mut parts, mut typed) = (Vec::new(), 0, 0);
    for point in sweep.points() {
        typed += point.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        if typed > most_typed {
            let (some, all) = (tasks.len() + 1, sweep.len());
            let found = format!("the values of {some} of {all} points have {typed} letters");
            let accepted = format!("at most {most_typed} in all points together");
            return Err(document.fault("sweep", found, accepted, Some("write shorter values".into())).into());
        }
        let task = Task::at(&document, point)?;
        parts += task.resolved.parts();
        tasks.push(task);
        if tasks.len() > 1 && parts > most {
            let (some, all) = (tasks.len(), sweep.len());
            let found =
                format!("{some} of {all} points already have {parts} flows, links and crossings of links");
            let accepted = format!("at most {most} in all points together");
            let help = "sweep fewer values at once, or with fewer flows".to_owned();
            return Err(document.fault("sweep", found, accepted, Some(help)).into());
        }
    }
    Ok(tasks)
}

/// Checks, before anything runs, that each task suits one of `engines`.
///
/// # Errors
/// The misfit of the first of the engines, at the first task that none of them suits.
pub fn check(tasks: &[Task], engines: &[Engine]) -> Result<(), Faults> {
    ask(tasks, engines, engine::check)
}

/// Checks that one of `engines` can answer each task, even under assumptions that the scenario breaks.
///
/// # Errors
/// The misfit of the first of the engines, at the first task that none can answer.
pub fn can_answer(tasks: &[Task], engines: &[Engine]) -> Result<(), Faults> {
    ask(tasks, engines, engine::can_answer)
}

fn ask(
    tasks: &[Task],
    engines: &[Engine],
    suits: fn(Engine, &Resolved) -> Result<(), Misfit>,
) -> Result<(), Faults> {
    for task in tasks {
        let misfits: Option<Vec<Misfit>> =
            engines.iter().map(|engine| suits(*engine, &task.resolved).err()).collect();
        if let Some(misfit) = misfits.and_then(|misfits| misfits.into_iter().next()) {
            return Err(task.fault(misfit));
        }
    }
    Ok(())
}

/// Returns the distinct reasons if none of `engines` can answer any task; `None` if one can.
#[must_use]
pub fn hopeless(tasks: &[Task], engines: &[Engine]) -> Option<Vec<String>> {
    let mut reasons = Vec::new();
    for task in tasks {
        for engine in engines {
            let reason = engine::can_answer(*engine, &task.resolved).err()?.to_string();
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    Some(reasons)
}

impl Answer {
    /// Creates an answer of these records, each the only run of its engine.
    #[must_use]
    pub const fn of(task: Task, records: Vec<Record>) -> Self {
        Self { task, records, runs: Vec::new(), absent: Vec::new(), found: None }
    }

    /// Takes out estimates, which are records under assumptions that the scenario breaks. A line in `absent` gives the
    /// reason for each. Estimates stay if no engine has an answer.
    pub fn set_estimates_aside(&mut self) {
        if !self.records.iter().any(|record| record.summary.is_exact()) {
            return;
        }
        self.runs.retain(|record| record.summary.is_exact());
        let (answers, estimates) =
            std::mem::take(&mut self.records).into_iter().partition(|record| record.summary.is_exact());
        self.records = answers;
        let estimates: Vec<Record> = estimates;
        self.absent.extend(estimates.iter().map(|record| aside(&record.summary)));
    }

    /// Returns the record of `engine` that claims may judge, if it gave one: under no assumption that the scenario
    /// breaks.
    #[must_use]
    pub fn record(&self, engine: Engine) -> Option<&Record> {
        self.records.iter().find(|record| record.summary.engine == engine && record.summary.is_exact())
    }

    /// Returns every run of `engine` that claims may judge.
    #[must_use]
    pub fn runs(&self, engine: Engine) -> Vec<&Record> {
        let of = |record: &&Record| record.summary.engine == engine && record.summary.is_exact();
        let runs: Vec<&Record> = self.runs.iter().filter(of).collect();
        if runs.is_empty() { self.records.iter().filter(of).collect() } else { runs }
    }
}

/// Explains why an estimate is not an answer: the number of assumptions that the scenario breaks, and the first of
/// them.
fn aside(summary: &Summary) -> String {
    let (engine, broken) = (summary.engine, &summary.assumptions);
    let first = broken.first().map_or("", String::as_str);
    let these = match broken.len() {
        1 => "an assumption".to_owned(),
        count => format!("{count} assumptions, the first one"),
    };
    format!("{engine}: the scenario breaks {these} of {first}; --engines {engine} shows the estimate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_do_not_fit_into_memory_together_are_refused_before_anything_runs() {
        let text = "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\n\
                    queue.limit = '9 packets'\n[[flow]]\ncount = 100\n[sweep]\nseed = [1, 2, 3, 4, 5, 6]\n";
        let document = Document::parse("t.toml", text).expect("TOML");
        assert_eq!(tasks_within(&document, 1206, 1000).map(|tasks| tasks.len()), Ok(6));
        let refused = tasks_within(&document, 1000, 1000).expect_err("too many").to_string();
        for words in ["t.toml:9", "sweep: 5 of 6 points already have 1005 flows", "at most 1000 in all"] {
            assert!(refused.contains(words), "{words:?}: {refused}");
        }
        let refused = tasks_within(&document, 1206, 20).expect_err("too long").to_string();
        assert!(refused.contains("sweep: the values of 5 of 6 points have 25 letters"), "{refused}");
        let one = Document::parse("t.toml", &text.replace(", 2, 3, 4, 5, 6", "")).expect("TOML");
        assert_eq!(
            tasks_within(&one, 10, 1000).map(|tasks| tasks.len()),
            Ok(1),
            "one point has bounds of its own"
        );
    }
}
