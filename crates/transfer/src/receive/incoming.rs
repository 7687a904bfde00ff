//! [`Incoming`]: a file under way at the receiver, and the digests of its chunks.

use crate::chunks::{ChunkHasher, Chunks, Digest};
use crate::lock::locked;
use crate::name::Name;
use crate::store::{Key, OnConflict};
use crate::wire::control::{Entry, Id};
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// A requested file.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) id: Id,
    /// The store's key for the file while it is under way.
    pub(super) key: Key,
    /// The key of the offered name.
    pub(super) name_key: Key,
    pub(super) entry: Entry,
    /// The name that it gets: the entry's, or the one that this session gave it before.
    pub(super) name: Name,
    pub(super) chunks: Chunks,
    pub(super) version: [u8; 16],
    /// The rule for the case that its name is taken.
    pub(super) taken: OnConflict,
    pub(super) state: Mutex<FileState>,
}

/// The stored part of a file.
#[derive(Debug, Default)]
pub(super) struct FileState {
    /// The open file, while a chunk arrives.
    pub(super) file: Weak<File>,
    /// True if the file under way exists, from an earlier run or this one.
    pub(super) begun: bool,
    pub(super) digests: BTreeMap<u32, Digest>,
    /// Chunks that are being written, each by one connection only.
    pub(super) written: HashSet<u32>,
    /// Chunks that were given up half written. Their old bytes must not show through holes when they come again.
    pub(super) stale: HashSet<u32>,
    /// The sender's digest of the whole file.
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

/// The bytes of a chunk that is being written. They count in the displayed progress, so that a slow path is seen to
/// move. When the writing ends, they are taken out again: a complete chunk is counted elsewhere, and an incomplete one
/// may be written again.
#[derive(Debug)]
pub(super) struct Tally {
    arriving: Arc<AtomicU64>,
    came: u64,
    incoming: Arc<Incoming>,
    index: u32,
}

impl Tally {
    pub(super) fn new(arriving: &Arc<AtomicU64>, incoming: &Arc<Incoming>, index: u32) -> Self {
        Self { arriving: Arc::clone(arriving), came: 0, incoming: Arc::clone(incoming), index }
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.came += bytes;
        self.arriving.fetch_add(bytes, Relaxed);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.arriving.fetch_sub(self.came, Relaxed);
        let mut state = self.incoming.lock();
        state.written.remove(&self.index);
        if !state.digests.contains_key(&self.index) {
            state.stale.insert(self.index);
        }
    }
}

impl Incoming {
    pub(super) fn lock(&self) -> MutexGuard<'_, FileState> {
        locked(&self.state)
    }
}

/// Hashes these chunks of `file`, and adds the number of bytes read to `read`. Holes are not read. Returns an error
/// when `stopped` is set.
pub(super) fn hashed(
    file: &File,
    chunks: Chunks,
    indices: impl IntoIterator<Item = u32>,
    read: &AtomicU64,
    stopped: &AtomicBool,
) -> io::Result<BTreeMap<u32, Digest>> {
    let mut buffer = vec![0; 256 << 10];
    let mut found = BTreeMap::new();
    for index in indices {
        let range = chunks.range(index);
        let (mut hasher, mut at) = (ChunkHasher::default(), range.start);
        while at < range.end {
            let data = next_data(file, at, range.end);
            at = data.start;
            while at < data.end {
                if stopped.load(Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let length = (data.end - at).min(buffer.len() as u64) as usize;
                file.read_exact_at(&mut buffer[..length], at)?;
                hasher.update(at - range.start, &buffer[..length]);
                at += length as u64;
                read.fetch_add(length as u64, Relaxed);
            }
        }
        if stopped.load(Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        found.insert(index, hasher.finish(range.end - range.start));
    }
    Ok(found)
}

/// Returns the next bytes between `at` and `end` that are not in a hole; empty at `end` if there are no more. Where a
/// file system knows no holes, all bytes are data.
fn next_data(file: &File, at: u64, end: u64) -> Range<u64> {
    match rustix::fs::seek(file, SeekFrom::Data(at)) {
        Err(Errno::NXIO) => end..end,
        Err(_) => at..end,
        Ok(start) if start >= end => end..end,
        Ok(start) => start..rustix::fs::seek(file, SeekFrom::Hole(start)).map_or(end, |stop| stop.min(end)),
    }
}

/// Returns the journal's key for an entry's name.
pub(super) fn name_key(name: &Name) -> Key {
    content_key(name, &[0; 16], 0)
}

/// Returns the key of journal and store for a file under way: a hash of its name, version and size.
pub(super) fn content_key(name: &Name, version: &[u8; 16], size: u64) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(version).update(&size.to_le_bytes()).update(name.bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Key::from_le_bytes(key)
}

/// Returns the store's key for a link that is being made, which a sender cannot choose for a file.
pub(super) fn link_key(name: &Name) -> Key {
    let hash = blake3::derive_key("tightlink 2026-11 link under way", name.bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    Key::from_le_bytes(key)
}
