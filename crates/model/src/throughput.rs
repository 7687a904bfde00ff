//! The throughput of a transfer from its window: `W/T` and the limits on it.
//!
//! A window limits a transfer to one window per round-trip time. The window is the least of three values. The goodput
//! is the least of the window's rate, the link's, and the rate that loss leaves ([`crate::pftk`]). Once the link is
//! full, the RTT itself depends on the window, which is the subject of [`crate::mft`].

use units::{Bytes, Fraction, Rate, Span};

use crate::pftk::{self, LossyFlow};

/// Returns the send window: the data that may be sent and not yet acknowledged, `[sobas:eq1]`.
///
/// ```text
/// Ws = min(Wc, Wr, Bs)
/// ```
/// `Wc` = `congestion_window`, `Wr` = `receive_window` (as advertised), `Bs` = `send_buffer`; all in bytes.
#[must_use]
pub fn send_window(congestion_window: Bytes, receive_window: Bytes, send_buffer: Bytes) -> Bytes {
    congestion_window.min(socket_buffer(send_buffer, receive_window))
}

/// Returns the smaller of the two socket buffers, which no window exceeds, `[sobas:eq2]`.
///
/// ```text
/// S = min(Bs, Br)
/// ```
/// `Bs` = `send_buffer`, `Br` = `receive_buffer`. It assumes a receiving application that keeps up, so that the
/// advertised window is the whole receive buffer.
#[must_use]
pub fn socket_buffer(send_buffer: Bytes, receive_buffer: Bytes) -> Bytes {
    send_buffer.min(receive_buffer)
}

/// Returns the rate of one window per round-trip time, `[sobas:eq3]`.
///
/// ```text
/// R = Ws / T(Ws)
/// ```
/// `Ws` = `window`, `T` = `rtt`, the average RTT while that window is in flight. Zero when `rtt` is zero.
#[must_use]
pub fn throughput(window: Bytes, rtt: Span) -> Rate {
    Rate::of(window, rtt)
}

/// Returns the throughput of a socket buffer on a path without loss, `[sobas:mft]`.
///
/// ```text
/// R(S) = min(S/T, A)
/// ```
/// `S` = `window`, `T` = `rtt`, `A` = `available`: the capacity when the path is idle, else the available bandwidth. It
/// holds as long as the cross traffic does not slow and the buffer holds the window's excess.
#[must_use]
pub fn buffer_limited_throughput(window: Bytes, rtt: Span, available: Rate) -> Rate {
    throughput(window, rtt).min(available)
}

/// Returns the throughput of a socket buffer on a congested path, `[sobas:eq4]`, capped by the path's available
/// bandwidth.
///
/// ```text
/// R(S) = min(S/T, f(T, p), A)
/// ```
/// `S` = `flow.max_window`, `T` = `flow.rtt`, `p` = `flow.loss`, `A` = `available`; `f` is equation 32 of
/// `[padhye:sigcomm98]` ([`pftk::pftk`]), which contains the first minimum already. The cap is ours: the source assumes
/// losses that do not depend on the transfer, which cannot hold beyond `A`.
#[must_use]
pub fn congested_throughput(flow: &LossyFlow, available: Rate) -> Rate {
    pftk::pftk(flow).min(available)
}

/// Returns the throughput of the square-root law: Reno's under rare random loss, without timeouts, `[mathis:ccr97]`.
///
/// ```text
/// R = (L/T) sqrt(3 / (2 b p))
/// ```
/// `L` = `payload`, `T` = `rtt`, and `p` = `loss`, the probability that a packet begins a loss event. `b` =
/// `delayed_ack`, the segments that one acknowledgement covers (1, or 2 with delayed acknowledgements). The law is good
/// for `p` below about 1 %; above it timeouts dominate. Without loss the rate is unbounded: [`Rate`]'s largest value.
#[must_use]
pub fn square_root_throughput(payload: Bytes, rtt: Span, loss: Fraction, delayed_ack: u32) -> Rate {
    let packets = (3.0 / (2.0 * f64::from(delayed_ack) * loss.get())).sqrt();
    Rate::from_bps_f64(payload.bits_f64() / rtt.as_secs_f64() * packets)
}

/// Returns the loss at which the square-root law gives `goodput`: the inverse of [`square_root_throughput`].
///
/// ```text
/// p = 3 L^2 / (2 b R^2 T^2), at most 1
/// ```
#[must_use]
pub fn square_root_loss(payload: Bytes, rtt: Span, goodput: Rate, delayed_ack: u32) -> Fraction {
    let window = goodput.as_bps_f64() * rtt.as_secs_f64() / payload.bits_f64();
    let loss = 1.5 / (f64::from(delayed_ack) * window * window);
    Fraction::new(loss).unwrap_or(Fraction::ONE)
}
