//! How a file is cut into chunks, and what its digest is.
//!
//! A chunk is the checkpoint: once it is whole, verified and written it is never sent again. Chunks are 1 MiB, larger
//! for files that would have more than [`MOST_CHUNKS`] of them. A chunk's digest is BLAKE3 of its bytes, holes read
//! as zeros. A file's digest is BLAKE3 of its length and its chunks' digests. So chunks may arrive in any order, over
//! any connection, before and after an interruption. The whole file is still verified.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;

/// BLAKE3, 256 bits.
pub type Digest = [u8; 32];

/// Exponent of a chunk's size.
pub type Log2 = u8;

/// 1 MiB: at 10 Mbit/s less than a second is lost by an interruption.
pub const SMALLEST: Log2 = 20;
/// 256 TiB in the most chunks there may be.
const LARGEST: Log2 = 32;
/// So many digests fit into one message.
pub const MOST_CHUNKS: u64 = 1 << 16;

/// A file's size and how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunks {
    size: u64,
    log2: Log2,
}

impl Chunks {
    /// How a file of `size` bytes is cut.
    #[must_use]
    pub fn new(size: u64) -> Self {
        let mut log2 = SMALLEST;
        while log2 < LARGEST && size.div_ceil(1 << log2) > MOST_CHUNKS {
            log2 += 1;
        }
        Self { size, log2 }
    }

    /// As the other side says; `None` if no file is cut like that: there is one way to cut a file.
    #[must_use]
    pub fn checked(size: u64, log2: Log2) -> Option<Self> {
        let chunks = Self::new(size);
        let sane = log2 == chunks.log2 && size.div_ceil(1 << log2) <= MOST_CHUNKS;
        (sane && i64::try_from(size).is_ok()).then_some(chunks)
    }

    /// Bytes of the file.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.size
    }

    /// Exponent of the chunks' size.
    #[must_use]
    pub const fn log2(self) -> Log2 {
        self.log2
    }

    /// How many there are; an empty file has none.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.size.div_ceil(1 << self.log2) as u32
    }

    /// The bytes of chunk `index`; empty if there is none.
    #[must_use]
    pub fn range(self, index: u32) -> Range<u64> {
        let start = (u64::from(index) << self.log2).min(self.size);
        start..(start + (1 << self.log2)).min(self.size)
    }

    /// Bytes of chunk `index`.
    #[must_use]
    pub fn length(self, index: u32) -> u64 {
        let range = self.range(index);
        range.end - range.start
    }
}

/// The digest of a file of `size` bytes from those of its chunks, in order.
#[must_use]
pub fn file_digest<'a>(size: u64, chunks: impl IntoIterator<Item = &'a Digest>) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("tightlink 2026-11 file digest");
    hasher.update(&size.to_le_bytes());
    for digest in chunks {
        hasher.update(digest);
    }
    *hasher.finalize().as_bytes()
}

/// The digest of a file that is one chunk, or empty, and that of the chunk.
#[must_use]
pub fn small_file_digest(bytes: &[u8]) -> (Digest, Option<Digest>) {
    let chunk = (!bytes.is_empty()).then(|| *blake3::hash(bytes).as_bytes());
    (file_digest(bytes.len() as u64, &chunk), chunk)
}

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The digest of a chunk as its bytes come along, in order.
#[derive(Clone, Debug)]
pub struct ChunkHasher {
    hasher: blake3::Hasher,
    at: u64,
    /// Nothing but holes so far.
    hollow: bool,
}

impl Default for ChunkHasher {
    fn default() -> Self {
        Self { hasher: blake3::Hasher::new(), at: 0, hollow: true }
    }
}

impl ChunkHasher {
    /// How many bytes have come along, holes included.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// These bytes come at `offset`; what lies before them is a hole.
    ///
    /// # Panics
    /// If `offset` lies before what has come already.
    pub fn update(&mut self, offset: u64, bytes: &[u8]) {
        assert!(offset >= self.at, "bytes of a chunk come in order");
        self.skip_to(offset);
        self.hasher.update(bytes);
        self.hollow &= bytes.is_empty();
        self.at += bytes.len() as u64;
    }

    fn skip_to(&mut self, offset: u64) {
        while self.at < offset {
            let zeros = (offset - self.at).min(ZEROS.len() as u64);
            self.hasher.update(&ZEROS[..zeros as usize]);
            self.at += zeros;
        }
    }

    /// The digest of a chunk of `length` bytes; what has not come is a hole. A whole chunk that is nothing but hole
    /// is not hashed again each time.
    #[must_use]
    pub fn finish(mut self, length: u64) -> Digest {
        static HOLLOW: [OnceLock<Digest>; (LARGEST - SMALLEST + 1) as usize] =
            [const { OnceLock::new() }; (LARGEST - SMALLEST + 1) as usize];
        let known = self.known_hollow(length);
        let zeros = |mut hasher: Self| {
            hasher.skip_to(length);
            *hasher.hasher.finalize().as_bytes()
        };
        if let Some(known) = known {
            return *HOLLOW[known].get_or_init(|| zeros(self));
        }
        self.skip_to(length);
        *self.hasher.finalize().as_bytes()
    }

    /// How many zeros [`finish`](Self::finish) will hash.
    #[must_use]
    pub fn zeros_to(&self, length: u64) -> u64 {
        if self.known_hollow(length).is_some() { 0 } else { length.saturating_sub(self.at) }
    }

    /// Where the digest of a chunk that is nothing but hole is kept, if this is one.
    fn known_hollow(&self, length: u64) -> Option<usize> {
        let whole = length.is_power_of_two() && self.hollow && self.at == 0;
        let log2 = whole.then(|| length.trailing_zeros())?;
        (u32::from(SMALLEST)..=u32::from(LARGEST))
            .contains(&log2)
            .then(|| (log2 - u32::from(SMALLEST)) as usize)
    }
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

    proptest! {
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
