//! The trust of a receiver in the files that it finds.

use super::*;
use crate::chunks::{Digest, file_digest, small_file_digest};
use crate::receive::Existing;
use crate::receive::state::State;
use crate::wire::control::{Kind, Stamp, Verdict};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use units::Time;

const SIZE: usize = (1 << 20) + 5;

pub(super) fn entry() -> Entry {
    let kind = Kind::File { size: SIZE as u64, chunk: 20, version: [1; 16] };
    Entry {
        name: Name::new(b"file".to_vec()).unwrap(),
        kind,
        mode: 0o644,
        modified: Stamp { seconds: 9, nanos: 8 },
    }
}

/// Makes a receiver's state, and the assembly on it. The state holds the folder's lock.
pub(super) fn assembly(folder: &Path, existing: Existing) -> (State, Assembly) {
    let (state, _) = State::open(folder, false, Time::ZERO, Span::from_secs(60)).unwrap();
    let mut state = state;
    state.keep("127.0.0.1:1".parse().unwrap(), &[]).unwrap();
    let (top, own) = state.folders();
    let store = Store::open(folder, top, own, false).unwrap();
    let rules = Rules { existing, ..Rules::default() };
    let assembly = Assembly::open(store, state.journal().unwrap(), rules, Clock::start());
    (state, assembly)
}

/// Returns the answer to an offer, whether it comes at once or after data was read.
pub(super) fn offered(assembly: &Assembly, id: Id, entry: Entry) -> Result<Verdict, ReceiveError> {
    match assembly.offer(id, entry)? {
        Offered::Now(verdict) => Ok(verdict),
        Offered::Later(examination) => assembly.examine(*examination),
    }
}

fn content() -> Vec<u8> {
    (0..SIZE).map(|index| (index % 249) as u8).collect()
}

fn digests() -> Vec<Digest> {
    content().chunks(1 << 20).map(|chunk| *blake3::hash(chunk).as_bytes()).collect()
}

/// Receives the chunks of the file.
fn chunks(assembly: &Assembly, id: Id) {
    for (index, bytes) in content().chunks(1 << 20).enumerate() {
        let mut chunk = assembly.chunk(id, index as u32).unwrap().unwrap();
        assembly.piece(&mut chunk, 0, bytes).unwrap();
        assembly.chunk_end(chunk, &digests()[index]).unwrap();
    }
}

/// Receives the file, and forgets the journal's records after its last chunk, as if the process was killed when the
/// file had its name already.
fn killed_after_the_rename(folder: &Path) {
    let (state, assembly) = assembly(folder, Existing::Refuse);
    assert_eq!(offered(&assembly, 0, entry()).unwrap(), Verdict::Want);
    chunks(&assembly, 0);
    let journal = folder.join(".tightlink/journal");
    assembly.file_end(0, &file_digest(SIZE as u64, &digests())).unwrap();
    assembly.checkpoint().unwrap();
    let before = fs::read(&journal).unwrap();
    assert!(!folder.join("file").exists(), "it waits until its bytes have reached the disk");
    assert!(assembly.name_waiting().unwrap().is_empty());
    assert_eq!(fs::read(folder.join("file")).unwrap(), content());
    drop((assembly, state));
    fs::write(&journal, before).unwrap();
}

#[test]
fn a_file_that_got_its_name_just_before_a_kill_is_not_sent_again() {
    let place = tempfile::tempdir().unwrap();
    killed_after_the_rename(place.path());
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&assembly, 0, entry()).unwrap(), Verdict::Have);
    assert_eq!(assembly.counts().bytes, SIZE as u64);
    // The file is the session's own, so a later version may replace it.
    let kind = Kind::File { size: 3, chunk: 20, version: [2; 16] };
    let later = Entry { kind, ..entry() };
    assert_eq!(offered(&assembly, 1, later).unwrap(), Verdict::Want);
    assembly.small(1, b"new", &small_file_digest(b"new").0).unwrap();
    assert!(assembly.name_waiting().unwrap().is_empty());
    assert_eq!(fs::read(place.path().join("file")).unwrap(), b"new");
}

#[test]
fn another_file_of_that_name_and_size_is_compared_and_not_taken_for_it() {
    for (existing, same) in [(Existing::Rename, false), (Existing::Refuse, false), (Existing::Rename, true)] {
        let place = tempfile::tempdir().unwrap();
        killed_after_the_rename(place.path());
        let mut other = content();
        other[SIZE - 1] ^= u8::from(!same);
        fs::write(place.path().join("file"), &other).unwrap();
        let (_state, assembly) = assembly(place.path(), existing);
        assert_eq!(offered(&assembly, 0, entry()).unwrap(), Verdict::Want, "the sender learns nothing of it");
        chunks(&assembly, 0);
        assembly.file_end(0, &file_digest(SIZE as u64, &digests())).unwrap();
        let lost = assembly.name_waiting().unwrap();
        assert_eq!(lost.len(), usize::from(existing == Existing::Refuse), "{lost:?}");
        assert_eq!(fs::read(place.path().join("file")).unwrap(), other);
        let numbered = place.path().join("file (1)");
        assert_eq!(numbered.exists(), existing == Existing::Rename && !same);
        assert!(!numbered.exists() || fs::read(numbered).unwrap() == content());
    }
}

#[test]
fn comparing_ends_at_the_first_chunk_that_differs_and_holes_are_no_progress() {
    let place = tempfile::tempdir().unwrap();
    let size = 64u64 << 20;
    fs::write(place.path().join("file"), vec![7; size as usize]).unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    let kind = Kind::File { size, chunk: 20, version: [1; 16] };
    assert_eq!(offered(&assembly, 0, Entry { kind, ..entry() }).unwrap(), Verdict::Want);
    let hollow = *blake3::hash(&vec![0; 1 << 20]).as_bytes();
    for index in 0..64 {
        assembly.chunk_end(assembly.chunk(0, index).unwrap().unwrap(), &hollow).unwrap();
    }
    assembly.file_end(0, &file_digest(size, &[hollow; 64])).unwrap();
    assert_eq!(assembly.counts().came, 0, "holes are no progress");
    assert_eq!(assembly.name_waiting().unwrap().len(), 1);
    assert_eq!(assembly.counts().read, 1 << 20);
}

#[test]
fn what_a_resume_takes_up_is_hashed_again() {
    let place = tempfile::tempdir().unwrap();
    let (state, one) = assembly(place.path(), Existing::Refuse);
    offered(&one, 0, entry()).unwrap();
    chunks(&one, 0);
    drop((one, state));
    let partial =
        fs::read_dir(place.path().join(".tightlink/partial")).unwrap().next().unwrap().unwrap().path();
    let mut damaged = content();
    damaged[..5000].fill(0xee);
    fs::write(&partial, damaged).unwrap();
    // The state is opened again in the same boot and in the same process, too.
    let (_state, again) = assembly(place.path(), Existing::Refuse);
    for _ in 0..2 {
        again.begin().unwrap();
        assert_eq!(offered(&again, 0, entry()).unwrap(), Verdict::Rest(vec![(1, digests()[1])]));
    }
    let read = again.counts().read;
    assert_eq!(
        read,
        SIZE as u64 + 5,
        "each byte is read once for each time; the damaged chunk is a hole since"
    );
    // The damaged chunk comes as a hole with an end, so nothing of the old bytes may show through.
    let mut chunk = again.chunk(0, 0).unwrap().unwrap();
    again.piece(&mut chunk, (1 << 20) - 1, b"x").unwrap();
    let mut hollow = vec![0; 1 << 20];
    hollow[(1 << 20) - 1] = b'x';
    again.chunk_end(chunk, blake3::hash(&hollow).as_bytes()).unwrap();
    let all = [*blake3::hash(&hollow).as_bytes(), digests()[1]];
    again.file_end(0, &file_digest(SIZE as u64, &all)).unwrap();
    assert!(again.name_waiting().unwrap().is_empty());
    assert!(fs::read(place.path().join("file")).unwrap()[..1 << 20] == hollow);
}

#[test]
fn a_stored_file_counts_only_while_size_and_time_agree() {
    let place = tempfile::tempdir().unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Replace);
    offered(&assembly, 0, entry()).unwrap();
    chunks(&assembly, 0);
    assembly.file_end(0, &file_digest(SIZE as u64, &digests())).unwrap();
    assert!(assembly.name_waiting().unwrap().is_empty());
    assert_eq!(offered(&assembly, 1, entry()).unwrap(), Verdict::Have);
    let path = place.path().join("file");
    assert_eq!((fs::metadata(&path).unwrap().mtime(), fs::metadata(&path).unwrap().mtime_nsec()), (9, 8));
    // Another program writes to the file without changing its size.
    let mut other = content();
    other[7] ^= 1;
    fs::write(&path, other).unwrap();
    assert_eq!(offered(&assembly, 2, entry()).unwrap(), Verdict::Want);
}

#[test]
fn no_file_is_under_way_twice() {
    let place = tempfile::tempdir().unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&assembly, 0, entry()).unwrap(), Verdict::Want);
    assert!(matches!(offered(&assembly, 1, entry()).unwrap(), Verdict::Refused(_)));
    let first = assembly.chunk(0, 0).unwrap().unwrap();
    assert!(matches!(assembly.chunk(0, 0), Err(ReceiveError::Protocol(_))), "by two connections");
    drop(first);
    assert!(assembly.chunk(0, 0).unwrap().is_some(), "its connection has ended");
}

#[test]
fn offers_that_would_fill_the_memory_break_the_rules() {
    let place = tempfile::tempdir().unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    let part = [&[b'n'; 250][..], b"/"].concat().repeat(15);
    let taken = (0..u64::MAX)
        .find(|id| {
            let name = Name::new([&part[..], id.to_string().as_bytes()].concat()).unwrap();
            match offered(&assembly, *id, Entry { name, ..entry() }) {
                Ok(_) => false,
                Err(ReceiveError::Protocol(reason)) => reason == "more offers than may be open",
                Err(trouble) => panic!("{trouble:?}"),
            }
        })
        .unwrap();
    assert!((7_000..9_000).contains(&taken), "{taken} names of 3.8 kB are 32 MB");
}
