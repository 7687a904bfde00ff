//! [`Outgoing`]: an offered file, from its offer to its end.

use super::root::{EntryState, Root};
use crate::chunks::{Chunks, Digest, file_digest};
use crate::lock::locked;
use crate::name::Name;
use crate::wire::control::{Entry, Id, Kind};
use crate::wire::data::SMALL;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The number of attempts after which a file that changes while it is sent is given up.
pub(super) const MOST_ATTEMPTS: u32 = 3;

/// A file under way.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) id: Id,
    /// The open folder below which the file lies.
    pub(super) root: Arc<Root>,
    pub(super) name: Name,
    pub(super) attempt: u32,
    pub(super) chunks: Chunks,
    pub(super) version: [u8; 16],
    /// The size on the disk, in bytes.
    pub(super) disk: u64,
    /// True if it has holes, or may have.
    pub(super) sparse: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<Arc<File>>,
    /// The digests by chunk; those of chunks that the receiver has are known from the start.
    digests: Vec<Option<Digest>>,
    /// The next chunk to consider.
    next: u32,
    /// The number of chunks without a digest.
    left: u32,
    given_up: bool,
}

impl Outgoing {
    pub(super) fn new(id: Id, root: Arc<Root>, name: Name, attempt: u32, there: &EntryState) -> Self {
        let chunks = Chunks::new(there.size);
        let state =
            State { digests: vec![None; chunks.count() as usize], left: chunks.count(), ..State::default() };
        let (disk, sparse) = (there.disk, there.disk < there.size);
        let version = there.version();
        Self { id, root, name, attempt, chunks, version, disk, sparse, state: Mutex::new(state) }
    }

    pub(super) fn entry(&self, there: &EntryState) -> Entry {
        let kind = Kind::File { size: self.chunks.size(), chunk: self.chunks.log2(), version: self.version };
        Entry { name: self.name.clone(), kind, mode: there.mode, modified: there.modified }
    }

    /// Returns true if the file goes in one message.
    pub(super) fn is_small(&self) -> bool {
        self.chunks.size() <= SMALL as u64 && !self.sparse
    }

    /// Records the chunks that the receiver has.
    pub(super) fn there(&self, there: Vec<(u32, Digest)>) {
        let mut state = locked(&self.state);
        for (index, digest) in there {
            if let Some(slot @ None) = state.digests.get_mut(index as usize) {
                *slot = Some(digest);
                state.left -= 1;
            }
        }
    }

    /// Takes the next chunk to send. Also returns true if it is the last one.
    pub(super) fn next_chunk(&self) -> Option<(u32, bool)> {
        let mut state = locked(&self.state);
        if state.given_up {
            return None;
        }
        let missing = |state: &State| {
            let from = state.next as usize;
            let offset = state.digests.get(from..)?.iter().position(Option::is_none)?;
            Some((from + offset) as u32)
        };
        let index = missing(&state)?;
        state.next = index + 1;
        let last = missing(&state).is_none();
        Some((index, last))
    }

    /// Returns the number of bytes in chunks that no data connection has taken yet; 0 for a file in one message.
    pub(super) fn left(&self) -> u64 {
        if self.is_small() {
            return 0;
        }
        self.chunks.size() - self.chunks.range(locked(&self.state).next).start
    }

    /// Records that a chunk was sent. Returns the digest of the whole file if it was the last one.
    pub(super) fn sent(&self, index: u32, digest: Digest) -> Option<Digest> {
        let mut state = locked(&self.state);
        if state.digests[index as usize].replace(digest).is_none() {
            state.left -= 1;
        }
        drop(state);
        self.digest()
    }

    /// Returns the digest of the whole file, once all chunks have theirs.
    pub(super) fn digest(&self) -> Option<Digest> {
        let state = locked(&self.state);
        (state.left == 0 && !state.given_up)
            .then(|| file_digest(self.chunks.size(), state.digests.iter().flatten()))
    }

    /// Returns the file as a path for a person.
    pub(super) fn shown(&self) -> PathBuf {
        self.root.shown(&self.name)
    }

    /// Opens the file without a check that it is unchanged since its offer.
    pub(super) fn open(&self) -> io::Result<File> {
        self.root.open(&self.name)
    }

    /// Opens the file once. Returns `None` if the file has changed since its offer, so that no byte of a changed file
    /// is sent.
    pub(super) fn file(&self) -> io::Result<Option<Arc<File>>> {
        let mut state = locked(&self.state);
        if let Some(file) = &state.file {
            return Ok(Some(Arc::clone(file)));
        }
        let file = Arc::new(self.open()?);
        if !self.is_unchanged(&file) {
            return Ok(None);
        }
        // The file is read once, from front to back.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Sequential);
        Ok(Some(Arc::clone(state.file.insert(file))))
    }

    /// Returns true if `file` is unchanged since its offer.
    pub(super) fn is_unchanged(&self, file: &File) -> bool {
        EntryState::of(file).is_ok_and(|now| now.is_file() && now.version() == self.version)
    }

    /// Stops the sending of the file. Returns true for the first caller.
    pub(super) fn give_up(&self) -> bool {
        !std::mem::replace(&mut locked(&self.state).given_up, true)
    }

    pub(super) fn is_given_up(&self) -> bool {
        locked(&self.state).given_up
    }
}
