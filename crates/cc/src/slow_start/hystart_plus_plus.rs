//! HyStart++: it leaves slow start when the delay rises, before the queue overflows.
//!
//! | phase | acknowledgement | next phase |
//! |---|---|---|
//! | slow start | this round's least RTT is over the last one's by the threshold | conservative, which remembers it |
//! | conservative | this round's least RTT is below what it remembers | slow start: the rise was jitter |
//! | conservative | the fifth round has ended | congestion avoidance |
//! | any | congestion | standard slow start, if ever again |

use super::{SlowStart, Step};
use crate::Ack;
use units::{Bytes, Span};

/// The least rise of delay that counts: smaller ones are jitter [rfc9406:4.3].
const MIN_RTT_THRESH: Span = Span::from_millis(4);
/// A rise that always counts, however long the path [rfc9406:4.3].
const MAX_RTT_THRESH: Span = Span::from_millis(16);
/// The divisor by which the last round's least RTT gives the threshold, within the two limits above [rfc9406:4.3].
const MIN_RTT_DIVISOR: u64 = 8;
/// The number of samples without which a round says nothing [rfc9406:4.3].
const N_RTT_SAMPLE: u32 = 8;
/// The ratio of the growth of slow start to that of conservative slow start [rfc9406:4.3].
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Rounds of conservative slow start, including the one it began in [rfc9406:4.3].
const CSS_ROUNDS: u32 = 5;

/// RFC 9406, section 4.2. Only the first slow start of a connection uses it; after congestion the standard one follows
/// (section 4.1).
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    round: u64,
    /// Least RTT of the last round (`lastRoundMinRTT`); [`Span::MAX`] without samples.
    last: Span,
    /// Least RTT of this round (`currentRoundMinRTT`); [`Span::MAX`] without samples.
    current: Span,
    samples: u32,
    css: Option<Conservative>,
    /// True once congestion has ended HyStart++.
    over: bool,
    /// The value of `over` before the last congestion event.
    was_over: bool,
}

/// Conservative slow start (CSS).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Least RTT of the round that led here (`cssBaselineMinRtt`).
    baseline: Span,
    rounds: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            round: 0,
            last: Span::MAX,
            current: Span::MAX,
            samples: 0,
            css: None,
            over: false,
            was_over: false,
        }
    }
}

impl HyStartPlusPlus {
    /// Ends a round; returns true if it was the last one of conservative slow start.
    fn end_round(&mut self, round: u64) -> bool {
        self.round = round;
        self.last = self.current;
        self.current = Span::MAX;
        self.samples = 0;
        let Some(css) = &mut self.css else { return false };
        css.rounds += 1;
        css.rounds >= CSS_ROUNDS
    }

    /// Enters or leaves conservative slow start, according to this round's RTTs.
    fn judge(&mut self) {
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.css {
            Some(css) if self.current < css.baseline => self.css = None,
            None if self.last < Span::MAX && self.current >= self.last + threshold(self.last) => {
                self.css = Some(Conservative { baseline: self.current, rounds: 0 });
            }
            _ => {}
        }
    }
}

/// Returns RFC 9406's `RttThresh` after a round whose least RTT was `last`.
fn threshold(last: Span) -> Span {
    (last / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH)
}

impl SlowStart for HyStartPlusPlus {
    fn on_ack(&mut self, ack: &Ack, counted: Bytes, _window: Bytes) -> Step {
        if self.over {
            return Step::Grow(counted);
        }
        if ack.round > self.round && self.end_round(ack.round) {
            return Step::Leave(counted / CSS_GROWTH_DIVISOR);
        }
        let growth = if self.css.is_some() { counted / CSS_GROWTH_DIVISOR } else { counted };
        if let Some(sample) = ack.rtt.latest {
            self.current = self.current.min(sample);
            self.samples = self.samples.saturating_add(1);
            self.judge();
        }
        Step::Grow(growth)
    }

    fn on_congestion(&mut self) {
        self.was_over = self.over;
        self.over = true;
    }

    fn undo(&mut self) {
        self.over = self.was_over;
    }
}
