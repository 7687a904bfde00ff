//! The fast path for acknowledgements that show BBR v1 only that data arrived. Within a phase of the cycle only the
//! window changes, until the phase is over, its queue is drained, or the least RTT is too old.

use units::{Bytes, Time};

/// The limits within which the current phase goes on, so that the fast path is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// The last time at which the path is open.
    until: Time,
    /// The path is open only while more than this is in flight.
    in_flight_above: Bytes,
}

impl FastPath {
    /// A closed path: every acknowledgement takes the full update.
    pub(super) const CLOSED: Self = Self { until: Time::ZERO, in_flight_above: Bytes::MAX };

    /// Creates a path that is open up to the time `until`, while more than `in_flight_above` is in flight.
    pub(super) fn until(until: Time, in_flight_above: Bytes) -> Self {
        Self { until, in_flight_above }
    }

    #[inline]
    pub(super) fn is_open(&self, now: Time, in_flight: Bytes) -> bool {
        now <= self.until && in_flight > self.in_flight_above
    }
}
