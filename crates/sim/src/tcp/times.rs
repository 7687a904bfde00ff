//! The times at which the segments of a sliding range were sent.

use prefetch_index::prefetch_index;
use units::Time;

/// A ring of times, each at its segment's number modulo the ring's length.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The times; their number is a power of two.
    ring: Box<[Time]>,
}

impl Times {
    /// Begins to load the time of `segment` into the processor's cache.
    #[inline]
    pub(super) fn load_early(&self, segment: u64) {
        prefetch_index(&self.ring, self.place(segment));
    }

    /// Creates a ring with room for `size` segments, a power of two.
    pub(super) fn new(size: usize) -> Self {
        Self { ring: vec![Time::ZERO; size].into_boxed_slice() }
    }

    /// Returns the capacity less one.
    #[inline]
    fn mask(&self) -> u64 {
        self.ring.len() as u64 - 1
    }

    #[inline]
    fn place(&self, segment: u64) -> usize {
        (segment & self.mask()) as usize
    }

    /// Makes room for the range `low..=high`, and keeps the times in it.
    #[inline]
    pub(super) fn reserve(&mut self, low: u64, high: u64) {
        if high - low > self.mask() {
            self.grow(low, high);
        }
    }

    #[cold]
    fn grow(&mut self, low: u64, high: u64) {
        let old = std::mem::replace(self, Self::new((high - low + 1).next_power_of_two() as usize));
        for at in low..=low + old.mask() {
            self.set(at, old.get(at));
        }
    }

    #[inline]
    pub(super) fn get(&self, at: u64) -> Time {
        self.ring[self.place(at)]
    }

    #[inline]
    pub(super) fn set(&mut self, at: u64, sent: Time) {
        let place = self.place(at);
        self.ring[place] = sent;
    }
}
