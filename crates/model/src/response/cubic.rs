//! CUBIC: the constants of RFC 9438, and the average windows of its section 5.

use super::PowerLaw;

/// The constant of W(t)'s growth, segments/s^3 `[rfc9438:4.6, 5]`.
pub const C: f64 = 0.4;
/// The share of the window that remains after a loss `[rfc9438:4.6]`.
pub const BETA: f64 = 0.7;
/// The segments per round trip with which an AIMD that keeps [`BETA`] has Reno's average window: 3 (1 - beta) / (1 +
/// beta) `[rfc9438:4.3]`.
pub const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Returns the law of the cubic region, one loss in every `1/p` packets `[rfc9438:5.1]`:
///
/// ```text
/// w = ( C (3 + beta) / (4 (1 - beta)) )^0.25  R^0.75 / p^0.75  =  1.054 R^0.75 / p^0.75
/// ```
#[must_use]
pub fn law() -> PowerLaw {
    PowerLaw {
        factor: libm::pow(C * (3.0 + BETA) / (4.0 * (1.0 - BETA)), 0.25),
        loss_exponent: 0.75,
        rtt_exponent: 0.75,
        source: "rfc9438:5.1",
    }
}

/// Returns the law of the Reno-friendly region, an AIMD of [`ALPHA`] and [`BETA`] `[rfc9438:4.3]`:
///
/// ```text
/// w = ( alpha (1 + beta) / (2 (1 - beta) p) )^0.5  =  (1.5 / p)^0.5
/// ```
#[must_use]
pub fn friendly_law() -> PowerLaw {
    PowerLaw {
        factor: (ALPHA * (1.0 + BETA) / (2.0 * (1.0 - BETA))).sqrt(),
        loss_exponent: 0.5,
        rtt_exponent: 0.0,
        source: "rfc9438:4.3",
    }
}
