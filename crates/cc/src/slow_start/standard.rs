//! Standard slow start: one segment per acknowledgement.

use super::SlowStart;
use crate::Ack;
use units::Bytes;

/// RFC 5681, section 3.1: `cwnd += min(N, SMSS)` for N newly acknowledged bytes. A receiver that acknowledges
/// every d-th segment lets the window grow by 1 + 1/d per round trip.
#[derive(Clone, Copy, Debug)]
pub struct Standard {
    segment: Bytes,
}

impl Standard {
    /// For segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { segment }
    }
}

impl SlowStart for Standard {
    fn increase(&mut self, ack: &Ack, _window: Bytes) -> Bytes {
        ack.acked.min(self.segment)
    }
}
