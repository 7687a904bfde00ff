//! The simulations of limits: a curve that grows as more limits are asked for.

use super::answer::Point;
use super::question::Question;
use super::twin::Twin;
use crate::run::record::Engine;
use crate::run::record::Summary;
use crate::study::experiment::ExperimentError;
use crate::study::sweep::{Runner, sweep};
use crate::study::task::Task;
use scenario::{Document, Faults};
use std::sync::Arc;

/// What is taken for granted of the ends of the flows.
pub(super) const HOSTS: &str = "hosts are Linux's as `host = \"linux\"` has them, measured on a virtual machine that pauses now and then (docs/papers/kernel.md)";

/// One thing that is simulated.
#[expect(clippy::large_enum_variant, reason = "an answer has a few")]
pub(super) enum Case {
    /// A path made of the question.
    Twin(Twin),
    /// A scenario as it is, with another limit.
    Scenario {
        document: Arc<Document>,
        /// The key of the limit.
        key: String,
        question: Box<Question>,
    },
}

impl Case {
    pub(super) fn scenario(document: &Document, question: &Question) -> Self {
        let document = Arc::new(document.clone());
        let name = Task::at(&document, Vec::new())
            .ok()
            .filter(|task| task.resolved.is_network())
            .map(|task| format!("link.{}.queue.limit", task.resolved.links[task.resolved.tight].name));
        Self::Scenario {
            document,
            key: name.unwrap_or_else(|| "link.queue.limit".into()),
            question: Box::new(question.clone()),
        }
    }

    fn task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults> {
        match self {
            Self::Twin(twin) => twin.task(packets, queue, seed),
            Self::Scenario { document, key, .. } => {
                Task::at(document, vec![(key.clone(), format!("{packets} packets"))])
            }
        }
    }

    /// The same for the kernel.
    pub(super) fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults> {
        match self {
            Self::Twin(twin) => twin.live_task(packets, queue, seed),
            Self::Scenario { .. } => self.task(packets, queue, seed),
        }
    }

    /// What `summary` says of a limit of `packets`.
    pub(super) fn point(&self, packets: u64, summary: &Summary) -> Point {
        match self {
            Self::Twin(twin) => twin.point(packets, summary),
            Self::Scenario { question, .. } => {
                let delay = summary.queueing_delay_s;
                let (mean, p95) = delay
                    .map_or((0.0, 0.0), |delay| (delay.mean, delay.percentiles.p95.unwrap_or(delay.mean)));
                Point {
                    utilization: summary.utilization.unwrap_or_default(),
                    utilization_ci95: summary.utilization_ci95,
                    queueing_delay_s: super::answer::Delay { mean, p95 },
                    loss_rate: summary.loss_rate.unwrap_or_default(),
                    loss_rate_ci95: summary.loss_rate_ci95,
                    ..Point::at(question, packets)
                }
            }
        }
    }

    pub(super) fn assumption(&self) -> Option<String> {
        match self {
            Self::Twin(twin) => twin.assumption(),
            Self::Scenario { .. } => None,
        }
    }
}

/// A question and the limits that were simulated for it.
pub(super) struct Bench<'a, 'w> {
    question: &'a Question,
    cases: Vec<Case>,
    seed: u64,
    runner: Runner<'a, 'w>,
    curve: Vec<Point>,
}

impl<'a, 'w> Bench<'a, 'w> {
    pub(super) fn new(question: &'a Question, cases: Vec<Case>, seed: u64, runner: Runner<'a, 'w>) -> Self {
        Self { question, cases, seed, runner, curve: Vec::new() }
    }

    /// What was simulated so far, ascending.
    pub(super) fn curve(&self) -> &[Point] {
        &self.curve
    }

    /// What was simulated of this limit.
    ///
    /// # Panics
    /// If nothing was.
    pub(super) fn at(&self, packets: u64) -> Point {
        *self.curve.iter().find(|point| point.packets == packets).expect("a limit that was simulated")
    }

    pub(super) fn assumptions(&self) -> impl Iterator<Item = String> {
        self.cases.iter().filter_map(Case::assumption)
    }

    /// Simulates those of `limits` that are not on the curve, on all cores; whether there were any.
    pub(super) fn add(&mut self, limits: &[u64]) -> Result<bool, ExperimentError> {
        let mut new: Vec<u64> = limits.to_vec();
        new.sort_unstable();
        new.dedup();
        new.retain(|limit| !self.curve.iter().any(|point| point.packets == *limit));
        if new.is_empty() {
            return Ok(false);
        }
        let runs: Vec<Run<'_>> =
            (new.iter().flat_map(|limit| self.cases.iter().map(move |case| (case, *limit))))
                .map(|(case, packets)| Run { case, packets, queue: &self.question.queue })
                .collect();
        let points = self.simulate(&runs)?;
        for points in points.chunks(self.cases.len()) {
            let worse = points.iter().copied().reduce(Point::worse);
            self.curve.extend(worse);
        }
        self.curve.sort_by_key(|point| point.packets);
        Ok(true)
    }

    /// What each of `runs` does, in their order.
    pub(super) fn simulate(&self, runs: &[Run<'_>]) -> Result<Vec<Point>, ExperimentError> {
        self.runner.watched.need(runs.len());
        let tasks = runs.iter().map(|run| run.case.task(run.packets, run.queue, self.seed));
        let tasks = tasks.collect::<Result<Vec<Task>, Faults>>()?;
        let results = sweep(&tasks, Engine::Sim, &self.runner)?;
        Ok(runs
            .iter()
            .zip(results)
            .map(|(run, result)| run.case.point(run.packets, &result.summary))
            .collect())
    }

    /// So many limits between the last that misses the target and the next one.
    pub(super) fn between(&self, count: u32) -> Vec<u64> {
        let target = self.question.target.get();
        let Some(missed) = self.curve.iter().rposition(|point| point.surely() < target) else {
            return Vec::new();
        };
        let Some(met) = self.curve.get(missed + 1) else { return Vec::new() };
        let (low, high) = (self.curve[missed].packets as f64, met.packets as f64);
        (1..=count).map(|step| spaced(low, high, f64::from(step) / f64::from(count + 1))).collect()
    }
}

/// One simulation.
pub(super) struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) packets: u64,
    pub(super) queue: &'a str,
}

/// The whole number of packets at `share` of the way from `low` to `high` on a logarithmic axis.
pub(super) fn spaced(low: f64, high: f64, share: f64) -> u64 {
    (low * (high / low).powf(share)).round().max(1.0) as u64
}
