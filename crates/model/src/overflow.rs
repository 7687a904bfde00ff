//! The buffer overflow latency: the time from the saturation of the tight link by a growing window to the overflow of
//! its buffer, `[sobas:appendix]`. Within it a transfer must notice the saturation and stop.
//!
//! The link has capacity `C` and buffer `B`, and the base RTT is `T0`. A full segment has `L` bytes on the wire, and
//! an acknowledgement covers `b` segments. From saturation on `W = C T`, so the backlog grows as the window does:
//!
//! ```text
//! congestion avoidance   dW/dt = L/(b T) = L C/(b W)
//! slow start             dW/dt = W/(b T) = C/b
//! ```
//! With unresponsive cross traffic of rate `C - A` the transfer fills `A/C` of the buffer at a rate of `A`. In that
//! case pass `A` in place of `C`, and `B A/C` in place of `B`. The slow-start latency remains `B/C`.

use units::{Bytes, Rate, Span};

/// The number of rounds in which SOBAS sees the flat rate during slow start: two samples of two round trips,
/// `[sobas:eq16]`.
const ROUNDS_TO_NOTICE: u64 = 4;

/// Returns the overflow latency in congestion avoidance, `[sobas:eq10]`, with delayed acknowledgements `[sobas:eq14]`.
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
    // The window gains B/L packets, one per b round trips. A round trip takes T0 and, on average, half of a full
    // buffer's delay.
    Span::from_secs_f64(f64::from(delayed_ack) * packets * (base_rtt.as_secs_f64() + 0.5 * drain))
}

/// Returns the overflow latency in slow start, `[sobas:eq13]`, with delayed acknowledgements `[sobas:eq15]`.
///
/// ```text
/// D = b B / C
/// ```
/// `C` = `capacity`, `B` = `buffer`, `b` = `delayed_ack` (1 in eq. 13, 2 in eq. 15). (The result of equation 12 is
/// printed as "RSL", which should read `D`.) [`Span::MAX`] if the capacity is zero.
#[must_use]
pub fn slow_start_latency(capacity: Rate, buffer: Bytes, delayed_ack: u32) -> Span {
    Span::from_secs_f64(f64::from(delayed_ack) * drain(capacity, buffer))
}

/// Returns true if SOBAS notices saturation in slow start before the buffer overflows, `[sobas:eq16]`.
///
/// ```text
/// 4 T < D
/// ```
/// `T` = `rtt`, `D` = `latency`, from [`slow_start_latency`].
#[must_use]
pub fn noticed_in_slow_start(rtt: Span, latency: Span) -> bool {
    rtt * ROUNDS_TO_NOTICE < latency
}

/// Returns the time to send a full buffer, `B/C`, seconds.
fn drain(capacity: Rate, buffer: Bytes) -> f64 {
    buffer.bits_f64() / capacity.as_bps_f64()
}
