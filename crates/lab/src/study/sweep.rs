//! Sweeps: many points of one scenario, on all cores, resumable. Every finished point is on disk at once, under its
//! scenario's hash. So a killed sweep continues from its finished points, and two sweeps share their common points.
//! `sweep/kept.rs` has the format of a point on disk, and the checks before it is reused.

mod kept;

use crate::files::{Place, clear};
use crate::run::engine::EngineError;
use crate::run::record::{Engine, Note, Record, Series, Summary};
use crate::study::quantities::{SweptQuantity, quantities};
use crate::study::repeat::record;
use crate::study::task::Task;
use crate::study::watch::{Event, SharedWatch};
pub(crate) use kept::KeptPoint;
use kept::PointIdentity;
use rayon::prelude::*;
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
    let one = |task: &Task| {
        let KeptPoint { summary, notes } = point(task, engine, kept.as_ref(), runner.watched)?;
        runner.watched.finish(1);
        let numbers = |(key, typed): &(String, String)| quantities(&task.resolved, key, typed);
        let quantities = task.point.iter().map(numbers).collect();
        Ok(PointResult { point: task.point.clone(), quantities, summary, ratios: Ratios::new(), notes })
    };
    pool(runner.jobs)?.install(|| tasks.par_iter().map(one).collect())
}

impl From<PointResult> for Record {
    fn from(result: PointResult) -> Self {
        Self { summary: result.summary, series: Series::default(), notes: result.notes }
    }
}

/// Returns the folder in which finished points of `engine` are kept, made if need be; `None` without a results folder.
pub(crate) fn kept_points(folder: Option<&Path>, engine: Engine) -> Result<Option<Place>, SweepError> {
    let Some(folder) = folder else { return Ok(None) };
    let kept = Place::of(folder).within("points").within(engine.to_string());
    let cleared = kept.make(|folder| {
        clear(folder);
        Ok(())
    });
    cleared.map_err(|error| not_kept(&kept.path(), &error))?;
    Ok(Some(kept))
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
    let failed = |source| SweepError::Point { label: task.label(), source: Box::new(source) };
    if watched.is_stopped() {
        return Err(failed(EngineError::Stopped));
    }
    let asked = PointIdentity::of(task, engine);
    // The parts that a program has added may have other code by now.
    let kept = kept.filter(|_| !task.resolved.has_added_parts());
    let read = |kept: &Place| kept.enter(|folder| Ok(KeptPoint::read(folder, &asked))).ok().flatten();
    if let Some(point) = kept.and_then(read) {
        let _ = watched.on_event(Event::Reused);
        return Ok(point);
    }
    let mut bare = task.clone();
    // A sweep keeps numbers, not series.
    Arc::make_mut(&mut bare.resolved).columns.clear();
    let record = record(&bare, engine, watched).map_err(failed)?;
    let result = KeptPoint { summary: record.summary, notes: record.notes };
    if let Some(kept) = kept {
        kept.enter(|folder| result.write(folder, &asked))
            .map_err(|error| not_kept(&kept.path().join(asked.name()), &error))?;
    }
    Ok(result)
}
