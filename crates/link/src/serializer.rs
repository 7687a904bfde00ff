//! The serializer: packets leave one after the other at the link's rate, exactly.

use units::{Bytes, Rate, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Puts packets on the wire at a fixed rate. What a packet's time leaves below a nanosecond is carried to the
/// next, so a busy period of any length keeps the exact rate.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: u64,
    free_at: Time,
    /// What is owed below a nanosecond, in units of 1/rate nanoseconds.
    carry: u64,
    /// Division is the dear step and packets come in few sizes: the last size and its quotient and remainder.
    last: (u64, u64, u64),
}

impl Serializer {
    /// A free serializer.
    ///
    /// # Panics
    /// If `rate` is zero.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        assert!(rate > Rate::ZERO, "a serializer needs a rate above zero");
        Self { rate: rate.as_bps(), free_at: Time::ZERO, carry: 0, last: (0, 0, 0) }
    }

    /// The link's rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    /// When the last packet given has left.
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends `length` as soon as the wire is free, not before `now`; returns when its last bit has left.
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
