//! The acknowledgements that tell BBR v3 only that data arrived. Most do. Then only the values that every
//! acknowledgement may change are updated.
//!
//! The model, the state and their consequences change in three cases: a round begins, a sample changes the model, or
//! the state's condition is met. A sample changes the model if it has a faster rate, a lower RTT, or more in flight
//! than the long-term bound. The state's condition is computed whenever the model has changed.

use units::Time;

/// The conditions that end the state, none of them met yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// The last time at which the path is open.
    until: Time,
    /// The path is open while more than this is in flight, and while the window is larger than this; in bytes.
    in_flight_above: f64,
    window_above: f64,
}

impl FastPath {
    /// A closed path: every acknowledgement takes the full update.
    pub(super) const CLOSED: Self =
        Self { until: Time::ZERO, in_flight_above: f64::INFINITY, window_above: f64::INFINITY };

    /// Creates a path that is open until that time, for any amount in flight.
    pub(super) fn until(until: Time) -> Self {
        Self { until, in_flight_above: -1.0, window_above: -1.0 }
    }

    /// Closes it also once at most `in_flight` is in flight.
    pub(super) fn while_in_flight_above(self, in_flight: f64) -> Self {
        Self { in_flight_above: in_flight, ..self }
    }

    /// Closes it also once the window is at most `window`.
    pub(super) fn while_window_above(self, window: f64) -> Self {
        Self { window_above: window, ..self }
    }

    #[inline]
    pub(super) fn is_open(&self, now: Time, in_flight: f64, window: f64) -> bool {
        now <= self.until && in_flight > self.in_flight_above && window > self.window_above
    }
}
