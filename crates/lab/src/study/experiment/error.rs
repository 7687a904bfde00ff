//! How an experiment can end badly.

use crate::run::engine::EngineError;
use crate::study::curves::CurvesError;
use crate::study::search::SearchError;
use crate::study::store::StoreError;
use crate::study::sweep::SweepError;
use scenario::Faults;
use std::io;
use std::path::{Path, PathBuf};
use units::Complaint;

/// Why an experiment did not come to its end. Finished runs are kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The scenario is not right.
    #[error(transparent)]
    Faults(#[from] Faults),
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
    /// None of the engines is made for any point: why.
    #[error("no engine can answer this scenario:\n  {}", .0.join("\n  "))]
    Unanswerable(Vec<String>),
    /// None of the engines that are asked is one of those that the figure is drawn from.
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
        /// Runs, or points, that were finished.
        done: usize,
        /// Those that were known to be needed.
        all: usize,
        /// Where they are kept; `None`: nowhere.
        folder: Option<PathBuf>,
    },
}

impl ExperimentError {
    /// The page `path` cannot be written.
    #[must_use]
    pub fn page(path: &Path, error: &io::Error) -> Self {
        let help = "choose another file with --report, or change the permission";
        Self::Page(not_written(path, "report", error).help(help))
    }

    /// The table of a sweep cannot be written into the folder `path`.
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
