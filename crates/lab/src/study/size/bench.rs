//! The simulations of limits: a curve that grows as more limits are asked for.

use super::answer::{Delay, Point};
use super::elsewhere::{self, Elsewhere};
use super::path::ScenarioPath;
use super::question::Question;
use super::settling;
use super::twin::Twin;
use crate::run::record::{Engine, Summary};
use crate::study::experiment::ExperimentError;
use crate::study::sweep::{Runner, sweep};
use crate::study::task::{Task, check};
use scenario::Faults;

/// What is taken for granted of the ends of the flows.
pub(super) const HOSTS: &str = "hosts are Linux's as `host = \"linux\"` has them, measured on a virtual machine that pauses now and then (docs/papers/kernel.md)";

/// One thing that is simulated.
#[expect(clippy::large_enum_variant, reason = "an answer has a few")]
pub(super) enum Case {
    /// A path made of the question.
    Twin(Twin),
    /// A scenario as it is, with another limit.
    Scenario(ScenarioPath),
}

/// A queue's room, in the unit that its limit is written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Room {
    Packets(u64),
    /// As many bytes as this number of packets of the mean length.
    Bytes(u64),
}

impl Room {
    const fn packets(self) -> u64 {
        let (Self::Packets(packets) | Self::Bytes(packets)) = self;
        packets
    }
}

impl Case {
    fn task(&self, room: Room, queue: &str, seed: u64) -> Result<Task, Faults> {
        match self {
            Self::Twin(twin) => twin.task(room.packets(), queue, seed),
            Self::Scenario(path) => path.task(room, queue),
        }
    }

    /// The same for the kernel.
    pub(super) fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults> {
        match self {
            Self::Twin(twin) => twin.live_task(packets, queue, seed),
            Self::Scenario(path) => path.task(Room::Packets(packets), queue),
        }
    }

    /// What `summary` says of a limit of `packets`.
    pub(super) fn point(&self, packets: u64, summary: &Summary) -> Point {
        match self {
            Self::Twin(twin) => twin.point(packets, summary),
            Self::Scenario(path) => path.point(packets, summary),
        }
    }

    /// The same measured later, after `seconds` or after what was measured, if that takes no more than `most` packets.
    pub(super) fn later(&self, seconds: Option<f64>, most: f64) -> Option<Self> {
        match self {
            Self::Twin(twin) => twin.later(seconds, most).map(Self::Twin),
            Self::Scenario(path) => path.later(seconds, most).map(Self::Scenario),
        }
    }

    pub(super) fn assumption(&self) -> Option<String> {
        match self {
            Self::Twin(twin) => twin.assumption(),
            Self::Scenario(_) => None,
        }
    }
}

/// A question and the limits that were simulated for it.
pub(super) struct Bench<'a, 'w> {
    pub(super) question: &'a Question,
    pub(super) cases: Vec<Case>,
    pub(super) seed: u64,
    runner: Runner<'a, 'w>,
    curve: Vec<Point>,
    /// The queues elsewhere on the path, by limit.
    elsewhere: Vec<(u64, Elsewhere)>,
}

impl<'a, 'w> Bench<'a, 'w> {
    pub(super) fn new(question: &'a Question, cases: Vec<Case>, seed: u64, runner: Runner<'a, 'w>) -> Self {
        Self { question, cases, seed, runner, curve: Vec::new(), elsewhere: Vec::new() }
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

    /// The scenario that is asked about, if it is one.
    pub(super) fn scenario(&self) -> Option<&ScenarioPath> {
        match self.cases.first() {
            Some(Case::Scenario(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether these can be simulated behind `room` of `queue`.
    ///
    /// # Errors
    /// What in the scenario does not allow it.
    pub(super) fn check(&self, cases: &[Case], room: Room, queue: &str) -> Result<(), String> {
        let first = |faults: Faults| faults.to_string().lines().next().unwrap_or_default().to_owned();
        cases.iter().try_for_each(|case| {
            let task = case.task(room, queue, self.seed).map_err(first)?;
            check(&[task], &[Engine::Sim]).map_err(first)
        })
    }

    /// The queue elsewhere on the path that was full behind a limit of `packets`.
    pub(super) fn elsewhere(&self, packets: u64) -> Option<&Elsewhere> {
        self.elsewhere.iter().find(|(limit, _)| *limit == packets).map(|(_, found)| found)
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
        let runs: Vec<Run<'_>> = (new
            .iter()
            .flat_map(|limit| self.cases.iter().map(move |case| (case, *limit))))
        .map(|(case, packets)| Run { case, room: Room::Packets(packets), queue: &self.question.queue })
        .collect();
        let found = self.simulate(&runs)?;
        for (limit, found) in new.iter().zip(found.chunks(self.cases.len())) {
            self.curve.extend(found.iter().map(|found| found.point).reduce(Point::worse));
            let full = found.iter().find_map(|found| found.elsewhere.clone());
            self.elsewhere.extend(full.map(|full| (*limit, full)));
        }
        self.curve.sort_by_key(|point| point.packets);
        Ok(true)
    }

    /// What each of `runs` does, in their order.
    pub(super) fn simulate(&self, runs: &[Run<'_>]) -> Result<Vec<Found>, ExperimentError> {
        self.runner.watched.need(runs.len());
        let tasks = runs.iter().map(|run| run.case.task(run.room, run.queue, self.seed));
        let tasks = tasks.collect::<Result<Vec<Task>, Faults>>()?;
        let results = sweep(&tasks, Engine::Sim, &self.runner)?;
        let found = |((run, task), summary): ((&Run<'_>, &Task), Summary)| {
            let point = run.case.point(run.room.packets(), &summary).judged(self.question.target.get());
            let slow = settling::climb(&task.resolved, &summary);
            Found {
                point: Point { unsettled: summary.trend.is_some() || slow.is_some(), ..point },
                elsewhere: elsewhere::full(&task.resolved, &summary),
                slow,
            }
        };
        Ok(runs.iter().zip(&tasks).zip(results.into_iter().map(|result| result.summary)).map(found).collect())
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
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) room: Room,
    pub(super) queue: &'a str,
}

/// What it found.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) point: Point,
    pub(super) elsewhere: Option<Elsewhere>,
    /// A policy whose rate of drops needs longer than the run.
    pub(super) slow: Option<settling::Climb>,
}

/// The delay of a run's queue.
pub(super) fn delay(summary: &Summary) -> Delay {
    let of = |delay: crate::run::record::DelayStatistics| Delay {
        mean: delay.mean,
        p95: delay.percentiles.p95.unwrap_or(delay.mean),
    };
    summary.queueing_delay_s.map_or(Delay { mean: 0.0, p95: 0.0 }, of)
}

/// The whole number of packets at `share` of the way from `low` to `high` on a logarithmic axis.
pub(super) fn spaced(low: f64, high: f64, share: f64) -> u64 {
    (low * (high / low).powf(share)).round().max(1.0) as u64
}
