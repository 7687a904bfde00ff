//! When an acknowledgement tells BBR v3 no more than that data arrived. Most acknowledgements do. Then only the
//! values that each of them may change are looked at.
//!
//! The model, the state and their consequences move at three times. A round begins, a sample changes a bound, or the
//! state's condition is met. Such a sample has a faster rate, a lower RTT, or more in flight than the long-term
//! bound. The last is noted whenever the model has moved.

use units::Time;

/// What the state waits for: nothing of it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    /// Not after this.
    until: Time,
    /// While more than this is in flight, and the window is larger than this, bytes.
    in_flight_above: f64,
    window_above: f64,
}

impl FastPath {
    /// Everything is looked at.
    pub(super) const CLOSED: Self =
        Self { until: Time::ZERO, in_flight_above: f64::INFINITY, window_above: f64::INFINITY };

    /// Open until then, whatever is in flight.
    pub(super) fn until(until: Time) -> Self {
        Self { until, in_flight_above: -1.0, window_above: -1.0 }
    }

    /// … and while more than `in_flight` is.
    pub(super) fn while_in_flight_above(self, in_flight: f64) -> Self {
        Self { in_flight_above: in_flight, ..self }
    }

    /// … and while the window is larger than `window`.
    pub(super) fn while_window_above(self, window: f64) -> Self {
        Self { window_above: window, ..self }
    }

    #[inline]
    pub(super) fn is_open(&self, now: Time, in_flight: f64, window: f64) -> bool {
        now <= self.until && in_flight > self.in_flight_above && window > self.window_above
    }
}
