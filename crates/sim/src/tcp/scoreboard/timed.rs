//! What detection by time and delivery rates ask of the scoreboard, and tell it.

use super::{DUP_THRESH, Scoreboard};

impl Scoreboard {
    /// Every hole below this is lost.
    pub(in crate::tcp) fn loss_edge(&self) -> u64 {
        self.loss_edge
    }

    /// Returns how many segments were found lost since the start, each as often as it was lost.
    pub(in crate::tcp) fn total_lost(&self) -> u64 {
        self.total_lost
    }

    /// As many segments are selectively acknowledged as duplicates would tell a loss.
    pub(in crate::tcp) fn enough_sacked(&self) -> bool {
        self.sacked_count >= DUP_THRESH as u64
    }

    /// The first outstanding segment from `from` on that is not selectively acknowledged.
    pub(in crate::tcp) fn hole_from(&self, from: u64) -> Option<u64> {
        self.hole_within(from, self.next)
    }

    /// The same below `to`.
    #[inline]
    pub(in crate::tcp) fn hole_within(&self, from: u64, to: u64) -> Option<u64> {
        self.sacked.first_clear(from.max(self.una), to.min(self.next))
    }

    /// Whether `segment` is outstanding and not selectively acknowledged.
    #[inline]
    pub(in crate::tcp) fn is_hole(&self, segment: u64) -> bool {
        segment >= self.una && segment < self.next && !self.sacked.get(segment)
    }

    /// Whether `segment` was sent again and that is believed to be in the network.
    pub(in crate::tcp) fn is_resent(&self, segment: u64) -> bool {
        segment >= self.una && self.resent_count > 0 && self.resent.get(segment)
    }

    /// `segment`, sent again, is lost again, and may be sent once more.
    pub(in crate::tcp) fn lose_resent(&mut self, segment: u64) {
        self.lose_below(segment + 1);
        self.total_lost += u64::from(self.is_resent(segment));
        self.forget_resent(segment);
        self.resend_from = self.resend_from.min(segment);
    }
}
