//! The data that a rate has in flight over a round-trip time: one multiplication of integers per acknowledgement.

use units::{Bytes, Span};

/// The number of parts that a byte is counted in.
const PARTS: u128 = 1 << 44;
/// The most bytes in flight: far beyond any path, and far below numeric limits.
const MOST: u128 = 1_000_000_000_000_000;

/// A rate, as parts of a byte per nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight(u64);

impl InFlight {
    /// Converts a rate in bytes per second.
    pub(crate) fn at(bytes_per_s: f64) -> Self {
        Self((bytes_per_s * 1e-9 * PARTS as f64) as u64)
    }

    /// Returns the bytes that the rate delivers in `rtt`, rounded to the nearest.
    #[inline]
    pub(crate) fn over(self, rtt: Span) -> Bytes {
        let parts = u128::from(self.0) * u128::from(rtt.as_nanos()) + PARTS / 2;
        Bytes::new((parts / PARTS).min(MOST) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_product_and_ends_before_numbers_do() {
        for (rate, rtt_ms, bytes) in [(1.25e6, 50, 62_500), (1.25e10, 300, 3_750_000_000), (1.8e6, 1, 1800)] {
            assert_eq!(InFlight::at(rate).over(Span::from_millis(rtt_ms)), Bytes::new(bytes));
        }
        assert_eq!(InFlight::at(f64::INFINITY).over(Span::MAX), Bytes::new(MOST as u64));
        assert_eq!(InFlight::at(f64::NAN).over(Span::MAX), Bytes::ZERO);
    }
}
