//! A path of links behind one limit after another, at one number of flows or at both ends of a range.

use super::answer::Point;
use super::question::Question;
use super::second_queue::{self, SecondQueue};
use super::settling;
use super::trials::{LARGEST, LOOKS, Limits, Room, Testbed, simulate, spaced, step};
use crate::run::record::{Engine, Summary};
use crate::study::experiment::ExperimentError;
use crate::study::sweep::Runner;
use crate::study::task::{Task, check};
use scenario::Faults;

/// The assumption about the hosts at the ends of the flows.
pub(super) const HOSTS: &str = "hosts are Linux's as `host = \"linux\"` has them, measured on a virtual machine that pauses now and then (docs/papers/kernel.md)";

/// The largest limit of the first look, in bandwidth-delay products over the square root of the number of flows. If
/// [`LARGEST`] is less, that one counts.
const ROOTS: f64 = 6.0;
/// A policy is measured again after its time of settling times this factor, because the time was estimated before it
/// settled.
pub(super) const LATER: f64 = 2.0;
/// The number of limits between the last that misses the target and the first that meets it.
const BETWEEN: u32 = 3;

/// A path that is simulated, with its own flows: a twin, or a scenario.
pub(super) trait TestPath: Clone {
    /// Returns the run behind `room` of `queue`.
    fn task(&self, room: Room, queue: &str, seed: u64) -> Result<Task, Faults>;

    /// Returns the kernel's run behind a limit of `packets` of `queue`.
    fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults>;

    /// Reads the effects of a limit of `packets` from `summary`.
    fn point(&self, packets: u64, summary: &Summary) -> Point;

    /// Returns the same path with a later measurement, if it takes at most `most` packets. The measurement waits for
    /// the settling time `seconds`, or else until the end of the earlier measurement.
    fn later(&self, seconds: Option<f64>, most: f64) -> Option<Self>;

    /// Describes how the path differs from that of the question; `None` if it does not.
    fn assumption(&self) -> Option<String>;

    /// Returns the path or paths on which another policy is simulated, with about `packets`.
    fn alike(&self, question: &Question, packets: f64) -> Vec<Self>;

    /// Returns paths with one change to the question, each with its name. `full` is a queue elsewhere that is full
    /// behind the recommended limit.
    fn variants(&self, question: &Question, full: Option<&SecondQueue>) -> Vec<(String, Vec<Self>)>;
}

/// Paths that stand for one question; the worst of them counts.
pub(super) struct TestPaths<'a, W> {
    pub(super) question: &'a Question,
    pub(super) paths: Vec<W>,
    pub(super) seed: u64,
}

/// The result of a run.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) point: Point,
    /// A queue elsewhere on the path that was full.
    pub(super) second_queue: Option<SecondQueue>,
    /// The climb of the policy's rate of drops, if it takes longer than the run gave it.
    pub(super) slow: Option<settling::Climb>,
}

impl Measured {
    /// Reads the run `summary` of `task` on `path`.
    fn of(path: &impl TestPath, packets: u64, task: &Task, summary: &Summary, target: f64) -> Self {
        let slow = settling::climb(&task.resolved, summary);
        let point = path.point(packets, summary).judged(target);
        Self {
            point: Point { unsettled: summary.trend.is_some() || slow.is_some(), ..point },
            second_queue: second_queue::full(&task.resolved, summary),
            slow,
        }
    }
}

/// A simulation of a path.
#[derive(Clone, Copy)]
pub(super) struct Run<'a, W> {
    pub(super) path: &'a W,
    pub(super) room: Room,
    pub(super) queue: &'a str,
}

impl<W: TestPath> TestPaths<'_, W> {
    /// Returns the results of `runs`, in their order.
    pub(super) fn simulate(
        &self,
        runs: &[Run<'_, W>],
        runner: &Runner<'_, '_>,
    ) -> Result<Vec<Measured>, ExperimentError> {
        let jobs = runs.iter().map(|run| Ok(vec![run.path.task(run.room, run.queue, self.seed)?]));
        let jobs = jobs.collect::<Result<Vec<Vec<Task>>, Faults>>()?;
        simulate(runner, &jobs, |place, found| {
            let Run { path, room, .. } = &runs[place];
            Measured::of(*path, room.packets(), &jobs[place][0], &found[0], self.question.target.get())
        })
    }

    /// Checks that these paths can be simulated with a queue of the policy `queue` and the size `room`.
    ///
    /// # Errors
    /// The first fault of the scenario that does not allow it.
    pub(super) fn check(&self, paths: &[W], room: Room, queue: &str) -> Result<(), String> {
        let first = |faults: Faults| faults.to_string().lines().next().unwrap_or_default().to_owned();
        paths.iter().try_for_each(|path| {
            let task = path.task(room, queue, self.seed).map_err(first)?;
            check(&[task], &[Engine::Sim]).map_err(first)
        })
    }
}

impl<W: TestPath> Testbed for TestPaths<'_, W> {
    type Runs = Measured;

    fn tasks(&self, packets: u64) -> Result<Vec<Task>, Faults> {
        let task = |path: &W| path.task(Room::Packets(packets), &self.question.queue, self.seed);
        self.paths.iter().map(task).collect()
    }

    fn found(&self, packets: u64, tasks: &[Task], runs: &[Summary]) -> Measured {
        let target = self.question.target.get();
        let each = self.paths.iter().zip(tasks.iter().zip(runs));
        each.map(|(path, (task, summary))| Measured::of(path, packets, task, summary, target))
            .reduce(|one, other| Measured {
                point: one.point.worse(other.point),
                second_queue: one.second_queue.or(other.second_queue),
                slow: one.slow,
            })
            .expect("a question has a path")
    }

    fn curve(&self, limits: &Limits<Measured>) -> Vec<Point> {
        limits.iter().map(|(_, found)| found.point).collect()
    }

    fn first_reach(&self) -> f64 {
        let (bdp, flows) = (self.question.bdp_limit(), self.question.flows.least as f64);
        (bdp * LARGEST.0).min(bdp * ROOTS / flows.sqrt()).max(f64::from(LOOKS))
    }

    /// Returns two larger limits while none meets the target.
    fn larger(&self, limits: &Limits<Measured>) -> Vec<u64> {
        let most = (self.question.pipe_limit() * LARGEST.1).max(f64::from(LOOKS) * step()) as u64;
        let last = limits.last().map(|(_, found)| found.point);
        let missed = last.filter(|last| last.surely() < self.question.target.get() && last.packets < most);
        let next = |last: Point, steps: i32| ((last.packets as f64 * step().powi(steps)) as u64).min(most);
        missed.map_or_else(Vec::new, |last| vec![next(last, 1), next(last, 2)])
    }

    /// Returns two smaller limits if all meet the target.
    fn smaller(&self, limits: &Limits<Measured>) -> Vec<u64> {
        let first = limits.first().map(|(_, found)| found.point);
        let met = first.filter(|first| first.perhaps() >= self.question.target.get() && first.packets > 2);
        let next = |first: Point, steps: i32| ((first.packets as f64 * step().powi(steps)) as u64).max(1);
        met.map_or_else(Vec::new, |first| vec![next(first, -1), next(first, -2)])
    }

    /// Returns limits between the last that misses the target and the next one.
    fn between(&self, limits: &Limits<Measured>) -> Vec<u64> {
        let target = self.question.target.get();
        let Some(missed) = limits.iter().rposition(|(_, found)| found.point.surely() < target) else {
            return Vec::new();
        };
        let Some((met, _)) = limits.get(missed + 1) else { return Vec::new() };
        let (low, high) = (limits[missed].0 as f64, *met as f64);
        (1..=BETWEEN).map(|step| spaced(low, high, f64::from(step) / f64::from(BETWEEN + 1))).collect()
    }

    fn also_tried(&self, _limits: &Limits<Measured>, _least: u64) -> Option<u64> {
        None
    }
}
