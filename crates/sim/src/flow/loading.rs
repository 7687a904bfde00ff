//! The parts of a flow that are loaded into the processor's cache before its next packet arrives.

use super::Flow;
use crate::early;
use crate::tcp::Sender;
use std::mem;

/// The bytes from the beginning of a flow that a segment's arrival touches in a flow with windows alone.
const HOT: usize = mem::offset_of!(Flow, sender) + Sender::HOT;

impl Flow {
    /// Begins to load what the next arrival touches into the processor's cache.
    #[inline]
    pub(crate) fn load_early(&self) {
        early::load(&self.sends_at, HOT);
    }

    /// Begins to load what the next arrival touches beyond the flow itself, which must have been loaded.
    #[inline]
    pub(crate) fn load_boxes(&self) {
        self.samples.load_early();
        self.sender.load_boxes();
        self.receiver.load_boxes();
        self.rare.counts.load_early();
    }

    /// Begins to load what lies behind the boxes, which must have been loaded.
    #[inline]
    pub(crate) fn load_behind(&self) {
        self.sender.load_times();
    }
}

#[cfg(test)]
#[path = "../../tests/within/sizes.rs"]
mod sizes;
