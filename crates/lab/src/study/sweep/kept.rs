//! [`KeptPoint`]: a finished point on disk. Its first line is JSON with the point's identity and a digest of the
//! result, which follows.
//!
//! Other users may put anything into the folder, and disks fail. So a point is believed only if the file is the user's
//! own, has the same question and the same build of the program, and the digest fits the result. Any other point is
//! computed again.

use crate::files::{put_soon, read_own};
use crate::run::BUILD;
use crate::run::record::{Engine, Note, Summary};
use crate::study::task::Task;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// The largest accepted file, in bytes: a summary of a million flows has less.
const LARGEST: u64 = 2 << 30;

/// The result of a finished point.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptPoint {
    /// Its numbers.
    pub(crate) summary: Summary,
    pub(super) notes: Vec<Note>,
}

/// The identity of a kept point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PointIdentity {
    /// The build of the program: a later one may compute the point otherwise.
    pub(super) build: String,
    pub(super) engine: String,
    pub(super) scenario_hash: String,
    seed: u64,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    asked: PointIdentity,
    /// The BLAKE3 digest of the bytes after the line.
    digest: String,
}

impl PointIdentity {
    pub(super) fn of(task: &Task, engine: Engine) -> Self {
        let resolved = &task.resolved;
        Self {
            build: BUILD.into(),
            engine: engine.to_string(),
            scenario_hash: resolved.hash.clone(),
            seed: resolved.seed,
        }
    }

    /// Returns the file's name.
    pub(super) fn name(&self) -> String {
        format!("{}.json", self.scenario_hash)
    }
}

impl KeptPoint {
    /// Returns the point as it is kept.
    pub(super) fn to_bytes(&self, asked: &PointIdentity) -> io::Result<Vec<u8>> {
        let result = serde_json::to_vec(self)?;
        let head = Head { asked: asked.clone(), digest: blake3::hash(&result).to_hex().to_string() };
        let mut content = serde_json::to_vec(&head)?;
        content.push(b'\n');
        content.extend(result);
        Ok(content)
    }

    /// Reads the point back from an open folder, if it has one that can be believed.
    pub(super) fn read(folder: &Path, asked: &PointIdentity) -> Option<Self> {
        let content = read_own(folder, &asked.name(), LARGEST)?;
        let (head, result) = split(&content)?;
        if head.asked != *asked || head.digest != blake3::hash(result).to_hex().as_str() {
            return None;
        }
        let point: Self = serde_json::from_slice(result).ok()?;
        let says = &point.summary;
        (says.scenario_hash == asked.scenario_hash && says.seed == asked.seed).then_some(point)
    }
}

/// Writes a point that is given as it is kept into an open folder. It does not wait for the disk, because the digest
/// reveals a damaged point.
pub(super) fn write(folder: &Path, asked: &PointIdentity, content: &[u8]) -> io::Result<()> {
    put_soon(folder, asked.name(), |mut file| file.write_all(content))
}

/// Returns the identity of a point that is given as it is kept; `None` if the bytes are damaged, or not a point.
pub(super) fn identity(content: &[u8]) -> Option<PointIdentity> {
    let (head, result) = split(content)?;
    (head.digest == blake3::hash(result).to_hex().as_str()).then_some(head.asked)
}

fn split(content: &[u8]) -> Option<(Head, &[u8])> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    Some((serde_json::from_slice(&content[..end]).ok()?, &content[end + 1..]))
}
