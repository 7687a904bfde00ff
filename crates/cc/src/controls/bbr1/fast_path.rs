//! When an acknowledgement tells BBR v1 no more than that data arrived. In a phase of the cycle nothing happens until
//! the phase is over, its queue is drained, or the least RTT is too old.

use units::{Bytes, Time};

/// What the phase waits for: nothing of it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// Not after this.
    until: Time,
    /// While more than this is in flight.
    in_flight_above: Bytes,
}

impl FastPath {
    /// Everything is looked at.
    pub(super) const CLOSED: Self = Self { until: Time::ZERO, in_flight_above: Bytes::MAX };

    /// Open until then, while more than `in_flight_above` is in flight.
    pub(super) fn until(until: Time, in_flight_above: Bytes) -> Self {
        Self { until, in_flight_above }
    }

    #[inline]
    pub(super) fn is_open(&self, now: Time, in_flight: Bytes) -> bool {
        now <= self.until && in_flight > self.in_flight_above
    }
}
