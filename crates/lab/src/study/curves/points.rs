//! The runs behind a figure's numbers: every point, on every engine that suits it, with the requested number of
//! repetitions.

use super::CurvesError;
use crate::run::engine;
use crate::run::record::{Engine, Record, Summary};
use crate::study::repeat::{median, repeats, runs, seeded, too_busy};
use crate::study::sweep::{Runner, sweep};
use crate::study::task::{Answer, Task};

/// The most times in a row that a run of the kernel is repeated because the emulator doubts it; the last one counts.
const AGAIN: u64 = 2;

/// One point of the sweep, with the results of each engine's runs.
pub(super) struct PointRuns {
    pub(super) task: Task,
    pub(super) runs: Vec<(Engine, Vec<Record>)>,
    absent: Vec<String>,
    /// The number of the kernel's runs that were made again because the emulator doubted them.
    run_again: u64,
}

impl PointRuns {
    /// Returns the point as claims use it, with each engine's run of the median goodput.
    pub(super) fn answer(&self) -> Answer {
        let chosen = |(_, records): &(Engine, Vec<Record>)| median(records.clone());
        let mut records: Vec<Record> = self.runs.iter().filter_map(chosen).collect();
        let live = records.iter_mut().find(|record| record.summary.engine == Engine::Live);
        if let Some(record) = live.filter(|_| self.run_again > 0) {
            let count = self.run_again;
            let again = format!("runs that were run again, because the machine was too busy: {count}");
            record.notes.push(again.into());
            record.summary.repeats.iter_mut().for_each(|repeats| repeats.run_again = count);
        }
        let several = self.runs.iter().filter(|(_, records)| records.len() > 1);
        let runs = several.flat_map(|(_, records)| records.clone()).collect();
        Answer { task: self.task.clone(), records, runs, absent: self.absent.clone(), found: None }
    }

    pub(super) fn summaries(&self) -> impl Iterator<Item = (Engine, Vec<&Summary>)> {
        self.runs.iter().map(|(engine, records)| (*engine, records.iter().map(|of| &of.summary).collect()))
    }
}

/// Returns the number of runs that [`run_points`] makes or finds.
pub(super) fn count(engines: &[Engine], repeat: u64, tasks: &[Task]) -> usize {
    let of = |engine: &Engine| {
        let made_for = tasks.iter().filter(|task| engine::check(*engine, &task.resolved).is_ok()).count();
        made_for * runs(*engine, repeat) as usize
    };
    engines.iter().map(of).sum()
}

/// Runs every task `repeat` times on each of `engines`, those of the kernel one after the other. Repetitions go round
/// the points, so that a machine that is busy for a while disturbs one run of many points, not every run of one.
pub(super) fn run_points(
    engines: &[Engine],
    repeat: u64,
    tasks: &[Task],
    runner: &Runner<'_, '_>,
) -> Result<Vec<PointRuns>, CurvesError> {
    let bare =
        |task: &Task| PointRuns { task: task.clone(), runs: Vec::new(), absent: Vec::new(), run_again: 0 };
    let mut points: Vec<PointRuns> = tasks.iter().map(bare).collect();
    for engine in engines {
        let mut rounds: Vec<Vec<(usize, Task)>> = (0..runs(*engine, repeat)).map(|_| Vec::new()).collect();
        for (index, point) in points.iter_mut().enumerate() {
            match engine::check(*engine, &point.task.resolved) {
                Err(misfit) => point.absent.push(misfit.to_string()),
                Ok(()) => {
                    point.runs.push((*engine, Vec::new()));
                    let again = repeats(&point.task, rounds.len() as u64)?;
                    rounds.iter_mut().zip(again).for_each(|(round, task)| round.push((index, task)));
                }
            }
        }
        let (places, all): (Vec<usize>, Vec<Task>) = rounds.into_iter().flatten().unzip();
        let jobs = if *engine == Engine::Live { 1 } else { runner.jobs };
        let results = sweep(&all, *engine, &Runner { jobs, ..*runner })?;
        for (place, result) in places.into_iter().zip(results) {
            points[place].runs.last_mut().expect("begun above").1.push(result.into());
        }
        if *engine == Engine::Live {
            run_again(repeat, &mut points, runner)?;
        }
    }
    Ok(points)
}

/// Repeats the kernel's runs that the emulator doubts, with seeds that no other run has.
fn run_again(repeat: u64, points: &mut [PointRuns], runner: &Runner<'_, '_>) -> Result<(), CurvesError> {
    for round in 1..=u128::from(AGAIN) {
        let (mut places, mut tasks) = (Vec::new(), Vec::new());
        for (place, point) in points.iter().enumerate() {
            let runs = point.runs.iter().filter(|(engine, _)| *engine == Engine::Live);
            let doubted = runs.flat_map(|(_, records)| records.iter().enumerate());
            for (run, _) in doubted.filter(|(_, record)| too_busy(record)) {
                let seed = u128::from(point.task.resolved.seed) + round * u128::from(repeat) + run as u128;
                tasks.push(seeded(&point.task, seed)?);
                places.push((place, run));
            }
        }
        runner.watched.need(tasks.len());
        let results = sweep(&tasks, Engine::Live, &Runner { jobs: 1, ..*runner })?;
        for ((place, run), result) in places.into_iter().zip(results) {
            points[place].run_again += 1;
            points[place].runs.last_mut().expect("the kernel's").1[run] = result.into();
        }
    }
    Ok(())
}
