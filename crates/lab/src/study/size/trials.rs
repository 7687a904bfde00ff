//! The simulations of limits, and the choice among them: the same over every [`Testbed`].

use super::answer::{Delay, Point};
use super::choice::{Choice, Conflict, choice};
use super::question::Question;
use crate::run::record::{DelayStatistics, Engine, Summary};
use crate::study::experiment::ExperimentError;
use crate::study::sweep::{Runner, sweep};
use crate::study::task::Task;

/// The number of limits of the first look, evenly spaced on a logarithmic axis.
pub(super) const LOOKS: u32 = 6;
/// The ratio of the largest limit of the first look to the smallest.
const SPAN: f64 = 64.0;
/// The largest limit of the first look, and the largest that is tried at all, in bandwidth-delay products. These
/// include packets that hosts hold.
pub(super) const LARGEST: (f64, f64) = (1.2, 2.5);
/// The most repetitions of the choice. A choice may ask for limits that were not simulated yet; they are simulated, and
/// the choice is made again.
const CHOICES: usize = 4;

/// A queue's room, in the unit of its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Room {
    Packets(u64),
    /// As many bytes as this number of packets of the mean length.
    Bytes(u64),
}

impl Room {
    pub(super) const fn packets(self) -> u64 {
        let (Self::Packets(packets) | Self::Bytes(packets)) = self;
        packets
    }
}

/// The limits that were simulated, ascending, each with what its runs found.
pub(super) type Limits<F> = [(u64, F)];

/// A path or cell that is simulated behind one limit after another: a path made of the question, a scenario as it is,
/// or a wireless cell.
pub(super) trait Testbed {
    /// The result of the runs behind one limit.
    type Runs: Clone;

    /// Simulates each of `limits`, in packets, and returns what its runs found.
    fn try_limits(&self, limits: &[u64], runner: &Runner<'_, '_>)
    -> Result<Vec<Self::Runs>, ExperimentError>;

    /// Returns the points of the curve.
    fn curve(&self, limits: &Limits<Self::Runs>) -> Vec<Point>;

    /// Returns the points of the curve from which limits are chosen.
    fn chosen_by(&self, limits: &Limits<Self::Runs>) -> Vec<Point> {
        self.curve(limits)
    }

    /// Returns the largest limit of the first look.
    fn first_reach(&self) -> f64;

    /// Returns larger limits to be tried; empty if the largest one is enough.
    fn larger(&self, limits: &Limits<Self::Runs>) -> Vec<u64>;

    /// Returns smaller limits to be tried.
    fn smaller(&self, limits: &Limits<Self::Runs>) -> Vec<u64>;

    /// Returns limits between the others to be tried before the first choice, until none is missing.
    fn between(&self, limits: &Limits<Self::Runs>) -> Vec<u64>;

    /// Returns a limit to be tried with the chosen ones.
    fn also_tried(&self, limits: &Limits<Self::Runs>, least: u64) -> Option<u64>;
}

/// A question, the testbed that is simulated for it, and the simulated limits.
pub(super) struct Trials<'a, 'w, B: Testbed> {
    pub(super) question: &'a Question,
    pub(super) testbed: B,
    pub(super) runner: Runner<'a, 'w>,
    limits: Vec<(u64, B::Runs)>,
}

impl<'a, 'w, B: Testbed> Trials<'a, 'w, B> {
    pub(super) const fn new(question: &'a Question, testbed: B, runner: Runner<'a, 'w>) -> Self {
        Self { question, testbed, runner, limits: Vec::new() }
    }

    /// Returns the simulated limits, ascending.
    pub(super) fn limits(&self) -> &Limits<B::Runs> {
        &self.limits
    }

    /// Returns the simulated limits as points.
    pub(super) fn curve(&self) -> Vec<Point> {
        self.testbed.curve(&self.limits)
    }

    /// Returns the result of this limit, if it was simulated.
    pub(super) fn found(&self, packets: u64) -> Option<&B::Runs> {
        self.limits.iter().find(|(limit, _)| *limit == packets).map(|(_, found)| found)
    }

    /// Simulates limits until the choice among them asks for no other one.
    pub(super) fn choose(&mut self) -> Result<Choice, ExperimentError> {
        let high = self.testbed.first_reach();
        let low = (high / SPAN).max(1.0);
        let looks: Vec<u64> =
            (0..LOOKS).map(|look| spaced(low, high, f64::from(look) / f64::from(LOOKS - 1))).collect();
        self.add(&looks)?;
        self.widen()?;
        let mut chosen = self.choice();
        for _ in 0..CHOICES {
            let asked = [chosen.least, chosen.recommended, chosen.most].into_iter();
            let asked = asked.chain(chosen.conflict.iter().flat_map(Conflict::limits));
            let asked: Vec<u64> = asked.chain(self.testbed.also_tried(&self.limits, chosen.least)).collect();
            if !self.add(&asked)? {
                break;
            }
            chosen = self.choice();
            // The limits that the choice asked for surely miss the target, although smaller ones meet it, so larger
            // ones may meet it.
            if chosen.none_meets() {
                self.widen()?;
                chosen = self.choice();
            }
        }
        self.add(&[chosen.least, chosen.recommended, chosen.most])?;
        Ok(chosen)
    }

    fn choice(&self) -> Choice {
        choice(self.question, &self.testbed.chosen_by(&self.limits))
    }

    /// Tries larger limits while the testbed asks for them, then smaller ones and those between.
    fn widen(&mut self) -> Result<(), ExperimentError> {
        loop {
            let larger = self.testbed.larger(&self.limits);
            if larger.is_empty() {
                break;
            }
            self.add(&larger)?;
        }
        let smaller = self.testbed.smaller(&self.limits);
        self.add(&smaller)?;
        while self.add(&self.testbed.between(&self.limits))? {}
        Ok(())
    }

    /// Simulates those of `limits` that were not simulated yet, on all cores. Returns true if there were any.
    fn add(&mut self, limits: &[u64]) -> Result<bool, ExperimentError> {
        let mut new: Vec<u64> = limits.to_vec();
        new.sort_unstable();
        new.dedup();
        new.retain(|limit| self.found(*limit).is_none());
        if new.is_empty() {
            return Ok(false);
        }
        let found = self.testbed.try_limits(&new, &self.runner)?;
        self.limits.extend(new.iter().copied().zip(found));
        self.limits.sort_by_key(|(packets, _)| *packets);
        Ok(true)
    }
}

/// Runs all `jobs` at once, and reads the runs of each with `read`, which gets the job's place.
pub(super) fn simulate<F>(
    runner: &Runner<'_, '_>,
    jobs: &[Vec<Task>],
    read: impl Fn(usize, &[Summary]) -> F,
) -> Result<Vec<F>, ExperimentError> {
    let tasks: Vec<Task> = jobs.iter().flatten().cloned().collect();
    runner.watched.need(tasks.len());
    let mut runs = sweep(&tasks, Engine::Sim, runner)?.into_iter().map(|result| result.summary);
    let of = |(place, job): (usize, &Vec<Task>)| {
        read(place, &runs.by_ref().take(job.len()).collect::<Vec<Summary>>())
    };
    Ok(jobs.iter().enumerate().map(of).collect())
}

/// Returns the delay of a run's queue.
pub(super) fn delay(summary: &Summary) -> Delay {
    let of =
        |delay: DelayStatistics| Delay { mean: delay.mean, p95: delay.percentiles.p95.unwrap_or(delay.mean) };
    summary.queueing_delay_s.map_or(Delay { mean: 0.0, p95: 0.0 }, of)
}

/// Returns the whole number of packets at `share` of the way from `low` to `high` on a logarithmic axis.
pub(super) fn spaced(low: f64, high: f64, share: f64) -> u64 {
    (low * libm::pow(high / low, share)).round().max(1.0) as u64
}

/// Returns the ratio of two neighbouring limits of the first look.
pub(super) fn step() -> f64 {
    libm::pow(SPAN, 1.0 / f64::from(LOOKS - 1))
}
