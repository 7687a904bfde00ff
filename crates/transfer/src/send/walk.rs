//! Looking for what is to be sent, and offering it.

use super::flight::Flight;
use super::outgoing::{MOST_ATTEMPTS, Outgoing, modified};
use super::sources::Source;
use crate::error::TransferError;
use crate::name::{Name, RESERVED};
use crate::progress::Observer;
use crate::wire::control::{Entry, Id, Kind, ToReceiver};
use crate::wire::frame;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Offers are gathered up to so much, about a hundred.
const GATHER: usize = 8 << 10;

/// Before what changed is looked at again.
const BREATH: Duration = Duration::from_millis(200);

struct Walk<'a> {
    flight: &'a Flight,
    observer: &'a dyn Observer,
    out: Vec<u8>,
    next: Id,
    failed: u64,
}

/// Offers all entries, and what changes meanwhile again; then says that this is all.
pub(super) fn offer(
    flight: &Flight,
    sources: &[Source],
    observer: &dyn Observer,
) -> Result<(), TransferError> {
    let mut walk = Walk { flight, observer, out: Vec::new(), next: 0, failed: 0 };
    for source in sources {
        walk.tree(source)?;
    }
    loop {
        walk.flush()?;
        let again = flight.queue.rest();
        if flight.queue.is_closed() {
            return Ok(());
        }
        if again.is_empty() {
            break;
        }
        // Whoever is writing gets a moment to come to an end.
        std::thread::park_timeout(BREATH);
        for file in again {
            let (path, name) = (file.path.clone(), file.name.clone());
            match fs::symlink_metadata(&path) {
                _ if file.attempt + 1 >= MOST_ATTEMPTS => {
                    walk.lost(&path, &"it kept changing while it was sent; send it again when it is at rest");
                }
                Ok(there) if there.is_file() => walk.file(path, name, file.attempt + 1, &there)?,
                Ok(_) => walk.lost(&path, &"it is no file any more"),
                Err(error) => walk.lost(&path, &error),
            }
        }
    }
    let failed = walk.failed + flight.unreadable.load(Relaxed);
    let _ = flight.handed_over.set(flight.clock.now());
    frame::append(&mut walk.out, &ToReceiver::Complete { offers: walk.next, failed });
    walk.flush()
}

impl Walk<'_> {
    /// One path and all below it, without recursion: trees may be deep.
    fn tree(&mut self, source: &Source) -> Result<(), TransferError> {
        let mut folders: Vec<(fs::ReadDir, Name)> = Vec::new();
        if let Some(folder) = self.entry(source.path.clone(), source.name.clone())? {
            folders.push((folder, source.name.clone()));
        }
        while let Some((folder, name)) = folders.last_mut() {
            let entry = match folder.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error)) => {
                    let name = name.to_string();
                    self.lost(Path::new(&name), &error);
                    continue;
                }
                None => {
                    folders.pop();
                    continue;
                }
            };
            if is_a_receivers_own(&entry.path()) {
                self.observer.say(&format!(
                    "{}: an unfinished session's own folder, with its key; left out",
                    entry.path().display()
                ));
                continue;
            }
            match name.join(&entry.file_name()) {
                Ok(name) => {
                    if let Some(folder) = self.entry(entry.path(), name.clone())? {
                        folders.push((folder, name));
                    }
                }
                Err(error) => self.lost(&entry.path(), &error),
            }
            if self.flight.queue.is_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Offers one entry; if it is a folder that can be read, what is in it comes next.
    fn entry(&mut self, path: PathBuf, name: Name) -> Result<Option<fs::ReadDir>, TransferError> {
        let there = match fs::symlink_metadata(&path) {
            Ok(there) => there,
            Err(error) => {
                self.lost(&path, &error);
                return Ok(None);
            }
        };
        if there.is_file() {
            self.file(path, name, 0, &there)?;
            return Ok(None);
        }
        let (kind, inside) = if there.is_dir() {
            match fs::read_dir(&path) {
                Ok(inside) => (Kind::Folder, Some(inside)),
                Err(error) => {
                    self.lost(&path, &error);
                    return Ok(None);
                }
            }
        } else if there.is_symlink() {
            match fs::read_link(&path) {
                Ok(target) => (Kind::Link { target: target.into_os_string().into_vec() }, None),
                Err(error) => {
                    self.lost(&path, &error);
                    return Ok(None);
                }
            }
        } else {
            self.observer.say(&format!("{}: a device, socket or pipe; left out", path.display()));
            return Ok(None);
        };
        let entry = Entry { name, kind, mode: there.mode() & 0o7777, modified: modified(&there) };
        let id = self.number();
        self.put(&ToReceiver::Offer { id, entry })?;
        Ok(inside)
    }

    fn file(
        &mut self,
        path: PathBuf,
        name: Name,
        attempt: u32,
        there: &Metadata,
    ) -> Result<(), TransferError> {
        let file = Arc::new(Outgoing::new(self.number(), path, name, attempt, there));
        let offer = ToReceiver::Offer { id: file.id, entry: file.entry(there) };
        if !self.flight.queue.has_room() {
            // What is gathered may be what the queue waits for.
            self.flush()?;
        }
        self.flight.queue.open(&file);
        self.put(&offer)
    }

    fn number(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    fn put(&mut self, message: &ToReceiver) -> Result<(), TransferError> {
        frame::append(&mut self.out, message);
        if self.out.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.flight.control.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn lost(&mut self, path: &Path, reason: &dyn std::fmt::Display) {
        self.failed += 1;
        let line = format!("{}: {reason}", path.display());
        self.observer.say(&line);
        self.flight.lost(line);
    }
}

/// Whether this is where a receiver keeps its session, and the key that its ticket names.
fn is_a_receivers_own(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == RESERVED) && path.join("session").exists()
}

/// Entries and bytes in all, for who wants to know how long it will take; `None` if it was no longer asked for.
pub(super) fn totals(sources: &[Source], flight: &Flight) -> Option<(u64, u64)> {
    let (mut entries, mut bytes) = (0, 0);
    let mut rest: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
    while let Some(path) = rest.pop() {
        let Ok(there) = fs::symlink_metadata(&path) else { continue };
        entries += 1;
        if there.is_file() {
            bytes += there.len();
        } else if there.is_dir() {
            rest.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        if flight.queue.is_closed() {
            return None;
        }
    }
    Some((entries, bytes))
}
