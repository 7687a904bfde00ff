//! A path of links behind one limit after another, at one number of flows or at both ends of a range.

use super::answer::{Call, Point};
use super::call;
use super::l4s;
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
/// The same on a link that changes, in bandwidth-delay products at the mean rate.
const CHANGING: f64 = 8.0;
/// The next run of a path is as long as the intervals of the last one need, times this factor.
const RESERVE: f64 = 1.2;
/// The length of the second run over that of the first, if a policy's rate of drops climbs too slowly for the first. It
/// tells how much later the measurement has to begin.
const CLIMBING: f64 = 3.0;
/// The ratio of two limits, between which no other one is tried. It is a little more than a quarter of a step of the
/// first look, so that whole packets do not matter.
const NEAR: f64 = 1.3;

/// A path that is simulated, with its own flows: a twin, or a scenario.
pub(super) trait TestPath: Clone {
    /// Returns the run behind `room` of `queue`, or several whose mean counts.
    fn tasks(&self, room: Room, queue: &str, seed: u64) -> Result<Vec<Task>, Faults>;

    /// Returns the kernel's run behind a limit of `packets` of `queue`.
    fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults>;

    /// Reads the effects of a limit of `packets` from `summary`.
    fn point(&self, packets: u64, summary: &Summary) -> Point;

    /// Returns the same path with a later measurement, if it takes at most `most` packets. The measurement waits for
    /// the settling time `seconds`, or else until the end of the earlier measurement.
    fn later(&self, seconds: Option<f64>, most: f64) -> Option<Self>;

    /// Returns the same path with the shortest measurement that may decide.
    fn shortest(&self) -> Self;

    /// Returns the same path with a measurement `times` as long as that of `shorter`, and at most as long as its own.
    /// Returns `None` if `shorter` is as long already.
    fn longer(&self, shorter: &Self, times: f64) -> Option<Self>;

    /// Describes how the path differs from that of the question; `None` if it does not.
    fn assumption(&self) -> Option<String>;

    /// Returns the path or paths on which another policy is simulated.
    fn alike(&self, question: &Question) -> Vec<Self>;

    /// Returns the same path with a call, measured for as long as the call needs.
    ///
    /// # Errors
    /// The reason why it has no call.
    fn with_call(&self) -> Result<Self, String>;

    /// Returns the factor by which delays behind a limit of `packets` differ from those that are measured here.
    fn delay_scale(&self, _packets: u64) -> f64 {
        1.0
    }

    /// Returns the path or paths on which a policy behind a shaper is simulated; empty if the path has a rate of its
    /// own.
    fn shaped(&self, _question: &Question) -> Vec<Self> {
        Vec::new()
    }

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
    /// The effects on a call, if the path has one.
    pub(super) call: Option<Call>,
}

impl Measured {
    /// Reads the runs `summaries` of `tasks` on `path`.
    fn of(path: &impl TestPath, packets: u64, tasks: &[Task], summaries: &[Summary], target: f64) -> Self {
        let (resolved, first) = (&tasks[0].resolved, &summaries[0]);
        let slow = settling::climb(resolved, first);
        let points: Vec<Point> = summaries.iter().map(|summary| path.point(packets, summary)).collect();
        // On a link that changes, the halves of a run differ because the link does.
        let trend = first.trend.is_some() && !resolved.changes();
        Self {
            point: Point {
                unsettled: trend || slow.is_some(),
                l4s: l4s::seen(resolved, summaries),
                ..Point::mean(&points).judged(target)
            },
            second_queue: second_queue::full(resolved, first),
            slow,
            call: call::heard(summaries, path.delay_scale(packets)),
        }
    }

    /// Combines the results of the same limit on two paths into the worse.
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            point: self.point.worse(other.point),
            second_queue: self.second_queue.or(other.second_queue),
            slow: self.slow,
            call: self.call.zip(other.call).map(|(call, other)| call.worse(other)),
        }
    }

    /// Returns how many times as long a run has to be so that its intervals hold no wish of `question`, or only
    /// `tolerance` of the idle time that is allowed. Returns `None` if that is so already.
    fn lacks(&self, question: &Question, tolerance: f64) -> Option<f64> {
        let Point { utilization, utilization_ci95, loss_rate, loss_rate_ci95, unsettled, .. } = self.point;
        // Half widths shrink with the square root of the time.
        let times = |half: Option<f64>, enough: f64| (half.unwrap_or(f64::INFINITY) / enough).powi(2);
        let target = question.target.get();
        let enough = (utilization - target).abs().max(tolerance * (1.0 - target));
        let utilization = times(utilization_ci95, enough);
        let loss = question.max_loss.map(|most| times(loss_rate_ci95, (loss_rate - most.get()).abs()));
        let times = utilization.max(loss.unwrap_or(0.0)).max(if unsettled { 2.0 } else { 0.0 });
        (times > 1.0).then(|| (RESERVE * times).max(2.0))
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
    /// Returns the results of `runs`, in their order. Each is simulated for a short time first. It is simulated again,
    /// for as long as its intervals need, until they decide, up to `tolerance`.
    pub(super) fn simulate(
        &self,
        runs: &[Run<'_, W>],
        tolerance: f64,
        runner: &Runner<'_, '_>,
    ) -> Result<Vec<Measured>, ExperimentError> {
        let mut due: Vec<(usize, W)> = runs.iter().map(|run| run.path.shortest()).enumerate().collect();
        let mut found: Vec<Option<Measured>> = vec![None; runs.len()];
        let mut first = true;
        while !due.is_empty() {
            let now: Vec<Run<'_, W>> = due.iter().map(|(place, path)| Run { path, ..runs[*place] }).collect();
            let measured = self.once(&now, runner)?;
            let longer = |((place, path), measured): (&(usize, W), &Measured)| {
                let times = match (&measured.slow, first) {
                    (None, _) => measured.lacks(self.question, tolerance)?,
                    (Some(_), true) => CLIMBING,
                    (Some(_), false) => return None,
                };
                Some((*place, runs[*place].path.longer(path, times)?))
            };
            let longer: Vec<(usize, W)> = due.iter().zip(&measured).filter_map(longer).collect();
            for ((place, _), measured) in due.iter().zip(measured) {
                found[*place] = Some(measured);
            }
            (due, first) = (longer, false);
        }
        Ok(found.into_iter().map(|found| found.expect("each run is made")).collect())
    }

    /// Returns the results of `runs`, in their order, each simulated once for as long as its path measures.
    pub(super) fn once(
        &self,
        runs: &[Run<'_, W>],
        runner: &Runner<'_, '_>,
    ) -> Result<Vec<Measured>, ExperimentError> {
        let job = |run: &Run<'_, W>| run.path.tasks(run.room, run.queue, self.seed);
        let jobs = runs.iter().map(job).collect::<Result<Vec<Vec<Task>>, Faults>>()?;
        simulate(runner, &jobs, |at, summaries| {
            let Run { path, room, .. } = runs[at];
            Measured::of(path, room.packets(), &jobs[at], summaries, self.question.target.get())
        })
    }

    /// Checks that these paths can be simulated with a queue of the policy `queue` and the size `room`.
    ///
    /// # Errors
    /// The first fault of the scenario that does not allow it.
    pub(super) fn check(&self, paths: &[W], room: Room, queue: &str) -> Result<(), String> {
        let first = |faults: Faults| faults.to_string().lines().next().unwrap_or_default().to_owned();
        paths.iter().try_for_each(|path| {
            let tasks = path.tasks(room, queue, self.seed).map_err(first)?;
            check(&tasks, &[Engine::Sim]).map_err(first)
        })
    }
}

impl<W: TestPath> Testbed for TestPaths<'_, W> {
    type Runs = Measured;

    fn try_limits(&self, limits: &[u64], runner: &Runner<'_, '_>) -> Result<Vec<Measured>, ExperimentError> {
        let run = |limit: &u64, path| Run { path, room: Room::Packets(*limit), queue: &self.question.queue };
        let runs: Vec<Run<'_, W>> =
            limits.iter().flat_map(|limit| self.paths.iter().map(move |path| run(limit, path))).collect();
        let mut found = self.simulate(&runs, 0.0, runner)?.into_iter();
        let worst = |_| {
            let each = found.by_ref().take(self.paths.len());
            each.reduce(Measured::worse).expect("a question has a path")
        };
        Ok(limits.iter().map(worst).collect())
    }

    fn curve(&self, limits: &Limits<Measured>) -> Vec<Point> {
        limits.iter().map(|(_, found)| found.point).collect()
    }

    fn first_reach(&self) -> f64 {
        let (bdp, flows) = (self.question.bdp_limit(), self.question.flows.least as f64);
        if self.question.changing.is_some() {
            return (bdp * CHANGING).max(f64::from(LOOKS));
        }
        (bdp * LARGEST.0).min(bdp * ROOTS / flows.sqrt()).max(f64::from(LOOKS))
    }

    /// Returns two larger limits while none meets the target.
    fn larger(&self, limits: &Limits<Measured>) -> Vec<u64> {
        let most = (self.question.pipe_limit() * LARGEST.1).max(f64::from(LOOKS) * step());
        let most = most.max(self.question.longest_limit()) as u64;
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

    /// Returns the limit half-way between the last that does not surely meet the target and the next one, unless they
    /// are near each other.
    fn between(&self, limits: &Limits<Measured>) -> Vec<u64> {
        let target = self.question.target.get();
        let missed = limits.iter().rposition(|(_, found)| found.point.surely() < target);
        let Some([(low, _), (high, _)]) = missed.and_then(|missed| limits.get(missed..missed + 2)) else {
            return Vec::new();
        };
        let (low, high) = (*low as f64, *high as f64);
        if high / low > NEAR { vec![spaced(low, high, 0.5)] } else { Vec::new() }
    }

    fn also_tried(&self, _limits: &Limits<Measured>, _least: u64) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Fraction, Rate};

    #[test]
    fn a_run_decides_where_its_interval_is_far_from_each_wish_or_small() {
        let question = Question::of(Rate::from_bps(10_000_000));
        let found = |utilization, half, unsettled| {
            let point =
                Point { utilization, utilization_ci95: Some(half), unsettled, ..Point::at(&question, 20) };
            let point = Point { loss_rate: 0.01, loss_rate_ci95: Some(0.002), ..point };
            Measured { point, second_queue: None, slow: None, call: None }
        };
        let lacks = |utilization, half, unsettled| found(utilization, half, unsettled).lacks(&question, 0.0);
        assert_eq!(lacks(0.95, 0.02, false), None, "it misses 99 %");
        let few = lacks(0.98, 0.02, false).expect("the interval holds the target");
        assert!((few - 1.2 * 4.0).abs() < 0.01, "{few}");
        assert_eq!(lacks(0.95, 0.02, true), Some(2.4), "it still changes");
        assert_eq!(
            found(0.9899, 0.009, false).lacks(&question, 1.0),
            None,
            "the interval is within the tolerance"
        );
        let lost = |percent: f64| {
            let question = Question { max_loss: Fraction::new(percent / 100.0), ..question.clone() };
            found(0.95, 0.02, false).lacks(&question, 0.0)
        };
        assert_eq!(lost(2.0), None);
        assert!(lost(1.1).is_some(), "its loss may be less than 1.1 % or more");
    }
}
