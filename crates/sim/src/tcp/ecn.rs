//! Explicit congestion notification: a receiver's feedback of marks, and a sender's reaction.
//!
//! | feedback | acknowledgements carry | acknowledged at once |
//! |---|---|---|
//! | [classic](EcnMode::Classic) | ECE from a mark to the report of a reduction [rfc3168:6.1.3] | – |
//! | classic, of a control that [wants](cc::Wants) marks | ECE if the last segment was marked [rfc8257:3.2] | what came before the mark appeared or disappeared, and then the segment with the change |
//! | [accurate](EcnMode::Accurate) | the counters of marked packets (ACE, three bits) and of their bytes [rfc9768:3.2] | the first mark after an unmarked segment, and every second mark [rfc9768:3.2.2.5.1] |
//!
//! The byte counter is in the option of RFC 9768 on every acknowledgement where three or four selective
//! acknowledgements leave room for it. Without it the sender takes ACE, whose wrap it resolves as RFC 9768, appendix
//! A.2.1, does. Linux leaves the option out where no counter has moved. Not modelled are the handshake's feedback, the
//! counters of unmarked bytes, and the path's interference with either.

use super::blocks::SackBlocks;
use crate::tagged::{CapableHeaders, Signs};
use transport::EcnMode;

/// The number of values of ACE.
const ACE_VALUES: u64 = 8;
/// The value of the packet counter at the start of a connection [rfc9768:3.2.1].
const FIRST_COUNT: u8 = 5;
/// The number of values of the byte counter.
const BYTES_WRAP: u64 = 1 << 24;
/// The number of marks since the last acknowledgement that causes the next [rfc9768:3.2.2.5.1].
const MARKS_TOGETHER: u64 = 2;
/// The number of acknowledgements that Linux sends at once after a first mark (`tcp_enter_quickack_mode`).
const QUICK: u64 = 2;

/// The feedback of marks that an acknowledgement carries, in one word, because every acknowledgement of any flow has
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Feedback(u32);

impl Feedback {
    /// The bit of ECE.
    const ECHO: u32 = 1 << 3;
    /// The bit that says that the word has counters: ACE in bits 0 to 2, the byte counter in the highest 24 bits.
    const ACCURATE: u32 = 1 << 4;

    /// Makes the feedback of an echo, set or not.
    pub(crate) fn echo(on: bool) -> Self {
        Self(if on { Self::ECHO } else { 0 })
    }

    /// Makes the feedback of counters.
    pub(crate) fn counters(ace: u8, bytes: u64) -> Self {
        Self(Self::ACCURATE | u32::from(ace & 7) | ((bytes % BYTES_WRAP) as u32) << 8)
    }

    /// Returns true if it echoes a mark (ECE, RFC 3168).
    pub(crate) fn echoes(self) -> bool {
        self.0 & Self::ECHO != 0
    }

    /// Returns ACE and the counter of marked bytes, if it has them.
    pub(crate) fn as_counters(self) -> Option<(u8, u64)> {
        (self.0 & Self::ACCURATE != 0).then_some(((self.0 & 7) as u8, u64::from(self.0 >> 8)))
    }
}

/// The rule for a receiver's feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// ECE until the sender reports a reduction.
    Latched,
    /// ECE for marked segments.
    Exact,
    /// Counters.
    Counted,
}

/// A receiver's state of marks.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    rule: Rule,
    /// The payload of a segment.
    payload: u64,
    /// The number of segments that are acknowledged together as long as no mark comes.
    pub(super) every: u64,
    /// True if the last segment was marked.
    last: bool,
    /// Marked segments since the last acknowledgement.
    unreported: u64,
    packets: u8,
    bytes: u64,
}

impl Marked {
    /// Creates the state for a connection with this `mode`, whose control answers the share of marks if `by_share`.
    pub(super) fn new(mode: EcnMode, by_share: bool, every: u64, payload: u64) -> Option<Self> {
        let rule = match mode {
            EcnMode::Off => return None,
            EcnMode::Classic if by_share => Rule::Exact,
            EcnMode::Classic => Rule::Latched,
            EcnMode::Accurate => Rule::Counted,
        };
        let (last, unreported, packets, bytes) = (false, 0, FIRST_COUNT, 0);
        Some(Self { rule, payload, every, last, unreported, packets, bytes })
    }

    /// Returns the feedback before any mark.
    pub(super) fn first(&self) -> Feedback {
        match self.rule {
            Rule::Latched | Rule::Exact => Feedback::echo(false),
            Rule::Counted => Feedback::counters(self.packets, self.bytes),
        }
    }

    /// Returns true if segments that wait must be acknowledged before one with `signs`, because its echo is another.
    pub(super) fn differs(&self, signs: Signs) -> bool {
        self.rule == Rule::Exact && signs.marked() != self.last
    }

    /// Takes `count` segments with `signs`; `fresh`: nothing waits for an acknowledgement. Returns the feedback that
    /// holds from here on, and true if the segments are to be acknowledged at once.
    pub(super) fn take(
        &mut self,
        before: Feedback,
        signs: Signs,
        count: u64,
        fresh: bool,
    ) -> (Feedback, bool) {
        let marked = signs.marked();
        let changed = std::mem::replace(&mut self.last, marked) != marked;
        match self.rule {
            Rule::Latched => (Feedback::echo((before.echoes() && !signs.reduced()) || marked), false),
            Rule::Exact => (Feedback::echo(marked), changed),
            Rule::Counted => {
                self.unreported = if fresh { 0 } else { self.unreported };
                if marked {
                    self.unreported += count;
                    self.packets = self.packets.wrapping_add(count as u8) & 7;
                    self.bytes = (self.bytes + count * self.payload) % BYTES_WRAP;
                }
                let at_once = (changed && marked) || self.unreported >= MARKS_TOGETHER;
                (Feedback::counters(self.packets, self.bytes), at_once)
            }
        }
    }

    /// Returns the number of acknowledgements that Linux sends at once, because an echo has begun.
    pub(super) fn quick(&self, before: Feedback, now: Feedback) -> u64 {
        if self.rule == Rule::Latched && now.echoes() && !before.echoes() { QUICK } else { 0 }
    }
}

/// A sender's state of marks.
#[derive(Clone, Debug)]
pub(super) struct Reaction {
    /// The segment that reports the last reduction (CWR). Until it is acknowledged, echoes belong to marks that the
    /// sender has answered.
    answered: u64,
    /// True if the next new segment is to report the reduction to the receiver (CWR).
    telling: bool,
    /// True if acknowledgements carry counters, so that nothing is reported to the receiver.
    accurate: bool,
    /// True for ECT(1).
    pub(super) scalable: bool,
    /// True if the control answers the share of marks.
    pub(super) by_share: bool,
    /// Segments that the acknowledgement at hand reports as marked, if it delivers others without a mark, to a control
    /// that answers the share of marks. The window does not grow by them.
    pub(super) marked_part: u64,
    /// The counters of the last acknowledgement: ACE, and bytes.
    known: (u8, u64),
    /// The number of SACK blocks that leave room for the option.
    most_blocks: usize,
}

impl Reaction {
    /// Creates the state for a connection with this `mode`, and a control with these `wants`.
    pub(super) fn new(mode: EcnMode, wants: cc::Wants, timestamps: bool) -> Option<Self> {
        // With time stamps 28 bytes of options are left, which three blocks fill; the option takes eight.
        let most_blocks = if timestamps { 2 } else { SackBlocks::MOST - 1 };
        mode.is_on().then_some(Self {
            answered: 0,
            telling: false,
            accurate: mode == EcnMode::Accurate,
            scalable: wants.scalable,
            by_share: wants.marks,
            marked_part: 0,
            known: (FIRST_COUNT, 0),
            most_blocks,
        })
    }

    /// Records that the window came down, for whatever reason; `next` is the next new segment.
    pub(super) fn on_reduction(&mut self, next: u64) {
        (self.answered, self.telling) = (next, !self.accurate);
    }

    /// Returns true if an echo stands for a mark that is not answered yet; everything below `una` is acknowledged. The
    /// acknowledgement of the segment with CWR is the first that may report another mark. So a sender answers once per
    /// window of data.
    pub(super) fn asks(&self, una: u64) -> bool {
        una > self.answered
    }

    /// Returns the headers of the new segment that leaves now.
    pub(super) fn take_headers(&mut self) -> CapableHeaders {
        CapableHeaders { scalable: self.scalable, reduced: std::mem::take(&mut self.telling) }
    }

    /// Returns the payload that an acknowledgement with `blocks` blocks reports as marked. It delivers `delivered`
    /// segments of `payload` bytes.
    pub(super) fn newly_marked(
        &mut self,
        feedback: Feedback,
        blocks: usize,
        delivered: u64,
        payload: u64,
    ) -> u64 {
        let Some((ace, bytes)) = feedback.as_counters() else {
            return if feedback.echoes() { delivered * payload } else { 0 };
        };
        let (last_ace, last_bytes) = self.known;
        let marked = if blocks <= self.most_blocks {
            (bytes + BYTES_WRAP - last_bytes) % BYTES_WRAP
        } else {
            payload * unwrapped(u64::from(ace.wrapping_sub(last_ace) & 7), delivered)
        };
        self.known = (ace, (last_bytes + marked) % BYTES_WRAP);
        marked
    }
}

/// Returns the number of marks that an ACE which is `moved` ahead stands for, in an acknowledgement that delivers
/// `delivered` segments. If ACE may have wrapped, it is the largest number that fits [rfc9768:A.2.1].
fn unwrapped(moved: u64, delivered: u64) -> u64 {
    if delivered < ACE_VALUES { moved } else { delivered - (delivered - moved) % ACE_VALUES }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_answered_once_per_window() {
        let mut reaction = Reaction::new(EcnMode::Classic, cc::Wants::default(), true).unwrap();
        assert!(reaction.asks(1));
        reaction.on_reduction(20);
        assert!(reaction.take_headers().reduced && !reaction.take_headers().reduced);
        // Up to the acknowledgement that segment 20 would cause, echoes belong to the same mark.
        assert!(!reaction.asks(2) && !reaction.asks(20));
        assert!(reaction.asks(21));
    }

    /// [rfc9768:A.2.1]: 9 segments and an ACE that moved by one: nine marks are the safe answer.
    #[test]
    fn an_ace_that_may_have_wrapped_stands_for_the_most_that_fits() {
        assert_eq!([1, 1, 0, 7, 3].map(|moved| unwrapped(moved, 7)), [1, 1, 0, 7, 3]);
        assert_eq!((unwrapped(1, 9), unwrapped(0, 9), unwrapped(2, 9), unwrapped(0, 8)), (9, 8, 2, 8));
    }

    #[test]
    fn counters_that_wrap_report_every_marked_byte_once() {
        let mut marked = Marked::new(EcnMode::Accurate, true, 1, 1448).unwrap();
        let mut reaction = Reaction::new(EcnMode::Accurate, cc::Wants::default(), true).unwrap();
        let (mut feedback, mut known, mut sent) = (marked.first(), 0, 0);
        for turn in 0..30_000u64 {
            feedback = marked.take(feedback, Signs::of(turn % 3 != 0, false), 1, true).0;
            sent += u64::from(turn % 3 != 0) * 1448;
            if turn % 4 == 0 {
                // Every eighth acknowledgement has no room for the option.
                known += reaction.newly_marked(feedback, if turn % 32 == 0 { 3 } else { 0 }, 4, 1448);
            }
        }
        assert!(sent > BYTES_WRAP && sent - known <= 3 * 1448, "{sent} {known}");
    }
}
