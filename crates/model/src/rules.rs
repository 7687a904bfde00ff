//! Rules for the size of a router's buffer.
//!
//! | rule | buffer | what it assumes |
//! |---|---|---|
//! | [`bandwidth_delay_product`] | `C T` | one greedy Reno flow, or many in step |
//! | [`single_flow`] | from `C T` down to `C T / 7` | one greedy flow of a stated control |
//! | [`sqrt_n_buffer`] | `C T / sqrt(n)` | many greedy flows out of step |
//! | [`many_flows`] | the same with a wanted utilization | many greedy flows out of step |
//! | [`bursts`] | some bursts | many greedy flows, whose bursts meet in a buffer of a few of them |
//! | [`short_flow_buffer`] | `O(1)`, of the burst sizes | a link below saturation with short flows |
//! | [`tiny_buffer`] | `O(log W)` | paced flows limited elsewhere, a link below saturation |
//!
//! None of them includes the latency that a buffer costs. [`crate::empty_queue`] has the bounds for unequal round-trip
//! times, and [`crate::sawtooth`] the whole cycle of a single Reno flow.

pub mod bursts;
pub mod many_flows;
pub mod single_flow;

use crate::OutOfRange;
use units::{Bytes, Fraction, Rate, Span};

/// The largest buffer of a rule, in bandwidth-delay products.
const LARGEST: f64 = 1e6;

fn checked_beta(beta: f64) -> Result<f64, OutOfRange> {
    let fits = (0.001..=0.999).contains(&beta);
    OutOfRange::unless(fits, "share of the window that is kept", beta, "from 0.001 to 0.999")
}

fn products(buffer: f64) -> Result<f64, OutOfRange> {
    let fits = (0.0..=LARGEST).contains(&buffer);
    OutOfRange::unless(fits, "buffer", buffer, "from 0 to 1e6 bandwidth-delay products")
}

fn part(what: &'static str, share: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless((0.0..=1.0).contains(&share), what, share, "from 0 to 1")
}

/// Returns the bandwidth-delay product, `[villamizar:ccr94]`: the least buffer with which one Reno flow never idles the
/// link (it halves from `C T + B` to `C T`).
///
/// ```text
/// B = C T
/// ```
/// `C` = `capacity`, `T` = `base_rtt`.
#[must_use]
pub fn bandwidth_delay_product(capacity: Rate, base_rtt: Span) -> Bytes {
    capacity.volume(base_rtt)
}

/// Returns the buffer of the square-root rule, `[appenzeller:sigcomm04]`: the sum of `n` sawteeth out of step varies by
/// `1/sqrt(n)` of the variation of one.
///
/// ```text
/// B = C T / sqrt(n)
/// ```
/// `C` = `capacity`, `T` = `mean_rtt`, `n` = `flows`; the source requires some hundreds of long-lived flows. For zero
/// flows, as for one, it is the bandwidth-delay product.
#[must_use]
pub fn sqrt_n_buffer(capacity: Rate, mean_rtt: Span, flows: u32) -> Bytes {
    bandwidth_delay_product(capacity, mean_rtt).scale(1.0 / f64::from(flows.max(1)).sqrt())
}

/// Returns the buffer that slow-start bursts of short flows overflow with probability `overflow`,
/// `[appenzeller:sigcomm04]`, in packets.
///
/// ```text
/// P(Q >= b) = exp( -b  2(1-rho)/rho  E[X]/E[X^2] )
/// b = rho/(2(1-rho))  E[X^2]/E[X]  ln(1/P)
/// ```
/// `rho` = `load`, and `P` = `overflow`. `X` is the burst size in packets, uniform over the list `bursts`. A flow of 14
/// packets from an initial window of 2 sends bursts of 2, 4, 8. Bursts arrive as a Poisson process of batches served
/// one packet at a time. Neither capacity nor RTT nor the number of flows matters. The buffer is zero without bursts.
///
/// # Errors
/// If the load is 1 or `overflow` is 0, which no buffer can satisfy.
pub fn short_flow_buffer(load: Fraction, bursts: &[u32], overflow: Fraction) -> Result<f64, OutOfRange> {
    below_one("load", load)?;
    OutOfRange::unless(overflow > Fraction::ZERO, "probability of an overflow", overflow, "above 0")?;
    let sum: f64 = bursts.iter().copied().map(f64::from).sum();
    if sum == 0.0 {
        return Ok(0.0);
    }
    let squares: f64 = bursts.iter().map(|&burst| f64::from(burst).powi(2)).sum();
    let load = load.get();
    Ok(load / (2.0 * (1.0 - load)) * squares / sum * -libm::log(overflow.get()))
}

/// Returns the buffer for paced flows on a link that is never full, `[enachescu:infocom06]`, in packets.
///
/// ```text
/// B = log( Wmax^2 / (2 (1-theta)) ) / log(1/rho)
/// ```
/// `rho` = `load`, the offered load without any loss, below 1. `Wmax` = `max_window` in packets, and `theta` =
/// `carried`, the share of the offered load to be carried. Arrivals are nearly Poisson, so a buffer of `B` overflows
/// with a probability of about `rho^B`. A loss rate of `p` costs Reno at most the share `p Wmax^2/2` of its rate. The
/// buffer is never below zero. (Restated from the published theorem, which is not among our papers, and checked against
/// this reasoning only.)
///
/// # Errors
/// If `load` or `carried` is 1, for which no buffer is enough, or the window is not from 1 to 1e12 packets.
pub fn tiny_buffer(load: Fraction, max_window: f64, carried: Fraction) -> Result<f64, OutOfRange> {
    below_one("load", load)?;
    below_one("share to be carried", carried)?;
    let fits = (1.0..=1e12).contains(&max_window);
    OutOfRange::unless(fits, "largest window", max_window, "from 1 to 1e12 packets")?;
    let tolerated_loss = 2.0 * (1.0 - carried.get()) / (max_window * max_window);
    Ok((libm::log(tolerated_loss) / libm::log(load.get())).max(0.0))
}

fn below_one(what: &'static str, share: Fraction) -> Result<Fraction, OutOfRange> {
    OutOfRange::unless(share < Fraction::ONE, what, share, "below 100%")
}
