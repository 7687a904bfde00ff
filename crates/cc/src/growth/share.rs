//! Arithmetic that growth functions share: fractions of bytes, and what of a window was in use.

use crate::Congestion;
use units::Bytes;

/// The part of a byte that growth has earned and not yet been given. At 0.01 segments per round trip an
/// acknowledgement adds far less than a byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remainder(f64);

impl Remainder {
    /// The whole bytes of `wanted` and what was left before. Never more than `counted`: no growth is faster than
    /// slow start, whatever a formula says of a window it was not made for.
    #[inline]
    pub fn give(&mut self, wanted: f64, counted: Bytes) -> Bytes {
        let total = self.0 + wanted.clamp(0.0, counted.get() as f64);
        let whole = total.floor();
        self.0 = total - whole;
        Bytes::new(whole as u64)
    }
}

/// `window` in segments.
#[inline]
#[must_use]
pub fn segments(window: Bytes, segment: Bytes) -> f64 {
    window.get() as f64 / segment.get().max(1) as f64
}

/// The part of `window` that `counted` is.
#[inline]
#[must_use]
pub fn part(counted: Bytes, window: Bytes) -> f64 {
    counted.get() as f64 / window.get().max(1) as f64
}

/// The base of a reduction: the window, but not more than was in flight (RFC 5681, equation 4, and RFC 7661). A
/// window that was not in use says nothing about the path.
#[must_use]
pub fn in_use(event: &Congestion, window: Bytes) -> Bytes {
    window.min(event.in_flight)
}
