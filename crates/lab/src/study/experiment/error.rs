//! The errors of an experiment.

use crate::run::engine::EngineError;
use crate::study::curves::CurvesError;
use crate::study::search::SearchError;
use crate::study::store::StoreError;
use crate::study::sweep::SweepError;
use scenario::Faults;
use std::io;
use std::path::{Path, PathBuf};
use units::Complaint;

/// The reasons for which an experiment does not finish. Finished runs are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The scenario has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// An engine that has to answer has no answer to the scenario.
    #[error(transparent)]
    Misfit(Faults),
    /// A run failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Results cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A sweep failed.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A figure failed, or the runs that judge claims.
    #[error(transparent)]
    Curves(#[from] CurvesError),
    /// An engine that had to answer could not.
    #[error("{0}")]
    Unanswered(String),
    /// No engine suits any point, for these reasons.
    #[error("no engine can answer this scenario:\n  {}", .0.join("\n  "))]
    Unanswerable(Vec<String>),
    /// None of the engines that are asked is among those that the figure is drawn from.
    #[error(transparent)]
    NothingDrawn(Complaint),
    /// The key that is searched over is one that the sweep varies.
    #[error(transparent)]
    Varied(Complaint),
    /// The page cannot be written.
    #[error(transparent)]
    Page(Complaint),
    /// The table of a sweep cannot be written.
    #[error(transparent)]
    Table(Complaint),
    /// The watch stopped it.
    #[error("stopped when {done} of {all} runs were finished{}", kept(folder.as_deref()))]
    Stopped {
        /// The number of runs, or points, that were finished.
        done: usize,
        /// The number of those that were known to be needed.
        all: usize,
        /// The folder in which they are kept; `None`: they are not kept.
        folder: Option<PathBuf>,
    },
}

impl ExperimentError {
    /// Returns the error that the page `path` cannot be written.
    #[must_use]
    pub fn page(path: &Path, error: &io::Error) -> Self {
        let help = "choose another file with --report, or change the permission";
        Self::Page(not_written(path, "report", error).help(help))
    }

    /// Returns the error that the table of a sweep cannot be written into the folder `path`.
    pub(super) fn table(path: &Path, error: &io::Error) -> Self {
        let help = "the points are kept: free some room and start again, or choose another folder with --out";
        Self::Table(not_written(path, "table", error).help(help))
    }
}

fn kept(folder: Option<&Path>) -> String {
    folder.map_or_else(String::new, |folder| format!("; these are kept in {}", folder.display()))
}

fn not_written(path: &Path, what: &str, error: &io::Error) -> Complaint {
    Complaint::new(path.display().to_string(), format!("cannot write the {what}: {error}"))
}
