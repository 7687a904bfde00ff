//! A sender's answer to the congestion marks that an acknowledgement reports.

use super::Sender;
use super::options::ScoreboardCounts;
use crate::tcp::Acknowledgement;
use cc::{CongestionKind, Marks};
use units::{Bytes, Time};

impl Sender {
    /// Answers the marks that `ack` reports, which has `blocks` blocks. Before it `outstanding` segments were
    /// outstanding. Returns true if the window must not grow by this acknowledgement.
    #[inline]
    pub(super) fn heed_marks(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: usize,
        outstanding: u64,
    ) -> bool {
        let has_ecn = self.options.as_deref().is_some_and(|options| options.ecn.is_some());
        has_ecn && self.answer_marks(now, ack, blocks, outstanding)
    }

    #[inline(never)]
    fn answer_marks(&mut self, now: Time, ack: &Acknowledgement, blocks: usize, outstanding: u64) -> bool {
        let (una, payload) = (self.board.una(), self.payload);
        let counts = ScoreboardCounts::of(&self.board);
        let Some(options) = self.options.as_deref_mut() else { return false };
        let Some(reaction) = &mut options.ecn else { return false };
        let delivered = counts.delivered().saturating_sub(options.before.delivered());
        let marked = reaction.newly_marked(ack.feedback, blocks, delivered, payload);
        // An echo is a sign even if the acknowledgement delivers nothing.
        options.marked = marked > 0 || ack.feedback.echoes();
        let asked = options.marked && reaction.asks(una);
        let (by_share, scalable) = (reaction.by_share, reaction.scalable);
        let is_part = by_share && !scalable && marked < delivered * payload;
        let part = if is_part { marked / payload } else { 0 };
        reaction.marked_part = part;
        let reports = options.marked;
        if by_share && (delivered > 0 || marked > 0) {
            let delivered = Bytes::new(delivered * payload);
            let round_ends = una > self.round_ends;
            self.control.on_marks(&Marks { now, delivered, marked: Bytes::new(marked), round_ends });
        }
        if asked {
            self.congestion(now, CongestionKind::EcnMark, outstanding);
        }
        // RFC 3168, section 6.1.2: the window does not grow by an acknowledgement that carries an echo. A control that
        // answers the share of marks grows by the part without marks, so that it does not matter how many segments an
        // acknowledgement covers.
        reports && !scalable && part == 0
    }

    /// Returns the segments of the acknowledgement at hand by which the window does not grow.
    #[inline]
    pub(super) fn marked_part(&self) -> u64 {
        let reaction = self.options.as_deref().and_then(|options| options.ecn.as_deref());
        reaction.map_or(0, |reaction| reaction.marked_part)
    }
}
