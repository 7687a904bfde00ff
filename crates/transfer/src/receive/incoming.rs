//! [`Incoming`]: a file under way at the receiver, and what its chunks hash to.

use crate::chunks::{ChunkHasher, Chunks, Digest};
use crate::name::Name;
use crate::store::Key;
use crate::wire::control::{Entry, Id};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that was asked for.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) id: Id,
    pub(super) key: Key,
    pub(super) entry: Entry,
    pub(super) chunks: Chunks,
    pub(super) state: Mutex<Assembly>,
}

/// What is there of it.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) file: Option<Arc<File>>,
    pub(super) digests: BTreeMap<u32, Digest>,
    /// What the sender says of the whole.
    pub(super) end: Option<Digest>,
}

/// A chunk that is being written.
#[derive(Debug)]
pub(super) struct OpenChunk {
    pub(super) incoming: Arc<Incoming>,
    pub(super) file: Arc<File>,
    pub(super) index: u32,
    pub(super) hasher: ChunkHasher,
    pub(super) tally: Tally,
}

/// Bytes of chunks that are being written count in what is shown, so that a slow path is seen to move. They leave it with
/// their chunk, whether that is complete then or not.
#[derive(Debug)]
pub(super) struct Tally {
    arriving: Arc<AtomicU64>,
    came: u64,
}

impl Tally {
    pub(super) fn new(arriving: &Arc<AtomicU64>) -> Self {
        Self { arriving: Arc::clone(arriving), came: 0 }
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.came += bytes;
        self.arriving.fetch_add(bytes, Relaxed);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.arriving.fetch_sub(self.came, Relaxed);
    }
}

impl Incoming {
    pub(super) fn lock(&self) -> MutexGuard<'_, Assembly> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digests of these chunks as they lie in `file`.
pub(super) fn hashed(
    file: &File,
    chunks: Chunks,
    indices: impl IntoIterator<Item = u32>,
) -> io::Result<BTreeMap<u32, Digest>> {
    let mut buffer = vec![0; 256 << 10];
    let mut found = BTreeMap::new();
    for index in indices {
        let range = chunks.range(index);
        let (mut hasher, mut at) = (ChunkHasher::default(), range.start);
        while at < range.end {
            let length = (range.end - at).min(buffer.len() as u64) as usize;
            file.read_exact_at(&mut buffer[..length], at)?;
            hasher.update(at - range.start, &buffer[..length]);
            at += length as u64;
        }
        found.insert(index, hasher.finish(range.end - range.start));
    }
    Ok(found)
}

/// What the journal and the store know a file's content by: its name and version.
pub(super) fn key(name: &Name, version: &[u8; 16]) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(version).update(name.bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Key::from_le_bytes(key)
}
