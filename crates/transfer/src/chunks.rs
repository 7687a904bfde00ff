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
/// The exponent of the largest chunk size; a file of [`MOST_CHUNKS`] such chunks has 256 TiB.
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

/// Computes the digest of a file that is empty or a single chunk, and the digest of that chunk.
#[must_use]
pub fn small_file_digest(bytes: &[u8]) -> (Digest, Option<Digest>) {
    let chunk = (!bytes.is_empty()).then(|| *blake3::hash(bytes).as_bytes());
    (file_digest(bytes.len() as u64, &chunk), chunk)
}

/// The size of a group: a subtree of BLAKE3's tree that is hashed at once. In a hole of any length, at most two groups
/// have to be hashed.
const GROUP: u64 = 64 << 10;
static ZEROS: [u8; GROUP as usize] = [0; GROUP as usize];

/// The digest of a chunk, computed as its bytes arrive in order.
#[derive(Clone, Debug, Default)]
pub struct ChunkHasher {
    /// The group begun last. It is closed only once bytes are known to follow it.
    group: blake3::Hasher,
    /// The values of the trees over all earlier groups, each with the exponent of its number of groups, largest first.
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

    /// Adds a hole up to `offset`. The chunk must not end there, because its last group must have at least one byte.
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

    /// Begins a new group if the present one is full. Returns the number of bytes that the group still takes. The chunk
    /// must not end here, because its last group must have at least one byte.
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

    /// Adds a tree over the next `1 << level` groups, and merges two trees of one size into a larger one. More bytes
    /// follow, so no merged tree is the root.
    fn push(&mut self, level: u32, value: ChainingValue) {
        let (mut level, mut value) = (level, value);
        while let Some((_, left)) = self.before.pop_if(|(before, _)| *before == level) {
            (level, value) = (level + 1, merge_subtrees_non_root(&left, &value, Mode::Hash));
        }
        self.before.push((level, value));
    }

    /// Returns the digest of a chunk of `length` bytes. Bytes that were not added count as a hole.
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

/// Returns the value of a tree over `1 << level` groups of zeros, from group `index << level` on. Each value is
/// computed once.
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
