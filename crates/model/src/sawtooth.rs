//! One Reno flow alone against a drop-tail buffer: the sawtooth, and the share of the link that it uses.
//!
//! The model is continuous. The window grows by one segment per `b` round trips from half its largest value to the
//! value where the buffer is full. There it loses one packet, and halves at once. The RTT is the base RTT while the
//! window is below the bandwidth-delay product `D = A Te`, and `W/A` above it, so
//!
//! ```text
//! Wmax = D + B      T(W) = max(Te, W/A)      dW/dt = L / (b T(W))
//! ```
//! Every quantity of the cycle is then an integral over `W`, because `dt = (b/L) T dW`. With `beta = B/D`:
//!
//! ```text
//! utilization = integral of W dW / (A integral of T dW) = (3/4) (1+beta)^2 / (1+beta+beta^2)   for beta < 1
//!             = 1                                                                              for beta >= 1
//! ```
//! which is 3/4 without a buffer and 1 with one bandwidth-delay product. `docs/papers/sobas.md` has the
//! steps. Slow start, timeouts and the round that recovery takes are left out; below about ten segments in
//! `Wmax` the continuous window is too coarse.

use crate::OutOfRange;
use units::{Bytes, Rate, Span};

/// Averages over one cycle of the sawtooth. Times are averages over time, not over packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sawtooth {
    /// The share of the rate that the flow uses, in [0.75, 1].
    pub utilization: f64,
    /// The mean round-trip time.
    pub rtt: Span,
    /// The mean backlog in the buffer, wire bytes.
    pub backlog: Bytes,
    /// The mean window, wire bytes.
    pub window: Bytes,
    /// Packets from one loss to the next; its inverse is the loss rate.
    pub packets_per_cycle: f64,
    /// The time from one loss to the next.
    pub period: Span,
}

/// Computes the cycle of one Reno flow at `rate` (`A`) with `base_rtt` (`Te`) and room for `buffer` bytes (`B`) beyond
/// the bandwidth-delay product.
///
/// `segment` (`L`) is a full segment on the wire, `delayed_ack` (`b`) the number of segments that one acknowledgement
/// covers. The averages, for `beta < 1` in units of `D` and `Te`, with `w0 = (1+beta)/2`, `w1 = 1+beta` and
/// `I = (1-w0) + (w1^2-1)/2`:
///
/// ```text
/// rtt = ((1-w0) + (w1^3-1)/3) / I      window = ((1-w0^2)/2 + (w1^3-1)/3) / I
/// packets_per_cycle = (3/8) b (Wmax/L)^2      period = (b/L) D Te I
/// ```
/// and `rtt = window = (7/9) w1` for `beta >= 1`. The backlog is `A (rtt - Te)`. Returns `None` if the bandwidth-delay
/// product or the segment is zero.
#[must_use]
pub fn sawtooth(
    rate: Rate,
    base_rtt: Span,
    buffer: Bytes,
    segment: Bytes,
    delayed_ack: u32,
) -> Option<Sawtooth> {
    let base = base_rtt.as_secs_f64();
    let bdp = rate.as_bps_f64() / 8.0 * base;
    let packet = segment.get() as f64;
    if bdp == 0.0 || packet == 0.0 {
        return None;
    }
    let top = 1.0 + buffer.get() as f64 / bdp;
    let bottom = 0.5 * top;
    // Integrals over W of T, T^2 and W T, in units of D and Te; below the knee T = 1, above it T = W.
    let knee = bottom.max(1.0);
    let below = (1.0 - bottom).max(0.0);
    let time = below + (top * top - knee * knee) / 2.0;
    let cubes = (top.powi(3) - knee.powi(3)) / 3.0;
    let rtt = (below + cubes) / time;
    let window = ((1.0 - bottom * bottom).max(0.0) / 2.0 + cubes) / time;
    let growth = f64::from(delayed_ack) / packet;
    Some(Sawtooth {
        utilization: used(top - 1.0),
        rtt: Span::from_secs_f64(base * rtt),
        backlog: bytes(bdp * (rtt - 1.0)),
        window: bytes(bdp * window),
        packets_per_cycle: 0.375 * growth / packet * (bdp * top).powi(2),
        period: Span::from_secs_f64(growth * bdp * base * time),
    })
}

/// Returns the utilization of a link by one Reno flow whose buffer is `buffer_in_bdps` bandwidth-delay products.
///
/// ```text
/// u(beta) = (3/4) (1+beta)^2 / (1 + beta + beta^2),  beta <= 1;   1 beyond
/// ```
/// `beta` = `buffer_in_bdps`, zero or more. The utilization rises from 0.75 to 1.
///
/// # Errors
/// If the buffer is NaN or below zero.
pub fn utilization(buffer_in_bdps: f64) -> Result<f64, OutOfRange> {
    let fits = buffer_in_bdps >= 0.0;
    Ok(used(OutOfRange::unless(fits, "buffer", buffer_in_bdps, "0 bandwidth-delay products or more")?))
}

fn used(beta: f64) -> f64 {
    let beta = beta.min(1.0);
    (0.75 * (1.0 + beta).powi(2) / (1.0 + beta + beta * beta)).min(1.0)
}

/// Returns the buffer, in bandwidth-delay products, at which one Reno flow reaches `utilization`: the inverse of
/// [`utilization()`].
///
/// ```text
/// beta = (4u - 3) / ( (3 - 2u) + sqrt((3 - 2u)^2 - (4u - 3)^2) )
/// ```
/// The buffer is zero for 0.75 and less.
///
/// # Errors
/// If the utilization is not from 0 to 1.
pub fn buffer_in_bdps(utilization: f64) -> Result<f64, OutOfRange> {
    let fits = (0.0..=1.0).contains(&utilization);
    let u = OutOfRange::unless(fits, "utilization", utilization, "from 0 to 1")?;
    if u <= 0.75 {
        return Ok(0.0);
    }
    // The smaller root of (4u-3) beta^2 - 2 (3-2u) beta + (4u-3) = 0, in the form that does not cancel.
    let (a, h) = (4.0 * u - 3.0, 3.0 - 2.0 * u);
    Ok(a / (h + (h * h - a * a).max(0.0).sqrt()))
}

/// Rounds a computed amount to the nearest byte.
fn bytes(amount: f64) -> Bytes {
    Bytes::new(amount.round() as u64)
}
