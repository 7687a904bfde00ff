//! The folder for results: one that keeps them, or with `--out none` one that is removed when the command ends.

use crate::print;
use crate::problem::Problem;
use lab::study::task::Answer;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use units::Complaint;

/// The word for no folder; `./none` is a folder of that name.
const NONE: &str = "none";

/// A folder for results.
pub(crate) struct Folder {
    path: PathBuf,
    /// The owner of a folder that is removed with this.
    temporary: Option<TempDir>,
}

impl Folder {
    /// Makes the folder that `--out` names.
    pub(crate) fn of(out: &Path) -> Result<Self, Problem> {
        if out != Path::new(NONE) {
            return Ok(Self { path: out.into(), temporary: None });
        }
        let temporary = TempDir::new().map_err(|error| {
            let found = format!("no folder for the time of the run: {error}");
            Problem::environment(Complaint::new("--out none", found).help("name a folder: --out DIR"))
        })?;
        Ok(Self { path: temporary.path().into(), temporary: Some(temporary) })
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if its content stays after the command.
    pub(crate) fn keeps(&self) -> bool {
        self.temporary.is_none()
    }

    /// Prints the place of the results of `answers`: "results: results/f65653a9ff3d3b51/sim".
    pub(crate) fn print_place(&self, answers: &[Answer]) {
        if !self.keeps() {
            return;
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut engines = Vec::new();
        for summary in answers.iter().flat_map(|answer| &answer.records).map(|record| &record.summary) {
            let folder = self.path.join(&summary.scenario_hash);
            if folder.is_dir() && !folders.contains(&folder) {
                folders.push(folder);
            }
            if !engines.contains(&summary.engine) {
                engines.push(summary.engine);
            }
        }
        let line = match (&folders[..], &engines[..]) {
            ([folder], [engine]) => folder.join(engine.to_string()).display().to_string(),
            ([folder], _) => folder.display().to_string(),
            ([first, others @ ..], _) => {
                let folders = if others.len() == 1 { "folder" } else { "folders" };
                format!("{} and {} more {folders} next to it", first.display(), others.len())
            }
            ([], _) => self.path.display().to_string(),
        };
        print::talk(format_args!("results: {line}"));
    }
}
