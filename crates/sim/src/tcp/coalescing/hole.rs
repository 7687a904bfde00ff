//! The acknowledgements beyond a hole, if no acknowledgement can be lost: some of them are gathered, and one
//! acknowledgement replaces them.

use crate::tcp::blocks::{Block, SackBlocks};
use crate::tcp::receiver::Acknowledgement;
use units::{Span, Time};

/// The number of acknowledgements of one hole that leave at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u64 = 3;
/// The most acknowledgements that are gathered (`tcp_comp_sack_nr`).
const MOST_GATHERED: u64 = 44;

/// The state beyond a hole.
#[derive(Debug)]
pub(super) struct Hole {
    /// The segment below which everything has arrived.
    at: u64,
    /// The number of acknowledgements of this hole that have left.
    reported: u64,
    gathered: u64,
    /// The blocks that the gathered acknowledgements would have named; those that the last acknowledgement names, if
    /// `named` is true.
    blocks: SackBlocks,
    named: bool,
    newest: Option<u64>,
    due: Time,
}

impl Default for Hole {
    fn default() -> Self {
        Self {
            at: 0,
            reported: 0,
            gathered: 0,
            blocks: SackBlocks::NONE,
            named: false,
            newest: None,
            due: Time::NEVER,
        }
    }
}

impl Hole {
    /// Returns the time at which the gathered acknowledgements leave.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// Returns true if acknowledgements are being gathered.
    #[inline]
    pub(super) fn gathers(&self) -> bool {
        self.gathered > 0
    }

    /// Returns the blocks that the last acknowledgement names.
    pub(super) fn named(&self) -> SackBlocks {
        self.blocks
    }

    /// Takes an acknowledgement that reports `block` beyond the hole. Returns the acknowledgement if it leaves, and
    /// `None` if it waits, for `wait` at the longest; `None` there: no acknowledgement waits.
    pub(super) fn compress(
        &mut self,
        now: Time,
        ack: Acknowledgement,
        block: Option<Block>,
        wait: Option<Span>,
    ) -> Option<Acknowledgement> {
        if self.at != ack.cumulative {
            (self.at, self.reported) = (ack.cumulative, 0);
        }
        if let Some(block) = block {
            self.add(block);
        }
        let full = self.gathered == MOST_GATHERED || !self.blocks.fit();
        let Some(wait) = wait.filter(|_| self.reported >= AT_ONCE && !full) else {
            self.reported += 1;
            self.name_blocks();
            return Some(ack);
        };
        self.newest = ack.sacked.or(self.newest);
        self.gathered += 1;
        if self.due == Time::NEVER {
            self.due = now + wait;
        }
        None
    }

    /// Forgets the gathered acknowledgements, because another one replaces them. Returns the newest segment that they
    /// would have named.
    pub(super) fn release(&mut self) -> Option<u64> {
        let newest = self.newest;
        self.name_blocks();
        newest
    }

    /// Lets an acknowledgement name the blocks of the gathered ones, and `block`.
    pub(super) fn name_all(&mut self, block: Option<Block>) {
        self.name_blocks();
        if let Some(block) = block {
            self.blocks.add(block);
        }
    }

    /// Forgets the gathered acknowledgements, because another one replaces them, which names their blocks.
    fn name_blocks(&mut self) {
        (self.gathered, self.newest, self.due) = (0, None, Time::NEVER);
        if self.named {
            self.blocks = SackBlocks::NONE;
        }
        self.named = true;
    }

    /// Adds a block to those that the gathered acknowledgements would have named.
    fn add(&mut self, block: Block) {
        if self.named {
            (self.named, self.blocks) = (false, SackBlocks::NONE);
        }
        self.blocks.add(block);
    }
}
