//! A ring of bits addressed by ever-growing sequence numbers.

/// One bit per sequence number in a sliding range. Clear bits cost nothing outside the range in use. A range of up to 64
/// numbers takes no further memory.
#[derive(Clone, Debug, Default)]
pub(super) struct BitRing {
    /// The bits, while they fit.
    word: u64,
    /// The bits otherwise; their number is a power of two.
    words: Box<[u64]>,
}

impl BitRing {
    /// Makes room for the range `low..=high` of sequence numbers; bits outside it must be clear.
    #[inline]
    pub(super) fn reserve(&mut self, low: u64, high: u64) {
        if high - low > self.mask() {
            self.grow(low, high);
        }
    }

    /// Returns the capacity in bits less one.
    #[inline]
    fn mask(&self) -> u64 {
        self.words.len().max(1) as u64 * 64 - 1
    }

    /// Returns the word with the bit of `at`, and the bit's place in it.
    #[inline]
    fn word(&self, at: u64) -> (u64, u64) {
        let bit = at & self.mask();
        (self.words.get((bit / 64) as usize).copied().unwrap_or(self.word), bit % 64)
    }

    #[inline]
    fn word_mut(&mut self, at: u64) -> (&mut u64, u64) {
        let bit = at & self.mask();
        (self.words.get_mut((bit / 64) as usize).unwrap_or(&mut self.word), bit % 64)
    }

    #[cold]
    fn grow(&mut self, low: u64, high: u64) {
        let bits = (high - low + 1).next_power_of_two();
        let words = vec![0; (bits / 64) as usize].into_boxed_slice();
        let old = std::mem::replace(self, Self { word: 0, words });
        for at in low..=low + old.mask() {
            if old.get(at) {
                self.set(at);
            }
        }
    }

    /// Gives memory back; all bits must be clear.
    #[inline]
    pub(super) fn shrink(&mut self) {
        if !self.words.is_empty() {
            *self = Self::default();
        }
    }

    #[inline]
    pub(super) fn get(&self, at: u64) -> bool {
        let (word, bit) = self.word(at);
        word >> bit & 1 == 1
    }

    #[inline]
    pub(super) fn set(&mut self, at: u64) {
        let (word, bit) = self.word_mut(at);
        *word |= 1 << bit;
    }

    #[inline]
    pub(super) fn clear(&mut self, at: u64) {
        let (word, bit) = self.word_mut(at);
        *word &= !(1 << bit);
    }

    /// Clears `from..to`.
    pub(super) fn clear_range(&mut self, from: u64, to: u64) {
        let mut at = from;
        while at < to {
            let (word, bit) = self.word_mut(at);
            let take = (64 - bit).min(to - at);
            *word &= !(u64::MAX >> (64 - take) << bit);
            at += take;
        }
    }

    /// Returns the first clear bit in `from..to`.
    pub(super) fn first_clear(&self, from: u64, to: u64) -> Option<u64> {
        let mut at = from;
        while at < to {
            let (word, bit) = self.word(at);
            let free = u64::from((!word >> bit).trailing_zeros());
            let left = 64 - bit;
            if free < left {
                return (at + free < to).then_some(at + free);
            }
            at += left;
        }
        None
    }

    /// Returns the first bit in `from..to` that is clear here and in `other`, which holds the same range.
    pub(super) fn first_clear_in_both(&self, other: &Self, from: u64, to: u64) -> Option<u64> {
        debug_assert_eq!(self.mask(), other.mask(), "rings of the same length");
        let mut at = from;
        while at < to {
            let ((own, bit), (others, _)) = (self.word(at), other.word(at));
            let free = u64::from((!(own | others) >> bit).trailing_zeros());
            let left = 64 - bit;
            if free < left {
                return (at + free < to).then_some(at + free);
            }
            at += left;
        }
        None
    }

    /// Returns the last clear bit in `from..to`.
    pub(super) fn last_clear(&self, from: u64, to: u64) -> Option<u64> {
        let mut end = to;
        while end > from {
            // The bits up to and including `end - 1`; higher bits of the word are shifted out.
            let (word, bit) = self.word(end - 1);
            let taken = bit + 1;
            let set = u64::from((!(word << (64 - taken))).leading_zeros());
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
            let (word, bit) = self.word(at);
            let take = (64 - bit).min(to - at);
            count += u64::from(((word >> bit) & (u64::MAX >> (64 - take))).count_ones());
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
        assert!(!ring.get(77));
        assert_eq!(
            (ring.count(5, 500), ring.first_clear(5, 500), ring.first_clear(5, 5)),
            (0, Some(5), None)
        );
        assert_eq!((ring.last_clear(5, 500), ring.last_clear(5, 5)), (Some(499), None));
        ring.clear_range(5, 500);
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
