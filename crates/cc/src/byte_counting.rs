//! Appropriate byte counting: the number of bytes that an acknowledgement counts for.

use crate::{Ack, CongestionKind};
use units::Bytes;

/// RFC 3465's byte counting. In slow start an acknowledgement counts for the bytes that it covers, up to L segments. In
/// congestion avoidance it counts for all bytes that it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteCounting {
    segment: Bytes,
    /// L x SMSS; if zero, every acknowledgement counts for one segment, whatever it covers.
    most: Bytes,
    /// True in the slow start after a timeout: L is one then, because a retransmission can be acknowledged together
    /// with much that had arrived before it [rfc3465:2.3].
    after_timeout: bool,
    /// The value of `after_timeout` before the last congestion event.
    was_after_timeout: bool,
}

impl ByteCounting {
    /// Creates a counter with a limit L of `limit` segments; zero counts acknowledgements instead of bytes.
    pub(crate) fn new(segment: Bytes, limit: u64) -> Self {
        Self { segment, most: segment * limit, after_timeout: false, was_after_timeout: false }
    }

    /// Returns the bytes that `ack` counts for in slow start.
    #[inline]
    pub(crate) fn in_slow_start(&self, ack: &Ack) -> Bytes {
        if self.counts_acknowledgements() {
            return self.segment;
        }
        ack.acked.min(if self.after_timeout { self.segment } else { self.most })
    }

    /// Returns the bytes that `ack` counts for in congestion avoidance.
    #[inline]
    pub(crate) fn in_avoidance(&self, ack: &Ack) -> Bytes {
        if self.counts_acknowledgements() { self.segment } else { ack.acked }
    }

    #[inline]
    fn counts_acknowledgements(&self) -> bool {
        self.most == Bytes::ZERO
    }

    pub(crate) fn on_congestion(&mut self, kind: CongestionKind) {
        if kind != CongestionKind::PersistentLoss {
            self.was_after_timeout = self.after_timeout;
        }
        self.after_timeout |= matches!(kind, CongestionKind::Timeout | CongestionKind::PersistentLoss);
    }

    /// Takes back the last congestion event, which was a false alarm.
    pub(crate) fn undo(&mut self) {
        self.after_timeout = self.was_after_timeout;
    }
}
