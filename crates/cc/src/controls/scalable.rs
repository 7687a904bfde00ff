//! Scalable: the window grows by a hundredth of the acknowledged bytes, and a loss reduces it by an eighth.

use crate::growth::Growth;
use crate::growth::share::{Remainder, in_use, part, segments};
use crate::{Ack, Congestion};
use model::response::scalable::{DECREASE, INCREASE, LEGACY_WINDOW};
use units::Bytes;

/// T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003. Regaining the window after a
/// loss takes ln(1 - b) / ln(1 + a) round trips, 13.4, whatever the window.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    segment: Bytes,
    rest: Remainder,
}

impl Scalable {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { segment, rest: Remainder::default() }
    }

    fn is_legacy(&self, window: Bytes) -> bool {
        segments(window, self.segment) <= LEGACY_WINDOW
    }
}

impl Growth for Scalable {
    #[inline]
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        let wanted = if self.is_legacy(window) {
            self.segment.get() as f64 * part(counted, window)
        } else {
            INCREASE * counted.get() as f64
        };
        self.rest.give(wanted, counted)
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let window = in_use(event, window);
        let kept = if self.is_legacy(window) { 0.5 } else { 1.0 - DECREASE };
        window.scale(kept)
    }
}
