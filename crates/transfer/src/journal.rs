//! [`Journal`]: what the receiver has of a session, kept on disk as it grows.
//!
//! A log of records, each a length, a checksum and a message. Records are appended after what they tell of was written,
//! so a process that is killed at any point claims too little at worst. A record that was cut off is dropped when the
//! log is opened.
//!
//! Nothing is forced to the disk on the way. If the machine itself goes down, the log may know of bytes that never
//! reached the disk; so it remembers in which boot each record was made, and what an earlier boot claims is believed
//! only after it was hashed again ([`Journal::doubtful`]).

use crate::chunks::Digest;
use crate::error::TransferError;
use crate::name::Name;
use crate::store::Key;
use crate::wire::control::Stamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A record is a length (two bytes would do for all but none), a checksum and a message.
const HEAD: usize = 8;
const LONGEST: usize = 16 << 10;
/// Records wait in memory up to so much, or until [`Journal::flush`].
const GATHER: usize = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
enum Record {
    /// The machine's boot in which the records that follow are made.
    Boot([u8; 16]),
    /// A folder to finish at the end.
    Folder(Name, u32, Stamp),
    /// A file that has its name, with its digest.
    Stored(Key, Digest),
    /// A chunk of a file under way.
    Chunk(Key, u32, Digest),
    /// A file under way that is of no use.
    Dropped(Key),
}

/// What is there of a file under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial {
    /// Chunks and their digests.
    pub(crate) chunks: BTreeMap<u32, Digest>,
    /// Some were recorded in an earlier boot.
    pub(crate) doubtful: bool,
}

/// The log, and what it says.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    waiting: Vec<u8>,
    stored: HashMap<Key, bool>,
    digests: HashMap<Key, Digest>,
    partial: HashMap<Key, Partial>,
    folders: BTreeMap<Name, (u32, Stamp)>,
}

impl Journal {
    /// Opens the log at `path`, or begins one. `boot` tells this boot of the machine from others.
    pub(crate) fn open(path: &Path, boot: [u8; 16]) -> Result<Self, TransferError> {
        let fault = |doing| TransferError::file(path, doing);
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(fault("read the journal")(error)),
        };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fault("open the journal"))?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
            waiting: Vec::new(),
            stored: HashMap::new(),
            digests: HashMap::new(),
            partial: HashMap::new(),
            folders: BTreeMap::new(),
        };
        let mut at = 0;
        let mut same_boot = true;
        while let Some((record, length)) = read(&bytes[at..]) {
            journal.learn(record, &mut same_boot, boot);
            at += length;
        }
        journal.file.set_len(at as u64).map_err(fault("cut the journal"))?;
        journal.file.seek(SeekFrom::End(0)).map_err(fault("open the journal"))?;
        journal.write(&Record::Boot(boot))?;
        Ok(journal)
    }

    fn learn(&mut self, record: Record, same_boot: &mut bool, boot: [u8; 16]) {
        match record {
            Record::Boot(then) => *same_boot = then == boot,
            Record::Folder(name, mode, modified) => {
                self.folders.insert(name, (mode, modified));
            }
            Record::Stored(key, digest) => {
                self.partial.remove(&key);
                self.stored.insert(key, !*same_boot);
                if !*same_boot {
                    self.digests.insert(key, digest);
                }
            }
            Record::Chunk(key, index, digest) => {
                let partial = self.partial.entry(key).or_default();
                partial.chunks.insert(index, digest);
                partial.doubtful |= !*same_boot;
            }
            Record::Dropped(key) => {
                self.partial.remove(&key);
                self.stored.remove(&key);
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
    pub(crate) fn folder(&mut self, name: &Name, mode: u32, modified: Stamp) -> Result<(), TransferError> {
        if self.folders.insert(name.clone(), (mode, modified)) != Some((mode, modified)) {
            self.write(&Record::Folder(name.clone(), mode, modified))?;
        }
        Ok(())
    }

    /// A file has its name.
    pub(crate) fn stored(&mut self, key: Key, digest: Digest) -> Result<(), TransferError> {
        self.partial.remove(&key);
        self.digests.remove(&key);
        self.stored.insert(key, false);
        self.write(&Record::Stored(key, digest))
    }

    /// A chunk of a file under way is written and verified. It is a checkpoint: handed to the kernel at once.
    pub(crate) fn chunk(&mut self, key: Key, index: u32, digest: Digest) -> Result<(), TransferError> {
        self.partial.entry(key).or_default().chunks.insert(index, digest);
        self.write(&Record::Chunk(key, index, digest))?;
        self.flush()
    }

    /// What there was of a file is of no use.
    pub(crate) fn dropped(&mut self, key: Key) -> Result<(), TransferError> {
        let known = self.partial.remove(&key).is_some() | self.stored.remove(&key).is_some();
        if known { self.write(&Record::Dropped(key)) } else { Ok(()) }
    }

    /// Whether the file has its name.
    pub(crate) fn has_stored(&self, key: Key) -> bool {
        self.stored.contains_key(&key)
    }

    /// The digest by which a stored file must be checked before it is believed to be there; `None`: believe it.
    pub(crate) fn doubtful(&self, key: Key) -> Option<Digest> {
        self.stored.get(&key).filter(|&&doubtful| doubtful)?;
        self.digests.get(&key).copied()
    }

    /// What is there of a file under way.
    pub(crate) fn partial(&self, key: Key) -> Option<&Partial> {
        self.partial.get(&key)
    }

    /// Files under way.
    pub(crate) fn partials(&self) -> impl Iterator<Item = Key> + '_ {
        self.partial.keys().copied()
    }

    /// The folders, inner ones after those they lie in.
    pub(crate) fn folders(&self) -> Vec<(Name, u32, Stamp)> {
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

    fn name(text: &str) -> Name {
        Name::new(text.into()).unwrap()
    }

    fn filled(path: &Path) {
        let mut journal = Journal::open(path, [1; 16]).unwrap();
        journal.folder(&name("a"), 0o755, Stamp { seconds: 1, nanos: 2 }).unwrap();
        journal.stored(1, [1; 32]).unwrap();
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
        assert!(Journal::open(&path, [1; 16]).unwrap().is_empty());
        filled(&path);
        let journal = Journal::open(&path, [1; 16]).unwrap();
        assert!(!journal.is_empty());
        assert!(journal.has_stored(1) && !journal.has_stored(2));
        assert_eq!(journal.doubtful(1), None);
        let partial = journal.partial(2).unwrap();
        assert_eq!(partial.chunks, BTreeMap::from([(0, [2; 32]), (7, [3; 32])]));
        assert!(!partial.doubtful);
        assert!(journal.partial(3).is_none());
        assert_eq!(journal.folders(), [(name("a"), 0o755, Stamp { seconds: 1, nanos: 2 })]);
    }

    #[test]
    fn what_an_earlier_boot_claims_is_doubtful() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        filled(&path);
        let mut journal = Journal::open(&path, [2; 16]).unwrap();
        assert_eq!(journal.doubtful(1), Some([1; 32]));
        assert!(journal.partial(2).unwrap().doubtful);
        journal.stored(4, [4; 32]).unwrap();
        journal.flush().unwrap();
        let journal = Journal::open(&path, [2; 16]).unwrap();
        assert_eq!((journal.doubtful(1), journal.doubtful(4)), (Some([1; 32]), None));
    }

    #[test]
    fn a_log_cut_anywhere_opens_and_claims_no_more_than_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        filled(&path);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let mut journal = Journal::open(&path, [1; 16]).unwrap();
            assert!(journal.partial(2).is_none_or(|partial| partial.chunks.len() <= 2));
            journal.stored(9, [9; 32]).unwrap();
            journal.flush().unwrap();
            assert!(Journal::open(&path, [1; 16]).unwrap().has_stored(9), "cut to {length}");
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
