//! HighSpeed: the larger the window, the faster it grows and the less a loss takes.

use super::Growth;
use super::share::{Remainder, in_use, part, segments};
use crate::{Ack, Congestion, CongestionKind};
use units::Bytes;

/// Up to this many segments it is standard TCP: `Low_Window` [rfc3649:5].
pub const LOW_WINDOW: f64 = 38.0;
/// The window that goes with [`HIGH_DECREASE`] and a loss rate of 1e-7: `High_Window` [rfc3649:5].
pub const HIGH_WINDOW: f64 = 83_000.0;
/// What a loss takes of [`HIGH_WINDOW`] [rfc3649:5].
pub const HIGH_DECREASE: f64 = 0.1;
/// What a loss takes of a standard window.
const LOW_DECREASE: f64 = 0.5;
/// b(w) falls with the logarithm of the window and would be negative from 5e5 segments on; the RFC's table ends
/// long before, at 0.09. Ours to choose: half of `High_Decrease`.
const LEAST_DECREASE: f64 = 0.05;
/// a(w) is computed anew when the window has moved by this part of itself: 0.8 % of window are 0.5 % of a(w).
const STALE: f64 = 1.0 / 128.0;

/// RFC 3649, section 5, by its formulas rather than by the table of its appendix B, which rounds a(w) to whole
/// segments. The logarithm and the power in them are computed once per 0.8 % of window, not per acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    segment: Bytes,
    rest: Remainder,
    /// a(w) in bytes, and the windows it holds for.
    step: f64,
    holds: (Bytes, Bytes),
    /// In congestion avoidance, not in the slow start at the beginning or after a timeout; and so before the last
    /// congestion event.
    avoiding: bool,
    was_avoiding: bool,
}

impl HighSpeed {
    /// For segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        let standard = (Bytes::ZERO, segment * LOW_WINDOW as u64);
        let (rest, step) = (Remainder::default(), segment.get() as f64);
        Self { segment, rest, step, holds: standard, avoiding: false, was_avoiding: false }
    }

    #[cold]
    fn renew(&mut self, window: Bytes) {
        self.step = increment(segments(window, self.segment)) * self.segment.get() as f64;
        let reach = Bytes::new((window.get() as f64 * STALE) as u64);
        self.holds = (window.saturating_sub(reach), window + reach);
    }
}

/// The loss rate p(w) at which the average window is `window` segments: 0.078 / w^1.2, the inverse of the response
/// function w = 0.12 / p^0.835 [rfc3649:5]. Written as 1 / (12.8 w^1.2), which is what the table of appendix B is
/// made with.
#[must_use]
pub fn loss_rate(window: f64) -> f64 {
    1.0 / (12.8 * window.powf(1.2))
}

/// a(w): segments per round trip added to a window of `window` segments [rfc3649:5].
#[must_use]
pub fn increment(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(window);
    (window * window * loss_rate(window) * 2.0 * b / (2.0 - b)).max(1.0)
}

/// b(w): the part of a window of `window` segments that a loss takes [rfc3649:5].
#[must_use]
pub fn decrease(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return LOW_DECREASE;
    }
    let way = (window / LOW_WINDOW).ln() / (HIGH_WINDOW / LOW_WINDOW).ln();
    (LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * way).max(LEAST_DECREASE)
}

impl Growth for HighSpeed {
    /// w + a(w) / w per segment acknowledged.
    #[inline]
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.avoiding = true;
        if window < self.holds.0 || window > self.holds.1 {
            self.renew(window);
        }
        self.rest.give(self.step * part(counted, window), counted)
    }

    /// (1 - b(w)) w; half of what slow start had doubled, which a(w) and b(w) are not made for. Half after a timeout, too: RFC
    /// 3649 changes congestion avoidance, not what a retransmission timeout does (RFC 5681, equation 4).
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let window = in_use(event, window);
        self.was_avoiding = self.avoiding;
        self.avoiding &= event.kind != CongestionKind::Timeout;
        let b = if self.avoiding { decrease(segments(window, self.segment)) } else { LOW_DECREASE };
        window.scale(1.0 - b)
    }

    fn undo(&mut self) {
        self.avoiding = self.was_avoiding;
    }
}
