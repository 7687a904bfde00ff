//! [`Journal`]: what the receiver has of a session, kept on disk as it grows.
//!
//! A log of records, each a length, a checksum and a message. Records are appended after what they tell of was written,
//! so a process that is killed at any point claims too little at worst. A record that was cut off is dropped when the
//! log is opened.
//!
//! The log itself is not forced to the disk, so after a power cut it may claim bytes that never reached it, or not know of
//! some that did. Nothing rests on it alone: what is there of a file under way is hashed again whenever it is taken up,
//! and a file gets its name only after its bytes have reached the disk (`receive/naming.rs`).

use crate::chunks::Digest;
use crate::error::TransferError;
use crate::name::Name;
use crate::store::{Key, There};
use crate::wire::control::Stamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A record is a length (two bytes would do for all but none), a checksum and a message.
const HEAD: usize = 8;
const LONGEST: usize = 16 << 10;
/// Records wait in memory up to so much, or until [`Journal::flush`].
const GATHER: usize = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
enum Record {
    /// A folder to finish at the end: with these rights, if the session made it, and this time.
    Folder(Name, Option<u32>, Stamp),
    /// An entry that has its name; the second key is the one that it had while it was under way.
    Stored(Key, Key, Stored),
    /// A chunk of a file under way.
    Chunk(Key, u32, Digest),
    /// A file under way that is of no use.
    Dropped(Key),
}

/// A file or link that this session stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The sender's stamp; zeros for a link.
    pub(crate) version: [u8; 16],
    /// How it looked when it got its name: as long as it looks so, it is the same file with the same content.
    pub(crate) there: There,
    /// Its name, if it is not the one that was offered.
    pub(crate) other: Option<Name>,
}

/// The log, and what it says.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    waiting: Vec<u8>,
    /// By the key of the name offered.
    stored: HashMap<Key, Stored>,
    /// Chunks and their digests, by the key of name and version.
    partial: HashMap<Key, BTreeMap<u32, Digest>>,
    folders: BTreeMap<Name, (Option<u32>, Stamp)>,
}

impl Journal {
    /// Reads the log in `file`, which lies at `path`, and goes on with it.
    pub(crate) fn open(mut file: File, path: &Path) -> Result<Self, TransferError> {
        let fault = |doing| TransferError::file(path, doing);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault("read the journal"))?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
            waiting: Vec::new(),
            stored: HashMap::new(),
            partial: HashMap::new(),
            folders: BTreeMap::new(),
        };
        let mut at = 0;
        while let Some((record, length)) = read(&bytes[at..]) {
            journal.learn(record);
            at += length;
        }
        journal.file.set_len(at as u64).map_err(fault("cut the journal"))?;
        journal.file.seek(SeekFrom::End(0)).map_err(fault("open the journal"))?;
        Ok(journal)
    }

    fn learn(&mut self, record: Record) {
        match record {
            Record::Folder(name, mode, modified) => {
                self.folders.insert(name, (mode, modified));
            }
            Record::Stored(key, partial, stored) => {
                self.partial.remove(&partial);
                self.stored.insert(key, stored);
            }
            Record::Chunk(key, index, digest) => {
                self.partial.entry(key).or_default().insert(index, digest);
            }
            Record::Dropped(key) => {
                self.partial.remove(&key);
            }
        }
    }

    fn write(&mut self, record: &Record) -> Result<(), TransferError> {
        let body = postcard::to_stdvec(record).expect("a record can be written to memory");
        self.waiting.extend((body.len() as u32).to_le_bytes());
        self.waiting.extend(checksum(&body));
        self.waiting.extend(body);
        if self.waiting.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    /// Hands what waits to the kernel: a process that is killed after that has not lost it.
    pub(crate) fn flush(&mut self) -> Result<(), TransferError> {
        if !self.waiting.is_empty() {
            self.file
                .write_all(&self.waiting)
                .map_err(TransferError::file(&self.path, "write the journal"))?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// A folder is there and must be finished at the end.
    pub(crate) fn folder(
        &mut self,
        name: &Name,
        mode: Option<u32>,
        modified: Stamp,
    ) -> Result<(), TransferError> {
        if self.folders.insert(name.clone(), (mode, modified)) != Some((mode, modified)) {
            self.write(&Record::Folder(name.clone(), mode, modified))?;
        }
        Ok(())
    }

    /// Whether a folder is to be finished at the end, and whether the session made it.
    pub(crate) fn known_folder(&self, name: &Name) -> Option<bool> {
        self.folders.get(name).map(|(mode, _)| mode.is_some())
    }

    /// The entry offered under the name with the key `name` has its name; `partial` is its key while it was under way.
    pub(crate) fn stored(&mut self, name: Key, partial: Key, stored: Stored) -> Result<(), TransferError> {
        self.partial.remove(&partial);
        self.stored.insert(name, stored.clone());
        self.write(&Record::Stored(name, partial, stored))
    }

    /// A chunk of a file under way is written and verified.
    pub(crate) fn chunk(&mut self, key: Key, index: u32, digest: Digest) -> Result<(), TransferError> {
        self.partial.entry(key).or_default().insert(index, digest);
        self.write(&Record::Chunk(key, index, digest))
    }

    /// What there was of a file under way is of no use.
    pub(crate) fn dropped(&mut self, key: Key) -> Result<(), TransferError> {
        if self.partial.remove(&key).is_some() { self.write(&Record::Dropped(key)) } else { Ok(()) }
    }

    /// What this session stored for the name with this key.
    pub(crate) fn find_stored(&self, name: Key) -> Option<&Stored> {
        self.stored.get(&name)
    }

    /// What the log says is there of a file under way.
    pub(crate) fn partial(&self, key: Key) -> Option<&BTreeMap<u32, Digest>> {
        self.partial.get(&key)
    }

    /// Files under way.
    pub(crate) fn partials(&self) -> impl Iterator<Item = Key> + '_ {
        self.partial.keys().copied()
    }

    /// The folders, inner ones after those they lie in.
    pub(crate) fn folders(&self) -> Vec<(Name, Option<u32>, Stamp)> {
        self.folders.iter().map(|(name, &(mode, modified))| (name.clone(), mode, modified)).collect()
    }

    /// Whether anything was ever received.
    pub(crate) fn is_empty(&self) -> bool {
        self.stored.is_empty() && self.partial.is_empty() && self.folders.is_empty()
    }
}

fn checksum(body: &[u8]) -> [u8; 4] {
    let mut sum = [0; 4];
    sum.copy_from_slice(&blake3::hash(body).as_bytes()[..4]);
    sum
}

/// The record that `bytes` begins with, and its length; `None` if it is not whole.
fn read(bytes: &[u8]) -> Option<(Record, usize)> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let body = rest.get(..length).filter(|_| length <= LONGEST)?;
    if checksum(body) != head[4..] {
        return None;
    }
    Some((postcard::from_bytes(body).ok()?, HEAD + length))
}

/// See [`crate::fuzzing::journal`].
#[cfg(fuzzing)]
pub(crate) fn whole(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some((record, length)) = read(&bytes[at..]) {
        let body = postcard::to_stdvec(&record).expect("a record can be written to memory");
        let again: Record = postcard::from_bytes(&body).expect("a written record can be read");
        assert_eq!(postcard::to_stdvec(&again).as_ref(), Ok(&body));
        at += length;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::{self, OpenOptions};

    fn name(text: &str) -> Name {
        Name::new(text.into()).unwrap()
    }

    fn open(path: &Path) -> Journal {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        Journal::open(file, path).unwrap()
    }

    fn one() -> Stored {
        let modified = Stamp { seconds: 7, nanos: 8 };
        Stored { version: [1; 16], there: There { size: 3, modified, inode: 9 }, other: None }
    }

    fn filled(path: &Path) {
        let mut journal = open(path);
        journal.folder(&name("a"), Some(0o755), Stamp { seconds: 1, nanos: 2 }).unwrap();
        journal.stored(1, 11, one()).unwrap();
        journal.chunk(2, 0, [2; 32]).unwrap();
        journal.chunk(2, 7, [3; 32]).unwrap();
        journal.chunk(3, 0, [3; 32]).unwrap();
        journal.dropped(3).unwrap();
        journal.flush().unwrap();
    }

    #[test]
    fn what_was_written_is_known_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        assert!(open(&path).is_empty());
        filled(&path);
        let journal = open(&path);
        assert!(!journal.is_empty());
        assert_eq!(journal.find_stored(1), Some(&one()));
        assert_eq!(journal.find_stored(2), None);
        assert_eq!(journal.partial(2), Some(&BTreeMap::from([(0, [2; 32]), (7, [3; 32])])));
        assert!(journal.partial(3).is_none());
        assert_eq!(journal.folders(), [(name("a"), Some(0o755), Stamp { seconds: 1, nanos: 2 })]);
    }

    #[test]
    fn a_log_cut_anywhere_opens_and_claims_no_more_than_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        filled(&path);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let mut journal = open(&path);
            assert!(journal.partial(2).is_none_or(|chunks| chunks.len() <= 2));
            journal.stored(9, 19, one()).unwrap();
            journal.flush().unwrap();
            assert!(open(&path).find_stored(9).is_some(), "cut to {length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let mut record = (bytes.len() as u32).to_le_bytes().to_vec();
            record.extend(checksum(&bytes));
            record.extend(&bytes);
            let _ = read(&record);
        }
    }
}
