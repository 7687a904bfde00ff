//! Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003.

use super::PowerLaw;

/// The segments that an acknowledged segment adds: `a` `[scalable:2]`.
pub const INCREASE: f64 = 0.01;
/// The share of the window that a loss takes: `b` `[scalable:2]`.
pub const DECREASE: f64 = 0.125;
/// The largest window, in segments, for which Scalable TCP is standard TCP: the legacy window `[scalable:3]`.
pub const LEGACY_WINDOW: f64 = 16.0;

/// `w = (a/b) / p`, where the gain of `1/p` acknowledgements balances one loss `[scalable:2]`. If exactly one in every
/// `1/p` packets is lost, the window is 0.936 of that, `b / ln(1/(1-b))`; [`super::epoch`] computes this case.
pub const LAW: PowerLaw =
    PowerLaw { factor: INCREASE / DECREASE, loss_exponent: 1.0, rtt_exponent: 0.0, source: "scalable:2" };
