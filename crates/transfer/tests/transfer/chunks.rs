//! The chunks of a file, and their digests.

use proptest::prelude::*;

/// The bytes that are hashed or skipped together.
const GROUP: usize = 64 << 10;
use tightlink_transfer::chunks::*;

#[test]
fn chunks_cover_the_file_and_are_few() {
    for size in [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 1 << 36, (1 << 36) + 1, 1 << 47] {
        let chunks = Chunks::new(size);
        assert!(u64::from(chunks.count()) <= MOST_CHUNKS, "{size}");
        let mut at = 0;
        for index in 0..chunks.count() {
            let range = chunks.range(index);
            assert_eq!(range.start, at);
            assert!(range.end > at);
            at = range.end;
        }
        assert_eq!(at, size);
        assert_eq!(chunks.length(chunks.count()), 0);
        assert_eq!(Chunks::checked(size, chunks.log2()), Some(chunks));
    }
    assert_eq!(Chunks::checked(1 << 40, 20), None, "too many chunks");
    assert_eq!(Chunks::checked(1, 40), None);
    assert_eq!(Chunks::checked(1, 3), None);
    assert_eq!(Chunks::checked(5 << 30, 32), None, "larger chunks than it is cut into");
}

#[test]
fn holes_hash_as_zeros() {
    let mut hasher = ChunkHasher::default();
    hasher.update(3, b"abc");
    hasher.update(100_000, b"d");
    let mut bytes = vec![0; 200_000];
    bytes[3..6].copy_from_slice(b"abc");
    bytes[100_000] = b'd';
    assert_eq!(hasher.finish(200_000), *blake3::hash(&bytes).as_bytes());
    for length in [1 << SMALLEST, 5] {
        let zeros = vec![0; length];
        assert_eq!(ChunkHasher::default().finish(length as u64), *blake3::hash(&zeros).as_bytes());
    }
}

#[test]
fn a_hole_of_any_length_costs_little() {
    // The largest chunk.
    let length = 1 << 32;
    // The values of the largest holes are computed only once.
    let all = ChunkHasher::default().finish(length);
    let began = host::Clock::start();
    for _ in 0..100 {
        assert_eq!(ChunkHasher::default().finish(length), all);
        let mut hasher = ChunkHasher::default();
        hasher.update(length / 3, b"x");
        assert_ne!(hasher.finish(length), all);
    }
    // The limit covers 800 GiB of holes.
    assert!(began.now().since(units::Time::ZERO) < units::Span::from_secs(10));
}

proptest! {
    #[test]
    fn pieces_and_holes_hash_as_the_whole_does(
        length in 1_usize..(3 << 20) + 5,
        pieces in prop::collection::vec((0_usize..3 << 20, 1_usize..200_000), 0..6),
        whole_groups in any::<bool>(),
    ) {
        let unit = if whole_groups { GROUP } else { 1 };
        let length = length.next_multiple_of(unit);
        let (mut bytes, mut hasher) = (vec![0; length], ChunkHasher::default());
        let mut pieces: Vec<_> = pieces.iter().map(|&(at, size)| (at / unit * unit, size.next_multiple_of(unit))).collect();
        pieces.sort_unstable();
        for (number, (at, size)) in pieces.into_iter().enumerate() {
            let (at, end) = (at.max(hasher.at() as usize), (at + size).min(length));
            if at < end {
                bytes[at..end].fill(number as u8 + 1);
                hasher.update(at as u64, &bytes[at..end]);
            }
        }
        prop_assert_eq!(hasher.finish(length as u64), *blake3::hash(&bytes).as_bytes());
    }

    #[test]
    fn a_small_files_digest_is_the_same_by_both_ways(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let chunks = Chunks::new(bytes.len() as u64);
        let digests: Vec<Digest> = (0..chunks.count())
            .map(|index| {
                let range = chunks.range(index);
                *blake3::hash(&bytes[range.start as usize..range.end as usize]).as_bytes()
            })
            .collect();
        prop_assert_eq!(small_file_digest(&bytes), (file_digest(bytes.len() as u64, &digests), digests.first().copied()));
    }
}
