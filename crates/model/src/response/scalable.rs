//! Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003.

use super::PowerLaw;

/// What an acknowledged segment adds, segments: `a` `[scalable:2]`.
pub const INCREASE: f64 = 0.01;
/// What a loss takes of the window: `b` `[scalable:2]`.
pub const DECREASE: f64 = 0.125;
/// Up to this many segments it is standard TCP, the legacy window `[scalable:3]`.
pub const LEGACY_WINDOW: f64 = 16.0;

/// `w = (a/b) / p`, where what `1/p` acknowledgements add and what one loss takes balance `[scalable:2]`. One loss in
/// every `1/p` packets gives 0.936 of it, `b / ln(1/(1-b))`; [`super::epoch`] steps that.
pub const LAW: PowerLaw =
    PowerLaw { factor: INCREASE / DECREASE, loss_exponent: 1.0, rtt_exponent: 0.0, source: "scalable:2" };
