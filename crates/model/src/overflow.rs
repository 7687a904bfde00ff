//! The buffer overflow latency: from the moment a growing window saturates the tight link to the moment its
//! buffer overflows, `[sobas:appendix]`. It is the time in which a transfer must notice and stop.
//!
//! The link has capacity `C` and buffer `B`, and the base RTT is `T0`. A full segment has `L` bytes on the wire, and
//! an acknowledgement covers `b` segments. From saturation on `W = C T`, so the backlog grows as the window does:
//!
//! ```text
//! congestion avoidance   dW/dt = L/(b T) = L C/(b W)
//! slow start             dW/dt = W/(b T) = C/b
//! ```
//! With unresponsive cross traffic of rate `C - A` the transfer fills `A/C` of the buffer at a rate of `A`. Give `A`
//! for `C` and `B A/C` for `B`. The slow-start latency does not change by it, `B/C` all the same.

use units::{Bytes, Rate, Span};

/// Rounds in which SOBAS sees the flat rate during slow start: two samples of two round trips,
/// `[sobas:eq16]`.
const ROUNDS_TO_NOTICE: u64 = 4;

/// The overflow latency in congestion avoidance, `[sobas:eq10]`, with delayed acknowledgements
/// `[sobas:eq14]`.
///
/// ```text
/// D = b (B^2 + 2 B C T0) / (2 L C)
/// ```
/// `C` = `capacity`, `B` = `buffer`, `T0` = `base_rtt`, `L` = `segment`, `b` = `delayed_ack` (1 in eq. 10, 2
/// in eq. 14). [`Span::MAX`] if the capacity or the segment is zero.
#[must_use]
pub fn congestion_avoidance_latency(
    capacity: Rate,
    buffer: Bytes,
    base_rtt: Span,
    segment: Bytes,
    delayed_ack: u32,
) -> Span {
    let drain = drain(capacity, buffer);
    let packets = buffer.get() as f64 / segment.get() as f64;
    // B/L packets to add, one per b round trips of T0 plus half the full buffer's delay on average.
    Span::from_secs_f64(f64::from(delayed_ack) * packets * (base_rtt.as_secs_f64() + 0.5 * drain))
}

/// The overflow latency in slow start, `[sobas:eq13]`, with delayed acknowledgements `[sobas:eq15]`.
///
/// ```text
/// D = b B / C
/// ```
/// `C` = `capacity`, `B` = `buffer`, `b` = `delayed_ack` (1 in eq. 13, 2 in eq. 15). (Equation 12 integrates
/// to "RSL", which reads `D`.) [`Span::MAX`] if the capacity is zero.
#[must_use]
pub fn slow_start_latency(capacity: Rate, buffer: Bytes, delayed_ack: u32) -> Span {
    Span::from_secs_f64(f64::from(delayed_ack) * drain(capacity, buffer))
}

/// Whether SOBAS notices saturation in slow start before the buffer overflows, `[sobas:eq16]`.
///
/// ```text
/// 4 T < D
/// ```
/// `T` = `rtt`, `D` = `latency`, from [`slow_start_latency`].
#[must_use]
pub fn noticed_in_slow_start(rtt: Span, latency: Span) -> bool {
    rtt * ROUNDS_TO_NOTICE < latency
}

/// The time to send a full buffer, `B/C`.
fn drain(capacity: Rate, buffer: Bytes) -> f64 {
    buffer.bits_f64() / capacity.as_bps_f64()
}
