//! A sweep: every point on one engine, and the tables of all.

use super::{Experiment, ExperimentError};
use crate::run::record::Engine;
use crate::study::ratio::{RatioGroup, compare_with_baseline};
use crate::study::sweep::{FailedPoint, PointResult, Runner, sweep, sweep_on};
use crate::study::tabulate::{tabulate, with_failed, write_tables};
use crate::study::task;
use crate::study::watch::{Watch, Work};
use std::path::PathBuf;

/// A finished sweep.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepResult {
    /// The points' results, in the order of the tasks.
    pub results: Vec<PointResult>,
    /// The points that failed; empty from [`Experiment::sweep`], which stops at the first of them.
    pub failed: Vec<FailedPoint>,
    /// The tables of all points; empty without a folder.
    pub files: Vec<PathBuf>,
    /// Quantiles of the ratios to the sweep's baseline; empty without one.
    pub ratios: Vec<RatioGroup>,
}

impl Experiment {
    /// Runs every point on `engine` and writes tables of the results. The summary of each point is kept, and reused.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished points are kept.
    pub fn sweep(&self, engine: Engine, watch: &mut dyn Watch) -> Result<SweepResult, ExperimentError> {
        self.swept(engine, false, watch)
    }

    /// Sweeps as [`Self::sweep`] does, but goes on after a point that failed. The rows of these
    /// points in the tables have the reason in the column `failed`.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished points are kept.
    pub fn sweep_on(&self, engine: Engine, watch: &mut dyn Watch) -> Result<SweepResult, ExperimentError> {
        self.swept(engine, true, watch)
    }

    fn swept(
        &self,
        engine: Engine,
        goes_on: bool,
        watch: &mut dyn Watch,
    ) -> Result<SweepResult, ExperimentError> {
        task::check(&self.tasks, &[engine]).map_err(ExperimentError::Misfit)?;
        self.ready(&[engine])?;
        self.watched(watch, |watched| {
            watched.begin(Work::Points);
            watched.need(self.tasks.len());
            // Runs of the kernel would disturb each other.
            let most = if engine == Engine::Live { 1 } else { self.tasks.len() };
            let runner = self.runner(watched);
            let runner = Runner { jobs: runner.jobs.min(most), ..runner };
            let (mut results, failed) = if goes_on {
                sweep_on(&self.tasks, engine, &runner, &self.failed)?
            } else {
                (sweep(&self.tasks, engine, &runner)?, Vec::new())
            };
            let ratios = compare_with_baseline(&self.document().sweep()?, &mut results);
            let files = match &self.folder {
                Some(folder) => write_tables(folder, &self.stem(), &with_failed(tabulate(&results), &failed))
                    .map_err(|error| ExperimentError::table(folder, &error))?,
                None => Vec::new(),
            };
            Ok(SweepResult { results, failed, files, ratios })
        })
    }
}
