//! [`Chunks`] and [`ChunkHasher`]: the division of a file into chunks, and its digest.
//!
//! A chunk is the checkpoint: once it is complete, verified and written, it is never sent again. Chunks are 1 MiB,
//! larger for files that would have more than [`MOST_CHUNKS`] of them. A chunk's digest is BLAKE3 of its bytes, holes
//! read as zeros. A file's digest is BLAKE3 of its length and its chunks' digests. So chunks may arrive in any order,
//! over any connection, before and after an interruption. The whole file is still verified.

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;

/// A BLAKE3 digest of 256 bits.
pub type Digest = [u8; 32];

/// The exponent of a chunk's size.
pub type Log2 = u8;

/// The exponent of the smallest chunk size, 1 MiB: at 10 Mbit/s an interruption loses less than a second.
pub const SMALLEST: Log2 = 20;
/// The exponent of the largest chunk size; the greatest number of such chunks makes 256 TiB.
const LARGEST: Log2 = 32;
/// The greatest number of chunks; their digests fit into one message.
pub const MOST_CHUNKS: u64 = 1 << 16;

/// A file's size and its division into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunks {
    size: u64,
    log2: Log2,
}

impl Chunks {
    /// Divides a file of `size` bytes.
    #[must_use]
    pub fn new(size: u64) -> Self {
        let mut log2 = SMALLEST;
        while log2 < LARGEST && size.div_ceil(1 << log2) > MOST_CHUNKS {
            log2 += 1;
        }
        Self { size, log2 }
    }

    /// Checks the division that the other side claims. Returns `None` unless it is the division that a file of this
    /// size must have.
    #[must_use]
    pub fn checked(size: u64, log2: Log2) -> Option<Self> {
        let chunks = Self::new(size);
        let sane = log2 == chunks.log2 && size.div_ceil(1 << log2) <= MOST_CHUNKS;
        (sane && i64::try_from(size).is_ok()).then_some(chunks)
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.size
    }

    /// Returns the exponent of the chunks' size.
    #[must_use]
    pub const fn log2(self) -> Log2 {
        self.log2
    }

    /// Returns the number of chunks, which is 0 for an empty file.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.size.div_ceil(1 << self.log2) as u32
    }

    /// Returns the range of bytes of chunk `index`; empty if the file does not have that chunk.
    #[must_use]
    pub fn range(self, index: u32) -> Range<u64> {
        let start = (u64::from(index) << self.log2).min(self.size);
        start..(start + (1 << self.log2)).min(self.size)
    }

    /// Returns the length of chunk `index` in bytes.
    #[must_use]
    pub fn length(self, index: u32) -> u64 {
        let range = self.range(index);
        range.end - range.start
    }
}

/// Computes the digest of a file of `size` bytes from those of its chunks, in order.
#[must_use]
pub fn file_digest<'a>(size: u64, chunks: impl IntoIterator<Item = &'a Digest>) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("tightlink 2026-11 file digest");
    hasher.update(&size.to_le_bytes());
    for digest in chunks {
        hasher.update(digest);
    }
    *hasher.finalize().as_bytes()
}

/// Computes the digest of a file that is one chunk, or empty, and that of the chunk.
#[must_use]
pub fn small_file_digest(bytes: &[u8]) -> (Digest, Option<Digest>) {
    let chunk = (!bytes.is_empty()).then(|| *blake3::hash(bytes).as_bytes());
    (file_digest(bytes.len() as u64, &chunk), chunk)
}

/// The size of a part of BLAKE3's tree that is hashed at once. A hole of any length costs at most two of them.
const GROUP: u64 = 64 << 10;
static ZEROS: [u8; GROUP as usize] = [0; GROUP as usize];

/// The digest of a chunk, computed as its bytes arrive in order.
#[derive(Clone, Debug, Default)]
pub struct ChunkHasher {
    /// The group begun last. It is closed only once bytes are known to follow it.
    group: blake3::Hasher,
    /// The trees over the groups before it, each with the exponent of its number of groups; larger ones come first.
    before: Vec<(u32, ChainingValue)>,
    at: u64,
}

impl ChunkHasher {
    /// Returns the number of bytes taken so far, holes included.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Takes the bytes at `offset`. The gap before them is a hole.
    ///
    /// # Panics
    /// If `offset` lies before bytes taken already.
    pub fn update(&mut self, offset: u64, mut bytes: &[u8]) {
        assert!(offset >= self.at, "bytes of a chunk come in order");
        if bytes.is_empty() {
            return;
        }
        self.skip_to(offset);
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(self.room()));
            self.group.update(now);
            self.at += now.len() as u64;
            bytes = rest;
        }
    }

    /// Skips a hole up to `offset`. At least one byte must follow.
    fn skip_to(&mut self, offset: u64) {
        while self.at < offset {
            let (left, place) = (offset - self.at, self.at / GROUP);
            if self.at.is_multiple_of(GROUP) && left >= GROUP {
                self.room();
                let level = (left / GROUP).ilog2().min(place.trailing_zeros());
                self.push(level, hollow(level, place >> level));
                self.at += GROUP << level;
            } else {
                let zeros = self.room().min(left as usize);
                self.group.update(&ZEROS[..zeros]);
                self.at += zeros as u64;
            }
        }
    }

    /// Returns the number of bytes that the group still takes, and closes a full group first. At least one byte must
    /// follow.
    fn room(&mut self) -> usize {
        if self.at.is_multiple_of(GROUP) {
            if self.group.count() > 0 {
                self.push(0, self.group.finalize_non_root());
            }
            self.group = blake3::Hasher::new();
            self.group.set_input_offset(self.at);
        }
        (GROUP - self.at % GROUP) as usize
    }

    /// Adds a tree over the next `1 << level` groups. Bytes follow, so two trees of one size make a larger one.
    fn push(&mut self, level: u32, value: ChainingValue) {
        let (mut level, mut value) = (level, value);
        while let Some((_, left)) = self.before.pop_if(|(before, _)| *before == level) {
            (level, value) = (level + 1, merge_subtrees_non_root(&left, &value, Mode::Hash));
        }
        self.before.push((level, value));
    }

    /// Returns the digest of a chunk of `length` bytes. The bytes that have not arrived are a hole.
    #[must_use]
    pub fn finish(mut self, length: u64) -> Digest {
        // The last group must have at least one byte.
        self.skip_to(length.saturating_sub(1) / GROUP * GROUP);
        if self.at < length {
            let zeros = (length - self.at).min(self.room() as u64);
            self.group.update(&ZEROS[..zeros as usize]);
        }
        let Some((_, mut left)) = self.before.pop() else { return *self.group.finalize().as_bytes() };
        let mut right = self.group.finalize_non_root();
        while let Some((_, before)) = self.before.pop() {
            right = merge_subtrees_non_root(&left, &right, Mode::Hash);
            left = before;
        }
        *merge_subtrees_root(&left, &right, Mode::Hash).as_bytes()
    }
}

/// Returns the value of a tree over `1 << level` groups of zeros, from group `index << level` on. Each is computed
/// once.
fn hollow(level: u32, index: u64) -> ChainingValue {
    type Values = OnceLock<Box<[OnceLock<ChainingValue>]>>;
    /// Known values by a tree's in-order number; row r has the numbers from 2^r on. Small chunks need few rows.
    static KNOWN: [Values; (LARGEST as usize) + 1] = [const { OnceLock::new() }; (LARGEST as usize) + 1];
    let number = (2 * index + 1) << level;
    let row = number.ilog2();
    let row_values = KNOWN[row as usize].get_or_init(|| (0..1 << row).map(|_| OnceLock::new()).collect());
    *row_values[(number - (1 << row)) as usize].get_or_init(|| match level.checked_sub(1) {
        Some(half) => {
            let (left, right) = (hollow(half, 2 * index), hollow(half, 2 * index + 1));
            merge_subtrees_non_root(&left, &right, Mode::Hash)
        }
        None => blake3::Hasher::new().set_input_offset(index * GROUP).update(&ZEROS).finalize_non_root(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let length = 1 << LARGEST;
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
            let unit = if whole_groups { GROUP as usize } else { 1 };
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
}
