//! [`Echoes`]: the missing echoes, from the counts of those that arrived.

use crate::replay::ReplayWindow;

/// The number of later echoes after which a missing echo counts as lost. Packets may overtake each other by a few
/// places, as in TCP [rfc5681:3.2].
const OVERTAKING: u64 = 3;

/// The counts that echoes carry, which rise by one from each echo to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echoes {
    window: ReplayWindow,
    /// The highest count up to which all counts have been judged; at most three below the highest count.
    judged: u64,
}

impl Echoes {
    /// Takes the count of an echo that has arrived. Returns `None` if it had arrived before; otherwise the number of
    /// echoes that are newly known to be lost.
    pub(crate) fn observe(&mut self, count: u64) -> Option<u64> {
        let before = self.window;
        if !self.window.accept(count) {
            return None;
        }
        let settled = self.window.highest().saturating_sub(OVERTAKING).max(self.judged);
        let known = settled.min(before.highest());
        let missing = (self.judged + 1..=known).filter(|&count| !before.came(count)).count() as u64;
        // No count above the earlier highest one has arrived, except that of this echo.
        let skipped = settled - self.judged.max(known);
        self.judged = settled;
        Some(skipped + missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lost(counts: impl IntoIterator<Item = u64>) -> u64 {
        let mut echoes = Echoes::default();
        counts.into_iter().filter_map(|count| echoes.observe(count)).sum()
    }

    #[test]
    fn a_gap_is_a_loss_when_three_later_ones_have_come() {
        let mut echoes = Echoes::default();
        assert_eq!([1, 2, 4, 5].map(|count| echoes.observe(count)), [Some(0); 4]);
        assert_eq!(echoes.observe(6), Some(1), "3 is lost");
        assert_eq!(echoes.observe(3), Some(0), "late, and reported as lost already");
        assert_eq!(echoes.observe(6), None);
    }

    #[test]
    fn overtaking_by_less_is_none() {
        assert_eq!(lost([2, 1, 4, 5, 3, 6, 7, 8, 9]), 0);
    }

    #[test]
    fn a_long_outage_counts_whole() {
        assert_eq!([lost([1, 2, 3, 1004, 1005, 1006, 1007]), lost([u64::MAX])], [1000, u64::MAX - 3]);
    }

    proptest! {
        #[test]
        fn what_is_lost_and_what_came_make_up_all(came in prop::collection::vec(any::<bool>(), 1..500)) {
            let counts = came.iter().zip(1u64..).filter(|(came, _)| **came).map(|(_, count)| count);
            let last = came.iter().rposition(|came| *came).map_or(0, |index| index as u64 + 1);
            let settled = last.saturating_sub(OVERTAKING);
            let missing = came.iter().zip(1u64..).filter(|(came, count)| !**came && *count <= settled).count();
            prop_assert_eq!(lost(counts), missing as u64);
        }
    }
}
