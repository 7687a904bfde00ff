//! What a receiver that was killed believes of what it finds.

use super::*;
use crate::name::Name;
use crate::wire::control::Stamp;
use std::fs;

const SIZE: usize = (1 << 20) + 5;

fn entry() -> Entry {
    let kind = Kind::File { size: SIZE as u64, chunk: 20, version: [1; 16] };
    Entry { name: Name::new(b"file".to_vec()).unwrap(), kind, mode: 0o644, modified: Stamp::default() }
}

fn landing(folder: &Path) -> Landing {
    let journal = Journal::open(&folder.join(".tightlink/journal"), [1; 16]).unwrap();
    Landing::open(folder, journal, Clock::start()).unwrap()
}

/// Receives the file, and forgets what the journal says after its last chunk: the process was killed there, when the file had
/// its name already.
fn killed_after_the_rename(folder: &Path) -> Vec<u8> {
    fs::create_dir_all(folder.join(".tightlink")).unwrap();
    let content: Vec<u8> = (0..SIZE).map(|index| (index % 249) as u8).collect();
    let journal = folder.join(".tightlink/journal");
    let landing = landing(folder);
    assert_eq!(landing.offer(0, entry()).unwrap(), Verdict::Want);
    let mut digests = Vec::new();
    for (index, bytes) in content.chunks(1 << 20).enumerate() {
        let mut chunk = landing.chunk(0, index as u32).unwrap().unwrap();
        landing.piece(&mut chunk, 0, bytes).unwrap();
        digests.push(*blake3::hash(bytes).as_bytes());
        landing.chunk_end(chunk, &digests[index]).unwrap();
    }
    let before = fs::read(&journal).unwrap();
    landing.file_end(0, &file_digest(SIZE as u64, &digests)).unwrap();
    assert_eq!(fs::read(folder.join("file")).unwrap(), content);
    drop(landing);
    fs::write(&journal, before).unwrap();
    content
}

#[test]
fn a_file_that_got_its_name_just_before_a_kill_is_not_sent_again() {
    let place = tempfile::tempdir().unwrap();
    killed_after_the_rename(place.path());
    let landing = landing(place.path());
    assert_eq!(landing.offer(0, entry()).unwrap(), Verdict::Have);
    assert_eq!(landing.counts().bytes, SIZE as u64);
}

#[test]
fn another_file_of_that_name_and_size_is_not_taken_for_it() {
    let place = tempfile::tempdir().unwrap();
    let mut content = killed_after_the_rename(place.path());
    content[SIZE - 1] ^= 1;
    fs::write(place.path().join("file"), content).unwrap();
    assert_eq!(landing(place.path()).offer(0, entry()).unwrap(), Verdict::Want);
}
