//! [`Tree`]: all entries of one source, one by one, folders before their content.
//!
//! The walk holds its present folders by their descriptors, so a folder that is renamed or replaced meanwhile cannot
//! lead it elsewhere. Trees may be deep, so the walk does not recurse. Of the folders on the way down only the
//! innermost ones are open; of the others the walk keeps the names that remain.

use super::root::{EntryState, LIST, Root, target};
use super::sources::Source;
use crate::beneath::{open_at, reason};
use crate::name::{Name, is_reserved};
use rustix::fs::{FileType, RawDir};
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The greatest number of folders open at a time.
const OPEN: usize = 64;
/// The number of bytes for one call that reads names.
const NAMES: usize = 32 << 10;

/// An entry that a walk finds.
#[derive(Debug)]
pub(super) enum WalkedEntry {
    /// A file, folder or link to be offered; a link with its target.
    Entry(Name, EntryState, Option<Vec<u8>>),
    /// An entry that is left out on purpose, and the reason.
    Left(PathBuf, &'static str),
    /// An entry that cannot be read, and the reason.
    Lost(PathBuf, String),
}

/// A walk through a source.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    source: &'a Source,
    begun: bool,
    levels: Vec<Level>,
    /// The number of the outermost levels that have been closed.
    closed: usize,
    /// An error that was found together with an entry, and is returned after it.
    pending: Option<WalkedEntry>,
    buffer: Vec<MaybeUninit<u8>>,
}

/// One folder on the way down.
#[derive(Debug)]
struct Level {
    name: Name,
    folder: Option<OwnedFd>,
    /// Device and inode.
    place: (u64, u64),
    /// Names that are not examined yet, each ended by a zero.
    names: Vec<u8>,
    at: usize,
    /// True once all names have been read.
    ended: bool,
}

impl Level {
    /// Reads more names.
    fn fill(&mut self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<()> {
        self.names.drain(..std::mem::take(&mut self.at));
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut raw = RawDir::new(folder, buffer);
        loop {
            match raw.next() {
                Some(Ok(entry)) if !matches!(entry.file_name().to_bytes(), b"." | b"..") => {
                    self.names.extend(entry.file_name().to_bytes_with_nul());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    self.ended = true;
                    return Err(error.into());
                }
                None => self.ended = true,
            }
            if self.ended || raw.is_buffer_empty() {
                return Ok(());
            }
        }
    }

    /// Takes the next name, if one has been read.
    fn take(&mut self) -> Option<CString> {
        let name = CStr::from_bytes_until_nul(self.names.get(self.at..)?).ok()?;
        self.at += name.count_bytes() + 1;
        Some(name.to_owned())
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let buffer = vec![MaybeUninit::uninit(); NAMES];
        Self { source, begun: false, levels: Vec::new(), closed: 0, pending: None, buffer }
    }

    fn root(&self) -> &'a Root {
        &self.source.root
    }

    /// Examines the source itself.
    fn top(&mut self) -> WalkedEntry {
        let (root, name) = (self.root(), self.source.name.clone());
        match root.look(&name) {
            Err(error) => self.lost(&name, &error),
            Ok(there) if there.kind == FileType::Directory => {
                let folder = root.list(&name);
                self.enter(name, folder)
            }
            // If the source is not a folder, its root is the folder that holds it.
            Ok(there) => {
                let last = name.clone();
                self.plain(name, there, root.descriptor().as_fd(), OsStr::from_bytes(last.bytes()))
            }
        }
    }

    /// Examines the entry `last` of the innermost folder.
    fn entry(&mut self, last: &CStr) -> WalkedEntry {
        let level = self.levels.last().expect("a name comes from a folder");
        let part = OsStr::from_bytes(last.to_bytes());
        if is_reserved(last.to_bytes()) {
            let path = self.root().shown(&level.name).join(part);
            return WalkedEntry::Left(path, "this name belongs to tightlink; left out");
        }
        let name = match level.name.join(part) {
            Ok(name) => name,
            Err(error) => {
                return WalkedEntry::Lost(self.root().shown(&level.name).join(part), error.to_string());
            }
        };
        let folder = level.folder.as_ref().expect("the innermost folder is open").as_fd();
        match EntryState::at(folder, last) {
            Err(error) => self.lost(&name, &error.into()),
            Ok(there) if there.kind == FileType::Directory => {
                let inner = open_at(folder, last, LIST);
                self.enter(name, inner.map_err(io::Error::from))
            }
            Ok(there) => self.plain(name, there, folder, part),
        }
    }

    /// Describes an entry that is not a folder.
    fn plain(&self, name: Name, there: EntryState, folder: BorrowedFd<'_>, last: &OsStr) -> WalkedEntry {
        match there.kind {
            FileType::RegularFile => WalkedEntry::Entry(name, there, None),
            FileType::Symlink => match target(folder, last) {
                Ok(target) => WalkedEntry::Entry(name, there, Some(target)),
                Err(error) => self.lost(&name, &error),
            },
            _ => WalkedEntry::Left(self.root().shown(&name), "a device, socket or pipe; left out"),
        }
    }

    /// Enters a folder, whose content comes next.
    fn enter(&mut self, name: Name, folder: io::Result<OwnedFd>) -> WalkedEntry {
        let opened = folder.and_then(|folder| Ok((EntryState::of(&folder)?, folder)));
        let (there, folder) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.lost(&name, &error),
        };
        let found = WalkedEntry::Entry(name.clone(), there, None);
        let (folder, place) = (Some(folder), there.place);
        self.levels.push(Level { name, folder, place, names: Vec::new(), at: 0, ended: false });
        if self.levels.len() - self.closed > OPEN {
            self.close_outermost();
        }
        found
    }

    /// Reads the remaining names of the outermost open folder, and closes the folder.
    fn close_outermost(&mut self) {
        let level = &mut self.levels[self.closed];
        while !level.ended {
            // New names are appended to those that are not examined yet.
            if let Err(error) = level.fill(&mut self.buffer) {
                self.pending = Some(WalkedEntry::Lost(self.source.root.shown(&level.name), reason(&error)));
            }
        }
        level.folder = None;
        self.closed += 1;
    }

    /// Opens the innermost folder again; it must be the same one.
    fn reopen(&mut self) -> Result<(), WalkedEntry> {
        let root = self.root();
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        let opened = root.list(&level.name).and_then(|folder| Ok((EntryState::of(&folder)?, folder)));
        let why = match opened {
            Ok((there, folder)) if there.place == level.place => {
                level.folder = Some(folder);
                self.closed = self.closed.min(self.levels.len() - 1);
                return Ok(());
            }
            Ok(_) => "another folder has taken its place; the rest of it is left out".into(),
            Err(error) => reason(&error),
        };
        let lost = WalkedEntry::Lost(root.shown(&level.name), why);
        self.pop();
        Err(lost)
    }

    fn pop(&mut self) {
        self.levels.pop();
        self.closed = self.closed.min(self.levels.len());
    }

    fn lost(&self, name: &Name, error: &io::Error) -> WalkedEntry {
        WalkedEntry::Lost(self.root().shown(name), reason(error))
    }
}

impl Iterator for Tree<'_> {
    type Item = WalkedEntry;

    fn next(&mut self) -> Option<WalkedEntry> {
        if !std::mem::replace(&mut self.begun, true) {
            return Some(self.top());
        }
        if let Some(found) = self.pending.take() {
            return Some(found);
        }
        loop {
            let level = self.levels.last_mut()?;
            if level.at == level.names.len() {
                if level.ended {
                    self.pop();
                } else if let Err(error) = level.fill(&mut self.buffer) {
                    let name = level.name.clone();
                    return Some(self.lost(&name, &error));
                }
                continue;
            }
            if level.folder.is_none()
                && let Err(lost) = self.reopen()
            {
                return Some(lost);
            }
            let last = self.levels.last_mut()?.take()?;
            return Some(self.entry(&last));
        }
    }
}

#[cfg(test)]
#[path = "../../tests/within/tree.rs"]
mod tests;
