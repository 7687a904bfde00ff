//! What would be sent, without a receiver.

use super::count::add;
use super::sources::sources;
use super::tree::{Found, Tree};
use crate::error::TransferError;
use crate::name::Name;
use crate::progress::Observer;
use crate::wire::control::Counted;
use std::path::PathBuf;
use units::{Bytes, Foreign};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, and where it leads.
    Link(&'a [u8]),
}

/// An entry that would be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its name at the receiver.
    pub name: &'a Name,
    /// What it is.
    pub shape: Shape<'a>,
    /// Bytes of a file, holes included; zero for other entries.
    pub size: Bytes,
}

/// How much would be offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files, folders and links.
    pub entries: u64,
    /// Bytes of files, holes included.
    pub bytes: u64,
    /// Bytes of files, holes left out.
    pub disk: u64,
    /// Entries that cannot be read.
    pub failed: u64,
}

/// Lists what [`send`](super::send) would offer of `paths`; `observer` is told what is left out, and what cannot be
/// read. `each` says whether to go on. Files are looked at and not opened.
///
/// # Errors
/// As [`send`](super::send) before it connects.
pub fn list(
    paths: &[PathBuf],
    observer: &dyn Observer,
    each: &mut dyn FnMut(Listed<'_>) -> bool,
) -> Result<Totals, TransferError> {
    let (mut counted, mut failed) = (Counted::default(), 0);
    let sources = sources(paths)?;
    for found in sources.iter().flat_map(Tree::new) {
        add(&mut counted, &found);
        let on = match &found {
            Found::Entry(name, there, target) => {
                let shape = match target {
                    Some(target) => Shape::Link(target),
                    None if there.is_file() => Shape::File,
                    None => Shape::Folder,
                };
                let size = if there.is_file() { Bytes::new(there.size) } else { Bytes::ZERO };
                each(Listed { name, shape, size })
            }
            Found::Left(path, why) => {
                observer.say(&format!("{}: {why}", Foreign::path(path)));
                true
            }
            Found::Lost(path, why) => {
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
