//! The store of results: `results/<hash>/` with the scenario, a manifest, and per engine a summary and series.
//!
//! ```text
//! results/8f3c…/scenario.toml            the text that was run, at its point of a sweep, and what was set over it
//!               manifest.json            title, source, seed, version, engines, the command of each
//!               model|sim|live/summary.json
//!                              flows.parquet, spread.parquet, link.parquet, queue.parquet, fairness.parquet,
//!                              acks.parquet
//! ```
//! Without the feature `parquet` of this crate there are no series.
//!
//! Nothing half-written ever has its final name: an engine's folder is made next to it under a temporary name and
//! renamed when whole. Others may write to the folder, too: below it no link is followed (`files/place.rs`).

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod read;
mod sheets;

use crate::files::{FolderUnderWay, Place, UNDER_WAY, clear, create, free_space, put, read_own};
use crate::run::record::{Note, Record};
use crate::study::task::Task;
#[cfg(feature = "parquet")]
pub use columns::write_table;
#[cfg(feature = "parquet")]
pub use read::read_series;
use serde::Serialize;
pub use sheets::series;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use units::Complaint;

/// The room that a run's results may need, in bytes: checked before the run.
const ROOM: u64 = 64 << 20;
/// The largest accepted manifest, in bytes.
const LARGEST_MANIFEST: u64 = 16 << 20;
const MANIFEST: &str = "manifest.json";

/// A folder for results.
#[derive(Clone, Debug)]
pub struct Store {
    root: Place,
}

/// The reason for which results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(pub(crate) Complaint);

impl StoreError {
    fn new(path: &Path, what: &str, help: &str, error: &io::Error) -> Self {
        Self(Complaint::new(path.display().to_string(), format!("{what}: {error}")).help(help))
    }
}

const CHOOSE: &str = "choose another folder with --out, or change the permission";

impl Store {
    /// Opens the folder `root`, and makes it if need be. Checks that the folder can be written to, so that a run does
    /// not fail after its end.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be made or written to, or if its file system is nearly full.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let new: Vec<&Path> = root.ancestors().take_while(|folder| !folder.exists()).collect();
        Self::tried(root).inspect_err(|_| {
            // Folders that were made in vain are removed, innermost first; a folder that another program uses by now
            // stays.
            for folder in new {
                if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
                    let _ = Place::of(parent).enter(|parent| fs::remove_dir(parent.join(name)));
                }
            }
        })
    }

    fn tried(root: &Path) -> Result<Self, StoreError> {
        let fail = |what, help| move |error: io::Error| StoreError::new(root, what, help, &error);
        let place = Place::of(root);
        place.make(|_| Ok(())).map_err(fail("cannot make the folder for results", CHOOSE))?;
        let room = place
            .enter(|folder| {
                clear_leftovers(folder);
                let trial = FolderUnderWay::begin(folder, "trial")?;
                let mut file = create(&trial.path().join("trial"))?;
                file.write_all(&[0; 4096])?;
                file.sync_all()?;
                Ok(free_space(folder).unwrap_or(u64::MAX))
            })
            .map_err(fail("cannot write to the folder for results", CHOOSE))?;
        if room < ROOM {
            let source = io::Error::other(format!("{} MB free, {} MB needed", room >> 20, ROOM >> 20));
            return Err(fail(
                "too little room for results",
                "free some, or choose another folder with --out",
            )(source));
        }
        Ok(Self { root: place })
    }

    /// Keeps a record; returns its folder.
    ///
    /// # Errors
    /// [`StoreError`] if writing fails; the old record, if there was one, is then still there.
    pub fn keep(&self, task: &Task, command: &str, record: &Record) -> Result<PathBuf, StoreError> {
        let place = self.root.within(&record.summary.scenario_hash);
        let engine = record.summary.engine.to_string();
        let settings = settings(task);
        let keep = |folder: &Path| -> io::Result<()> {
            let under_way = FolderUnderWay::begin(folder, &engine)?;
            write_json(&under_way.path().join("summary.json"), &record.summary)?;
            #[cfg(feature = "parquet")]
            columns::write_series(&under_way.path(), &record.series)?;
            let notes: Vec<&str> = record.notes.iter().map(Note::text).collect();
            write_new(&under_way.path().join("notes.txt"), notes.join("\n").as_bytes())?;
            under_way.take_the_place_of(&folder.join(&engine))?;
            let text = with_settings(&settings, &task.document.text_at(&task.point));
            put(folder, "scenario.toml", |mut file| file.write_all(text.as_bytes()))?;
            let manifest = manifest(task, &settings, (&engine, command), folder)?;
            put(folder, MANIFEST, |mut file| file.write_all(&manifest))
        };
        let kept = place.make(keep);
        kept.map(|()| place.path().join(&engine)).map_err(|error| {
            // The folder is removed only if it is empty.
            let _ = self.root.enter(|root| fs::remove_dir(root.join(&record.summary.scenario_hash)));
            StoreError::new(&place.path(), "cannot keep the results", CHOOSE, &error)
        })
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, create(path)?);
    serde_json::to_writer_pretty(&mut file, value)?;
    file.into_inner()?.sync_all()
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Returns the settings in place of the text's values: overrides, and the point of the sweep.
fn settings(task: &Task) -> Vec<(String, String)> {
    task.document.overrides().iter().chain(&task.point).cloned().collect()
}

/// Returns the scenario's text at its point of a sweep, after the settings over it.
fn with_settings(settings: &[(String, String)], text: &str) -> String {
    // A value of several lines stays a comment.
    let comment = |(key, value): &(String, String)| format!("# {key} = {}\n", value.replace('\n', "\n#   "));
    let settings: Vec<String> = settings.iter().map(comment).collect();
    if settings.is_empty() { text.to_owned() } else { format!("# run with\n{}\n{text}", settings.concat()) }
}

/// Returns the manifest as JSON. `ran` is the engine whose record was kept last, and the command that ran it. The
/// commands of the other engines are taken from the manifest before.
fn manifest(
    task: &Task,
    settings: &[(String, String)],
    ran: (&str, &str),
    folder: &Path,
) -> io::Result<Vec<u8>> {
    let mut engines: Vec<String> = fs::read_dir(folder)?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("summary.json").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with(UNDER_WAY))
        .collect();
    engines.sort();
    let before = read_own(folder, MANIFEST, LARGEST_MANIFEST).unwrap_or_default();
    let before: serde_json::Value = serde_json::from_slice(&before).unwrap_or_default();
    let mut commands: BTreeMap<&str, &str> = engines
        .iter()
        .filter_map(|engine| Some((engine.as_str(), before["commands"][engine].as_str()?)))
        .collect();
    commands.insert(ran.0, ran.1);
    let resolved = &task.resolved;
    Ok(serde_json::to_vec_pretty(&serde_json::json!({
        "title": resolved.title,
        "source": resolved.source,
        "scenario_hash": resolved.hash,
        "seed": resolved.seed,
        "settings": settings.iter().cloned().collect::<BTreeMap<_, _>>(),
        "engines": engines,
        "command": ran.1,
        "commands": commands,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": crate::run::commit(),
    }))?)
}

/// Removes the leftovers of killed runs in the open folder and in the folders in it.
fn clear_leftovers(root: &Path) {
    clear(root);
    for entry in fs::read_dir(root).into_iter().flatten().filter_map(Result::ok) {
        // A link does not count as a folder.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            clear(&entry.path());
        }
    }
}
