//! How whole files get their names: in batches, after their bytes have reached the disk.
//!
//! A rename may reach the disk before the bytes of the file that it names. A power cut in between would leave a bad
//! file under its final name, where a good one may have been. So a whole file waits under its temporary name until
//! one `syncfs` has brought it to the disk with all the others that wait.

use super::{Assembly, Trouble, rules};
use crate::chunks::{Digest, file_digest};
use crate::error::TransferError;
use crate::journal::Stored;
use crate::lock::locked;
use crate::origin::Origin;
use crate::progress::Moved;
use crate::receive::Existing;
use crate::receive::incoming::{Incoming, hashed};
use crate::store::{Found, Named, Taken, There};
use crate::wire::control::Id;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// More whole files than this do not wait: the thread that brings the next one names them all.
const MOST_WAITING: usize = 20_000;
/// Nor more bytes.
const MOST_BYTES: u64 = 1 << 30;

/// What went wrong at the end, each with its reason.
#[derive(Debug, Default)]
pub(in crate::receive) struct Faults {
    /// Files that could not have their names.
    pub(in crate::receive) lost: Vec<(Id, String)>,
    /// Folders that are there, without their modes or times.
    pub(in crate::receive) folders: Vec<String>,
}

/// A whole file without its name.
#[derive(Debug)]
struct Ready {
    incoming: Arc<Incoming>,
    digest: Digest,
    there: There,
}

/// Whole files without their names, and their bytes.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    ready: Vec<Ready>,
    bytes: u64,
}

impl Waiting {
    fn push(&mut self, ready: Ready) {
        self.bytes = self.bytes.saturating_add(ready.there.size);
        self.ready.push(ready);
    }
}

impl Assembly {
    /// A file that was claimed is whole and waits for its name, or it could not be written.
    pub(super) fn is_written(
        &self,
        incoming: &Arc<Incoming>,
        digest: Digest,
        there: io::Result<(There, Origin)>,
    ) -> Result<(), Trouble> {
        let written = match there {
            Ok((there, origin)) => {
                self.journal().whole(incoming.key, origin)?;
                self.open_files().waiting.push(Ready { incoming: Arc::clone(incoming), digest, there });
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
            Ok(reason) => Trouble::File(reason),
            Err(trouble) => trouble,
        })
    }

    /// Whether enough files wait for their names.
    pub(in crate::receive) fn is_full(&self) -> bool {
        let open = self.open_files();
        let waiting = &open.waiting;
        waiting.ready.len() >= MOST_WAITING || waiting.bytes >= MOST_BYTES
    }

    /// Brings what waits to the disk and gives it its names; what could not have them, and why.
    pub(in crate::receive) fn name_waiting(&self) -> Result<Vec<(Id, String)>, TransferError> {
        let _one = locked(&self.naming);
        let batch = std::mem::take(&mut self.open_files().waiting).ready;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let began = self.clock.now();
        let mut lost = Vec::new();
        let mut rest = batch.into_iter();
        // The journal says which files are whole before one of them has its name.
        let mut named = self.checkpoint().and_then(|()| self.store.sync());
        if named.is_ok() {
            for ready in rest.by_ref() {
                match self.name(&ready) {
                    Ok(()) => {}
                    Err(Trouble::File(reason)) => lost.push((ready.incoming.id, reason)),
                    Err(Trouble::Session(error)) => {
                        named = Err(error);
                        self.open_files().waiting.push(ready);
                        break;
                    }
                    Err(Trouble::Protocol(reason)) => unreachable!("no sender is asked: {reason}"),
                }
            }
        }
        // They are whole, and may have their names when there is room again.
        rest.for_each(|ready| self.open_files().waiting.push(ready));
        self.spent(began);
        self.checkpoint()?;
        named.map(|()| lost)
    }

    fn name(&self, ready: &Ready) -> Result<(), Trouble> {
        let named = self.name_one(ready);
        // Only now may it be offered again: what there was of it is gone, or has its name.
        self.open_files().keys.remove(&ready.incoming.key);
        named
    }

    fn name_one(&self, ready: &Ready) -> Result<(), Trouble> {
        let Ready { incoming, digest, there } = ready;
        let named = match self.store.place(incoming.key, &incoming.name, incoming.taken) {
            Ok(Named::Not) => self.name_of_another(ready),
            named => named.map(|named| Ok(Some(named))),
        };
        let named = match named {
            Ok(Ok(Some(named))) => named,
            // It is another program's, and stays so: a later version of this one may not take its place.
            Ok(Ok(None)) => {
                self.throw_away(incoming.key)?;
                self.entries.fetch_add(1, Relaxed);
                self.list(&incoming.name);
                self.tell(&incoming.name, Moved::There);
                return Ok(());
            }
            Ok(Err(reason)) => {
                self.bytes.fetch_sub(incoming.chunks.size(), Relaxed);
                self.throw_away(incoming.key)?;
                return Err(Trouble::File(self.refuse(&incoming.entry.name, reason)));
            }
            Err(error) => {
                let reason = self.trouble(&incoming.entry, "store it", error)?;
                self.bytes.fetch_sub(incoming.chunks.size(), Relaxed);
                return Err(Trouble::File(reason));
            }
        };
        let name = match named {
            Named::As(other) => other,
            Named::Here | Named::Not => incoming.name.clone(),
        };
        self.entries.fetch_add(1, Relaxed);
        self.list(&name);
        self.tell(&name, Moved::Sent);
        let other = (name != incoming.entry.name).then_some(name);
        debug_assert!(there.size == incoming.chunks.size(), "{digest:?}");
        let stored = Stored { version: incoming.version, there: *there, other };
        self.journal().stored(incoming.name_key, incoming.key, stored)?;
        Ok(())
    }

    /// A file has taken the name since it was offered. `None`: it has the same content, and counts as this one.
    fn name_of_another(&self, ready: &Ready) -> io::Result<Result<Option<Named>, &'static str>> {
        let Ready { incoming, digest, .. } = ready;
        if let Found::File(there) = self.store.find(&incoming.name)?
            && there.size == incoming.chunks.size()
            && let Ok(file) = self.store.read(&incoming.name)
            && self.is_same(&file, incoming, digest)
        {
            return Ok(Ok(None));
        }
        if self.rules.existing == Existing::Rename {
            // The name that it was to get may have a number already.
            let named = self.store.place(incoming.key, &incoming.entry.name, Taken::Number)?;
            if named != Named::Not {
                return Ok(Ok(Some(named)));
            }
        }
        Ok(Err(rules::TAKEN))
    }

    /// Whether `file` has the content of one that has come, as far as it can be read. It ends at the first chunk that
    /// differs: a hollow file costs its sender nothing, and must not have a large one read.
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

    /// Everything has come: files get their names, folders their rights and times, and all of it reaches the disk,
    /// for which all `streams` wait. What could not have its name, and what else went wrong.
    pub(in crate::receive) fn finish(&self, streams: u16) -> Result<Faults, TransferError> {
        let lost = self.name_waiting()?;
        let began = self.clock.now();
        let mut folders_left = Vec::new();
        // Inner folders first: the outer ones may then lose the right to enter.
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
