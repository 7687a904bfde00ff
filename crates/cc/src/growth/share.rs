//! Arithmetic that growth functions share: fractions of bytes, and the part of a window that was in use.

use crate::Congestion;
use units::Bytes;

/// The fraction of a byte that growth has earned but not yet given. At 0.01 segments per round trip an acknowledgement
/// adds far less than a byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remainder(f64);

impl Remainder {
    /// Adds `wanted` bytes to the remainder, returns the whole bytes of the sum, and keeps the rest. `wanted` counts up
    /// to `counted`: no growth is faster than slow start, even if a formula is applied to a window it was not made for.
    #[inline]
    pub fn give(&mut self, wanted: f64, counted: Bytes) -> Bytes {
        let total = self.0 + wanted.clamp(0.0, counted.get() as f64);
        // Not `floor`, which calls the mathematics library unless the processor is known to have SSE 4.1.
        let whole = total as i64;
        self.0 = total - whole as f64;
        Bytes::new(whole as u64)
    }
}

/// Returns `window` in segments.
#[inline]
#[must_use]
pub fn segments(window: Bytes, segment: Bytes) -> f64 {
    window.get() as f64 / segment.get().max(1) as f64
}

/// Returns `counted` as a share of `window`.
#[inline]
#[must_use]
pub fn part(counted: Bytes, window: Bytes) -> f64 {
    counted.get() as f64 / window.get().max(1) as f64
}

/// Returns the base of a reduction: the window, but at most the data in flight (RFC 5681, equation 4, and RFC 7661). A
/// window that was not in use says nothing about the path.
#[must_use]
pub fn in_use(event: &Congestion, window: Bytes) -> Bytes {
    window.min(event.in_flight)
}
