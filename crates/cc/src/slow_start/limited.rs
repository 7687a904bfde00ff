//! Limited slow start: it adds at most a constant per round trip.

use super::{SlowStart, Step};
use crate::Ack;
use units::Bytes;

/// The `max_ssthresh` that RFC 3742 recommends, segments [rfc3742:2].
pub const MAX_SSTHRESH: u64 = 100;

/// RFC 3742, section 2: standard slow start up to `max_ssthresh`. Above it each acknowledgement adds 1/K of the
/// standard increase, K = int(cwnd / (max_ssthresh / 2)). So a round trip adds at most `max_ssthresh` / 2. A doubling
/// of thousands of segments would overflow a queue with room for less than half of them.
#[derive(Clone, Copy, Debug)]
pub struct Limited {
    max_ssthresh: u64,
}

impl Limited {
    /// Creates a slow start for segments of `segment` bytes of payload; `max_ssthresh` is in segments, at least one.
    #[must_use]
    pub fn new(segment: Bytes, max_ssthresh: u64) -> Self {
        Self { max_ssthresh: (segment * max_ssthresh.max(1)).get().max(1) }
    }
}

impl SlowStart for Limited {
    fn on_ack(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Step {
        if window.get() <= self.max_ssthresh {
            return Step::Grow(counted);
        }
        // The double of the window is divided, because half of an odd max_ssthresh is not an integer.
        let k = window.get().saturating_mul(2) / self.max_ssthresh;
        Step::Grow(counted / k)
    }
}
