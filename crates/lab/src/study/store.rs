//! Keeping results: `results/<hash>/` with the scenario, a manifest, and per engine a summary and series.
//!
//! ```text
//! results/8f3c…/scenario.toml            the text that was run, at its point of a sweep, and what was set over it
//!               manifest.json            title, source, seed, version, engines, the command of each
//!               model|sim|live/summary.json
//!                              flows.parquet, spread.parquet, link.parquet, queue.parquet, fairness.parquet
//! ```
//! Without the feature `parquet` of this crate there are no series.
//!
//! Nothing half-written is ever under its final name: an engine's folder is made beside it under a temporary
//! name and renamed when whole.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod columns;
mod field;

use crate::files::{UNDER_WAY, clear_folder, replace};
use crate::run::record::{Note, Record};
use crate::study::task::Task;
#[cfg(feature = "parquet")]
pub use columns::write_table;
pub use field::{Column, Field};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use units::Complaint;

/// Room a run's results may need: checked before the run.
const ROOM: u64 = 64 << 20;
const MANIFEST: &str = "manifest.json";

/// A folder for results.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Complaint);

impl StoreError {
    fn new(path: &Path, what: &str, help: &str, error: &io::Error) -> Self {
        Self(Complaint::new(path.display().to_string(), format!("{what}: {error}")).help(help))
    }
}

const CHOOSE: &str = "choose another folder with --out, or change the permission";

impl Store {
    /// Opens the folder `root`, making it if need be. Tries that the folder can be written to, so that a run does not
    /// fail after its end.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be made or written to, or if its file system is nearly full.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let new: Vec<&Path> = root.ancestors().take_while(|folder| !folder.exists()).collect();
        Self::tried(root).inspect_err(|_| {
            // What was made for nothing goes again, innermost first; a folder that someone uses by now stays.
            for folder in new {
                let _ = fs::remove_dir(folder);
            }
        })
    }

    fn tried(root: &Path) -> Result<Self, StoreError> {
        let fail = |what, help| move |error: io::Error| StoreError::new(root, what, help, &error);
        fs::create_dir_all(root).map_err(fail("cannot make the folder for results", CHOOSE))?;
        clear_leftovers(root);
        let trial = root.join(format!("{UNDER_WAY}trial-{}", std::process::id()));
        let tried = File::create(&trial).and_then(|mut file| {
            file.write_all(&[0; 4096])?;
            file.sync_all()
        });
        let _ = fs::remove_file(&trial);
        tried.map_err(fail("cannot write to the folder for results", CHOOSE))?;
        let room = nix::sys::statvfs::statvfs(root)
            .map(|stat| stat.blocks_available() * stat.fragment_size())
            .unwrap_or(u64::MAX);
        if room < ROOM {
            let source = io::Error::other(format!("{} MB free, {} MB needed", room >> 20, ROOM >> 20));
            return Err(fail(
                "too little room for results",
                "free some, or choose another folder with --out",
            )(source));
        }
        Ok(Self { root: root.into() })
    }

    /// Keeps a record; returns its folder.
    ///
    /// # Errors
    /// [`StoreError`] if writing fails; the old record, if there was one, is then still there.
    pub fn keep(&self, task: &Task, command: &str, record: &Record) -> Result<PathBuf, StoreError> {
        let folder = self.root.join(&record.summary.scenario_hash);
        let engine = record.summary.engine.to_string();
        let under_way = folder.join(format!("{UNDER_WAY}{engine}-{}", std::process::id()));
        let keep = || -> io::Result<PathBuf> {
            fs::create_dir_all(&under_way)?;
            write_json(&under_way.join("summary.json"), &record.summary)?;
            #[cfg(feature = "parquet")]
            columns::write_series(&under_way, &record.series)?;
            let notes: Vec<&str> = record.notes.iter().map(Note::text).collect();
            write_new(&under_way.join("notes.txt"), notes.join("\n").as_bytes())?;
            let kept = folder.join(&engine);
            let old = folder.join(format!("{UNDER_WAY}old-{engine}-{}", std::process::id()));
            exchange(&under_way, &kept, &old)?;
            let settings = settings(task);
            replace(
                &folder.join("scenario.toml"),
                with_settings(&settings, &task.document.text_at(&task.point)).as_bytes(),
            )?;
            let manifest = manifest(task, &settings, (&engine, command), &folder)?;
            replace(&folder.join(MANIFEST), &manifest)?;
            Ok(kept)
        };
        keep().map_err(|error| {
            let _ = fs::remove_dir_all(&under_way);
            // Only if nothing else is in it.
            let _ = fs::remove_dir(&folder);
            StoreError::new(&folder, "cannot keep the results", CHOOSE, &error)
        })
    }
}

/// Puts the folder `new` in the place of `kept`, which goes to `old` at once, not file by file. Another process may keep the same
/// record at the same time: the last one stays.
fn exchange(new: &Path, kept: &Path, old: &Path) -> io::Result<()> {
    loop {
        match fs::rename(kept, old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let placed = fs::rename(new, kept);
        // If it stays, the next run removes it.
        let _ = fs::remove_dir_all(old);
        match placed {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            other => return other,
        }
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut file, value)?;
    file.into_inner()?.sync_all()
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// What was run in place of the text's values: overrides, and the point of the sweep.
fn settings(task: &Task) -> Vec<(String, String)> {
    task.document.overrides().iter().chain(&task.point).cloned().collect()
}

/// The scenario's text at its point of a sweep, and the settings over it.
fn with_settings(settings: &[(String, String)], text: &str) -> String {
    // A value of several lines stays a comment.
    let comment = |(key, value): &(String, String)| format!("# {key} = {}\n", value.replace('\n', "\n#   "));
    let settings: Vec<String> = settings.iter().map(comment).collect();
    if settings.is_empty() { text.to_owned() } else { format!("# run with\n{}\n{text}", settings.concat()) }
}

/// `ran`: the engine whose record was kept last, and the command that asked it. The commands of the other engines are
/// those of the manifest before.
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
    let before = fs::read(folder.join(MANIFEST)).unwrap_or_default();
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
    }))?)
}

/// Removes what killed runs left: folders and files under way whose process is gone.
fn clear_leftovers(root: &Path) {
    let folders = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let folders: Vec<PathBuf> =
        std::iter::once(root.to_path_buf()).chain(folders.filter(|path| path.is_dir())).collect();
    folders.iter().for_each(|folder| clear_folder(folder));
}
