//! [`Journal`]: the receiver's record of a session's data, kept on disk as it grows.
//!
//! The journal is a log of records, each a length, a checksum and a message. A record is appended after the data that
//! it describes was written, so the log of a process that was killed at any point claims too little at worst. An
//! incomplete last record is dropped when the log is opened.
//!
//! The log itself is not forced to the disk. So after a power cut it may claim bytes that never reached the disk, or
//! miss some that did. No decision depends on the log alone. The present bytes of a file under way are hashed again
//! whenever the file is taken up. A file gets its name only after its bytes have reached the disk
//! (`receive/assembly/naming.rs`).

use crate::chunks::Digest;
use crate::error::TransferError;
use crate::name::Name;
use crate::origin::Origin;
use crate::store::{FileStamp, FolderAttributes, Key};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The length of a record's head: four bytes of length, of which two would do, and four of checksum.
const HEAD: usize = 8;
const LONGEST: usize = 16 << 10;
/// The number of bytes up to which records wait in memory, unless [`Journal::flush`] comes first.
const GATHER: usize = 16 << 10;
/// The greatest memory for the session's records, in bytes: some ten million files.
const MOST_MEMORY: usize = 2 << 30;
/// The estimated memory of a folder without its name, in bytes.
const FOLDER: usize = 160;
/// The estimated memory of a stored entry without its name, in bytes.
const STORED: usize = 120;
/// The estimated memory of the mark that a file is begun under a name, in bytes.
const BEGUN: usize = 48;
/// The estimated memory of a file under way without its chunks, in bytes.
const PARTIAL: usize = 800;
/// The estimated memory of a chunk's digest, in bytes. The digest is in memory twice while the file is open.
const CHUNK: usize = 128;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Record {
    /// A folder whose rights and time are set at the end.
    Folder(Name, FolderAttributes),
    /// An entry that has got its name: the key of the offered name, and the key that the entry had while it was under
    /// way.
    Stored(Key, Key, Stored),
    /// A file that is begun under a name: the key of the name, and the key of the file under way.
    Begun(Key, Key),
    /// A chunk of a file under way.
    Chunk(Key, u32, Digest),
    /// A file under way that is complete and gets its name next. Only a file of this origin is the session's own;
    /// another file of the same name is not.
    Whole(Key, Origin),
    /// A file under way that is useless.
    Dropped(Key),
}

/// A file or link that this session has stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The sender's version of the file; zeros for a link.
    pub(crate) version: [u8; 16],
    /// The file's state when it got its name. While this state is unchanged, the file has the same content.
    pub(crate) there: FileStamp,
    /// Its name, if it differs from the offered one.
    pub(crate) other: Option<Name>,
}

impl Stored {
    /// Estimates its memory in bytes.
    fn memory(&self) -> usize {
        STORED + self.other.as_ref().map_or(0, |other| other.bytes().len())
    }
}

/// The stored part of a file under way.
#[derive(Debug, Default)]
struct Partial {
    chunks: BTreeMap<u32, Digest>,
    /// The file's identity, once it is complete.
    whole: Option<Origin>,
}

/// The log, and its content in memory.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    waiting: Vec<u8>,
    /// Stored entries by the key of the offered name.
    stored: HashMap<Key, Stored>,
    /// Files under way by the key of name, version and size.
    partial: HashMap<Key, Partial>,
    /// The file begun last under each name.
    begun: HashMap<Key, Key>,
    folders: BTreeMap<Name, FolderAttributes>,
    /// The estimated memory of all these, in bytes.
    memory: usize,
}

impl Journal {
    /// Reads the log in `file`, whose path is `path`, and prepares to append to it.
    pub(crate) fn open(file: File, path: &Path) -> Result<Self, TransferError> {
        let fault = |doing| TransferError::file(path, doing);
        let mut log = BufReader::new(file.try_clone().map_err(fault("read the journal"))?);
        let mut journal = Self {
            path: path.to_owned(),
            file,
            waiting: Vec::new(),
            stored: HashMap::new(),
            partial: HashMap::new(),
            begun: HashMap::new(),
            folders: BTreeMap::new(),
            memory: 0,
        };
        let mut at = 0;
        while let Some((record, length)) = read(&mut log).map_err(fault("read the journal"))? {
            journal.learn(record);
            at += length as u64;
        }
        journal.file.set_len(at).map_err(fault("cut the journal"))?;
        journal.file.seek(SeekFrom::End(0)).map_err(fault("open the journal"))?;
        Ok(journal)
    }

    fn learn(&mut self, record: Record) {
        match record {
            Record::Folder(name, finish) => {
                let new = name.bytes().len() + FOLDER;
                if self.folders.insert(name, finish).is_none() {
                    self.memory += new;
                }
            }
            Record::Stored(key, partial, stored) => {
                self.drop_partial(partial);
                self.memory += stored.memory();
                if let Some(before) = self.stored.insert(key, stored) {
                    self.memory -= before.memory();
                }
            }
            Record::Begun(name, key) => {
                self.memory += if self.begun.insert(name, key).is_none() { BEGUN } else { 0 };
            }
            Record::Chunk(key, index, digest) => {
                let new = self.partial(key).chunks.insert(index, digest).is_none();
                self.memory += if new { CHUNK } else { 0 };
            }
            Record::Whole(key, origin) => self.partial(key).whole = Some(origin),
            Record::Dropped(key) => self.drop_partial(key),
        }
    }

    fn drop_partial(&mut self, key: Key) {
        let dropped = self.partial.remove(&key);
        self.memory -= dropped.map_or(0, |partial| PARTIAL + partial.chunks.len() * CHUNK);
    }

    fn partial(&mut self, key: Key) -> &mut Partial {
        self.partial.entry(key).or_insert_with(|| {
            self.memory += PARTIAL;
            Partial::default()
        })
    }

    /// Returns true if the records take as much memory as they may.
    pub(crate) const fn is_full(&self) -> bool {
        self.memory >= MOST_MEMORY
    }

    /// Writes a record and adds its content.
    fn add(&mut self, record: Record) -> Result<(), TransferError> {
        self.write(&record)?;
        self.learn(record);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), TransferError> {
        let body = postcard::to_stdvec(record).expect("a record can be written to memory");
        self.waiting.extend((body.len() as u32).to_le_bytes());
        self.waiting.extend(checksum(&body));
        self.waiting.extend(body);
        if self.waiting.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    /// Hands waiting records to the kernel, so that they survive the end of the process.
    pub(crate) fn flush(&mut self) -> Result<(), TransferError> {
        if !self.waiting.is_empty() {
            self.file
                .write_all(&self.waiting)
                .map_err(TransferError::file(&self.path, "write the journal"))?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Records a folder whose rights and time are set at the end.
    pub(crate) fn folder(&mut self, name: &Name, finish: FolderAttributes) -> Result<(), TransferError> {
        if self.folders.get(name) == Some(&finish) {
            return Ok(());
        }
        self.add(Record::Folder(name.clone(), finish))
    }

    /// Returns the rights and time that a folder gets at the end, if it belongs to the session.
    pub(crate) fn known_folder(&self, name: &Name) -> Option<FolderAttributes> {
        self.folders.get(name).copied()
    }

    /// Records that the entry offered under the key `name` has got its name. `partial` was its key while it was under
    /// way.
    pub(crate) fn stored(&mut self, name: Key, partial: Key, stored: Stored) -> Result<(), TransferError> {
        self.add(Record::Stored(name, partial, stored))
    }

    /// Records a chunk of a file under way that is written and verified.
    pub(crate) fn chunk(&mut self, key: Key, index: u32, digest: Digest) -> Result<(), TransferError> {
        self.add(Record::Chunk(key, index, digest))
    }

    /// Records that a file is begun under a name. Returns the file begun before under that name, if it is another one.
    pub(crate) fn begin(&mut self, name: Key, key: Key) -> Result<Option<Key>, TransferError> {
        let before = self.begun.get(&name).copied();
        if before != Some(key) {
            self.add(Record::Begun(name, key))?;
        }
        Ok(before.filter(|before| *before != key))
    }

    /// Records that a file under way is complete.
    pub(crate) fn whole(&mut self, key: Key, origin: Origin) -> Result<(), TransferError> {
        self.add(Record::Whole(key, origin))
    }

    /// Returns the identity of a file under way, if it is complete.
    pub(crate) fn find_whole(&self, key: Key) -> Option<Origin> {
        self.partial.get(&key)?.whole
    }

    /// Records that a file under way is useless.
    pub(crate) fn dropped(&mut self, key: Key) -> Result<(), TransferError> {
        if self.partial.contains_key(&key) { self.add(Record::Dropped(key)) } else { Ok(()) }
    }

    /// Returns the entry that this session stored for the name with this key.
    pub(crate) fn find_stored(&self, name: Key) -> Option<&Stored> {
        self.stored.get(&name)
    }

    /// Returns all entries that this session stored, with the keys of the offered names.
    pub(crate) fn all_stored(&self) -> impl Iterator<Item = (Key, &Stored)> {
        self.stored.iter().map(|(&name, stored)| (name, stored))
    }

    /// Returns the file begun last under each name; it may be under way.
    pub(crate) fn all_begun(&self) -> impl Iterator<Item = (Key, Key)> {
        self.begun.iter().map(|(&name, &key)| (name, key))
    }

    /// Returns the chunks of a file under way that the log claims.
    pub(crate) fn chunks(&self, key: Key) -> Option<&BTreeMap<u32, Digest>> {
        self.partial.get(&key).map(|partial| &partial.chunks)
    }

    /// Returns the keys of the files under way.
    pub(crate) fn partials(&self) -> impl Iterator<Item = Key> + '_ {
        self.partial.keys().copied()
    }

    /// Returns the folders, each before the folders inside it.
    pub(crate) fn folders(&self) -> Vec<(Name, FolderAttributes)> {
        self.folders.iter().map(|(name, &finish)| (name.clone(), finish)).collect()
    }

    /// Returns true if nothing was ever received.
    pub(crate) fn is_empty(&self) -> bool {
        self.stored.is_empty() && self.partial.is_empty() && self.folders.is_empty()
    }
}

fn checksum(body: &[u8]) -> [u8; 4] {
    let mut sum = [0; 4];
    sum.copy_from_slice(&blake3::hash(body).as_bytes()[..4]);
    sum
}

/// Reads the next record, and returns it with its length; `None` if it is incomplete.
pub(crate) fn read(log: &mut impl Read) -> io::Result<Option<(Record, usize)>> {
    let mut head = [0; HEAD];
    if !fill(log, &mut head)? {
        return Ok(None);
    }
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length > LONGEST {
        return Ok(None);
    }
    let mut body = vec![0; length];
    if !fill(log, &mut body)? || checksum(&body) != head[4..] {
        return Ok(None);
    }
    Ok(postcard::from_bytes(&body).ok().map(|record| (record, HEAD + length)))
}

/// Fills `bytes`. Returns false if the log ends before.
fn fill(log: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "../tests/within/journal.rs"]
mod tests;
