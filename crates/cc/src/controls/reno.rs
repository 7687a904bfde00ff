//! Reno: the window grows by one segment per window of counted bytes, and a loss leaves half of the data in flight.

use crate::growth::Growth;
use crate::{Ack, Congestion};
use units::Bytes;

/// RFC 5681, section 3.1, with its recommended byte counting: one segment per `cwnd` bytes acknowledged. So a receiver
/// that delays acknowledgements does not slow the growth.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    segment: Bytes,
    /// Bytes counted since the window last grew (RFC 3465's `bytes_acked`).
    counted: Bytes,
}

impl Reno {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { segment, counted: Bytes::ZERO }
    }
}

impl Growth for Reno {
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.counted += counted;
        if self.counted < window {
            return Bytes::ZERO;
        }
        self.counted = self.counted.saturating_sub(window).min(window);
        self.segment
    }

    /// Returns half the data that were in flight: RFC 5681, equation 4.
    fn threshold_after(&mut self, event: &Congestion, _window: Bytes) -> Bytes {
        self.counted = Bytes::ZERO;
        event.in_flight / 2
    }
}
