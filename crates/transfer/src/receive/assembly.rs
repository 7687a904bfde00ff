//! [`Assembly`]: what becomes of offers and of the bytes that follow them. It outlives the connections of a session.
//!
//! Here: what it keeps account of. `assembly/offers.rs` has the answers to offers, `assembly/rules.rs` the user's
//! decisions about names, `assembly/bytes.rs` bytes into files. `assembly/naming.rs` gives a whole file its name, and
//! `assembly/holes.rs` finds and makes holes.

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
use crate::progress::Moved;
use crate::store::{Key, Store};
use crate::wire::control::{Entry, Id};
use host::Clock;
use naming::Waiting;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use units::{Foreign, Span};

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
    /// Bytes of files that were there and have been read.
    pub(super) read: u64,
}

/// The receiving end of a session.
#[derive(Debug)]
pub(super) struct Assembly {
    store: Store,
    rules: Rules,
    journal: Mutex<Journal>,
    open: Mutex<Open>,
    /// One thread at a time gives names.
    naming: Mutex<()>,
    entries: AtomicU64,
    bytes: AtomicU64,
    arriving: Arc<AtomicU64>,
    failed: AtomicU64,
    disk: AtomicU64,
    /// Bytes that came, holes left out.
    came: AtomicU64,
    read: AtomicU64,
    /// The sender session is over: what is only read for its answers need not be read any further.
    stopped: AtomicBool,
    clock: Clock,
}

/// Files that were asked for, and what became of others.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<Id, Arc<Incoming>>,
    /// Of those, and of whole ones without a name: none is under way twice.
    keys: HashSet<Key>,
    /// The keys of the names of files of which something may still come: no two versions of one do at a time.
    names: HashSet<Key>,
    /// Bytes that the names of open ones take.
    held: usize,
    /// Offers of files that are looked into before they are answered.
    reserved: HashSet<Id>,
    /// Files of which nothing more comes and that do not wait for their names yet.
    claimed: usize,
    /// A file was asked for since it was said last that none is missing.
    asked: bool,
    /// Whole files without their names yet.
    waiting: Waiting,
    /// The names of the files that are there, for their digests.
    listed: Vec<Name>,
    /// What became of entries, for who wants to be told of each.
    news: Vec<(Name, Moved)>,
}

impl Open {
    /// Nothing that was asked for is missing.
    fn is_settled(&self) -> bool {
        self.files.is_empty() && self.reserved.is_empty() && self.claimed == 0
    }

    /// No more fit in.
    fn is_crowded(&self) -> bool {
        self.files.len() + self.reserved.len() >= MOST_OPEN || self.held >= MOST_HELD
    }

    /// Nothing more comes for it. Its key stays while it has no name.
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

    /// A sender has come: what is counted is counted from here, what another one left open is forgotten. Whether
    /// anything was received in this session before.
    pub(super) fn begin(&self) -> Result<bool, TransferError> {
        // Whole files that the sender before left without their names.
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

    /// Nothing more comes for this file, and nothing is waited for. False if somebody else said so before.
    fn forget(&self, incoming: &Incoming) -> bool {
        let mut open = self.open_files();
        let ended = open.end(incoming.id).is_some();
        if ended {
            open.keys.remove(&incoming.key);
        }
        ended
    }

    /// What there is of a file under way is of no use. The journal says so first: what it says of a file that is gone
    /// could be taken for another one.
    fn throw_away(&self, key: Key) -> Result<(), TransferError> {
        {
            let mut journal = self.journal();
            journal.dropped(key)?;
            journal.flush()?;
        }
        self.store.discard(key);
        Ok(())
    }

    /// A file was there already, as it should be.
    fn is_there(&self, name: &Name, size: u64) {
        self.entries.fetch_add(1, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        self.list(name);
        self.tell(name, Moved::There);
    }

    fn list(&self, name: &Name) {
        if self.rules.listed {
            self.open_files().listed.push(name.clone());
        }
    }

    fn tell(&self, name: &Name, fate: Moved) {
        self.open_files().news.push((name.clone(), fate));
    }

    /// What became of entries since this was asked last.
    pub(super) fn news(&self) -> Vec<(Name, Moved)> {
        std::mem::take(&mut self.open_files().news)
    }

    /// Counts an entry that cannot be had, and says why.
    pub(super) fn refuse(&self, name: &Name, reason: &str) -> String {
        self.failed.fetch_add(1, Relaxed);
        format!("{name}: {reason}")
    }

    fn give_up(&self, incoming: &Incoming, doing: &'static str, error: io::Error) -> Trouble {
        match self.trouble(&incoming.entry, doing, error) {
            Err(trouble) => trouble,
            Ok(reason) => {
                self.forget(incoming);
                Trouble::File(reason)
            }
        }
    }

    /// The meaning of an error on one entry. It is a reason not to have the entry, or the end of the session if the
    /// next entry would meet the error too.
    fn trouble(&self, entry: &Entry, doing: &'static str, error: io::Error) -> Result<String, Trouble> {
        if is_of_the_disk(&error) {
            let path = self.store.path().join(entry.name.path());
            return Err(Trouble::Session(TransferError::file(&path, doing)(error)));
        }
        let words = error.to_string();
        Ok(self.refuse(&entry.name, &format!("the receiver cannot {doing}: {}", Foreign::new(&words))))
    }

    fn spent(&self, began: units::Time) {
        self.disk.fetch_add(self.clock.now().since(began).as_nanos(), Relaxed);
    }

    /// Nobody waits for answers any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// The entries that this session has stored, or has under way: the keys of their names, and their bytes.
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

    /// Whether nothing was ever received in this session.
    pub(super) fn is_untouched(&self) -> bool {
        self.journal().is_empty()
    }

    /// Whether nothing that was asked for is missing.
    pub(super) fn is_settled(&self) -> bool {
        self.open_files().is_settled()
    }

    /// The same, said once each time.
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

    /// Bytes that the disk has room for; `None` if that is not known.
    pub(super) fn free(&self) -> Option<u64> {
        self.store.free()
    }

    pub(super) const fn store(&self) -> &Store {
        &self.store
    }

    /// The names of the files that are there, if they were to be listed.
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
