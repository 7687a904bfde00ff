//! The part of the scoreboard that serves detection by time and delivery rates.

use super::{DUP_THRESH, Scoreboard};

impl Scoreboard {
    /// Returns true if no outstanding segment was selectively acknowledged or sent again.
    #[inline]
    pub(in crate::tcp) fn is_whole(&self) -> bool {
        self.sacked_count + self.resent_count == 0
    }

    /// Returns the segment below which every hole is lost.
    pub(in crate::tcp) fn loss_edge(&self) -> u64 {
        self.loss_edge
    }

    /// Returns the number of segments found lost since the start, each as often as it was lost.
    pub(in crate::tcp) fn total_lost(&self) -> u64 {
        self.total_lost
    }

    /// Returns true if the selectively acknowledged segments are as many as the duplicates that reveal a loss.
    pub(in crate::tcp) fn enough_sacked(&self) -> bool {
        self.sacked_count >= DUP_THRESH as u64
    }

    /// Returns the first outstanding segment from `from` on that is not selectively acknowledged.
    pub(in crate::tcp) fn hole_from(&self, from: u64) -> Option<u64> {
        self.hole_within(from, self.next)
    }

    /// Returns the first outstanding segment in `from..to` that is not selectively acknowledged.
    #[inline]
    pub(in crate::tcp) fn hole_within(&self, from: u64, to: u64) -> Option<u64> {
        self.rings.sacked.first_clear(from.max(self.una), to.min(self.next))
    }

    /// Returns true if `segment` is outstanding and not selectively acknowledged.
    #[inline]
    pub(in crate::tcp) fn is_hole(&self, segment: u64) -> bool {
        segment >= self.una && segment < self.next && !self.rings.sacked.get(segment)
    }

    /// Returns true if `segment` was sent again and the copy is believed to be in the network.
    pub(in crate::tcp) fn is_resent(&self, segment: u64) -> bool {
        segment >= self.una && self.resent_count > 0 && self.rings.resent.get(segment)
    }

    /// Forgets that segments are lost, because the timeout that said so was needless. Names of segments are required.
    pub(in crate::tcp) fn forgive(&mut self) {
        (self.lost_count, self.loss_edge, self.resend_from) = (0, self.una, self.una);
    }

    /// Marks `segment`, which was sent again, as lost again, so that it may be sent once more.
    pub(in crate::tcp) fn lose_resent(&mut self, segment: u64) {
        self.lose_below(segment + 1);
        self.total_lost += u64::from(self.is_resent(segment));
        self.forget_resent(segment);
        self.resend_from = self.resend_from.min(segment);
    }
}
