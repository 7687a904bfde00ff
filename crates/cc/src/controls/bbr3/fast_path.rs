//! The fast path for acknowledgements that show BBR v3 only that data arrived, as most do. It updates only the values
//! that every acknowledgement may change.
//!
//! The model, the state and their consequences change in three cases: a round begins, a sample changes the model, or a
//! condition that ends the state is met. A sample changes the model if it has a faster rate, a lower RTT, or more in
//! flight than the long-term bound. These conditions are computed whenever the model has changed.

use units::Time;

/// The limits within which the current state goes on, so that the fast path is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// The last time at which the path is open.
    until: Time,
    /// The path is open only while more than this is in flight, bytes.
    in_flight_above: f64,
    /// The path is open only while the window is larger than this, bytes.
    window_above: f64,
}

impl FastPath {
    /// A closed path: every acknowledgement takes the full update.
    pub(super) const CLOSED: Self =
        Self { until: Time::ZERO, in_flight_above: f64::INFINITY, window_above: f64::INFINITY };

    /// Creates a path that is open up to the time `until`, for any window and any amount in flight.
    pub(super) fn until(until: Time) -> Self {
        Self { until, in_flight_above: -1.0, window_above: -1.0 }
    }

    /// Closes the path also once at most `in_flight` bytes are in flight.
    pub(super) fn while_in_flight_above(self, in_flight: f64) -> Self {
        Self { in_flight_above: in_flight, ..self }
    }

    /// Closes the path also once the window is at most `window` bytes.
    pub(super) fn while_window_above(self, window: f64) -> Self {
        Self { window_above: window, ..self }
    }

    #[inline]
    pub(super) fn is_open(&self, now: Time, in_flight: f64, window: f64) -> bool {
        now <= self.until && in_flight > self.in_flight_above && window > self.window_above
    }
}
