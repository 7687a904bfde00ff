//! Reno under random loss with timeouts and a window limit: the formulas of Padhye, Firoiu, Towsley and
//! Kurose ("Modeling TCP Throughput", SIGCOMM 1998), `[padhye:sigcomm98]`.
//!
//! The full formula and its approximation assume a greedy Reno sender and a round-trip time that does not depend on the
//! window. Losses are independent from round to round. Within a round every packet after a lost one is lost, too. `p`
//! is the probability that a packet is the first lost of its round. The slow start after a timeout is left out. The
//! formulas give the rate of *sending*. The rate of arrivals is lower by a factor of about `1 - p`, which `[sobas:eq4]`
//! ignores.
//!
//! Range: `0 <= p < 1` is accepted; the source compares with measurements between about 0.1 % and 30 %. Above about 5 %
//! the approximation departs from the full formula, and gives half of its value at 20 %. A timeout shorter than the RTT
//! is outside the model.

use units::{Bytes, Fraction, Rate, Span};

/// A Reno flow on a path that loses packets at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossyFlow {
    /// Useful bytes in a full segment, at least 1.
    pub payload: Bytes,
    /// The average round-trip time `RTT`, above zero.
    pub rtt: Span,
    /// The first retransmission timeout `T0` of a series; at least the RTT.
    pub timeout: Span,
    /// The probability `p` of loss of a packet.
    pub loss: Fraction,
    /// Segments that one acknowledgement covers, `b`: 1, or 2 with delayed acknowledgements.
    pub delayed_ack: u32,
    /// The largest possible window, `Wmax`, in payload bytes; [`Bytes::MAX`] for no limit.
    pub max_window: Bytes,
}

impl LossyFlow {
    /// Returns `Wmax` in segments, not rounded.
    fn max_segments(&self) -> f64 {
        self.max_window.bits_f64() / self.payload.bits_f64()
    }

    fn rate(&self, packets_per_second: f64) -> Rate {
        Rate::from_bps_f64(self.payload.bits_f64() * packets_per_second)
    }
}

/// Returns the rate of the approximate model, `[padhye:sigcomm98:eq32]`, the `f(T, p)` of `[sobas:eq4]` with its window
/// limit.
///
/// ```text
/// B(p) = min( Wmax/RTT,  1 / ( RTT sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2) ) )   packets/s
/// ```
/// The symbols are the fields of [`LossyFlow`]. The rate never rises with `p`, `RTT` or `T0`; at `p = 0` it is
/// `Wmax/RTT`. If the two terms of the minimum are close, the rate is up to a quarter too high: a window in a sawtooth
/// below `Wmax` is below it on average. [`pftk_full`] takes this into account.
#[must_use]
pub fn pftk(flow: &LossyFlow) -> Rate {
    let (p, b) = (flow.loss.get(), f64::from(flow.delayed_ack));
    let rtt = flow.rtt.as_secs_f64();
    let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    let seconds_per_packet = rtt * (2.0 * b * p / 3.0).sqrt() + flow.timeout.as_secs_f64() * timeouts;
    flow.rate((flow.max_segments() / rtt).min(1.0 / seconds_per_packet))
}

/// Returns the rate of the full model, `[padhye:sigcomm98:eq31]`.
///
/// ```text
/// E  = (2+b)/(3b) + sqrt( 8(1-p)/(3bp) + ((2+b)/(3b))^2 )                      the window where a loss finds it
/// Q(w) = min(1, (1-(1-p)^3) (1 + (1-p)^3 (1-(1-p)^(w-3))) / (1-(1-p)^w))      a loss that ends in a timeout
/// F  = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6                              the doubling of timeouts
///
/// B(p) = ((1-p)/p + E + Q(E)/(1-p)) / (RTT (b/2 E + 1) + Q(E) T0 F/(1-p))                      if E < Wmax
/// B(p) = ((1-p)/p + Wmax + Q(Wmax)/(1-p))
///        / (RTT (b/8 Wmax + (1-p)/(p Wmax) + 2) + Q(Wmax) T0 F/(1-p))                          otherwise
/// ```
/// in packets/s. At `p = 0` it is `Wmax/RTT`, at `p = 1` zero. The two branches differ by less than one round per
/// cycle, so a small step remains where `E` passes `Wmax`.
#[must_use]
pub fn pftk_full(flow: &LossyFlow) -> Rate {
    let (p, b) = (flow.loss.get(), f64::from(flow.delayed_ack));
    let (rtt, timeout) = (flow.rtt.as_secs_f64(), flow.timeout.as_secs_f64());
    let limit = flow.max_segments();
    if p == 0.0 {
        return flow.rate(limit / rtt);
    }
    if p == 1.0 {
        return Rate::ZERO;
    }
    let unlimited = unlimited_window(p, b);
    let window = unlimited.min(limit);
    let rounds = if unlimited < limit {
        b / 2.0 * window + 1.0
    } else {
        b / 8.0 * window + (1.0 - p) / (p * window) + 2.0
    };
    let timeouts = timeout_share(p, window);
    let packets = (1.0 - p) / p + window + timeouts / (1.0 - p);
    flow.rate(packets / (rtt * rounds + timeouts * timeout * backoff(p) / (1.0 - p)))
}

/// Returns `E`: the window at which a loss occurs if nothing else limits it, for `p` in (0, 1].
pub(crate) fn unlimited_window(p: f64, b: f64) -> f64 {
    let offset = (2.0 + b) / (3.0 * b);
    offset + (8.0 * (1.0 - p) / (3.0 * b * p) + offset * offset).sqrt()
}

/// Returns `F`: the length of a series of timeouts, relative to its first.
pub(crate) fn backoff(p: f64) -> f64 {
    1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))))
}

/// Returns `Q(w)`: the share of loss events that duplicate acknowledgements cannot repair. Windows of three segments or
/// less always end in a timeout.
pub(crate) fn timeout_share(p: f64, window: f64) -> f64 {
    if window <= 3.0 {
        return 1.0;
    }
    let keep = 1.0 - p;
    let three = keep.powi(3);
    ((1.0 - three) * (1.0 + three * (1.0 - libm::pow(keep, window - 3.0))) / (1.0 - libm::pow(keep, window)))
        .min(1.0)
}
