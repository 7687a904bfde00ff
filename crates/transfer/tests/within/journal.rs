//! Tests of the journal: reading it again, and texts that are none.

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
    Stored { version: [1; 16], there: FileStamp { size: 3, modified, inode: 9 }, other: None }
}

fn finish() -> FolderAttributes {
    let origin = Origin::of(File::open("/").unwrap()).unwrap();
    FolderAttributes { origin, mode: Some(0o755), modified: Stamp { seconds: 1, nanos: 2 } }
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
