//! The amount of data that BBR v1 has in flight [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.3].

use crate::{RateSample, Start};
use units::Bytes;

/// `BBRMinPipeCwnd`, segments.
const LEAST: u64 = 4;

/// The window, and the target that it grows to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    segment: Bytes,
    least: Bytes,
    initial: Bytes,
    size: Bytes,
    /// The window before a recovery or a probe for the RTT.
    prior: Bytes,
    /// The amount that the model wants in flight.
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

    /// Returns the smallest amount that a model wants in flight.
    pub(super) fn least(&self) -> Bytes {
        self.least
    }

    pub(super) fn initial(&self) -> Bytes {
        self.initial
    }

    pub(super) fn size(&self) -> Bytes {
        self.size
    }

    /// Sets the amount that the model wants in flight.
    pub(super) fn aim(&mut self, target: Bytes) {
        self.target = target;
    }

    /// Grows with delivered data up to the target. Before the pipe has been `filled` it grows beyond the target, too,
    /// while less than the initial window has been delivered.
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

    /// Raises the window to the amount that was in flight before the acknowledgement.
    pub(super) fn conserve(&mut self, in_flight: Bytes) {
        self.size = self.size.max(in_flight);
    }

    /// Takes `lost` bytes, which are not in flight any more, from the window.
    pub(super) fn lose(&mut self, lost: Bytes) {
        self.size = self.size.saturating_sub(lost).max(self.segment);
    }

    /// Begins recovery with `in_flight` in flight; leaves room for one more segment.
    pub(super) fn begin_recovery(&mut self, in_flight: Bytes) {
        self.size = (in_flight + self.segment).max(self.segment);
    }

    /// Sets the window to one segment, because everything is lost.
    pub(super) fn collapse(&mut self) {
        self.size = self.segment;
    }

    /// Caps the window at the least window.
    pub(super) fn cap_at_least(&mut self) {
        self.size = self.size.min(self.least);
    }

    /// Remembers the window. If the remembered one still `counts`, the larger of the two is kept.
    pub(super) fn save(&mut self, counts: bool) {
        self.prior = if counts { self.prior.max(self.size) } else { self.size };
    }

    /// Raises the window to the remembered one.
    pub(super) fn restore(&mut self) {
        self.size = self.size.max(self.prior);
    }
}
