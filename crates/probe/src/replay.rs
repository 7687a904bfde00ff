//! [`ReplayWindow`]: the numbers that came, so that each counts once.

/// The distance behind the highest number at which numbers are refused, whether they came or not.
const WIDTH: u64 = 128;

/// A record of the latest numbers that came (the method of IPsec's anti-replay window [rfc4303:3.4.3]). Numbers begin
/// with 1, so zero is refused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayWindow {
    highest: u64,
    /// The bits of the numbers: bit i is set if highest - i came.
    came: u128,
}

impl ReplayWindow {
    /// Returns true if `number` is new, and records it.
    pub(crate) fn accept(&mut self, number: u64) -> bool {
        if number == 0 {
            return false;
        }
        if let Some(ahead) = number.checked_sub(self.highest).filter(|&ahead| ahead > 0) {
            self.came = if ahead < WIDTH { self.came << ahead } else { 0 } | 1;
            self.highest = number;
            return true;
        }
        let behind = self.highest - number;
        let bit = 1u128.checked_shl(u32::try_from(behind).unwrap_or(u32::MAX)).unwrap_or(0);
        let new = bit != 0 && self.came & bit == 0;
        self.came |= bit;
        new
    }

    /// Returns true if `number`, not above the highest, came; a number too far behind counts as having come.
    pub(crate) fn came(&self, number: u64) -> bool {
        let behind = u32::try_from(self.highest.saturating_sub(number)).unwrap_or(u32::MAX);
        1u128.checked_shl(behind).is_none_or(|bit| self.came & bit != 0)
    }

    pub(crate) const fn highest(&self) -> u64 {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_number_counts_once_and_only_near_the_highest() {
        let mut window = ReplayWindow::default();
        assert!(!window.accept(0));
        assert!(window.accept(5) && window.accept(3) && !window.accept(5) && !window.accept(3));
        assert!(window.accept(5 + 127) && window.accept(6) && !window.accept(5), "5 came");
        assert!(window.accept(u64::MAX) && !window.accept(132), "too far behind");
        assert!(window.accept(u64::MAX - 127) && !window.accept(u64::MAX - 128));
    }

    proptest! {
        #[test]
        fn no_number_is_accepted_twice(numbers in prop::collection::vec(0u64..400, 0..300)) {
            let (mut window, mut accepted) = (ReplayWindow::default(), HashSet::new());
            for number in numbers {
                let highest = accepted.iter().copied().max().unwrap_or(0);
                let new = window.accept(number);
                prop_assert_eq!(new, number > 0 && !accepted.contains(&number) && highest.saturating_sub(number) < WIDTH);
                if new { accepted.insert(number); }
                prop_assert_eq!(window.came(number), number != 0 || window.highest() >= WIDTH);
            }
        }
    }
}
