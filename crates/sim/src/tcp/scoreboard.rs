//! The scoreboard: the segments sent, acknowledged, selectively acknowledged, lost and sent again.
//!
//! RFC 6675 without its loops: every count that `SetPipe` would gather is kept as acknowledgements arrive. A hole is
//! lost once three segments above it are selectively acknowledged (`IsLost`). So all holes below the third-highest
//! selectively acknowledged segment, the loss edge, are lost.

mod timed;

use super::bits::BitRing;
use super::blocks::Block;

/// The DupThresh of RFC 6675.
const DUP_THRESH: usize = 3;

/// A sender's knowledge of its segments.
///
/// Without selective acknowledgements ("without names" below) a duplicate says that some segment has left the network,
/// but not which. It is only counted, and only the first outstanding segment is known to be missing. RFC 6582 inflates
/// the window for every duplicate. Here the pipe shrinks instead, which has the same effect.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// True if acknowledgements name the segments that arrived out of order.
    selective: bool,
    /// True if losses are found by time and not by counting. Then the caller reports them by
    /// [`lose_below`](Scoreboard::lose_below) and [`lose_resent`](Scoreboard::lose_resent).
    timed: bool,
    /// The first segment not cumulatively acknowledged (HighACK + 1).
    una: u64,
    /// The next segment never sent (HighData + 1).
    next: u64,
    rings: Rings,
    /// The segments of `una..next` that are selectively acknowledged.
    sacked_count: u64,
    /// The holes of `una..next` below the loss edge.
    lost_count: u64,
    /// The holes of `una..next` that were sent again.
    resent_count: u64,
    /// Segments found lost since the start. One that is lost again counts again.
    total_lost: u64,
    /// The segment below which every hole is lost.
    loss_edge: u64,
    /// The segment below which lost holes have been sent again (HighRxt + 1).
    resend_from: u64,
    /// Without names: true in fast recovery.
    recovering: bool,
    /// Without names: the segments by which partial acknowledgements have deflated the window further than duplicates
    /// had inflated it.
    overdrawn: u64,
    /// One past the three highest selectively acknowledged segments, highest first; zero if there are fewer.
    highest_sacked: [u64; DUP_THRESH],
}

/// Segments that were selectively acknowledged, and segments that were sent again. They have room for all outstanding
/// segments if there are any such segments.
#[derive(Clone, Debug, Default)]
struct Rings {
    sacked: BitRing,
    resent: BitRing,
}

impl Rings {
    /// Makes room for the range `low..=high`.
    fn reserve(&mut self, low: u64, high: u64) {
        self.sacked.reserve(low, high);
        self.resent.reserve(low, high);
    }

    /// Gives memory back once there are no such segments.
    fn shrink(&mut self) {
        self.sacked.shrink();
        self.resent.shrink();
    }

    /// Returns the first segment in `from..to` that was neither acknowledged nor sent again.
    fn first_untouched(&self, from: u64, to: u64) -> Option<u64> {
        self.sacked.first_clear_in_both(&self.resent, from, to)
    }
}

impl Scoreboard {
    pub(super) fn new(selective: bool, timed: bool) -> Self {
        Self { selective, timed, ..Self::default() }
    }

    pub(super) fn una(&self) -> u64 {
        self.una
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of segments sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.next - self.una
    }

    /// Returns the number of segments believed to be in the network (`pipe`).
    #[inline]
    pub(super) fn pipe(&self) -> u64 {
        self.outstanding() + self.resent_count - self.sacked_count - self.lost_count
    }

    /// Returns the number of holes known to be lost, sent again or not.
    pub(super) fn lost(&self) -> u64 {
        self.lost_count
    }

    /// Returns true if the first outstanding segment is lost.
    #[inline]
    pub(super) fn first_is_lost(&self) -> bool {
        if self.selective { self.una < self.loss_edge } else { self.sacked_count >= DUP_THRESH as u64 }
    }

    pub(super) fn has_sacked(&self) -> bool {
        self.sacked_count > 0
    }

    /// Returns the number of segments selectively acknowledged, or counted as duplicates.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked_count
    }

    /// Returns the next segment never sent before, which leaves now.
    #[inline]
    pub(super) fn send_next(&mut self) -> u64 {
        let segment = self.next;
        self.next += 1;
        if self.sacked_count + self.resent_count > 0 {
            self.rings.reserve(self.una, segment);
        }
        segment
    }

    /// Returns the rings, with room for all outstanding segments.
    fn rings(&mut self) -> &mut Rings {
        self.rings.reserve(self.una, self.next);
        &mut self.rings
    }

    /// Returns the range in which lost holes not yet sent again may lie; it is usually empty.
    #[inline]
    fn to_resend(&self) -> (u64, u64) {
        (self.resend_from.max(self.una), self.loss_edge.min(self.next))
    }

    /// Returns true if [`resend_lost`](Scoreboard::resend_lost) may find a hole.
    #[inline]
    pub(super) fn may_resend_lost(&self) -> bool {
        let (from, to) = self.to_resend();
        from < to
    }

    /// Returns the first lost hole not yet sent again, and marks it as sent again (`NextSeg`, rule 1).
    pub(super) fn resend_lost(&mut self) -> Option<u64> {
        let (from, to) = self.to_resend();
        if from >= to {
            return None;
        }
        let hole = if self.timed {
            self.rings.first_untouched(from, to)
        } else {
            self.rings.sacked.first_clear(from, to)
        };
        let Some(hole) = hole else {
            // No hole is left in this range, so it is not searched again. A retransmission that is found lost lowers
            // `resend_from`.
            self.resend_from = to;
            return None;
        };
        self.resend(hole);
        Some(hole)
    }

    /// Returns the first hole below the highest selectively acknowledged segment, lost or not (rule 3).
    pub(super) fn resend_hole(&mut self) -> Option<u64> {
        let from = self.resend_from.max(self.una);
        let hole = self.rings.sacked.first_clear(from, self.highest_sacked[0])?;
        self.resend(hole);
        Some(hole)
    }

    /// Returns the last outstanding segment, to be sent once more (rule 4). The next hole to be sent again stays the
    /// same.
    pub(super) fn rescue(&mut self) -> Option<u64> {
        let last = (self.una..self.next).rev().find(|segment| !self.rings.sacked.get(*segment))?;
        self.note_resent(last);
        Some(last)
    }

    fn resend(&mut self, segment: u64) {
        self.resend_from = segment + 1;
        if !self.selective {
            self.resent_count += 1;
            return;
        }
        self.note_resent(segment);
    }

    fn note_resent(&mut self, segment: u64) {
        if !self.rings.resent.get(segment) {
            self.rings().resent.set(segment);
            self.resent_count += 1;
        }
    }

    /// Begins a recovery episode: the first hole is the first to be sent again.
    pub(super) fn begin_recovery(&mut self) {
        self.resend_from = self.una;
        self.recovering = true;
    }

    /// Marks everything not selectively acknowledged as lost, after the retransmission timer expired. Segments that
    /// were sent again are no longer believed to be in the network.
    pub(super) fn lose_everything(&mut self) {
        if self.resent_count > 0 {
            self.rings.resent.clear_range(self.una, self.next);
        }
        self.resent_count = 0;
        self.forget_duplicates();
        self.loss_edge = self.next;
        let lost = self.outstanding() - self.sacked_count;
        self.total_lost += lost - self.lost_count;
        self.lost_count = lost;
        self.resend_from = self.una;
    }

    /// Counts a duplicate acknowledgement that names nothing: some segment has left the network, if any is in it.
    pub(super) fn duplicate(&mut self) -> bool {
        let any = self.pipe() > 0;
        self.sacked_count += u64::from(any);
        any
    }

    /// Returns the first outstanding segment.
    pub(super) fn first(&self) -> Option<u64> {
        (self.outstanding() > 0).then_some(self.una)
    }

    /// Deflates the window by the segments that a partial acknowledgement covers, less the one sent again for it (RFC
    /// 6582, section 3.2, step 3). The window falls below the threshold if duplicates were lost on their way.
    fn deflate(&mut self, newly: u64) {
        let inflated = self.sacked_count + 1;
        self.overdrawn += newly.saturating_sub(inflated);
        self.resent_count += self.overdrawn;
        let most = self.outstanding() + self.resent_count - self.lost_count;
        self.sacked_count = inflated.saturating_sub(newly).min(most);
    }

    /// Records that `segment` was selectively acknowledged; returns true if that is news.
    #[inline]
    pub(super) fn sack(&mut self, segment: u64) -> bool {
        if segment < self.una || segment >= self.next || self.rings.sacked.get(segment) {
            return false;
        }
        self.rings().sacked.set(segment);
        self.sacked_count += 1;
        if segment < self.loss_edge {
            self.lost_count -= 1;
        }
        self.forget_resent(segment);
        if !self.timed {
            self.raise_loss_edge(segment + 1);
        }
        true
    }

    /// Records that `segment` and `blocks` were selectively acknowledged. A `segment` that `cumulative` covers is RFC
    /// 2883's report of a repeat, and is left out.
    #[inline]
    pub(super) fn sack_beyond(&mut self, cumulative: u64, segment: u64, blocks: &[Block]) {
        if segment >= cumulative {
            self.sack(segment);
        }
        if !blocks.is_empty() {
            self.sack_blocks(cumulative, blocks);
        }
    }

    /// Records that `blocks` were selectively acknowledged, as far as they lie beyond `cumulative`.
    pub(super) fn sack_blocks(&mut self, cumulative: u64, blocks: &[Block]) {
        for &(start, end) in blocks {
            let mut from = start.max(cumulative).max(self.una);
            while let Some(news) = self.rings.sacked.first_clear(from, end.min(self.next)) {
                self.sack(news);
                from = news + 1;
            }
        }
    }

    #[inline]
    fn raise_loss_edge(&mut self, sacked: u64) {
        let [first, second, _] = self.highest_sacked;
        if sacked > first {
            // Usually the segment is the highest of all.
            self.highest_sacked = [sacked, first, second];
        } else {
            self.insert_sacked(sacked);
        }
        // The entry is one past the third-highest segment, so holes below that segment have three above them.
        self.lose_below(self.highest_sacked[DUP_THRESH - 1].saturating_sub(1));
    }

    /// Puts `sacked` where it belongs among the highest.
    fn insert_sacked(&mut self, mut sacked: u64) {
        for high in &mut self.highest_sacked {
            if sacked > *high {
                std::mem::swap(&mut sacked, high);
            }
        }
    }

    /// Marks every hole below `edge` as lost.
    #[inline]
    pub(super) fn lose_below(&mut self, edge: u64) {
        let from = self.loss_edge.max(self.una);
        if edge <= from {
            return;
        }
        self.loss_edge = edge;
        let sacked = if edge == from + 1 {
            u64::from(self.rings.sacked.get(from))
        } else {
            self.rings.sacked.count(from, edge)
        };
        let lost = edge - from - sacked;
        self.lost_count += lost;
        self.total_lost += lost;
        if lost == 0 && !self.timed && self.resend_from >= from {
            // No hole below `edge` needs to be sent again. Rule 3 may have raised `resend_from` further.
            self.resend_from = self.resend_from.max(edge);
        }
    }

    #[inline]
    fn forget_resent(&mut self, segment: u64) {
        if self.resent_count > 0 && self.rings.resent.get(segment) {
            self.rings.resent.clear(segment);
            self.resent_count -= 1;
        }
    }

    /// Acknowledges everything below `una`. Returns the number of segments newly acknowledged.
    #[inline]
    pub(super) fn advance(&mut self, una: u64) -> u64 {
        let una = una.min(self.next);
        let newly = una.saturating_sub(self.una);
        if !self.selective {
            return self.advance_unnamed(una, newly);
        }
        if newly > 0 && (self.sacked_count > 0 || self.lost_count > 0 || self.resent_count > 0) {
            self.sweep(una);
        }
        self.una = self.una.max(una);
        newly
    }

    /// Counts `newly` acknowledged segments without their names. The segments that a timeout declared lost are
    /// contiguous, and so are those sent again since.
    fn advance_unnamed(&mut self, una: u64, newly: u64) -> u64 {
        if newly > 0 {
            self.una = una;
            self.lost_count = self.loss_edge.saturating_sub(una);
            self.resent_count = self.resend_from.min(self.loss_edge).saturating_sub(una);
            if self.recovering {
                self.deflate(newly);
            } else {
                // RFC 5681: duplicates follow each other without an acknowledgement of new data between them.
                self.sacked_count = 0;
            }
        }
        newly
    }

    /// Ends the repair, and forgets the duplicates counted so far.
    pub(super) fn end_recovery(&mut self) {
        self.resent_count -= self.overdrawn;
        self.forget_duplicates();
    }

    fn forget_duplicates(&mut self) {
        (self.recovering, self.overdrawn) = (false, 0);
        if !self.selective {
            self.sacked_count = 0;
        }
    }

    /// Takes the acknowledged segments out of every count.
    fn sweep(&mut self, una: u64) {
        let (from, edge) = (self.una, self.loss_edge.clamp(self.una, una));
        let sacked_below_edge = self.rings.sacked.count(from, edge);
        self.lost_count -= edge - from - sacked_below_edge;
        self.sacked_count -= sacked_below_edge + self.rings.sacked.count(edge, una);
        self.rings.sacked.clear_range(from, una);
        if self.resent_count > 0 {
            self.resent_count -= self.rings.resent.count(from, una);
            self.rings.resent.clear_range(from, una);
        }
        if self.sacked_count + self.resent_count == 0 {
            self.rings.shrink();
        }
    }
}

#[cfg(test)]
#[path = "../../tests/within/scoreboard.rs"]
mod tests;
