//! Packet-timed round trips, and the largest value over the last of them, as both BBRs count.

use crate::RateSample;
use units::Bytes;

/// A round begins with a delivery and ends with the acknowledgement of what was sent after it
/// [draft-ietf-ccwg-bbr:5.5.1].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    next: Bytes,
    /// What was sent before this many bytes were delivered says little of the rate: the controller held it back.
    limited_until: Option<Bytes>,
    pub(crate) count: u64,
    /// The acknowledgement at hand begins one.
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

    /// Whether [`on_ack`](Rounds::on_ack) would begin a round.
    #[inline]
    pub(crate) fn starts(&self, sample: &RateSample) -> bool {
        sample.delivered_before >= self.next
    }

    /// The controller itself limits the rate, with `in_flight` bytes under way: samples of it are marked as an
    /// application's limit would be, `MarkConnectionAppLimited()`.
    pub(crate) fn limit(&mut self, sample: &RateSample, in_flight: Bytes) {
        self.limited_until = Some(sample.delivered_total + in_flight);
    }

    /// Whether `sample` was limited by the application, or by the controller.
    pub(crate) fn is_limited(&self, sample: &RateSample) -> bool {
        sample.application_limited || self.limited_until.is_some_and(|until| sample.delivered_before <= until)
    }

    /// The round that is under way begins here, with `delivered` bytes delivered.
    pub(crate) fn restart(&mut self, delivered: Bytes) {
        self.next = delivered;
    }
}

/// The largest value of the last `N` units of a virtual time. All of them are looked through as a unit ends, not per
/// value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMax<const N: usize> {
    /// Of each unit but the one at hand.
    slots: [(u64, f64); N],
    /// The unit's own largest, and the largest over the length, both as last asked for.
    of_unit: f64,
    largest: f64,
    at: u64,
    length: u64,
}

impl<const N: usize> WindowedMax<N> {
    pub(crate) fn new() -> Self {
        Self { slots: [(0, 0.0); N], of_unit: 0.0, largest: 0.0, at: 0, length: 0 }
    }

    /// `value` came at `at`; returns the largest since `at - length`, for a length of at most `N`.
    #[inline]
    pub(crate) fn update(&mut self, at: u64, value: f64, length: u64) -> f64 {
        if at != self.at || length != self.length {
            self.turn(at, length);
        }
        self.raise(value);
        self.largest
    }

    /// The same of another value at the time and for the length of the last.
    #[inline]
    pub(crate) fn raise(&mut self, value: f64) {
        if value > self.of_unit {
            self.of_unit = value;
            self.largest = if value > self.largest { value } else { self.largest };
        }
    }

    /// The largest value and over what length, as last asked for.
    #[inline]
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Another unit begins, or another length is asked for.
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
