//! Many greedy flows out of step behind a drop-tail buffer: the square-root rule with a utilization.
//!
//! The sum of `n` independent windows is nearly normal. Its mean is assumed to be `1 + b/2` bandwidth-delay products,
//! half-way up the buffer, and its standard deviation
//!
//! ```text
//! sigma = s (1 + b) / sqrt(n)      s = (1 - beta) / ( (1 + beta) sqrt(3) )
//! ```
//! where `s` is the relative deviation of one window, which is uniform between `beta` times its largest value and that
//! value: `1/(3 sqrt(3))` for Reno, as in the source. Range: some hundreds of flows. If there are only a few flows,
//! they are in step, and [`super::single_flow`] is more accurate. The link's mean load is above the least one, but does
//! not follow from these assumptions. Without a buffer the sum does not stay around one product.

use super::{LARGEST, checked_beta, part, products};
use crate::OutOfRange;
use crate::root::decreasing_root;

/// Returns the standard deviation of one window over its mean, for a window that is uniform between `beta` times its
/// largest value and that value.
///
/// ```text
/// s = (1 - beta) / ( (1 + beta) sqrt(3) )
/// ```
///
/// # Errors
/// If `beta` is not from 0.001 to 0.999.
pub fn window_deviation(beta: f64) -> Result<f64, OutOfRange> {
    Ok(deviation_of_one(checked_beta(beta)?))
}

fn deviation_of_one(beta: f64) -> f64 {
    (1.0 - beta) / ((1.0 + beta) * 3f64.sqrt())
}

/// Returns the least utilization, `[appenzeller:sigcomm04]`: the share of time in which a packet waits.
///
/// ```text
/// u >= erf( b / (2 sqrt(2) sigma) ) = erf( 3 sqrt(3)/(2 sqrt(2)) B sqrt(n)/(C T + B) )     the second for Reno
/// ```
/// `b` = `buffer` in bandwidth-delay products, zero or more; `n` = `flows`, one if zero.
///
/// # Errors
/// If `beta` is not from 0.001 to 0.999, or the buffer is not from 0 to 1e6.
pub fn least_utilization(beta: f64, flows: u32, buffer: f64) -> Result<f64, OutOfRange> {
    Ok(least(checked_beta(beta)?, flows, products(buffer)?))
}

fn least(beta: f64, flows: u32, buffer: f64) -> f64 {
    error_function(centred(beta, flows, buffer) / 2f64.sqrt())
}

/// Returns the buffer, in bandwidth-delay products, at which [`least_utilization`] is `utilization`.
///
/// ```text
/// b = c / (1 - c),   c = 2 sqrt(2) s erfinv(u) / sqrt(n)
/// ```
/// It is found by bisection. Returns `None` if no buffer reaches the utilization, because with few flows the deviation
/// grows as the buffer does.
///
/// # Errors
/// If `beta` is not from 0.001 to 0.999, or the utilization is not from 0 to 1.
pub fn buffer_for_least(beta: f64, flows: u32, utilization: f64) -> Result<Option<f64>, OutOfRange> {
    let (beta, utilization) = (checked_beta(beta)?, part("utilization", utilization)?);
    let found = decreasing_root(0.0, LARGEST, |buffer| utilization - least(beta, flows, buffer));
    Ok((least(beta, flows, found) >= utilization).then_some(found))
}

fn deviation(beta: f64, flows: u32, buffer: f64) -> f64 {
    deviation_of_one(beta) * (1.0 + buffer) / f64::from(flows.max(1)).sqrt()
}

/// Returns half the buffer, in standard deviations of the sum of the windows.
fn centred(beta: f64, flows: u32, buffer: f64) -> f64 {
    buffer / (2.0 * deviation(beta, flows, buffer))
}

/// Returns the error function, to 1e-15.
///
/// ```text
/// erf(x) = 2/sqrt(pi) e^(-x^2) sum over k of 2^k x^(2k+1) / (1 3 5 … (2k+1))
/// ```
/// All terms are positive, so nothing cancels. Beyond 6 it is 1 in `f64`.
fn error_function(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut k) = (x, x, 0.0);
    while (term / sum).abs() > 1e-17 {
        k += 1.0;
        term *= 2.0 * x * x / (2.0 * k + 1.0);
        sum += term;
    }
    (2.0 / std::f64::consts::PI.sqrt() * libm::exp(-x * x) * sum).clamp(-1.0, 1.0)
}
