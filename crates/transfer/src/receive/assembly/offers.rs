//! The answers to offers, which depend on names and existing content; folders and links are made at once.

use super::holes::{clear, gaps};
use super::rules::{TAKEN, Treatment};
use super::{Assembly, ReceiveError};
use crate::chunks::{Chunks, Digest, file_digest};
use crate::error::TransferError;
use crate::journal::Stored;
use crate::name::Name;
use crate::progress::EntryOutcome;
use crate::receive::incoming::{FileState, Incoming, content_key, hashed, link_key, name_key};
use crate::store::{FolderAttributes, Key, NameHolder, NamingOutcome, OnConflict, ReceivedFolder};
use crate::wire::control::{Entry, Id, Kind, Verdict};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// The number of open offers at which no more are read. Our sender waits for the end of at most 16 384
/// (`send/queue.rs`), so the files of the other offers have their bytes under way. These bytes arrive even if no more
/// messages are read.
pub(super) const MOST_OPEN: usize = 1 << 16;
/// The memory of open offers, in bytes, at which no more are read.
pub(in crate::receive) const MOST_HELD: usize = 32 << 20;
/// The memory that an open offer takes in addition to its name and a link's target, in bytes.
const OVERHEAD: usize = 512;
/// The number of existing bytes that are hashed at once; more are hashed by a thread of their own.
const AT_ONCE: u64 = 1 << 20;
const LEADS_OUT: &str = "the link points outside the tree that it came with (--outside-links)";
pub(super) const FULL: &str =
    "this session has the largest number of entries; send the rest under a new ticket";
const TWICE: &str = "it is under way already";

/// The answer to an offer, given now, or later after existing data has been read.
#[derive(Debug)]
pub(in crate::receive) enum Offered {
    Now(Verdict),
    Later(Box<Examination>),
}

/// A file under way that is read before its offer can be answered: the digests of its chunks decide which are missing.
#[derive(Debug)]
pub(in crate::receive) struct Examination {
    id: Id,
    entry: Entry,
    plan: ReceivePlan,
}

/// The plan for receiving a file.
#[derive(Clone, Debug)]
struct ReceivePlan {
    key: Key,
    name_key: Key,
    name: Name,
    chunks: Chunks,
    version: [u8; 16],
    taken: OnConflict,
}

impl Examination {
    pub(in crate::receive) const fn id(&self) -> Id {
        self.id
    }
}

/// Returns the memory that an open offer takes, in bytes.
pub(in crate::receive) fn weight(entry: &Entry) -> usize {
    let target = if let Kind::Link { target } = &entry.kind { target.len() } else { 0 };
    entry.name.bytes().len() + target + OVERHEAD
}

impl Assembly {
    /// Decides on an offer.
    pub(in crate::receive) fn offer(&self, id: Id, entry: Entry) -> Result<Offered, ReceiveError> {
        if self.journal().is_full() {
            return Ok(Offered::Now(Verdict::Refused(self.refuse(&entry.name, FULL))));
        }
        let made = match &entry.kind {
            Kind::Folder => self.offer_folder(&entry)?,
            Kind::Link { target } => self.offer_link(&entry, target)?,
            &Kind::File { size, chunk, version } => {
                let chunks = Chunks::checked(size, chunk).ok_or_else(|| {
                    ReceiveError::Protocol(format!("a file of {size} bytes cut at 2^{chunk}"))
                })?;
                return self.offer_file(id, entry, chunks, version);
            }
        };
        Ok(Offered::Now(match made {
            Ok(verdict) => {
                self.entries.fetch_add(u64::from(verdict == Verdict::Have), Relaxed);
                verdict
            }
            Err(error) => Verdict::Refused(self.trouble(&entry, "make it", error)?),
        }))
    }

    fn offer_folder(&self, entry: &Entry) -> Result<io::Result<Verdict>, ReceiveError> {
        let known = self.journal().known_folder(&entry.name);
        let own = known.filter(|known| known.mode.is_some()).map(|known| known.origin);
        let ReceivedFolder { origin, there } = match self.store.make_folder(&entry.name, own) {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let finish = match there {
            Some(then) if own != Some(origin) => match known {
                Some(known) if known.origin == origin => known,
                // A folder that this session did not make keeps its rights, and gets its time back.
                _ => FolderAttributes { origin, mode: None, modified: then },
            },
            _ => FolderAttributes { origin, mode: Some(entry.mode), modified: entry.modified },
        };
        self.journal().folder(&entry.name, finish)?;
        Ok(Ok(Verdict::Have))
    }

    fn offer_link(&self, entry: &Entry, target: &[u8]) -> Result<io::Result<Verdict>, ReceiveError> {
        if !self.rules.outside_links && entry.name.leads_out(target) {
            return Ok(Ok(Verdict::Refused(self.refuse(&entry.name, LEADS_OUT))));
        }
        let name_key = name_key(&entry.name);
        let (name, found, ours) = match self.own(&entry.name, name_key) {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        if matches!(&found, NameHolder::Link { target: there, .. } if there == target) {
            return Ok(Ok(Verdict::Have));
        }
        let taken = if let Some(ours) = ours {
            OnConflict::ReplaceThis(ours.there)
        } else {
            match self.rules.treatment(&found, u64::MAX, entry.modified) {
                Treatment::Receive(taken) => taken,
                Treatment::Present | Treatment::Kept => {
                    self.report(&entry.name, EntryOutcome::Kept);
                    return Ok(Ok(Verdict::Kept));
                }
                Treatment::Refuse(reason) => {
                    return Ok(Ok(Verdict::Refused(self.refuse(&entry.name, reason))));
                }
            }
        };
        let partial = link_key(&entry.name);
        let (named, there) = match self.store.make_link(&name, target, entry.modified, partial, taken) {
            Ok((NamingOutcome::Not, _)) => return Ok(Ok(Verdict::Refused(self.refuse(&entry.name, TAKEN)))),
            Ok(named) => named,
            Err(error) => return Ok(Err(error)),
        };
        let other = match named {
            NamingOutcome::As(other) => Some(other),
            NamingOutcome::Here | NamingOutcome::Not => (name != entry.name).then_some(name),
        };
        self.report(other.as_ref().unwrap_or(&entry.name), EntryOutcome::Sent);
        self.journal().stored(name_key, partial, Stored { version: [0; 16], there, other })?;
        Ok(Ok(Verdict::Have))
    }

    /// Returns the name under which this session stores the offer `name`, and the entry that has that name. The third
    /// value is the entry that this session stored under it, if that still exists unchanged.
    fn own(&self, name: &Name, name_key: Key) -> io::Result<(Name, NameHolder, Option<Stored>)> {
        let stored = self.journal().find_stored(name_key).cloned();
        if let Some(stored) = stored {
            let at = stored.other.clone().unwrap_or_else(|| name.clone());
            let found = self.store.find(&at)?;
            if matches!(&found, NameHolder::File(there) | NameHolder::Link { there, .. } if *there == stored.there)
            {
                return Ok((at, found, Some(stored)));
            }
        }
        Ok((name.clone(), self.store.find(name)?, None))
    }

    fn offer_file(
        &self,
        id: Id,
        entry: Entry,
        chunks: Chunks,
        version: [u8; 16],
    ) -> Result<Offered, ReceiveError> {
        let name_key = name_key(&entry.name);
        let (name, found, ours) = match self.own(&entry.name, name_key) {
            Ok(own) => own,
            Err(error) => return Ok(Offered::Now(Verdict::Refused(self.trouble(&entry, "make it", error)?))),
        };
        if ours.as_ref().is_some_and(|ours| ours.version == version && ours.there.size == chunks.size()) {
            self.count_present(&name, chunks.size());
            return Ok(Offered::Now(Verdict::Have));
        }
        let plan_key = content_key(&entry.name, &version, chunks.size());
        let way = if let Some(ours) = ours {
            Treatment::Receive(OnConflict::ReplaceThis(ours.there))
        } else {
            self.rules.treatment(&found, chunks.size(), entry.modified)
        };
        let plan =
            |taken| ReceivePlan { key: plan_key, name_key, name: name.clone(), chunks, version, taken };
        let taken = match way {
            Treatment::Receive(taken) => taken,
            Treatment::Present => {
                self.record_finished(&plan(OnConflict::Refuse), &found)?;
                self.count_present(&entry.name, chunks.size());
                return Ok(Offered::Now(Verdict::Have));
            }
            Treatment::Kept => {
                self.report(&entry.name, EntryOutcome::Kept);
                return Ok(Offered::Now(Verdict::Kept));
            }
            Treatment::Refuse(reason) => {
                return Ok(Offered::Now(Verdict::Refused(self.refuse(&entry.name, reason))));
            }
        };
        let plan = plan(taken);
        if let Some(refused) = self.reserve(id, &entry, (plan.key, plan.name_key))? {
            return Ok(Offered::Now(refused));
        }
        let Some(to_read) = self.claimed(&plan) else {
            self.journal().dropped(plan.key)?;
            return Ok(Offered::Now(self.open_file(id, entry, plan, BTreeMap::new(), false)));
        };
        let examination = Examination { id, entry, plan };
        if to_read <= AT_ONCE {
            return self.examine(examination).map(Offered::Now);
        }
        Ok(Offered::Later(Box::new(examination)))
    }

    /// Returns the number of bytes of a file that an interrupted run stored, as the journal claims; their digests are
    /// not yet checked. Returns `None` if no part is stored.
    fn claimed(&self, plan: &ReceivePlan) -> Option<u64> {
        let claimed = {
            let journal = self.journal();
            let lengths = journal.chunks(plan.key)?.keys().map(|&index| plan.chunks.length(index));
            lengths.fold(0, u64::saturating_add)
        };
        let there = self.store.reopen(plan.key).ok()?.metadata().ok()?;
        (there.is_file() && there.len() == plan.chunks.size()).then_some(claimed)
    }

    /// Records a file of the session that had got its name just before the process was killed.
    fn record_finished(&self, plan: &ReceivePlan, found: &NameHolder) -> Result<(), ReceiveError> {
        let whole = self.journal().find_whole(plan.key);
        // A file made by another program never counts, whatever its size and time.
        if let NameHolder::File(there) = *found
            && whole.is_some()
            && self.store.origin(&plan.name).ok() == whole
        {
            let stored = Stored { version: plan.version, there, other: None };
            self.journal().stored(plan.name_key, plan.key, stored)?;
        }
        Ok(())
    }

    /// Reads the stored part of a file, and answers its offer.
    pub(in crate::receive) fn examine(&self, examination: Examination) -> Result<Verdict, ReceiveError> {
        let Examination { id, entry, plan } = examination;
        let (key, name_key, weight) = (plan.key, plan.name_key, weight(&entry));
        let verdict = self.resume(id, entry, plan);
        // A place that is still reserved is released, because the file was not requested after all.
        let mut open = self.open_files();
        if open.reserved.remove(&id) {
            open.keys.remove(&key);
            open.names.remove(&name_key);
            open.held -= weight;
        }
        verdict
    }

    /// Returns true if no more offers may be open. An honest sender may have offered more, because a file whose bytes
    /// are under way is still open here, but not at the sender.
    pub(in crate::receive) fn is_crowded(&self) -> bool {
        self.open_files().is_crowded()
    }

    /// Takes a place among the open offers before anything is read or requested. So no file is under way twice, and the
    /// number of offers is limited. Returns the refusal if there is one.
    fn reserve(
        &self,
        id: Id,
        entry: &Entry,
        (key, name): (Key, Key),
    ) -> Result<Option<Verdict>, ReceiveError> {
        let mut open = self.open_files();
        if open.is_crowded() || open.files.contains_key(&id) || open.reserved.contains(&id) {
            return Err(ReceiveError::Protocol("more offers than may be open".into()));
        }
        if open.keys.contains(&key) || open.names.contains(&name) {
            return Ok(Some(Verdict::Refused(self.refuse(&entry.name, TWICE))));
        }
        open.asked = true;
        open.keys.insert(key);
        open.names.insert(name);
        open.held += weight(entry);
        open.reserved.insert(id);
        Ok(None)
    }

    fn resume(&self, id: Id, entry: Entry, plan: ReceivePlan) -> Result<Verdict, ReceiveError> {
        let chunks = plan.chunks;
        let mut claimed = self.journal().chunks(plan.key).cloned().unwrap_or_default();
        let Ok(file) = self.store.reopen(plan.key) else {
            self.journal().dropped(plan.key)?;
            return Ok(self.open_file(id, entry, plan, BTreeMap::new(), false));
        };
        claimed.retain(|&index, _| index < chunks.count());
        let indices = claimed.keys().copied();
        let found = match hashed(&file, chunks, indices, &self.read, &self.stopped) {
            Err(_) if self.stopped.load(Relaxed) => {
                return Err(TransferError::gone("the sender left while the existing file was read").into());
            }
            // Chunks that cannot be read are sent again.
            found => found.unwrap_or_default(),
        };
        claimed.retain(|index, digest| found.get(index) == Some(digest));
        // The rest of the file is cleared, so that holes of arriving chunks do not show older bytes.
        let cleared = gaps(chunks, &claimed).try_for_each(|range| clear(&file, range));
        if let Err(error) = cleared {
            return Ok(Verdict::Refused(self.trouble(&entry, "make it", error)?));
        }
        let whole = claimed.len() == chunks.count() as usize;
        let digest = file_digest(chunks.size(), claimed.values());
        let (mode, modified) = (entry.mode, entry.modified);
        let there: u64 = claimed.keys().map(|&index| chunks.length(index)).sum();
        let verdict = self.open_file(id, entry, plan, claimed, true);
        if matches!(verdict, Verdict::Want | Verdict::Rest(_)) {
            self.bytes.fetch_add(there, Relaxed);
        }
        let Some(incoming) = self.find(id).filter(|_| whole && matches!(verdict, Verdict::Rest(_))) else {
            return Ok(verdict);
        };
        if self.claim(&incoming) {
            match self.queue_for_naming(&incoming, digest, self.store.set_metadata(&file, mode, modified)) {
                Err(ReceiveError::File(reason)) => return Ok(Verdict::Refused(reason)),
                written => written?,
            }
        }
        Ok(Verdict::Have)
    }

    /// Requests the missing part of a file. `begun` is true if its temporary file exists.
    fn open_file(
        &self,
        id: Id,
        entry: Entry,
        plan: ReceivePlan,
        digests: BTreeMap<u32, Digest>,
        begun: bool,
    ) -> Verdict {
        let there: Vec<(u32, Digest)> = digests.iter().map(|(&index, &digest)| (index, digest)).collect();
        let ReceivePlan { key, name_key, name, chunks, version, taken } = plan;
        let state = Mutex::new(FileState { begun, digests, ..FileState::default() });
        let mut open = self.open_files();
        open.reserved.remove(&id);
        open.files
            .insert(id, Arc::new(Incoming { id, key, name_key, entry, name, chunks, version, taken, state }));
        drop(open);
        if there.is_empty() { Verdict::Want } else { Verdict::Rest(there) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    #[test]
    fn what_is_missing_lies_in_one_range_between_two_chunks() {
        const M: u64 = 1 << 20;
        let missing = |size, there: &[u32]| -> Vec<Range<u64>> {
            let there = there.iter().map(|&index| (index, [0; 32])).collect();
            gaps(Chunks::new(size), &there).collect()
        };
        assert!(matches!(&missing(1 << 36, &[])[..], [all] if *all == (0..1 << 36)));
        assert_eq!(missing(4 * M + 5, &[1, 2]), [0..M, 3 * M..4 * M + 5]);
        assert_eq!(missing(4 * M + 5, &[0, 2, 4]), [M..2 * M, 3 * M..4 * M]);
        assert_eq!(missing(2 * M, &[0, 1]), []);
    }
}
