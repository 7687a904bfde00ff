//! The storing of bytes in files: small files whole, larger ones by chunks, each verified before it counts.

use super::holes::clear;
use super::offers::FULL;
use super::{Assembly, ReceiveError};
use crate::chunks::{ChunkHasher, Digest, file_digest, small_file_digest};
use crate::error::TransferError;
use crate::receive::incoming::{FileState, Incoming, OpenChunk, Tally};
use crate::wire::control::Id;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Assembly {
    /// Stores a whole small file. Does nothing if it was given up meanwhile.
    pub(in crate::receive) fn small(
        &self,
        id: Id,
        bytes: &[u8],
        digest: &Digest,
    ) -> Result<(), ReceiveError> {
        let Some(incoming) = self.find(id) else { return Ok(()) };
        let size = bytes.len() as u64;
        if incoming.chunks.size() != size {
            return Err(ReceiveError::Protocol(format!("{size} bytes of {}", incoming.entry.name)));
        }
        let (found, chunk) = small_file_digest(bytes);
        if found != *digest {
            return self.damaged(&incoming);
        }
        if !self.claim(&incoming) {
            return Ok(());
        }
        let began = self.clock.now();
        let written = self.store.create(incoming.key).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            self.store.set_metadata(&file, incoming.entry.mode, incoming.entry.modified)
        });
        self.spent(began);
        if let (Ok(_), Some(chunk)) = (&written, chunk) {
            self.journal().chunk(incoming.key, 0, chunk)?;
        }
        self.queue_for_naming(&incoming, *digest, written)?;
        self.came.fetch_add(size, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        Ok(())
    }

    /// Begins a chunk; returns `None` if the file was given up.
    pub(in crate::receive) fn chunk(&self, id: Id, index: u32) -> Result<Option<OpenChunk>, ReceiveError> {
        let Some(incoming) = self.find(id) else { return Ok(None) };
        if index >= incoming.chunks.count() {
            return Err(ReceiveError::Protocol(format!("chunk {index} of {}", incoming.entry.name)));
        }
        let mut state = incoming.lock();
        if state.digests.contains_key(&index) || !state.written.insert(index) {
            return Err(ReceiveError::Protocol(format!("chunk {index} of {} again", incoming.entry.name)));
        }
        let opened = self.under_way(&incoming, &mut state).and_then(|file| {
            if state.stale.remove(&index) {
                clear(&file, incoming.chunks.range(index))?;
            }
            Ok(file)
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                state.written.remove(&index);
                drop(state);
                return Err(self.give_up(&incoming, "make it", error));
            }
        };
        drop(state);
        let tally = Tally::new(&self.arriving, &incoming, index);
        Ok(Some(OpenChunk { incoming, file, index, hasher: ChunkHasher::default(), tally }))
    }

    /// Opens or creates the temporary file in which an incoming file grows.
    fn under_way(&self, incoming: &Incoming, state: &mut FileState) -> io::Result<Arc<File>> {
        if let Some(file) = state.file.upgrade() {
            return Ok(file);
        }
        let file = if state.begun {
            self.store.reopen(incoming.key)?
        } else {
            self.replace_earlier(incoming).map_err(io::Error::other)?;
            let file = self.store.create(incoming.key)?;
            file.set_len(incoming.chunks.size())?;
            file
        };
        state.begun = true;
        let file = Arc::new(file);
        state.file = Arc::downgrade(&file);
        Ok(file)
    }

    /// Discards the stored part of an earlier version of a file.
    fn replace_earlier(&self, incoming: &Incoming) -> Result<(), TransferError> {
        let before = self.journal().begin(incoming.name_key, incoming.key)?;
        // A complete earlier version that waits for its name is not discarded.
        match before.filter(|before| !self.open_files().keys.contains(before)) {
            Some(before) => self.throw_away(before),
            None => Ok(()),
        }
    }

    /// Writes bytes of an open chunk.
    pub(in crate::receive) fn piece(
        &self,
        chunk: &mut OpenChunk,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ReceiveError> {
        let length = chunk.incoming.chunks.length(chunk.index);
        let end = offset.checked_add(bytes.len() as u64);
        if offset < chunk.hasher.at() || end.is_none_or(|end| end > length) {
            return Err(ReceiveError::Protocol(format!("bytes at {offset} of a chunk of {length}")));
        }
        let began = self.clock.now();
        let at = chunk.incoming.chunks.range(chunk.index).start + offset;
        let written = chunk.file.write_all_at(bytes, at);
        self.spent(began);
        if let Err(error) = written {
            return Err(self.give_up(&chunk.incoming, "write it", error));
        }
        chunk.hasher.update(offset, bytes);
        chunk.tally.add(bytes.len() as u64);
        self.came.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }

    /// Verifies a complete chunk, and hands its record in the journal to the kernel at once.
    pub(in crate::receive) fn chunk_end(
        &self,
        chunk: OpenChunk,
        digest: &Digest,
    ) -> Result<(), ReceiveError> {
        let OpenChunk { incoming, index, hasher, .. } = chunk;
        let length = incoming.chunks.length(index);
        if hasher.finish(length) != *digest {
            return self.damaged(&incoming);
        }
        // The journal may have become full since the file was offered.
        if self.journal().is_full() {
            self.gone(incoming.id)?;
            return Err(ReceiveError::File(self.refuse(&incoming.entry.name, FULL)));
        }
        let mut state = incoming.lock();
        // Nothing is left to do if the file was given up meanwhile, or if the chunk was sent twice at the same time.
        if self.find(incoming.id).is_none() || state.digests.contains_key(&index) {
            return Ok(());
        }
        {
            let mut journal = self.journal();
            journal.chunk(incoming.key, index, *digest)?;
            journal.flush()?;
        }
        state.digests.insert(index, *digest);
        drop(state);
        self.bytes.fetch_add(length, Relaxed);
        self.try_settle(&incoming)
    }

    /// Takes the digest of a file that the sender has sent to its end.
    pub(in crate::receive) fn file_end(&self, id: Id, digest: &Digest) -> Result<(), ReceiveError> {
        let Some(incoming) = self.find(id) else { return Ok(()) };
        incoming.lock().end = Some(*digest);
        self.try_settle(&incoming)
    }

    /// Gives up a file that changed or vanished at the sender.
    pub(in crate::receive) fn gone(&self, id: Id) -> Result<(), ReceiveError> {
        let Some(incoming) = self.find(id) else { return Ok(()) };
        if self.open_files().end(incoming.id).is_none() {
            return Ok(());
        }
        let there: u64 = {
            let state = incoming.lock();
            state.digests.keys().map(|&index| incoming.chunks.length(index)).sum()
        };
        self.bytes.fetch_sub(there, Relaxed);
        let thrown_away = self.throw_away(incoming.key);
        // The file may be offered again only now, because its stored part is gone.
        self.open_files().keys.remove(&incoming.key);
        Ok(thrown_away?)
    }

    fn try_settle(&self, incoming: &Arc<Incoming>) -> Result<(), ReceiveError> {
        let mut state = incoming.lock();
        let Some(end) = state.end else { return Ok(()) };
        if state.digests.len() < incoming.chunks.count() as usize {
            return Ok(());
        }
        if file_digest(incoming.chunks.size(), state.digests.values()) != end {
            drop(state);
            return self.damaged(incoming);
        }
        if !self.claim(incoming) {
            return Ok(());
        }
        let file = self.under_way(incoming, &mut state);
        drop(state);
        let began = self.clock.now();
        let entry = &incoming.entry;
        let there = file.and_then(|file| self.store.set_metadata(&file, entry.mode, entry.modified));
        self.spent(began);
        self.queue_for_naming(incoming, end, there)
    }

    /// Ends a file that receives nothing more and is about to wait for its name. Returns false if it was ended before.
    pub(super) fn claim(&self, incoming: &Incoming) -> bool {
        let mut open = self.open_files();
        let claimed = open.end(incoming.id).is_some();
        open.claimed += usize::from(claimed);
        claimed
    }

    /// Gives up a file whose received bytes are not the sent ones. TLS lets no such error through, so memory or a
    /// program is at fault.
    fn damaged<T>(&self, incoming: &Incoming) -> Result<T, ReceiveError> {
        self.gone(incoming.id)?;
        Err(ReceiveError::File(
            self.refuse(&incoming.entry.name, "its BLAKE3 digest is wrong; nothing of it is kept"),
        ))
    }
}
