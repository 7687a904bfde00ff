//! HighSpeed: the larger the window, the faster it grows and the less a loss takes, by a(w) and b(w) of `model`.

use crate::growth::Growth;
use crate::growth::share::{Remainder, in_use, part, segments};
use crate::{Ack, Congestion, CongestionKind};
use model::response::highspeed::{LOW_DECREASE, LOW_WINDOW, decrease, increment};
use units::Bytes;

/// The relative change of the window after which a(w) is computed anew: 0.8 % of window are 0.5 % of a(w).
const STALE: f64 = 1.0 / 128.0;

/// RFC 3649, section 5, by its formulas rather than by the table of its appendix B, which rounds a(w) to whole
/// segments. The logarithm and the power in them are computed once per 0.8 % of window, not per acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    segment: Bytes,
    rest: Remainder,
    /// a(w) in bytes.
    step: f64,
    /// The range of windows for which this a(w) holds.
    holds: (Bytes, Bytes),
    /// True in congestion avoidance, false in the slow start at the beginning or after a timeout.
    avoiding: bool,
    /// The value of `avoiding` before the last congestion event.
    was_avoiding: bool,
}

impl HighSpeed {
    /// Creates a growth rule for segments with `segment` bytes of payload.
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

impl Growth for HighSpeed {
    /// Adds a(w) / w per acknowledged segment.
    #[inline]
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.avoiding = true;
        if window < self.holds.0 || window > self.holds.1 {
            self.renew(window);
        }
        self.rest.give(self.step * part(counted, window), counted)
    }

    /// Returns (1 - b(w)) w. In slow start it returns half the window, because slow start has doubled it, and b(w) is
    /// made for congestion avoidance. A timeout halves, too: RFC 3649 changes congestion avoidance, not the response to
    /// a retransmission timeout (RFC 5681, equation 4).
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
