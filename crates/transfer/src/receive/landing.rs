//! [`Landing`]: what becomes of offers and of the bytes that follow them. It outlives the connections of a session.

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use super::incoming::{Assembly, Incoming, OpenChunk, Tally, hashed, key};
use crate::chunks::{ChunkHasher, Chunks, Digest, file_digest, small_file_digest};
use crate::error::TransferError;
use crate::journal::{Journal, Partial};
use crate::store::Store;
use crate::wire::control::{Entry, Id, Kind, Verdict};
use live::Clock;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Span;

/// A sender has no more offers open than this (`send/window.rs`), so who has more is not one.
const MOST_OPEN: usize = 1 << 16;

/// What cannot go on: this file only, or nothing at all.
#[derive(Debug)]
pub(super) enum Trouble {
    /// This file cannot be had.
    File(String),
    /// The session ends here, for now.
    Session(TransferError),
    /// The sender broke the rules.
    Protocol(String),
}

impl From<TransferError> for Trouble {
    fn from(error: TransferError) -> Self {
        Self::Session(error)
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) entries: u64,
    pub(super) bytes: u64,
    /// Of chunks that are not complete yet.
    pub(super) arriving: u64,
    pub(super) failed: u64,
    pub(super) disk: Span,
    /// Bytes that came in this run, holes left out.
    pub(super) came: u64,
}

/// The receiving end of a session.
#[derive(Debug)]
pub(super) struct Landing {
    store: Store,
    journal: Mutex<Journal>,
    open: Mutex<HashMap<Id, Arc<Incoming>>>,
    entries: AtomicU64,
    bytes: AtomicU64,
    arriving: Arc<AtomicU64>,
    failed: AtomicU64,
    disk: AtomicU64,
    /// Bytes that came, holes left out.
    came: AtomicU64,
    clock: Clock,
}

impl Landing {
    pub(super) fn open(folder: &Path, journal: Journal, clock: Clock) -> Result<Self, TransferError> {
        Ok(Self {
            store: Store::open(folder)?,
            journal: Mutex::new(journal),
            open: Mutex::default(),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            arriving: Arc::default(),
            failed: AtomicU64::new(0),
            disk: AtomicU64::new(0),
            came: AtomicU64::new(0),
            clock,
        })
    }

    /// A sender has come: what is counted is counted from here, what another one left open is forgotten.
    pub(super) fn begin(&self) -> bool {
        self.open_files().clear();
        for counter in [&self.entries, &self.bytes, &self.came, &self.failed, &self.disk] {
            counter.store(0, Relaxed);
        }
        !self.journal().is_empty()
    }

    /// What becomes of an offer.
    pub(super) fn offer(&self, id: Id, entry: Entry) -> Result<Verdict, Trouble> {
        let made = match &entry.kind {
            Kind::Folder => {
                let made = self.store.make_folder(&entry.name);
                if made.is_ok() {
                    self.journal().folder(&entry.name, entry.mode, entry.modified)?;
                }
                made
            }
            Kind::Link { target } => {
                self.store.make_link(&entry.name, target, entry.modified, key(&entry.name, &[0; 16]))
            }
            &Kind::File { size, chunk, version } => {
                let chunks = Chunks::checked(size, chunk)
                    .ok_or_else(|| Trouble::Protocol(format!("a file of {size} bytes cut at 2^{chunk}")))?;
                return self.offer_file(id, entry, chunks, &version);
            }
        };
        match made {
            Ok(()) => {
                self.entries.fetch_add(1, Relaxed);
                Ok(Verdict::Have)
            }
            Err(error) => self.trouble(&entry, "make it", error).map(Verdict::Refused),
        }
    }

    fn offer_file(
        &self,
        id: Id,
        entry: Entry,
        chunks: Chunks,
        version: &[u8; 16],
    ) -> Result<Verdict, Trouble> {
        let key = key(&entry.name, version);
        let (stored, doubt, partial) = {
            let journal = self.journal();
            (journal.has_stored(key), journal.doubtful(key), journal.partial(key).cloned())
        };
        if stored && self.store.has(&entry.name, chunks.size()) {
            let whole = match doubt {
                None => true,
                Some(digest) => self.store.read(&entry.name).is_ok_and(|file| {
                    hashed(&file, chunks, 0..chunks.count())
                        .is_ok_and(|found| file_digest(chunks.size(), found.values()) == digest)
                }),
            };
            if whole {
                if let Some(digest) = doubt {
                    self.journal().stored(key, digest)?;
                }
                self.entries.fetch_add(1, Relaxed);
                self.bytes.fetch_add(chunks.size(), Relaxed);
                return Ok(Verdict::Have);
            }
        }
        let mut assembly = Assembly::default();
        if let Some(partial) = &partial
            && let Ok(file) = self.store.reopen(key)
            && file.metadata().is_ok_and(|there| there.len() == chunks.size())
        {
            let mut there = partial.chunks.clone();
            there.retain(|&index, _| index < chunks.count());
            if partial.doubtful {
                let found = hashed(&file, chunks, there.keys().copied()).unwrap_or_default();
                there.retain(|index, digest| found.get(index) == Some(digest));
            }
            assembly.file = Some(Arc::new(file));
            assembly.digests = there;
        } else if let Some(digest) = partial.and_then(|partial| self.renamed(&entry, chunks, &partial)) {
            self.journal().stored(key, digest)?;
            self.entries.fetch_add(1, Relaxed);
            self.bytes.fetch_add(chunks.size(), Relaxed);
            return Ok(Verdict::Have);
        } else {
            self.journal().dropped(key)?;
        }
        let there: Vec<(u32, Digest)> =
            assembly.digests.iter().map(|(&index, &digest)| (index, digest)).collect();
        let incoming = Incoming { id, key, entry, chunks, state: Mutex::new(assembly) };
        let mut open = self.open_files();
        if open.len() >= MOST_OPEN || open.contains_key(&id) {
            return Err(Trouble::Protocol("more offers than may be open".into()));
        }
        open.insert(id, Arc::new(incoming));
        drop(open);
        let bytes = there.iter().map(|&(index, _)| chunks.length(index)).sum();
        self.bytes.fetch_add(bytes, Relaxed);
        Ok(if there.is_empty() { Verdict::Want } else { Verdict::Rest(there) })
    }

    /// The digest of a file that is whole under its own name although the journal knows only its chunks: this process was
    /// killed between the two. It is believed after it was hashed again, since another file may have the name.
    fn renamed(&self, entry: &Entry, chunks: Chunks, partial: &Partial) -> Option<Digest> {
        if partial.chunks.len() != chunks.count() as usize || !self.store.has(&entry.name, chunks.size()) {
            return None;
        }
        let file = self.store.read(&entry.name).ok()?;
        let found = hashed(&file, chunks, 0..chunks.count()).ok()?;
        (found == partial.chunks).then(|| file_digest(chunks.size(), found.values()))
    }

    /// A whole small file. Nothing happens if it was given up meanwhile.
    pub(super) fn small(&self, id: Id, bytes: &[u8], digest: &Digest) -> Result<(), Trouble> {
        let Some(incoming) = self.find(id) else { return Ok(()) };
        if incoming.chunks.size() != bytes.len() as u64 {
            return Err(Trouble::Protocol(format!("{} bytes of {:?}", bytes.len(), incoming.entry.name)));
        }
        if small_file_digest(bytes) != *digest {
            return self.damaged(&incoming);
        }
        let began = self.clock.now();
        let written = self.store.create(incoming.key).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            self.settle(&incoming, &file)
        });
        self.spent(began);
        self.ended(&incoming, *digest, written)?;
        self.bytes.fetch_add(bytes.len() as u64, Relaxed);
        self.came.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }

    /// Begins a chunk; `None` if the file was given up.
    pub(super) fn chunk(&self, id: Id, index: u32) -> Result<Option<OpenChunk>, Trouble> {
        let Some(incoming) = self.find(id) else { return Ok(None) };
        if index >= incoming.chunks.count() {
            return Err(Trouble::Protocol(format!("chunk {index} of {:?}", incoming.entry.name)));
        }
        let mut state = incoming.lock();
        if state.digests.contains_key(&index) {
            return Err(Trouble::Protocol(format!("chunk {index} of {:?} again", incoming.entry.name)));
        }
        let file = match &state.file {
            Some(file) => Arc::clone(file),
            None => {
                let made = self.store.create(incoming.key).and_then(|file| {
                    file.set_len(incoming.chunks.size())?;
                    Ok(file)
                });
                match made {
                    Ok(file) => Arc::clone(state.file.insert(Arc::new(file))),
                    Err(error) => {
                        drop(state);
                        return Err(self.give_up(&incoming, "make it", error));
                    }
                }
            }
        };
        drop(state);
        let tally = Tally::new(&self.arriving);
        Ok(Some(OpenChunk { incoming, file, index, hasher: ChunkHasher::default(), tally }))
    }

    /// Bytes of an open chunk.
    pub(super) fn piece(&self, chunk: &mut OpenChunk, offset: u64, bytes: &[u8]) -> Result<(), Trouble> {
        let length = chunk.incoming.chunks.length(chunk.index);
        if offset < chunk.hasher.at() || offset + bytes.len() as u64 > length {
            return Err(Trouble::Protocol(format!("bytes at {offset} of a chunk of {length}")));
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

    /// The chunk is complete: a checkpoint.
    pub(super) fn chunk_end(&self, chunk: OpenChunk, digest: &Digest) -> Result<(), Trouble> {
        let OpenChunk { incoming, index, hasher, .. } = chunk;
        let length = incoming.chunks.length(index);
        if hasher.finish(length) != *digest {
            return self.damaged(&incoming);
        }
        self.journal().chunk(incoming.key, index, *digest)?;
        incoming.lock().digests.insert(index, *digest);
        self.bytes.fetch_add(length, Relaxed);
        self.try_settle(&incoming)
    }

    /// The sender has sent all of the file.
    pub(super) fn file_end(&self, id: Id, digest: &Digest) -> Result<(), Trouble> {
        let Some(incoming) = self.find(id) else { return Ok(()) };
        incoming.lock().end = Some(*digest);
        self.try_settle(&incoming)
    }

    /// The file changed or went away at the sender.
    pub(super) fn gone(&self, id: Id) -> Result<(), Trouble> {
        let Some(incoming) = self.open_files().remove(&id) else { return Ok(()) };
        let there: u64 = incoming.lock().digests.keys().map(|&index| incoming.chunks.length(index)).sum();
        self.bytes.fetch_sub(there, Relaxed);
        self.journal().dropped(incoming.key)?;
        self.store.discard(incoming.key);
        Ok(())
    }

    fn try_settle(&self, incoming: &Arc<Incoming>) -> Result<(), Trouble> {
        let state = incoming.lock();
        let Some(end) = state.end else { return Ok(()) };
        if state.digests.len() < incoming.chunks.count() as usize {
            return Ok(());
        }
        if file_digest(incoming.chunks.size(), state.digests.values()) != end {
            drop(state);
            return self.damaged(incoming);
        }
        let file = state.file.clone();
        drop(state);
        let began = self.clock.now();
        let file = file.map_or_else(|| self.store.create(incoming.key).map(Arc::new), Ok);
        let settled = file.and_then(|file| self.settle(incoming, &file));
        self.spent(began);
        self.ended(incoming, end, settled)
    }

    fn settle(&self, incoming: &Incoming, file: &File) -> io::Result<()> {
        let entry = &incoming.entry;
        self.store.settle(file, incoming.key, &entry.name, entry.mode, entry.modified)
    }

    /// A file has its name, or cannot get it.
    fn ended(&self, incoming: &Incoming, digest: Digest, result: io::Result<()>) -> Result<(), Trouble> {
        if let Err(error) = result {
            return Err(self.give_up(incoming, "store it", error));
        }
        self.journal().stored(incoming.key, digest)?;
        self.entries.fetch_add(1, Relaxed);
        self.open_files().remove(&incoming.id);
        Ok(())
    }

    /// What came is not what was sent, although TLS lets no error through: memory or a program is at fault.
    fn damaged<T>(&self, incoming: &Incoming) -> Result<T, Trouble> {
        self.gone(incoming.id)?;
        self.failed.fetch_add(1, Relaxed);
        Err(Trouble::File(format!(
            "{}: its BLAKE3 digest is wrong; nothing of it is kept",
            incoming.entry.name
        )))
    }

    fn give_up(&self, incoming: &Incoming, doing: &'static str, error: io::Error) -> Trouble {
        match self.trouble(&incoming.entry, doing, error) {
            Err(trouble) => trouble,
            Ok(reason) => {
                self.open_files().remove(&incoming.id);
                Trouble::File(reason)
            }
        }
    }

    /// What an error on one entry means: a reason not to have it, or the end of the session if the next entry would
    /// meet it too.
    fn trouble(&self, entry: &Entry, doing: &'static str, error: io::Error) -> Result<String, Trouble> {
        let everywhere = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem
        );
        if everywhere || error.raw_os_error() == Some(5) {
            let path = self.store.path().join(entry.name.path());
            return Err(Trouble::Session(TransferError::file(&path, doing)(error)));
        }
        self.failed.fetch_add(1, Relaxed);
        Ok(format!("{}: the receiver cannot {doing}: {error}", entry.name))
    }

    fn spent(&self, began: units::Time) {
        self.disk.fetch_add(self.clock.now().since(began).as_nanos(), Relaxed);
    }

    /// Whether nothing that was asked for is missing.
    pub(super) fn is_settled(&self) -> bool {
        self.open_files().is_empty()
    }

    /// Hands the journal to the kernel.
    pub(super) fn checkpoint(&self) -> Result<(), TransferError> {
        self.journal().flush()
    }

    /// Everything has come: folders get their rights and times, and all of it reaches the disk, for which all `streams` wait.
    pub(super) fn finish(&self, streams: u16) -> Result<Vec<String>, TransferError> {
        let began = self.clock.now();
        self.checkpoint()?;
        let mut faults = Vec::new();
        // Inner folders first: the outer ones may then lose the right to enter.
        for (name, mode, modified) in self.journal().folders().into_iter().rev() {
            if let Err(error) = self.store.finish_folder(&name, mode, modified) {
                faults.push(format!("{name}: cannot set its mode and time: {error}"));
            }
        }
        for key in self.journal().partials() {
            self.store.discard(key);
        }
        self.store.sync()?;
        let took = self.clock.now().since(began).as_nanos();
        self.disk.fetch_add(took * u64::from(streams), Relaxed);
        Ok(faults)
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            entries: self.entries.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            arriving: self.arriving.load(Relaxed),
            failed: self.failed.load(Relaxed),
            disk: Span::from_nanos(self.disk.load(Relaxed)),
            came: self.came.load(Relaxed),
        }
    }

    fn find(&self, id: Id) -> Option<Arc<Incoming>> {
        self.open_files().get(&id).map(Arc::clone)
    }

    fn open_files(&self) -> MutexGuard<'_, HashMap<Id, Arc<Incoming>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
