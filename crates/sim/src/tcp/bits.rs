//! A ring of bits addressed by ever-growing sequence numbers.

/// One bit per sequence number in a sliding range. Clear bits cost nothing outside the range in use.
#[derive(Clone, Debug)]
pub(super) struct BitRing {
    words: Vec<u64>,
    /// Capacity in bits less one; the capacity is a power of two.
    mask: u64,
}

impl Default for BitRing {
    fn default() -> Self {
        Self { words: vec![0; 1], mask: 63 }
    }
}

impl BitRing {
    /// Makes room for the range `low..=high` of sequence numbers; bits outside it must be clear.
    #[inline]
    pub(super) fn reserve(&mut self, low: u64, high: u64) {
        if high - low > self.mask {
            self.grow(low, high);
        }
    }

    #[cold]
    fn grow(&mut self, low: u64, high: u64) {
        let bits = (high - low + 1).next_power_of_two().max(64);
        let old = std::mem::replace(self, Self { words: vec![0; (bits / 64) as usize], mask: bits - 1 });
        for at in low..=low + old.mask {
            if old.get(at) {
                self.set(at);
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, at: u64) -> bool {
        let bit = at & self.mask;
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    #[inline]
    pub(super) fn set(&mut self, at: u64) {
        let bit = at & self.mask;
        self.words[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    #[inline]
    pub(super) fn clear(&mut self, at: u64) {
        let bit = at & self.mask;
        self.words[(bit / 64) as usize] &= !(1 << (bit % 64));
    }

    /// Clears `from..to`.
    pub(super) fn clear_range(&mut self, from: u64, to: u64) {
        let mut at = from;
        while at < to {
            let bit = at & self.mask;
            let take = (64 - bit % 64).min(to - at);
            self.words[(bit / 64) as usize] &= !(u64::MAX >> (64 - take) << (bit % 64));
            at += take;
        }
    }

    /// Returns the first clear bit in `from..to`.
    pub(super) fn first_clear(&self, from: u64, to: u64) -> Option<u64> {
        let mut at = from;
        while at < to {
            let bit = at & self.mask;
            let free = u64::from((!self.words[(bit / 64) as usize] >> (bit % 64)).trailing_zeros());
            let left = 64 - bit % 64;
            if free < left {
                return (at + free < to).then_some(at + free);
            }
            at += left;
        }
        None
    }

    /// Returns the first bit in `from..to` that is clear here and in `other`, which holds the same range.
    pub(super) fn first_clear_in_both(&self, other: &Self, from: u64, to: u64) -> Option<u64> {
        let mut at = self.first_clear(from, to)?;
        while other.get(at) {
            at = self.first_clear(at + 1, to)?;
        }
        Some(at)
    }

    /// Returns the last clear bit in `from..to`.
    pub(super) fn last_clear(&self, from: u64, to: u64) -> Option<u64> {
        let mut end = to;
        while end > from {
            // The bits up to and including `end - 1`; higher bits of the word are shifted out.
            let bit = (end - 1) & self.mask;
            let taken = bit % 64 + 1;
            let set = u64::from((!(self.words[(bit / 64) as usize] << (64 - taken))).leading_zeros());
            if set < taken {
                let at = end - 1 - set;
                return (at >= from).then_some(at);
            }
            end = end.saturating_sub(taken);
        }
        None
    }

    /// Returns the number of set bits in `from..to`.
    #[inline(never)]
    pub(super) fn count(&self, from: u64, to: u64) -> u64 {
        let (mut at, mut count) = (from, 0);
        while at < to {
            let bit = at & self.mask;
            let take = (64 - bit % 64).min(to - at);
            let word = self.words[(bit / 64) as usize] >> (bit % 64);
            count += u64::from((word & (u64::MAX >> (64 - take))).count_ones());
            at += take;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_growth_and_wrapping() {
        let mut ring = BitRing::default();
        for at in [1000, 1001, 1050] {
            ring.reserve(1000, at);
            ring.set(at);
        }
        ring.reserve(1000, 1500);
        ring.set(1500);
        let set: Vec<u64> = (1000..=1500).filter(|at| ring.get(*at)).collect();
        assert_eq!(set, [1000, 1001, 1050, 1500]);
        assert_eq!(ring.count(1000, 1501), 4);
        assert_eq!(ring.count(1001, 1050), 1);
        assert_eq!(ring.first_clear(1000, 1500), Some(1002));
        assert_eq!(ring.first_clear(1050, 1051), None);
        assert_eq!(ring.last_clear(1000, 1050), Some(1049));
        assert_eq!(ring.last_clear(1000, 1002), None);
        assert_eq!(ring.last_clear(1050, 1051), None);
        assert_eq!(ring.last_clear(900, 1002), Some(999));
        for at in 1100..1300 {
            ring.set(at);
        }
        assert_eq!(ring.last_clear(1000, 1299), Some(1099));
        assert_eq!(ring.last_clear(1100, 1299), None);
        ring.clear(1050);
        assert!(!ring.get(1050));
    }
}
