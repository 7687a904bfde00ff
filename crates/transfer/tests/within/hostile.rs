//! The defences against a sender that means harm.

use super::tests::{assembly, entry, offered};
use super::*;
use crate::chunks::{file_digest, small_file_digest};
use crate::receive::Existing;
use crate::wire::control::{Kind, Stamp, Verdict};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Makes an offer of a file of five bytes.
fn five(version: u8, modified: Stamp) -> Entry {
    Entry { kind: Kind::File { size: 5, chunk: 20, version: [version; 16] }, modified, ..entry() }
}

#[test]
fn no_file_of_another_program_is_taken_for_the_sessions_own() {
    // The sender may claim the file in three ways: it comes again, it makes the bytes under way vanish, or it finishes
    // without a last message.
    let ways: [fn(&Assembly); 3] = [
        |_| {},
        |assembly| {
            let kind = Kind::Link { target: Vec::new() };
            let _ = offered(assembly, 5, Entry { kind, ..entry() });
        },
        |assembly| drop(assembly.finish(1).unwrap()),
    ];
    for claim in ways {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, b"there").unwrap();
        let meta = fs::metadata(&file).unwrap();
        let same = Stamp { seconds: meta.mtime(), nanos: meta.mtime_nsec() as u32 };
        let (_state, assembly) = assembly(place.path(), Existing::Rename);
        assert_eq!(offered(&assembly, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
        let mut chunk = assembly.chunk(0, 0).unwrap().unwrap();
        assembly.piece(&mut chunk, 0, b"other").unwrap();
        assembly.chunk_end(chunk, blake3::hash(b"other").as_bytes()).unwrap();
        assembly.begin().unwrap();
        claim(&assembly);
        assembly.begin().unwrap();
        assert_eq!(offered(&assembly, 0, five(1, same)).unwrap(), Verdict::Have);
        let later = Entry { kind: Kind::File { size: 3, chunk: 20, version: [2; 16] }, ..entry() };
        assert_eq!(offered(&assembly, 1, later).unwrap(), Verdict::Want);
        assembly.small(1, b"new", &small_file_digest(b"new").0).unwrap();
        assert!(assembly.name_waiting().unwrap().is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"there");
        assert_eq!(fs::read(place.path().join("file (1)")).unwrap(), b"new");
    }
}

#[test]
fn a_file_that_another_program_made_meanwhile_counts_if_it_is_the_same_and_stays_its_own() {
    let place = tempfile::tempdir().unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&assembly, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
    assembly.small(0, b"there", &small_file_digest(b"there").0).unwrap();
    fs::write(place.path().join("file"), b"there").unwrap();
    assert!(assembly.name_waiting().unwrap().is_empty());
    let counts = assembly.counts();
    assert_eq!((counts.entries, counts.bytes, counts.failed), (1, 5, 0));
    let kind = Kind::Link { target: b"x".to_vec() };
    assert!(matches!(offered(&assembly, 1, Entry { kind, ..entry() }).unwrap(), Verdict::Refused(_)));
    assert_eq!(fs::read(place.path().join("file")).unwrap(), b"there");
}

#[test]
fn what_somebody_changes_while_a_later_version_comes_is_not_replaced() {
    for existing in [Existing::Refuse, Existing::Update] {
        let place = tempfile::tempdir().unwrap();
        let (_state, assembly) = assembly(place.path(), existing);
        assert_eq!(offered(&assembly, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
        assembly.small(0, b"first", &small_file_digest(b"first").0).unwrap();
        assert!(assembly.name_waiting().unwrap().is_empty());
        let later = Stamp { seconds: 1_000, nanos: 0 };
        assert_eq!(offered(&assembly, 1, five(2, later)).unwrap(), Verdict::Want);
        fs::write(place.path().join("file"), b"the user's own work").unwrap();
        assembly.small(1, b"later", &small_file_digest(b"later").0).unwrap();
        assert_eq!(assembly.name_waiting().unwrap().len(), 1);
        assert_eq!(fs::read(place.path().join("file")).unwrap(), b"the user's own work");
    }
}

#[test]
fn a_name_never_has_two_numbers() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), b"the user's").unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Rename);
    let five = |version| five(version, Stamp::default());
    for (ids, contents) in [(&[0][..], &[b"first"][..]), (&[1, 2], &[b"later", b"again"])] {
        // The second file comes when the first is complete and waits for its name.
        for (&id, content) in ids.iter().zip(contents) {
            assert_eq!(offered(&assembly, id, five(id as u8 + 1)).unwrap(), Verdict::Want);
            assembly.small(id, &content[..], &small_file_digest(&content[..]).0).unwrap();
        }
        assert!(assembly.name_waiting().unwrap().is_empty());
    }
    let read = |name| fs::read(place.path().join(name)).unwrap();
    assert_eq!((read("file (1)"), read("file (2)")), (b"later".to_vec(), b"again".to_vec()));
}

#[test]
fn a_folder_that_somebody_made_anew_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let (inner, outer) = (place.path().join("outer/inner"), place.path().join("outer"));
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    let folder = |name: &str, mode| Entry {
        name: Name::new(name.into()).unwrap(),
        kind: Kind::Folder,
        mode,
        modified: Stamp { seconds: 9, nanos: 0 },
    };
    for again in 0..2 {
        for (id, name) in ["outer", "outer/inner"].into_iter().enumerate() {
            let offer = folder(name, 0o777);
            assert_eq!(offered(&assembly, again * 2 + id as u64, offer).unwrap(), Verdict::Have);
        }
        if again == 0 {
            // The user removes the folder, and makes another one of the same name.
            fs::remove_dir(&inner).unwrap();
            fs::create_dir(&inner).unwrap();
            fs::set_permissions(&inner, fs::Permissions::from_mode(0o500)).unwrap();
            assert!(assembly.finish(1).unwrap().folders.is_empty());
            assert_ne!(fs::metadata(&inner).unwrap().mtime(), 9);
            assert_eq!(fs::metadata(&outer).unwrap().mtime(), 9);
        }
    }
    let before = fs::metadata(&inner).unwrap().mtime();
    assert!(assembly.finish(1).unwrap().folders.is_empty());
    let (inner, outer) = (fs::metadata(&inner).unwrap(), fs::metadata(&outer).unwrap());
    assert_eq!((inner.mode() & 0o7777, inner.mtime()), (0o500, before));
    assert_eq!((outer.mode() & 0o700, outer.mtime()), (0o700, 9));
}

#[test]
fn a_chunk_that_is_given_up_and_begun_again_has_nothing_of_the_first_time() {
    let place = tempfile::tempdir().unwrap();
    let (_state, assembly) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&assembly, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
    let mut first = assembly.chunk(0, 0).unwrap().unwrap();
    assembly.piece(&mut first, 0, b"stale").unwrap();
    drop(first);
    let mut again = assembly.chunk(0, 0).unwrap().unwrap();
    assembly.piece(&mut again, 4, b"x").unwrap();
    let digest = *blake3::hash(b"\0\0\0\0x").as_bytes();
    assembly.chunk_end(again, &digest).unwrap();
    assembly.file_end(0, &file_digest(5, &[digest])).unwrap();
    assert!(assembly.name_waiting().unwrap().is_empty());
    assert_eq!(fs::read(place.path().join("file")).unwrap(), b"\0\0\0\0x");
}

/// Sends the chunk of a file of five bytes.
fn chunk(assembly: &Assembly, id: Id, bytes: &[u8; 5]) {
    let mut chunk = assembly.chunk(id, 0).unwrap().unwrap();
    assembly.piece(&mut chunk, 0, bytes).unwrap();
    assembly.chunk_end(chunk, blake3::hash(bytes).as_bytes()).unwrap();
}

fn partials(folder: &Path) -> usize {
    fs::read_dir(folder.join(".tightlink/partial")).unwrap().count()
}

#[test]
fn what_the_journal_says_of_a_file_that_is_gone_makes_no_other_one_the_sessions_own() {
    // The file under way vanishes in three ways: a kill leaves the journal behind, somebody removes it, or it is given
    // up.
    for way in 0..3 {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, b"there").unwrap();
        let meta = fs::metadata(&file).unwrap();
        let same = Stamp { seconds: meta.mtime(), nanos: meta.mtime_nsec() as u32 };
        let (state, one) = assembly(place.path(), Existing::Rename);
        assert_eq!(offered(&one, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
        chunk(&one, 0, b"other");
        let journal = place.path().join(".tightlink/journal");
        let before = fs::read(&journal).unwrap();
        if way == 1 {
            fs::remove_dir_all(place.path().join(".tightlink/partial")).unwrap();
        } else {
            one.gone(0).unwrap();
            assert_eq!(partials(place.path()), 0);
        }
        drop((one, state));
        if way == 0 {
            fs::write(&journal, before).unwrap();
        }
        let (_state, two) = assembly(place.path(), Existing::Rename);
        assert_eq!(offered(&two, 0, five(1, same)).unwrap(), Verdict::Have);
        assert_eq!(offered(&two, 1, five(2, Stamp::default())).unwrap(), Verdict::Want);
        two.small(1, b"evil!", &small_file_digest(b"evil!").0).unwrap();
        assert!(two.name_waiting().unwrap().is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"there");
    }
}

#[test]
fn the_journal_knows_of_a_chunk_before_its_file_can_get_its_name_and_of_its_end_before_it_goes() {
    let place = tempfile::tempdir().unwrap();
    let (state, one) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&one, 0, five(1, Stamp::default())).unwrap(), Verdict::Want);
    one.small(0, b"other", &small_file_digest(b"other").0).unwrap();
    fs::write(place.path().join("file"), b"there").unwrap();
    assert_eq!(one.name_waiting().unwrap().len(), 1, "its name is taken");
    // The journal is not flushed, because the process is killed here.
    let journal = fs::read(place.path().join(".tightlink/journal")).unwrap();
    drop((one, state));
    fs::write(place.path().join(".tightlink/journal"), journal).unwrap();
    let (_state, two) = assembly(place.path(), Existing::Refuse);
    assert!(two.journal().partials().next().is_none(), "nothing is under way");
}

#[test]
fn what_comes_after_a_folder_was_moved_away_does_not_follow_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("inbox");
    fs::create_dir(&folder).unwrap();
    let (_state, assembly) = assembly(&folder, Existing::Refuse);
    let tools = Entry { name: Name::new(b"tools".to_vec()).unwrap(), kind: Kind::Folder, ..entry() };
    assert_eq!(offered(&assembly, 0, tools.clone()).unwrap(), Verdict::Have);
    let inner = |version| Entry {
        name: Name::new(b"tools/file".to_vec()).unwrap(),
        ..five(version, Stamp::default())
    };
    assert_eq!(offered(&assembly, 1, inner(1)).unwrap(), Verdict::Want);
    assembly.small(1, b"first", &small_file_digest(b"first").0).unwrap();
    assert!(assembly.name_waiting().unwrap().is_empty());
    // The user moves the folder away.
    fs::rename(folder.join("tools"), place.path().join("home")).unwrap();
    std::thread::park_timeout(std::time::Duration::from_millis(5));
    assert_eq!(offered(&assembly, 2, inner(2)).unwrap(), Verdict::Want);
    assembly.small(2, b"evil!", &small_file_digest(b"evil!").0).unwrap();
    assert_eq!(assembly.name_waiting().unwrap().len(), 1, "there is no such folder");
    assert_eq!(fs::read(place.path().join("home/file")).unwrap(), b"first");
}

#[test]
fn of_the_versions_of_a_file_one_lies_there_and_holds_no_descriptor() {
    let place = tempfile::tempdir().unwrap();
    for session in 0..3 {
        let (_state, assembly) = assembly(place.path(), Existing::Refuse);
        for version in 0..4u8 {
            assembly.begin().unwrap();
            let offer = five(version + 4 * session, Stamp::default());
            assert_eq!(offered(&assembly, 0, offer.clone()).unwrap(), Verdict::Want);
            assert!(
                matches!(offered(&assembly, 1, five(100, Stamp::default())).unwrap(), Verdict::Refused(_)),
                "one of its name is under way"
            );
            chunk(&assembly, 0, b"bytes");
            assert_eq!(partials(place.path()), 1, "version {version} in session {session}");
            let open = assembly.find(0).unwrap();
            assert!(open.lock().file.upgrade().is_none(), "it is closed between chunks");
        }
    }
}

#[test]
fn a_resume_reads_no_holes() {
    let place = tempfile::tempdir().unwrap();
    let (state, one) = assembly(place.path(), Existing::Refuse);
    let size = 8u64 << 20;
    let offer = Entry { kind: Kind::File { size, chunk: 20, version: [1; 16] }, ..entry() };
    assert_eq!(offered(&one, 0, offer.clone()).unwrap(), Verdict::Want);
    let mut hollow = vec![0; 1 << 20];
    hollow[(1 << 20) - 1] = 7;
    let digest = *blake3::hash(&hollow).as_bytes();
    for index in 0..8 {
        let mut chunk = one.chunk(0, index).unwrap().unwrap();
        one.piece(&mut chunk, (1 << 20) - 1, &[7]).unwrap();
        one.chunk_end(chunk, &digest).unwrap();
    }
    drop((one, state));
    let (_state, two) = assembly(place.path(), Existing::Refuse);
    assert_eq!(offered(&two, 0, offer).unwrap(), Verdict::Have);
    let read = two.counts().read;
    assert!(read <= 8 * 64 * 1024, "{read} bytes were read of eight blocks");
}
