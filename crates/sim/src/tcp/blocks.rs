//! SACK blocks (RFC 2018): an acknowledgement's report of segments beyond its cumulative point, if acknowledgements
//! before it may have been lost.

use super::bits::BitRing;

/// Segments from the first number up to, but not including, the second.
pub(crate) type Block = (u64, u64);

/// The SACK option of one acknowledgement: blocks, the most recently changed first. If no acknowledgement can be lost,
/// the option names only segments that earlier acknowledgements did not name, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SackBlocks {
    blocks: [Block; SackBlocks::ROOM],
    count: u8,
}

impl SackBlocks {
    /// The most blocks. A header has 40 bytes for options: four blocks fit, or three with time stamps [rfc2018:3].
    pub(crate) const MOST: usize = 4;
    /// The capacity of the array: one block more than fits, so that an overfull option can be recognized.
    const ROOM: usize = Self::MOST + 1;
    /// No blocks.
    pub(crate) const NONE: Self = Self { blocks: [(0, 0); Self::ROOM], count: 0 };

    /// Makes an option of the first of `blocks`, as many as there is room for.
    pub(crate) fn of(blocks: &[Block]) -> Self {
        let mut option = Self::NONE;
        for (slot, block) in option.blocks.iter_mut().zip(blocks) {
            *slot = *block;
            option.count += 1;
        }
        option
    }

    /// Returns true if one acknowledgement has room for the blocks.
    pub(super) fn fit(&self) -> bool {
        usize::from(self.count) <= Self::MOST
    }

    /// Adds `block`, merged with a block that it touches, if there is one.
    ///
    /// # Panics
    /// If the option is full.
    pub(super) fn add(&mut self, (start, end): Block) {
        let touches = |block: &&mut Block| start <= block.1 && end >= block.0;
        match self.blocks[..usize::from(self.count)].iter_mut().find(touches) {
            Some(block) => *block = (block.0.min(start), block.1.max(end)),
            None => {
                self.blocks[usize::from(self.count)] = (start, end);
                self.count += 1;
            }
        }
    }

    pub(crate) fn as_slice(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Returns the bytes on the wire: eight per block, two of the option itself, two of padding [rfc2018:3].
    pub(crate) fn wire_len(&self) -> u32 {
        if self.count == 0 { 0 } else { 8 * u32::from(self.count) + 4 }
    }
}

/// The blocks reported lately, so that each is repeated in several acknowledgements [rfc2018:4].
#[derive(Clone, Debug)]
pub(super) struct Reported {
    recent: Vec<Block>,
    room: usize,
}

impl Reported {
    pub(super) fn new(timestamps: bool) -> Self {
        let room = if timestamps { SackBlocks::MOST - 1 } else { SackBlocks::MOST };
        Self { recent: Vec::with_capacity(room + 1), room }
    }

    /// Forgets all blocks, for a fresh connection.
    pub(super) fn renewed(&self) -> Self {
        Self { recent: Vec::with_capacity(self.room + 1), room: self.room }
    }

    /// Adds the block around `segment`, which has just been set in `early`. The bits of `early` lie between `low` and
    /// `high`.
    pub(super) fn add(&mut self, segment: u64, early: &BitRing, low: u64, high: u64) {
        let start = early.last_clear(low, segment).map_or(low, |clear| clear + 1);
        let end = early.first_clear(segment, high + 1).unwrap_or(high + 1);
        self.recent.retain(|(from, to)| *to < start || *from > end);
        self.recent.insert(0, (start, end));
        self.recent.truncate(self.room);
    }

    /// Forgets the blocks below `expected`, where everything has been delivered.
    pub(super) fn forget_below(&mut self, expected: u64) {
        self.recent.retain(|(_, to)| *to > expected);
    }

    pub(super) fn blocks(&self) -> SackBlocks {
        SackBlocks::of(&self.recent)
    }
}
