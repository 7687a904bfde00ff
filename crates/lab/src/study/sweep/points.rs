//! [`KeptPoints`]: the kept points of some tasks in a results folder, for programs that compute points elsewhere.
//!
//! Another machine computes a point with [`kept`] and returns its bytes; [`KeptPoints::put`] keeps them here. An
//! ordinary sweep over the folder then finds its points, so that its table is the same to the byte.

use super::kept::{self, KeptPoint, PointIdentity};
use super::{SweepError, not_kept, run};
use crate::files::{Place, clear};
use crate::run::BUILD;
use crate::run::record::Engine;
use crate::study::task::Task;
use crate::study::watch::SharedWatch;
use std::collections::HashMap;
use std::path::Path;
use units::Complaint;

/// Runs a point and returns it as the file that a sweep keeps, with the identity of its scenario and of this build.
///
/// # Errors
/// [`SweepError`] if the run fails, or uses a part that this program added, because no other program has it.
pub fn kept(task: &Task, engine: Engine, watched: &SharedWatch<'_>) -> Result<Vec<u8>, SweepError> {
    if task.resolved.has_added_parts() {
        let complaint = Complaint::new("", "the scenario has a controller or sizer that this program added");
        return Err(SweepError::Keep(
            complaint.help("run the point here, because no other program has that part"),
        ));
    }
    let asked = PointIdentity::of(task, engine);
    let failed = |error| not_kept(Path::new(&asked.name()), &error);
    run(task, engine, watched)?.to_bytes(&asked).map_err(failed)
}

/// Returns the folder in which finished points of `engine` are kept in a results folder, made if need be.
pub(super) fn place(folder: &Path, engine: Engine) -> Result<Place, SweepError> {
    let kept = Place::of(folder).within("points").within(engine.to_string());
    let cleared = kept.make(|folder| {
        clear(folder);
        Ok(())
    });
    cleared.map_err(|error| not_kept(&kept.path(), &error))?;
    Ok(kept)
}

/// The kept points of some tasks in a results folder.
#[derive(Debug)]
pub struct KeptPoints {
    place: Place,
    /// The identities of the points, and the places of their tasks; of equal tasks the first.
    known: Vec<(PointIdentity, usize)>,
    by_hash: HashMap<String, usize>,
    /// The files that the scenario reads.
    files: Vec<String>,
}

/// The reasons for which bytes are not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutError {
    /// The bytes are damaged, or not a point.
    #[error(transparent)]
    Damaged(Complaint),
    /// Another build of the program computed the point.
    #[error(transparent)]
    OtherBuild(Complaint),
    /// No task has the scenario that was run.
    #[error(transparent)]
    Unknown(Complaint),
    /// The file cannot be written.
    #[error(transparent)]
    Keep(SweepError),
}

impl KeptPoints {
    /// Opens the points of `tasks` on `engine` in the results folder `folder`, which is made if need be.
    ///
    /// # Errors
    /// [`SweepError::Keep`] if the folder cannot be made.
    pub fn open(folder: &Path, tasks: &[Task], engine: Engine) -> Result<Self, SweepError> {
        let place = place(folder, engine)?;
        let (mut known, mut by_hash) = (Vec::new(), HashMap::new());
        for (number, task) in tasks.iter().enumerate() {
            let asked = PointIdentity::of(task, engine);
            by_hash.entry(asked.scenario_hash.clone()).or_insert_with(|| {
                known.push((asked, number));
                known.len() - 1
            });
        }
        let files = tasks.first().map(Task::files).unwrap_or_default();
        Ok(Self { place, known, by_hash, files })
    }

    /// Returns the numbers of the tasks whose points are not kept, or were computed by another build. Of several equal
    /// tasks it has the first.
    #[must_use]
    pub fn missing(&self) -> Vec<usize> {
        let is_kept = |folder: &Path, asked: &PointIdentity| KeptPoint::read(folder, asked).is_some();
        let missing = |folder: &Path| {
            let missing = self.known.iter().filter(|(asked, _)| !is_kept(folder, asked));
            Ok(missing.map(|(_, number)| *number).collect())
        };
        self.place.enter(missing).unwrap_or_else(|_| self.known.iter().map(|(_, number)| *number).collect())
    }

    /// Keeps a point that [`kept`] returned, here or elsewhere. Its file is written whole or not at all. Returns the
    /// number of its task.
    ///
    /// # Errors
    /// [`PutError`]; nothing is then changed.
    pub fn put(&self, content: &[u8]) -> Result<usize, PutError> {
        let Some(asked) = kept::identity(content) else {
            let complaint =
                Complaint::new("", format!("{} bytes that are not a point, or damaged", content.len()));
            return Err(PutError::Damaged(complaint.help("run the point again")));
        };
        if asked.build != BUILD {
            let complaint = Complaint::new("", format!("a point of another build, {}", asked.build));
            let help = "install the same version of tightlink on every machine, and run the point again";
            return Err(PutError::OtherBuild(complaint.accepted(BUILD).help(help)));
        }
        let known = self.by_hash.get(&asked.scenario_hash).map(|at| &self.known[*at]);
        let Some((_, number)) = known.filter(|(known, _)| *known == asked) else {
            return Err(PutError::Unknown(self.unknown(&asked)));
        };
        self.place
            .enter(|folder| kept::write(folder, &asked, content))
            .map_err(|error| PutError::Keep(not_kept(&self.place.path().join(asked.name()), &error)))?;
        Ok(*number)
    }

    fn unknown(&self, asked: &PointIdentity) -> Complaint {
        let (hash, engine) = (&asked.scenario_hash, &asked.engine);
        let complaint =
            Complaint::new("", format!("a point of {engine} that this sweep does not have, {hash}"));
        let same = match &self.files[..] {
            [] => "give every machine the same scenario".to_owned(),
            files => format!("give every machine the same {}", files.join(", ")),
        };
        complaint
            .accepted("the points of this scenario, with the same content of the files that it reads")
            .help(same)
    }
}
