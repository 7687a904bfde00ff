//! Packet-timed round trips, and the largest value over the last ones, as both BBRs count them.

use crate::RateSample;
use units::Bytes;

/// A counter of rounds. A round begins with a delivery and ends with the acknowledgement of data sent after it
/// [draft-ietf-ccwg-bbr:5.5.1].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    next: Bytes,
    /// The number of delivered bytes before which the controller held the rate back. Segments sent earlier say little
    /// about the path's rate.
    limited_until: Option<Bytes>,
    pub(crate) count: u64,
    /// True if the current acknowledgement begins a round.
    pub(crate) started: bool,
}

impl Rounds {
    #[inline]
    pub(crate) fn on_ack(&mut self, sample: &RateSample) {
        self.started = self.starts(sample);
        if self.started {
            self.restart(sample.delivered_total);
            self.count += 1;
        }
    }

    /// Returns true if [`on_ack`](Rounds::on_ack) would begin a round.
    #[inline]
    pub(crate) fn starts(&self, sample: &RateSample) -> bool {
        sample.delivered_before >= self.next
    }

    /// Marks samples as limited while `in_flight` bytes are under way, because the controller itself limits the rate:
    /// `MarkConnectionAppLimited()`.
    pub(crate) fn limit(&mut self, sample: &RateSample, in_flight: Bytes) {
        self.limited_until = Some(sample.delivered_total + in_flight);
    }

    /// Returns true if the application or the controller limited `sample`.
    pub(crate) fn is_limited(&self, sample: &RateSample) -> bool {
        sample.application_limited || self.limited_until.is_some_and(|until| sample.delivered_before <= until)
    }

    /// Restarts the current round here, with `delivered` bytes delivered.
    pub(crate) fn restart(&mut self, delivered: Bytes) {
        self.next = delivered;
    }
}

/// The largest value of the last `N` units of a virtual time. It is searched for at the end of each unit, not for each
/// value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMax<const N: usize> {
    /// The largest values of all units except the current one.
    slots: [(u64, f64); N],
    /// The largest value of the current unit.
    of_unit: f64,
    /// The largest value over `length` units.
    largest: f64,
    at: u64,
    length: u64,
}

impl<const N: usize> WindowedMax<N> {
    pub(crate) fn new() -> Self {
        Self { slots: [(0, 0.0); N], of_unit: 0.0, largest: 0.0, at: 0, length: 0 }
    }

    /// Takes `value` at `at`; returns the largest since `at - length`, for a length of at most `N`.
    #[inline]
    pub(crate) fn update(&mut self, at: u64, value: f64, length: u64) -> f64 {
        if at != self.at || length != self.length {
            self.turn(at, length);
        }
        self.raise(value);
        self.largest
    }

    /// Adds another value with the time and length of the last update.
    #[inline]
    pub(crate) fn raise(&mut self, value: f64) {
        if value > self.of_unit {
            self.of_unit = value;
            self.largest = if value > self.largest { value } else { self.largest };
        }
    }

    /// Returns the largest value over the length of the last update.
    #[inline]
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Begins another unit, or changes the length.
    #[cold]
    fn turn(&mut self, at: u64, length: u64) {
        self.slots[(self.at % N as u64) as usize] = (self.at, self.of_unit);
        let slot = &mut self.slots[(at % N as u64) as usize];
        if slot.0 != at {
            *slot = (at, 0.0);
        }
        self.of_unit = slot.1;
        let within = |when: u64| when <= at && at - when < length;
        let values = self.slots.iter().filter(|(when, _)| within(*when)).map(|(_, value)| *value);
        self.largest = values.fold(0.0, f64::max);
        (self.at, self.length) = (at, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_forgotten_when_its_time_is_over() {
        let mut filter = WindowedMax::<10>::new();
        assert_eq!(filter.update(0, 5.0, 10), 5.0);
        assert_eq!(filter.update(9, 3.0, 10), 5.0);
        assert_eq!(filter.update(10, 2.0, 10), 3.0);
        assert_eq!(filter.update(10, 1.0, 1), 2.0);
    }
}
