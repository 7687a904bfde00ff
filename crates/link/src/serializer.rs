//! The serializer: packets leave one after the other at the link's rate, exactly.

use units::{Bytes, Rate, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A serializer, which puts packets on the wire at a fixed rate. It carries the part of a packet's time below a
/// nanosecond over to the next, so a busy period of any length keeps the exact rate.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: u64,
    free_at: Time,
    /// The carried part below a nanosecond, in units of 1/rate nanoseconds.
    carry: u64,
    /// The last packet size, and its transmission time as quotient and remainder. They are kept because division is
    /// expensive and packets come in few sizes.
    last: (u64, u64, u64),
}

impl Serializer {
    /// Creates a free serializer.
    ///
    /// # Panics
    /// If `rate` is zero.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        assert!(rate > Rate::ZERO, "a serializer needs a rate above zero");
        Self { rate: rate.as_bps(), free_at: Time::ZERO, carry: 0, last: (0, 0, 0) }
    }

    /// Returns the link's rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    /// Returns the time at which the last packet given has left.
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends `length` as soon as the wire is free, not before `now`; returns the time at which its last bit has left.
    pub fn send(&mut self, now: Time, length: Bytes) -> Time {
        let start = if now > self.free_at {
            self.carry = 0;
            now
        } else {
            self.free_at
        };
        if self.last.0 != length.get() {
            let bits_nanos = u128::from(length.get()) * 8 * u128::from(NANOS_PER_SEC);
            let rate = u128::from(self.rate);
            self.last = (length.get(), (bits_nanos / rate) as u64, (bits_nanos % rate) as u64);
        }
        let (_, mut nanos, remainder) = self.last;
        self.carry += remainder;
        if self.carry >= self.rate {
            self.carry -= self.rate;
            nanos += 1;
        }
        self.free_at = start + units::Span::from_nanos(nanos);
        self.free_at
    }
}
