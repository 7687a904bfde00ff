//! The parts of a sender that are loaded into the processor's cache before its next acknowledgement comes.

use super::Sender;
use super::options::Options;
use crate::early;
use std::mem;

impl Sender {
    /// The bytes from the beginning of a sender that an acknowledgement touches in a sender with windows alone.
    pub(crate) const HOT: usize = mem::offset_of!(Self, pacing) + size_of::<u64>();

    /// Begins to load the states of the controller and the options into the processor's cache.
    #[inline]
    pub(crate) fn load_boxes(&self) {
        if let Some((first, size)) = self.control.hot_state() {
            early::load(first, size);
        }
        if let Some(options) = &self.options {
            options.load_early();
        }
    }

    /// Returns the bytes of its boxes, as far as they are known.
    #[cfg(test)]
    pub(crate) fn boxes(&self) -> usize {
        let control = self.control.hot_state().map_or(0, |(_, size)| size);
        control + self.options.as_ref().map_or(0, |_| size_of::<Options>())
    }

    /// Begins to load what lies behind the options, which must have been loaded.
    #[inline]
    pub(crate) fn load_times(&self) {
        if let Some(options) = &self.options {
            options.load_times(self.board.una());
        }
    }
}

impl Options {
    /// Begins to load the options into the processor's cache.
    #[inline]
    pub(super) fn load_early(&self) {
        early::load(&self.before.una, size_of::<Self>());
    }

    /// Begins to load the times of the first segments from `una` on; the options themselves must have been loaded.
    #[inline]
    pub(super) fn load_times(&self, una: u64) {
        if let Some(timed) = &self.rack {
            timed.rack.load_time(una);
        }
        if let Some(offload) = &self.offload {
            offload.load_time(una);
        }
    }
}
