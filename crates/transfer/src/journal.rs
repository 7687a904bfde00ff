//! [`Journal`]: what the receiver has of a session, kept on disk as it grows.
//!
//! A log of records, each a length, a checksum and a message. Records are appended after what they tell of was written,
//! so a process that is killed at any point claims too little at worst. A record that was cut off is dropped when the
//! log is opened.
//!
//! The log itself is not forced to the disk. So after a power cut it may claim bytes that never reached the disk, or
//! miss some that did. Nothing rests on the log alone. The present bytes of a file under way are hashed again
//! whenever the file is taken up. A file gets its name only after its bytes have reached the disk
//! (`receive/naming.rs`).

use crate::chunks::Digest;
use crate::error::TransferError;
use crate::name::Name;
use crate::origin::Origin;
use crate::store::{Finish, Key, There};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A record is a length (two bytes would do for all but none), a checksum and a message.
const HEAD: usize = 8;
const LONGEST: usize = 16 << 10;
/// Records wait in memory up to this many bytes, or until [`Journal::flush`].
const GATHER: usize = 16 << 10;
/// What the session remembers takes no more memory: some ten million files.
const MOST_MEMORY: usize = 2 << 30;
/// Of that a folder takes so much beside its name, a stored file beside another name, a file under way, and each of
/// its chunks.
const FOLDER: usize = 160;
const STORED: usize = 120;
const BEGUN: usize = 48;
const PARTIAL: usize = 800;
/// While the file is open its digests are in memory twice.
const CHUNK: usize = 128;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Record {
    /// A folder to finish at the end.
    Folder(Name, Finish),
    /// An entry that has its name; the second key is the one that it had while it was under way.
    Stored(Key, Key, Stored),
    /// A file under way is begun: the first key is that of its name.
    Begun(Key, Key),
    /// A chunk of a file under way.
    Chunk(Key, u32, Digest),
    /// A file under way is whole, and gets its name next: this one, and no other of its name, is the session's.
    Whole(Key, Origin),
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

impl Stored {
    /// Bytes that it takes in memory, about.
    fn memory(&self) -> usize {
        STORED + self.other.as_ref().map_or(0, |other| other.bytes().len())
    }
}

/// What is there of a file under way.
#[derive(Debug, Default)]
struct Partial {
    chunks: BTreeMap<u32, Digest>,
    /// Which file it is, once it is whole.
    whole: Option<Origin>,
}

/// The log, and what it says.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    waiting: Vec<u8>,
    /// By the key of the name offered.
    stored: HashMap<Key, Stored>,
    /// What is there of a file under way, by the key of name, version and size.
    partial: HashMap<Key, Partial>,
    /// The file that was begun last under a name.
    begun: HashMap<Key, Key>,
    folders: BTreeMap<Name, Finish>,
    /// Bytes that all this takes in memory, about.
    memory: usize,
}

impl Journal {
    /// Reads the log in `file`, which lies at `path`, and goes on with it.
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

    /// Whether it remembers as much as it may.
    pub(crate) const fn is_full(&self) -> bool {
        self.memory >= MOST_MEMORY
    }

    /// Learns a record, and writes it.
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
    pub(crate) fn folder(&mut self, name: &Name, finish: Finish) -> Result<(), TransferError> {
        if self.folders.get(name) == Some(&finish) {
            return Ok(());
        }
        self.add(Record::Folder(name.clone(), finish))
    }

    /// What is to be done to a folder at the end, if it is one of the session.
    pub(crate) fn known_folder(&self, name: &Name) -> Option<Finish> {
        self.folders.get(name).copied()
    }

    /// The entry offered under the name with the key `name` has its name; `partial` is its key while it was under way.
    pub(crate) fn stored(&mut self, name: Key, partial: Key, stored: Stored) -> Result<(), TransferError> {
        self.add(Record::Stored(name, partial, stored))
    }

    /// A chunk of a file under way is written and verified.
    pub(crate) fn chunk(&mut self, key: Key, index: u32, digest: Digest) -> Result<(), TransferError> {
        self.add(Record::Chunk(key, index, digest))
    }

    /// A file under way is begun, of this name. The one that was begun under the name before, if another one is.
    pub(crate) fn begin(&mut self, name: Key, key: Key) -> Result<Option<Key>, TransferError> {
        let before = self.begun.get(&name).copied();
        if before != Some(key) {
            self.add(Record::Begun(name, key))?;
        }
        Ok(before.filter(|before| *before != key))
    }

    /// A file under way is whole.
    pub(crate) fn whole(&mut self, key: Key, origin: Origin) -> Result<(), TransferError> {
        self.add(Record::Whole(key, origin))
    }

    /// Which file it is that was under way, if it was whole.
    pub(crate) fn find_whole(&self, key: Key) -> Option<Origin> {
        self.partial.get(&key)?.whole
    }

    /// What there was of a file under way is of no use.
    pub(crate) fn dropped(&mut self, key: Key) -> Result<(), TransferError> {
        if self.partial.contains_key(&key) { self.add(Record::Dropped(key)) } else { Ok(()) }
    }

    /// What this session stored for the name with this key.
    pub(crate) fn find_stored(&self, name: Key) -> Option<&Stored> {
        self.stored.get(&name)
    }

    /// All that this session stored, by the keys of the names offered.
    pub(crate) fn all_stored(&self) -> impl Iterator<Item = (Key, &Stored)> {
        self.stored.iter().map(|(&name, stored)| (name, stored))
    }

    /// The file that was begun last under each name, and may be under way.
    pub(crate) fn all_begun(&self) -> impl Iterator<Item = (Key, Key)> {
        self.begun.iter().map(|(&name, &key)| (name, key))
    }

    /// The chunks that the log says are there of a file under way.
    pub(crate) fn chunks(&self, key: Key) -> Option<&BTreeMap<u32, Digest>> {
        self.partial.get(&key).map(|partial| &partial.chunks)
    }

    /// Files under way.
    pub(crate) fn partials(&self) -> impl Iterator<Item = Key> + '_ {
        self.partial.keys().copied()
    }

    /// The folders, inner ones after those they lie in.
    pub(crate) fn folders(&self) -> Vec<(Name, Finish)> {
        self.folders.iter().map(|(name, &finish)| (name.clone(), finish)).collect()
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

/// The next record, and its length; `None` if it is not whole.
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

/// Whether there was enough to fill `bytes`.
fn fill(log: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::control::Stamp;
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

    fn finish() -> Finish {
        let origin = Origin::of(File::open("/").unwrap()).unwrap();
        Finish { origin, mode: Some(0o755), modified: Stamp { seconds: 1, nanos: 2 } }
    }

    fn filled(path: &Path) {
        let mut journal = open(path);
        journal.folder(&name("a"), finish()).unwrap();
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
        assert_eq!(journal.chunks(2), Some(&BTreeMap::from([(0, [2; 32]), (7, [3; 32])])));
        assert!(journal.chunks(3).is_none());
        assert_eq!(journal.folders(), [(name("a"), finish())]);
    }

    #[test]
    fn what_is_remembered_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(&folder.path().join("journal"));
        let all = FOLDER + 1 + STORED + PARTIAL + 2 * CHUNK;
        filled(&folder.path().join("other"));
        assert_eq!(open(&folder.path().join("other")).memory, all);
        for _ in 0..2 {
            journal.folder(&name("abc"), finish()).unwrap();
            journal.stored(1, 11, one()).unwrap();
            journal.chunk(2, 0, [2; 32]).unwrap();
        }
        assert_eq!(journal.memory, FOLDER + 3 + STORED + PARTIAL + CHUNK);
        journal.stored(7, 2, Stored { other: Some(name("ab")), ..one() }).unwrap();
        assert_eq!(journal.memory, FOLDER + 3 + 2 * STORED + 2);
        assert!(!journal.is_full());
        journal.memory = MOST_MEMORY;
        assert!(journal.is_full());
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
            assert!(journal.chunks(2).is_none_or(|chunks| chunks.len() <= 2));
            journal.stored(9, 19, one()).unwrap();
            journal.flush().unwrap();
            assert!(open(&path).find_stored(9).is_some(), "cut to {length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&mut &bytes[..]);
            let mut record = (bytes.len() as u32).to_le_bytes().to_vec();
            record.extend(checksum(&bytes));
            record.extend(&bytes);
            let _ = read(&mut &record[..]);
        }
    }
}
