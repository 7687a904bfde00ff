//! Exact quantities: time, bytes, rates, fractions, and the text forms people type for them.
//!
//! This room has integer nanoseconds ([`Time`], [`Span`]), [`Bytes`], [`Rate`] in bits per second and [`Fraction`],
//! with their parsing and printing ("20ms", "1Gbit/s", "512kB", "0.5%"). It also has named random streams
//! ([`random::Stream`]), safe display of other people's text ([`Foreign`]) and the parts of an error message
//! ([`Complaint`]). It has nothing that knows packets or networks.
//!
//! Reading order: `time.rs`, `bytes.rs`, `rate.rs`, `fraction.rs`, then `text.rs` (reading and printing them),
//! `random.rs`, `foreign.rs` and `complaint.rs`.
//!
//! ```
//! use tightlink_units::{Bytes, Rate, Span};
//! let capacity: Rate = "97Mbit/s".parse()?;
//! let rtt: Span = "40ms".parse()?;
//! assert_eq!(capacity.volume(rtt), Bytes::new(485_000)); // the bandwidth-delay product
//! assert_eq!(capacity.serialization(Bytes::new(1500)).to_string(), "123.712us");
//! # Ok::<(), tightlink_units::TextError>(())
//! ```

mod bytes;
mod complaint;
mod foreign;
mod fraction;
#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;
pub mod random;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use complaint::{Complaint, printable};
pub use foreign::{Foreign, is_visible, one_line};
pub use fraction::Fraction;
pub use rate::Rate;
pub use text::{TextError, split_quantity};
pub use time::{Span, Time};

/// Rounds `value` to the nearest whole number, halves up. Negative numbers and NaN become zero, and numbers that are
/// too large become the largest `u64`. Avoids `f64::round`, which calls the mathematics library unless the processor is
/// known to have SSE 4.1.
#[inline]
fn rounded(value: f64) -> u64 {
    // From 2^52 on, all numbers are whole.
    if value >= 4_503_599_627_370_496.0 {
        return value as u64;
    }
    let whole = value as i64;
    let up = value - whole as f64 >= 0.5;
    (whole + i64::from(up)).max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rounding_is_that_of_the_mathematics_library() {
        let cases = [
            0.0,
            0.2,
            0.5,
            0.49999999999999994,
            1.5,
            2.5,
            4e15 - 0.5,
            4e15 + 0.5,
            4503599627370495.5,
            4503599627370496.0,
            9007199254740993.0,
        ];
        let beyond = [1.8e19, 1.9e19, f64::INFINITY, -0.3, -0.7, -1e30, f64::NEG_INFINITY, f64::NAN, 1e-300];
        for value in cases.into_iter().chain(beyond) {
            assert_eq!(rounded(value), value.round() as u64, "{value}");
        }
    }
}
