//! The naming of complete files: in batches, after their bytes have reached the disk.
//!
//! A rename may reach the disk before the bytes of the file that it names. A power cut in between would leave a bad
//! file under its final name, where a good one may have been. So a complete file waits under its temporary name until
//! one `syncfs` has brought it to the disk with all other waiting files.

use super::{Assembly, ReceiveError, rules};
use crate::chunks::{Digest, file_digest};
use crate::error::TransferError;
use crate::journal::Stored;
use crate::lock::locked;
use crate::origin::Origin;
use crate::progress::EntryOutcome;
use crate::receive::Existing;
use crate::receive::incoming::{Incoming, hashed};
use crate::store::{FileStamp, NameHolder, NamingOutcome, OnConflict};
use crate::wire::control::Id;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The number of waiting files at which the thread that brings the next one names them all.
const MOST_WAITING: usize = 20_000;
/// The number of waiting bytes at which that thread names all waiting files.
const MOST_BYTES: u64 = 1 << 30;

/// The failures at the end of a session, each with its reason.
#[derive(Debug, Default)]
pub(in crate::receive) struct Faults {
    /// Files that could not get their names.
    pub(in crate::receive) lost: Vec<(Id, String)>,
    /// Folders that could not get their modes or times.
    pub(in crate::receive) folders: Vec<String>,
}

/// A complete file without its name.
#[derive(Debug)]
struct UnnamedFile {
    incoming: Arc<Incoming>,
    digest: Digest,
    there: FileStamp,
}

/// The complete files without their names, and their bytes.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    ready: Vec<UnnamedFile>,
    bytes: u64,
}

impl Waiting {
    fn push(&mut self, ready: UnnamedFile) {
        self.bytes = self.bytes.saturating_add(ready.there.size);
        self.ready.push(ready);
    }
}

impl Assembly {
    /// Has a claimed file wait for its name, or gives it up if it could not be written.
    pub(super) fn queue_for_naming(
        &self,
        incoming: &Arc<Incoming>,
        digest: Digest,
        there: io::Result<(FileStamp, Origin)>,
    ) -> Result<(), ReceiveError> {
        let written = match there {
            Ok((there, origin)) => {
                self.journal().whole(incoming.key, origin)?;
                self.open_files().waiting.push(UnnamedFile { incoming: Arc::clone(incoming), digest, there });
                Ok(())
            }
            Err(error) => Err(error),
        };
        {
            let mut open = self.open_files();
            open.claimed = open.claimed.saturating_sub(1);
            if written.is_err() {
                open.keys.remove(&incoming.key);
            }
        }
        written.map_err(|error| match self.trouble(&incoming.entry, "store it", error) {
            Ok(reason) => ReceiveError::File(reason),
            Err(trouble) => trouble,
        })
    }

    /// Returns true if enough files wait for their names.
    pub(in crate::receive) fn is_full(&self) -> bool {
        let open = self.open_files();
        let waiting = &open.waiting;
        waiting.ready.len() >= MOST_WAITING || waiting.bytes >= MOST_BYTES
    }

    /// Brings the waiting files to the disk and gives them their names. Returns those that could not get them, with
    /// reasons.
    pub(in crate::receive) fn name_waiting(&self) -> Result<Vec<(Id, String)>, TransferError> {
        let _one = locked(&self.naming);
        let batch = std::mem::take(&mut self.open_files().waiting).ready;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let began = self.clock.now();
        let mut lost = Vec::new();
        let mut rest = batch.into_iter();
        // The journal must record which files are complete before one of them has its name.
        let mut named = self.checkpoint().and_then(|()| self.store.sync());
        if named.is_ok() {
            for ready in rest.by_ref() {
                match self.name(&ready) {
                    Ok(()) => {}
                    Err(ReceiveError::File(reason)) => lost.push((ready.incoming.id, reason)),
                    Err(ReceiveError::Session(error)) => {
                        named = Err(error);
                        self.open_files().waiting.push(ready);
                        break;
                    }
                    Err(ReceiveError::Protocol(reason)) => unreachable!("no sender is asked: {reason}"),
                }
            }
        }
        // The remaining files are complete. They wait again, and may get their names when the disk has room again.
        rest.for_each(|ready| self.open_files().waiting.push(ready));
        self.spent(began);
        self.checkpoint()?;
        named.map(|()| lost)
    }

    fn name(&self, ready: &UnnamedFile) -> Result<(), ReceiveError> {
        let named = self.name_one(ready);
        // Only now may the file be offered again, because its temporary file is gone or has the name.
        self.open_files().keys.remove(&ready.incoming.key);
        named
    }

    fn name_one(&self, ready: &UnnamedFile) -> Result<(), ReceiveError> {
        let UnnamedFile { incoming, digest, there } = ready;
        let named = match self.store.place(incoming.key, &incoming.name, incoming.taken) {
            Ok(NamingOutcome::Not) => self.name_of_another(ready),
            named => named.map(|named| Ok(Some(named))),
        };
        let named = match named {
            Ok(Ok(Some(named))) => named,
            // Another program's file has the same content. It is not recorded as the session's, so that no later
            // version of this entry replaces it.
            Ok(Ok(None)) => {
                self.throw_away(incoming.key)?;
                self.entries.fetch_add(1, Relaxed);
                self.list(&incoming.name);
                self.report(&incoming.name, EntryOutcome::There);
                return Ok(());
            }
            Ok(Err(reason)) => {
                self.bytes.fetch_sub(incoming.chunks.size(), Relaxed);
                self.throw_away(incoming.key)?;
                return Err(ReceiveError::File(self.refuse(&incoming.entry.name, reason)));
            }
            Err(error) => {
                let reason = self.trouble(&incoming.entry, "store it", error)?;
                self.bytes.fetch_sub(incoming.chunks.size(), Relaxed);
                return Err(ReceiveError::File(reason));
            }
        };
        let name = match named {
            NamingOutcome::As(other) => other,
            NamingOutcome::Here | NamingOutcome::Not => incoming.name.clone(),
        };
        self.entries.fetch_add(1, Relaxed);
        self.list(&name);
        self.report(&name, EntryOutcome::Sent);
        let other = (name != incoming.entry.name).then_some(name);
        debug_assert!(there.size == incoming.chunks.size(), "{digest:?}");
        let stored = Stored { version: incoming.version, there: *there, other };
        self.journal().stored(incoming.name_key, incoming.key, stored)?;
        Ok(())
    }

    /// Handles a complete file whose name another file has. Returns `None` if both have the same content, so that the
    /// other file counts as received.
    fn name_of_another(
        &self,
        ready: &UnnamedFile,
    ) -> io::Result<Result<Option<NamingOutcome>, &'static str>> {
        let UnnamedFile { incoming, digest, .. } = ready;
        if let NameHolder::File(there) = self.store.find(&incoming.name)?
            && there.size == incoming.chunks.size()
            && let Ok(file) = self.store.read(&incoming.name)
            && self.is_same(&file, incoming, digest)
        {
            return Ok(Ok(None));
        }
        if self.rules.existing == Existing::Rename {
            // The offered name gets the number, because `incoming.name` may have a number already.
            let named = self.store.place(incoming.key, &incoming.entry.name, OnConflict::Number)?;
            if named != NamingOutcome::Not {
                return Ok(Ok(Some(named)));
            }
        }
        Ok(Err(rules::TAKEN))
    }

    /// Returns true if `file` can be read and has the content of a received file. Reading ends at the first different
    /// chunk. Otherwise a sender could have large files read at no cost, by sending files of holes.
    fn is_same(&self, file: &File, incoming: &Incoming, digest: &Digest) -> bool {
        let (chunks, came) = (incoming.chunks, incoming.lock().digests.clone());
        let mut found = BTreeMap::new();
        for index in 0..chunks.count() {
            let Ok(one) = hashed(file, chunks, [index], &self.read, &AtomicBool::new(false)) else {
                return false;
            };
            if came.get(&index).is_some_and(|came| one.get(&index) != Some(came)) {
                return false;
            }
            found.extend(one);
        }
        file_digest(chunks.size(), found.values()) == *digest
    }

    /// Completes a session when everything has come. Files get their names, folders their rights and times, and all of
    /// it reaches the disk. The time is counted once for each of the `streams` data connections, because all of them
    /// wait. Returns the failures.
    pub(in crate::receive) fn finish(&self, streams: u16) -> Result<Faults, TransferError> {
        let lost = self.name_waiting()?;
        let began = self.clock.now();
        let mut folders_left = Vec::new();
        // Inner folders come first, because the outer ones may then lose the right to enter.
        let folders = self.journal().folders();
        for (name, finish) in folders.into_iter().rev() {
            if let Err(error) = self.store.finish_folder(&name, finish) {
                self.failed.fetch_add(1, Relaxed);
                folders_left.push(format!("{name}: cannot set its mode and time: {error}"));
            }
        }
        let partials: Vec<_> = self.journal().partials().collect();
        for key in partials {
            self.throw_away(key)?;
        }
        self.store.sync()?;
        let took = self.clock.now().since(began).as_nanos();
        self.disk.fetch_add(took * u64::from(streams), Relaxed);
        Ok(Faults { lost, folders: folders_left })
    }
}
