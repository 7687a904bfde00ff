//! [`Assembly`]: the handling of offers and of the bytes that follow them. It outlives the connections of a session.
//!
//! This file has its counters and the lists of files under way. `assembly/offers.rs` answers offers,
//! `assembly/rules.rs` has the user's decisions about names, and `assembly/bytes.rs` puts bytes into files.
//! `assembly/naming.rs` gives a complete file its name, and `assembly/holes.rs` finds and makes holes.

mod bytes;
#[cfg(test)]
#[path = "../../tests/within/fuzz.rs"]
mod fuzz;
mod holes;
#[cfg(test)]
#[path = "../../tests/within/hostile.rs"]
mod hostile;
mod naming;
mod offers;
mod rules;
#[cfg(test)]
#[path = "../../tests/within/assembly.rs"]
mod tests;

pub(super) use naming::Faults;
use offers::MOST_OPEN;
pub(super) use offers::{Examination, MOST_HELD, Offered, weight};
pub(super) use rules::Rules;

use super::incoming::{Incoming, name_key};
use crate::error::{TransferError, is_of_the_disk};
use crate::journal::Journal;
use crate::lock::locked;
use crate::name::Name;
use crate::progress::EntryOutcome;
use crate::store::{Key, Store};
use crate::wire::control::{Entry, Id};
use host::Clock;
use naming::Waiting;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use units::{Foreign, Span};

/// An error in receiving, by its extent.
#[derive(Debug)]
pub(super) enum ReceiveError {
    /// This file cannot be received.
    File(String),
    /// The session cannot continue now.
    Session(TransferError),
    /// The sender violated the protocol.
    Protocol(String),
}

impl From<TransferError> for ReceiveError {
    fn from(error: TransferError) -> Self {
        Self::Session(error)
    }
}

/// The progress of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) entries: u64,
    pub(super) bytes: u64,
    /// Bytes of chunks that are not complete yet.
    pub(super) arriving: u64,
    pub(super) failed: u64,
    pub(super) disk: Span,
    /// Bytes received in this run, holes left out.
    pub(super) came: u64,
    /// Bytes of existing files that have been read.
    pub(super) read: u64,
}

/// The receiving end of a session.
#[derive(Debug)]
pub(super) struct Assembly {
    store: Store,
    rules: Rules,
    journal: Mutex<Journal>,
    open: Mutex<Open>,
    /// A lock that lets only one thread give names at a time.
    naming: Mutex<()>,
    entries: AtomicU64,
    bytes: AtomicU64,
    arriving: Arc<AtomicU64>,
    failed: AtomicU64,
    disk: AtomicU64,
    /// Bytes received, holes left out.
    came: AtomicU64,
    read: AtomicU64,
    /// True once the sender's session is over, so that the reading of existing files for its answers stops.
    stopped: AtomicBool,
    clock: Clock,
}

/// Files that were requested or offered, or wait for their names, and the outcomes that the observer has not seen.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<Id, Arc<Incoming>>,
    /// The keys of these files, of reserved offers and of complete files without a name, so that no file is under way
    /// twice.
    keys: HashSet<Key>,
    /// The keys of the names of files that may still receive data, so that only one version of a file does so at a
    /// time.
    names: HashSet<Key>,
    /// The memory that open offers take, in bytes.
    held: usize,
    /// Offers of files that are examined before they are answered.
    reserved: HashSet<Id>,
    /// The number of files that receive nothing more and are not yet in `waiting`.
    claimed: usize,
    /// True if a file was requested since `settles` last returned true.
    asked: bool,
    /// Complete files without their names yet.
    waiting: Waiting,
    /// The names of the files that are stored or existed already, for the list of digests.
    listed: Vec<Name>,
    /// The outcomes of entries that the observer has not seen.
    news: Vec<(Name, EntryOutcome)>,
}

impl Open {
    /// Returns true if no requested file is missing.
    fn is_settled(&self) -> bool {
        self.files.is_empty() && self.reserved.is_empty() && self.claimed == 0
    }

    /// Returns true if no more files may be under way.
    fn is_crowded(&self) -> bool {
        self.files.len() + self.reserved.len() >= MOST_OPEN || self.held >= MOST_HELD
    }

    /// Removes an open file that receives nothing more. Its key stays until it has a name.
    fn end(&mut self, id: Id) -> Option<Arc<Incoming>> {
        let ended = self.files.remove(&id)?;
        self.held -= weight(&ended.entry);
        self.names.remove(&ended.name_key);
        Some(ended)
    }
}

impl Assembly {
    pub(super) fn open(store: Store, journal: Journal, rules: Rules, clock: Clock) -> Self {
        Self {
            store,
            rules,
            journal: Mutex::new(journal),
            open: Mutex::default(),
            naming: Mutex::default(),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            arriving: Arc::default(),
            failed: AtomicU64::new(0),
            disk: AtomicU64::new(0),
            came: AtomicU64::new(0),
            read: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            clock,
        }
    }

    /// Prepares for a new sender: the counters start again, and files that another sender left open are forgotten.
    /// Returns true if the session has received anything before.
    pub(super) fn begin(&self) -> Result<bool, TransferError> {
        // The previous sender may have left complete files without their names.
        self.name_waiting()?;
        let mut open = self.open_files();
        let (waiting, news) = (std::mem::take(&mut open.waiting), std::mem::take(&mut open.news));
        *open = Open { waiting, news, ..Open::default() };
        drop(open);
        self.stopped.store(false, Relaxed);
        for counter in [&self.entries, &self.bytes, &self.came, &self.failed, &self.disk] {
            counter.store(0, Relaxed);
        }
        Ok(!self.journal().is_empty())
    }

    /// Forgets a file that receives nothing more and needs no name. Returns false if it was ended before.
    fn forget(&self, incoming: &Incoming) -> bool {
        let mut open = self.open_files();
        let ended = open.end(incoming.id).is_some();
        if ended {
            open.keys.remove(&incoming.key);
        }
        ended
    }

    /// Discards the stored part of a file under way. The journal records that first. Otherwise its claims about the
    /// removed file could later be taken for claims about another one.
    fn throw_away(&self, key: Key) -> Result<(), TransferError> {
        {
            let mut journal = self.journal();
            journal.dropped(key)?;
            journal.flush()?;
        }
        self.store.discard(key);
        Ok(())
    }

    /// Counts a file that existed already with the right content.
    fn count_present(&self, name: &Name, size: u64) {
        self.entries.fetch_add(1, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        self.list(name);
        self.report(name, EntryOutcome::There);
    }

    fn list(&self, name: &Name) {
        if self.rules.listed {
            self.open_files().listed.push(name.clone());
        }
    }

    fn report(&self, name: &Name, fate: EntryOutcome) {
        self.open_files().news.push((name.clone(), fate));
    }

    /// Returns the outcomes of entries since the last call.
    pub(super) fn news(&self) -> Vec<(Name, EntryOutcome)> {
        std::mem::take(&mut self.open_files().news)
    }

    /// Counts an entry that cannot be received, and returns the reason with its name.
    pub(super) fn refuse(&self, name: &Name, reason: &str) -> String {
        self.failed.fetch_add(1, Relaxed);
        format!("{name}: {reason}")
    }

    fn give_up(&self, incoming: &Incoming, doing: &'static str, error: io::Error) -> ReceiveError {
        match self.trouble(&incoming.entry, doing, error) {
            Err(trouble) => trouble,
            Ok(reason) => {
                self.forget(incoming);
                ReceiveError::File(reason)
            }
        }
    }

    /// Decides on an error of one entry. If the next entry would meet the error too, it ends the session. Otherwise
    /// returns the reason for refusing the entry.
    fn trouble(&self, entry: &Entry, doing: &'static str, error: io::Error) -> Result<String, ReceiveError> {
        if is_of_the_disk(&error) {
            let path = self.store.path().join(entry.name.path());
            return Err(ReceiveError::Session(TransferError::file(&path, doing)(error)));
        }
        let words = error.to_string();
        Ok(self.refuse(&entry.name, &format!("the receiver cannot {doing}: {}", Foreign::new(&words))))
    }

    fn spent(&self, began: units::Time) {
        self.disk.fetch_add(self.clock.now().since(began).as_nanos(), Relaxed);
    }

    /// Stops the reading of existing files, because nobody waits for the answers any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Returns the entries that this session has stored or under way: the keys of their names, and their bytes.
    pub(super) fn present(&self) -> Vec<(Key, u64)> {
        let journal = self.journal();
        let folders = journal.folders().into_iter().map(|(name, _)| (name_key(&name), 0));
        let stored = journal.all_stored().map(|(name, stored)| (name, stored.there.size));
        let under_way = journal.all_begun().filter_map(|(name, key)| {
            let there = self.store.reopen(key).ok()?.metadata().ok()?;
            Some((name, there.len()))
        });
        folders.chain(stored).chain(under_way).collect()
    }

    /// Returns true if this session never received anything.
    pub(super) fn is_untouched(&self) -> bool {
        self.journal().is_empty()
    }

    /// Returns true if no requested file is missing.
    pub(super) fn is_settled(&self) -> bool {
        self.open_files().is_settled()
    }

    /// Returns the same as [`is_settled`](Self::is_settled), but true only once after each request.
    pub(super) fn settles(&self) -> bool {
        let mut open = self.open_files();
        open.is_settled() && std::mem::take(&mut open.asked)
    }

    /// Hands the journal to the kernel.
    pub(super) fn checkpoint(&self) -> Result<(), TransferError> {
        self.journal().flush()
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            entries: self.entries.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            arriving: self.arriving.load(Relaxed),
            failed: self.failed.load(Relaxed),
            disk: Span::from_nanos(self.disk.load(Relaxed)),
            came: self.came.load(Relaxed),
            read: self.read.load(Relaxed),
        }
    }

    /// Returns the number of bytes that the disk has room for; `None` if unknown.
    pub(super) fn free(&self) -> Option<u64> {
        self.store.free()
    }

    pub(super) const fn store(&self) -> &Store {
        &self.store
    }

    /// Takes the names for the list of digests, in order; empty if no list is wanted.
    pub(super) fn take_listed(&self) -> Vec<Name> {
        let mut listed = std::mem::take(&mut self.open_files().listed);
        listed.sort_unstable();
        listed.dedup();
        listed
    }

    fn find(&self, id: Id) -> Option<Arc<Incoming>> {
        self.open_files().files.get(&id).map(Arc::clone)
    }

    fn open_files(&self) -> MutexGuard<'_, Open> {
        locked(&self.open)
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        locked(&self.journal)
    }
}
