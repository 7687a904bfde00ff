//! The list of the entries that would be sent, without a receiver.

use super::count::add;
use super::sources::sources;
use super::tree::{Tree, WalkedEntry};
use crate::error::TransferError;
use crate::name::Name;
use crate::progress::Observer;
use crate::wire::control::Counted;
use std::path::PathBuf;
use units::{Bytes, Foreign};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link with its target.
    Link(&'a [u8]),
}

/// An entry that would be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedEntry<'a> {
    /// Its name at the receiver.
    pub name: &'a Name,
    /// The entry's kind.
    pub shape: EntryKind<'a>,
    /// The size of a file in bytes, holes included; zero for other entries.
    pub size: Bytes,
}

/// The amount that would be offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of files, folders and links.
    pub entries: u64,
    /// The number of bytes in files, holes included.
    pub bytes: u64,
    /// The number of bytes in files, holes left out.
    pub disk: u64,
    /// The number of entries that cannot be read.
    pub failed: u64,
}

/// Lists the entries of `paths` that [`send`](super::send) would offer. `observer` gets those that are left out or
/// cannot be read. `each` returns true to continue. Files are examined but not opened.
///
/// # Errors
/// As [`send`](super::send) before it connects.
pub fn list(
    paths: &[PathBuf],
    observer: &dyn Observer,
    each: &mut dyn FnMut(ListedEntry<'_>) -> bool,
) -> Result<Totals, TransferError> {
    let (mut counted, mut failed) = (Counted::default(), 0);
    let sources = sources(paths)?;
    for found in sources.iter().flat_map(Tree::new) {
        add(&mut counted, &found);
        let on = match &found {
            WalkedEntry::Entry(name, there, target) => {
                let shape = match target {
                    Some(target) => EntryKind::Link(target),
                    None if there.is_file() => EntryKind::File,
                    None => EntryKind::Folder,
                };
                let size = if there.is_file() { Bytes::new(there.size) } else { Bytes::ZERO };
                each(ListedEntry { name, shape, size })
            }
            WalkedEntry::Left(path, why) => {
                observer.say(&format!("{}: {why}", Foreign::path(path)));
                true
            }
            WalkedEntry::Lost(path, why) => {
                failed += 1;
                observer.say(&format!("{}: {why}", Foreign::path(path)));
                true
            }
        };
        if !on {
            break;
        }
    }
    Ok(Totals { entries: counted.entries, bytes: counted.bytes, disk: counted.disk, failed })
}
