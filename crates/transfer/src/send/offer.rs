//! The search for entries to be sent, and their offers.

use super::count::Count;
use super::outgoing::{MOST_ATTEMPTS, Outgoing};
use super::queue::QueuedOffer;
use super::root::{EntryState, Root};
use super::sources::Source;
use super::transfer::Transfer;
use super::tree::{Tree, WalkedEntry};
use crate::beneath::reason;
use crate::error::TransferError;
use crate::name::Name;
use crate::progress::Observer;
use crate::wire::control::{Entry, Id, Kind, ToReceiver};
use crate::wire::frame;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use units::Foreign;

/// The size up to which offers are gathered, in bytes; about a hundred offers.
const GATHER: usize = 8 << 10;

/// The pause before entries that changed are offered again.
const REOFFER_PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Offering<'a> {
    transfer: &'a Transfer,
    count: &'a Count,
    observer: &'a dyn Observer,
    out: Vec<u8>,
    next: Id,
    failed: u64,
}

/// Offers all entries, and those that change meanwhile again; then announces the end of the offers.
pub(super) fn serve(
    transfer: &Transfer,
    count: &Count,
    sources: &[Source],
    observer: &dyn Observer,
) -> Result<(), TransferError> {
    let mut offering = Offering::new(transfer, count, observer);
    if !transfer.queue.wait_for_begin() {
        return Ok(());
    }
    offering.trees(sources)?;
    loop {
        transfer.queue.wait_for_rest();
        let again = transfer.queue.rest().unwrap_or_default();
        if transfer.queue.is_closed() {
            return Ok(());
        }
        if again.is_empty() {
            break;
        }
        // Pauses, so that a program that is writing these files can finish.
        std::thread::park_timeout(REOFFER_PAUSE);
        offering.again(again)?;
    }
    offering.complete()
}

impl<'a> Offering<'a> {
    pub(super) fn new(transfer: &'a Transfer, count: &'a Count, observer: &'a dyn Observer) -> Self {
        Self { transfer, count, observer, out: Vec::new(), next: 0, failed: 0 }
    }
}

impl Offering<'_> {
    /// Offers all sources.
    pub(super) fn trees(&mut self, sources: &[Source]) -> Result<(), TransferError> {
        sources.iter().try_for_each(|source| self.tree(source))?;
        self.flush()
    }

    /// Offers changed files again.
    pub(super) fn again(&mut self, again: Vec<Arc<Outgoing>>) -> Result<(), TransferError> {
        for file in again {
            let (path, name) = (file.shown(), file.name.clone());
            match file.root.look(&name) {
                _ if file.attempt + 1 >= MOST_ATTEMPTS => {
                    self.lost(
                        &path,
                        &"it kept changing while it was sent; send it again when it no longer changes",
                    );
                }
                Ok(there) if there.is_file() => self.file(&file.root, name, Some(&file), &there)?,
                Ok(_) => self.lost(&path, &"it is not a file any more"),
                Err(error) => self.lost(&path, &reason(&error)),
            }
        }
        self.flush()
    }

    /// Announces the end of the offers.
    pub(super) fn complete(&mut self) -> Result<(), TransferError> {
        let failed = self.failed + self.transfer.unreadable.load(Relaxed);
        let _ = self.transfer.handed_over.set(self.transfer.clock.now());
        frame::append(&mut self.out, &ToReceiver::Complete { offers: self.next, failed });
        self.flush()
    }

    /// Offers one source and all entries below it.
    fn tree(&mut self, source: &Source) -> Result<(), TransferError> {
        for found in Tree::new(source) {
            match found {
                WalkedEntry::Entry(name, there, _) if there.is_file() => {
                    self.file(&source.root, name, None, &there)?;
                }
                WalkedEntry::Entry(name, there, target) => {
                    let kind = target.map_or(Kind::Folder, |target| Kind::Link { target });
                    let made = QueuedOffer::Made(name.clone());
                    let entry = Entry { name, kind, mode: there.mode, modified: there.modified };
                    let id = self.number();
                    self.announce((0, 0), None);
                    self.put(id, made, entry)?;
                }
                WalkedEntry::Left(path, why) => {
                    self.observer.say(&format!("{}: {why}", Foreign::path(&path)));
                }
                WalkedEntry::Lost(path, why) => self.lost(&path, &why),
            }
            if self.transfer.queue.is_closed() {
                break;
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        root: &Arc<Root>,
        name: Name,
        before: Option<&Outgoing>,
        there: &EntryState,
    ) -> Result<(), TransferError> {
        self.announce((there.size, there.disk), before.map(|before| (before.chunks.size(), before.disk)));
        let attempt = before.map_or(0, |before| before.attempt + 1);
        let file = Arc::new(Outgoing::new(self.number(), Arc::clone(root), name, attempt, there));
        let entry = file.entry(there);
        self.put(file.id, QueuedOffer::File(file), entry)
    }

    fn number(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// Announces the amount again if the next offer increases it.
    fn announce(&mut self, size: (u64, u64), before: Option<(u64, u64)>) {
        if let Some(more) = self.count.offer(size, before) {
            frame::append(&mut self.out, &ToReceiver::Counted(more));
        }
    }

    /// Makes an offer.
    fn put(&mut self, id: Id, offered: QueuedOffer, entry: Entry) -> Result<(), TransferError> {
        let start = self.out.len();
        frame::append(&mut self.out, &ToReceiver::Offer { id, entry });
        let bytes = self.out.len() - start;
        if !self.transfer.queue.has_room(bytes) {
            // Sends the offers gathered before, because the queue gets room only from answers to them.
            let offer = self.out.split_off(start);
            self.flush()?;
            self.out = offer;
        }
        self.transfer.queue.open(id, offered, bytes);
        if self.out.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.transfer.control.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn lost(&mut self, path: &Path, reason: &dyn std::fmt::Display) {
        self.failed += 1;
        let line = format!("{}: {reason}", Foreign::path(path));
        self.observer.say(&line);
        self.transfer.lost(line);
    }
}
