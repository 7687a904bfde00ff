//! Sweeps: many points of one scenario, on all cores, resumable. Every finished point has its file at once, under its
//! scenario's hash. So a killed sweep continues from its finished points, and two sweeps share the points that both
//! have. `sweep/kept.rs` has the format of a point on disk, and the checks before it is reused. `sweep/points.rs` keeps
//! points that were computed elsewhere.

mod kept;
mod points;

use crate::files::Place;
use crate::run::engine::EngineError;
use crate::run::record::{Engine, Note, Record, Series, Summary};
use crate::study::quantities::{SweptQuantity, quantities};
use crate::study::repeat::record;
use crate::study::task::Task;
use crate::study::watch::{Event, SharedWatch};
pub(crate) use kept::KeptPoint;
use kept::PointIdentity;
pub use points::{KeptPoints, PutError, kept};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use units::Complaint;

/// One finished point.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PointResult {
    /// The keys the sweep sets and their values.
    pub point: Vec<(String, String)>,
    /// These values in numbers, as far as they are numbers.
    pub quantities: Vec<Vec<SweptQuantity>>,
    /// The numbers of the point.
    pub summary: Summary,
    /// The ratios of numbers to those of the point's baseline; empty without one, and for a baseline itself.
    pub ratios: Ratios,
    /// Remarks on the run.
    pub notes: Vec<Note>,
}

/// Compared numbers: each one's key in a sweep's table, and its ratio.
pub type Ratios = Vec<(String, f64)>;

/// The reasons for which a sweep stops. Finished points are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// A point failed.
    #[error("{label}: {source}")]
    Point {
        /// The point.
        label: String,
        /// The reason.
        source: Box<EngineError>,
    },
    /// A result could not be kept.
    #[error(transparent)]
    Keep(Complaint),
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {source}")]
    Threads {
        /// The number of threads.
        jobs: usize,
        /// The reason.
        source: rayon::ThreadPoolBuildError,
    },
}

/// The threads, the folder and the watch with which runs are made.
#[derive(Clone, Copy)]
pub struct Runner<'a, 'w> {
    /// The number of threads.
    pub jobs: usize,
    /// The folder in which finished runs are kept, and from which they are reused; `None`: none is kept.
    pub folder: Option<&'a Path>,
    /// The watch that follows each run.
    pub watched: &'a SharedWatch<'w>,
}

/// Runs every task on `engine`, or reuses an earlier run that the folder holds. Each is one finished step. Results come
/// in the order of the tasks.
///
/// # Errors
/// [`SweepError`]; points that finished before are kept.
pub fn sweep(
    tasks: &[Task],
    engine: Engine,
    runner: &Runner<'_, '_>,
) -> Result<Vec<PointResult>, SweepError> {
    let kept = kept_points(runner.folder, engine)?;
    let one = |task: &Task| result(task, engine, kept.as_ref(), runner.watched);
    pool(runner.jobs)?.install(|| tasks.par_iter().map(one).collect())
}

/// Runs every task as [`sweep`] does, but goes on after a point that failed. `elsewhere` has the numbers of tasks that
/// failed elsewhere, with the reasons; these are not run. Returns the points that finished and those that failed, both
/// in the order of the tasks.
///
/// # Errors
/// [`SweepError`] if a point cannot be kept, or the watch stopped the sweep; points that finished before are kept.
pub fn sweep_on(
    tasks: &[Task],
    engine: Engine,
    runner: &Runner<'_, '_>,
    elsewhere: &BTreeMap<usize, String>,
) -> Result<(Vec<PointResult>, Vec<FailedPoint>), SweepError> {
    let kept = kept_points(runner.folder, engine)?;
    let fail = |number: usize, task: &Task, reason: String| {
        runner.watched.finish(1);
        Ok(Err(FailedPoint::of(number, task, reason)))
    };
    let one = |(number, task): (usize, &Task)| {
        if let Some(reason) = elsewhere.get(&number) {
            return fail(number, task, reason.clone());
        }
        match result(task, engine, kept.as_ref(), runner.watched) {
            Err(SweepError::Point { source, .. }) if !matches!(*source, EngineError::Stopped) => {
                fail(number, task, source.to_string())
            }
            Err(error) => Err(error),
            Ok(result) => Ok(Ok(result)),
        }
    };
    let all: Vec<Result<_, _>> = pool(runner.jobs)?
        .install(|| tasks.par_iter().enumerate().map(one).collect::<Result<_, SweepError>>())?;
    let (mut finished, mut failed) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Ok(result) => finished.push(result),
            Err(point) => failed.push(point),
        }
    }
    Ok((finished, failed))
}

/// A point whose run failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedPoint {
    /// Its place among all points of the sweep.
    pub number: usize,
    /// The keys that the sweep sets and their values.
    pub point: Vec<(String, String)>,
    /// These values in numbers, as far as they are numbers.
    pub quantities: Vec<Vec<SweptQuantity>>,
    /// The keys and values in the words of labels.
    pub label: String,
    /// The reason.
    pub reason: String,
}

impl FailedPoint {
    fn of(number: usize, task: &Task, reason: String) -> Self {
        let quantities = point_quantities(task);
        Self { number, point: task.point.clone(), quantities, label: task.label(), reason }
    }

    /// Returns the number of a column of swept values, such as `link.queue.limit_bdp`.
    pub(crate) fn quantity(&self, column: &str) -> Option<f64> {
        let of = |((key, _), quantities): (&(String, String), &Vec<SweptQuantity>)| {
            let suffix = column.strip_prefix(key.as_str())?;
            quantities.iter().find(|one| one.suffix == suffix).map(|one| one.value)
        };
        self.point.iter().zip(&self.quantities).find_map(of)
    }
}

fn point_quantities(task: &Task) -> Vec<Vec<SweptQuantity>> {
    task.point.iter().map(|(key, typed)| quantities(&task.resolved, key, typed)).collect()
}

/// Returns the result of one point, from disk or run now, and counts it as finished.
fn result(
    task: &Task,
    engine: Engine,
    kept: Option<&Place>,
    watched: &SharedWatch<'_>,
) -> Result<PointResult, SweepError> {
    let KeptPoint { summary, notes } = point(task, engine, kept, watched)?;
    watched.finish(1);
    Ok(PointResult::of(task, Record { summary, series: Series::default(), notes }))
}

impl PointResult {
    /// Creates the result of a task from its record, without the series.
    #[must_use]
    pub fn of(task: &Task, record: Record) -> Self {
        Self {
            point: task.point.clone(),
            quantities: point_quantities(task),
            summary: record.summary,
            ratios: Ratios::new(),
            notes: record.notes,
        }
    }
}

impl From<PointResult> for Record {
    fn from(result: PointResult) -> Self {
        Self { summary: result.summary, series: Series::default(), notes: result.notes }
    }
}

/// Returns the folder in which finished points of `engine` are kept, made if need be; `None` without a results folder.
pub(crate) fn kept_points(folder: Option<&Path>, engine: Engine) -> Result<Option<Place>, SweepError> {
    let open = |folder: &Path| {
        let place = points::place(folder, engine)?;
        let path = place.path();
        place.hold().map_err(|error| not_kept(&path, &error))
    };
    folder.map(open).transpose()
}

fn not_kept(path: &Path, error: &io::Error) -> SweepError {
    let complaint = Complaint::new(path.display().to_string(), format!("cannot keep a result: {error}"));
    SweepError::Keep(complaint.help("finished points are kept: free some room and start again"))
}

/// Creates a pool of `jobs` threads.
pub(crate) fn pool(jobs: usize) -> Result<rayon::ThreadPool, SweepError> {
    let build = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    build.map_err(|source| SweepError::Threads { jobs, source })
}

/// Returns one point, from disk or run now.
pub(crate) fn point(
    task: &Task,
    engine: Engine,
    kept: Option<&Place>,
    watched: &SharedWatch<'_>,
) -> Result<KeptPoint, SweepError> {
    if watched.is_stopped() {
        return Err(failed(task, EngineError::Stopped));
    }
    let asked = PointIdentity::of(task, engine);
    // A kept point is not reused if the scenario uses parts that a program added, because their code may have changed.
    let kept = kept.filter(|_| !task.resolved.has_added_parts());
    let read = |kept: &Place| kept.enter(|folder| Ok(KeptPoint::read(folder, &asked))).ok().flatten();
    if let Some(point) = kept.and_then(read) {
        let _ = watched.on_event(Event::Reused);
        return Ok(point);
    }
    let result = run(task, engine, watched)?;
    if let Some(kept) = kept {
        kept.enter(|folder| kept::write(folder, &asked, &result.to_bytes(&asked)?))
            .map_err(|error| not_kept(&kept.path().join(asked.name()), &error))?;
    }
    Ok(result)
}

/// Runs one point.
fn run(task: &Task, engine: Engine, watched: &SharedWatch<'_>) -> Result<KeptPoint, SweepError> {
    let mut bare = task.clone();
    // A sweep keeps numbers, not series.
    Arc::make_mut(&mut bare.resolved).columns.clear();
    let record = record(&bare, engine, watched).map_err(|source| failed(task, source))?;
    Ok(KeptPoint { summary: record.summary, notes: record.notes })
}

fn failed(task: &Task, source: EngineError) -> SweepError {
    SweepError::Point { label: task.label(), source: Box::new(source) }
}
