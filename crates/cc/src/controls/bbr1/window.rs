//! How much BBR v1 has in flight [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.3].

use crate::{RateSample, Start};
use units::Bytes;

/// `BBRMinPipeCwnd`, segments.
const LEAST: u64 = 4;

/// The window, and what it grows to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    segment: Bytes,
    least: Bytes,
    initial: Bytes,
    size: Bytes,
    /// From before a recovery or a probe for the RTT.
    prior: Bytes,
    /// What the model wants in flight.
    target: Bytes,
}

impl Window {
    pub(super) fn new(start: Start) -> Self {
        let (segment, initial) = (start.segment, start.window.max(start.segment));
        Self { segment, least: segment * LEAST, initial, size: initial, prior: Bytes::ZERO, target: initial }
    }

    pub(super) fn segment(&self) -> Bytes {
        self.segment
    }

    /// The least that a model wants in flight.
    pub(super) fn least(&self) -> Bytes {
        self.least
    }

    pub(super) fn initial(&self) -> Bytes {
        self.initial
    }

    pub(super) fn size(&self) -> Bytes {
        self.size
    }

    /// The model wants `target` in flight.
    pub(super) fn aim(&mut self, target: Bytes) {
        self.target = target;
    }

    /// Data were delivered: grows to the target, and before the pipe has been `filled` beyond it while little has
    /// been sent.
    #[inline]
    pub(super) fn grow(&mut self, sample: &RateSample, filled: bool) {
        let acked = sample.newly_delivered;
        if filled {
            self.size = (self.size + acked).min(self.target);
        } else if self.size < self.target || sample.delivered_total < self.initial {
            self.size += acked;
        }
        self.size = self.size.max(self.least);
    }

    /// No less than what was in flight before the acknowledgement.
    pub(super) fn conserve(&mut self, in_flight: Bytes) {
        self.size = self.size.max(in_flight);
    }

    /// Segments with `lost` bytes are not in flight any more.
    pub(super) fn lose(&mut self, lost: Bytes) {
        self.size = self.size.saturating_sub(lost).max(self.segment);
    }

    /// Recovery begins with `in_flight` in flight, and sends a segment.
    pub(super) fn begin_recovery(&mut self, in_flight: Bytes) {
        self.size = (in_flight + self.segment).max(self.segment);
    }

    /// One segment: everything is lost.
    pub(super) fn collapse(&mut self) {
        self.size = self.segment;
    }

    /// No more than the least window.
    pub(super) fn cap_at_least(&mut self) {
        self.size = self.size.min(self.least);
    }

    /// Remembers the window, or the larger of it and the one that is remembered if that one still `counts`.
    pub(super) fn save(&mut self, counts: bool) {
        self.prior = if counts { self.prior.max(self.size) } else { self.size };
    }

    /// No less than the window that was remembered.
    pub(super) fn restore(&mut self) {
        self.size = self.size.max(self.prior);
    }
}
