//! One greedy flow behind a drop-tail buffer: its least and its mean utilization, and the buffers that reach them.
//!
//! Notation. `b` is the buffer in bandwidth-delay products, `beta` the share of its window that a control keeps at a
//! loss. The window, in the same unit, is `1 + b` at the loss and `beta (1 + b)` after it. The link is busy while the
//! window is at least 1; otherwise its utilization is the window.
//!
//! The *least* utilization is the rate just after a decrease. Rules of thumb require it to be 1, which gives
//! `b = 1/beta - 1`. The *mean* utilization is that of the whole cycle. An operator measures the mean, which is far
//! above the least in small buffers. For Reno at `b = 0.1` it is 0.82, where the least is 0.55.
//!
//! Left out: slow start, timeouts, packets as units, and the round in which losses are repaired. So none of this holds
//! below some ten packets of window or buffer.
//!
//! Ranges: `beta` from 0.001 to 0.999, buffers up to 1e6 bandwidth-delay products, utilizations and shares of time
//! from 0 to 1.

use super::{checked_beta, part, products};
use crate::OutOfRange;
use crate::root::decreasing_root;

/// The growth of a window from a decrease to the next loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Growth by a constant per round trip: Reno, and CUBIC where its Reno-friendly window is the larger one.
    PerRound,
    /// Growth as a cubic of the time up to the window of the last loss.
    Cubic,
    /// Growth by a constant share per round trip.
    Exponential,
}

/// The behaviour of a control at a loss and until the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowCycle {
    /// The growth of its window.
    pub growth: Growth,
    /// The share of the window that it keeps at a loss, `beta`, in (0, 1).
    pub beta: f64,
}

impl WindowCycle {
    /// Reno: one segment per round trip, half the window is kept `[rfc5681:3.1]`.
    pub const RENO: Self = Self { growth: Growth::PerRound, beta: 0.5 };
    /// CUBIC in its cubic region, in which the Reno-friendly window would take longer to the next loss: 0.7 is kept
    /// `[rfc9438:4.6]`.
    pub const CUBIC: Self = Self { growth: Growth::Cubic, beta: 0.7 };
    /// CUBIC in its Reno-friendly region `[rfc9438:4.3]`: small windows or short round trips.
    pub const CUBIC_FRIENDLY: Self = Self { growth: Growth::PerRound, beta: 0.7 };
    /// Scalable TCP: growth by a hundredth per round trip, 7/8 of the window are kept `[kelly:ccr03]`.
    pub const SCALABLE: Self = Self { growth: Growth::Exponential, beta: 0.875 };
}

/// The way in which a control with fast recovery reduces its flight in the round trip after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The sender stops until the flight has fallen to the new window, `[rfc6582]`.
    Halt,
    /// The sender sends `beta` segments for each that is delivered: proportional rate reduction, `[rfc6937]`.
    Proportional,
}

/// Returns the least utilization of a flow that keeps `beta` of its window, `[spang:performance21]`.
///
/// ```text
/// u = min( beta (1 + b), 1 )
/// ```
/// `beta` in (0, 1), `b` = `buffer` in bandwidth-delay products, zero or more. The result is the rate after recovery,
/// which is the same with and without proportional rate reduction. Only the rate within the recovery differs:
/// [`recovery_rate`].
///
/// # Errors
/// If an argument is out of its range.
pub fn least_utilization(beta: f64, buffer: f64) -> Result<f64, OutOfRange> {
    let beta = checked_beta(beta)?;
    let buffer = products(buffer)?;
    Ok((beta * (1.0 + buffer)).min(1.0))
}

/// Returns the buffer, in bandwidth-delay products, at which [`least_utilization`] is `utilization`.
///
/// ```text
/// b = u / beta - 1
/// ```
/// The buffer is zero if none is needed. For `u = 1` it is 1 for Reno, 3/7 for CUBIC and 1/7 for Scalable TCP.
///
/// # Errors
/// If an argument is out of its range.
pub fn buffer_for_least(beta: f64, utilization: f64) -> Result<f64, OutOfRange> {
    let beta = checked_beta(beta)?;
    let utilization = part("utilization", utilization)?;
    Ok((utilization / beta - 1.0).max(0.0))
}

/// Returns the least rate over the capacity within the round trip of recovery, in which the queue of `buffer`
/// bandwidth-delay products drains.
///
/// ```text
/// Halt           0 once the queue is empty: a pause of (1 - beta)(1 + b) against b in the queue
/// Proportional   beta once it is empty: arrivals at beta of the rate of the acknowledgements
/// ```
/// From `b = 1/beta - 1` on both rates are 1. Over the whole round trip both carry the same, `min(beta + b/(1 + b),
/// 1)`. So proportional rate reduction does not need another buffer, and loses less in a smaller one
/// `[spang:performance21]`.
///
/// # Errors
/// If an argument is out of its range.
pub fn recovery_rate(beta: f64, buffer: f64, recovery: Recovery) -> Result<f64, OutOfRange> {
    let beta = checked_beta(beta)?;
    let buffer = products(buffer)?;
    if buffer >= buffer_for_least(beta, 1.0)? {
        return Ok(1.0);
    }
    Ok(match recovery {
        Recovery::Halt => 0.0,
        Recovery::Proportional => beta,
    })
}

/// Returns the mean utilization over `cycle` with `buffer` bandwidth-delay products.
///
/// With `top = 1 + b`, `low = beta top` and `low < 1`:
///
/// ```text
/// PerRound      u = (top^2 - low^2)/2 / ( (1 - low) + (top^2 - 1)/2 )
/// Cubic         u = y + top ( (1 - y) - (1 - beta)(1 - y^4)/4 ),   y = cbrt( (b/top) / (1 - beta) )
/// Exponential   u = (top - low) / ( ln(1/low) + b )
/// ```
/// From `low = 1` on, `u = 1`. `PerRound` with `beta = 1/2` is [`crate::sawtooth::utilization`]. In a cubic cycle a
/// queue stands for the last share `y` of the time. The formula for it assumes that each loss comes at the window of
/// the one before, so that the convex part of the cubic is not reached. The formulas are derived here from the windows
/// of the sources; simulation judges them.
///
/// # Errors
/// If an argument is out of its range.
pub fn mean_utilization(cycle: WindowCycle, buffer: f64) -> Result<f64, OutOfRange> {
    checked_beta(cycle.beta)?;
    let buffer = products(buffer)?;
    Ok(mean(cycle, buffer))
}

fn mean(cycle: WindowCycle, buffer: f64) -> f64 {
    let (top, low) = ends(cycle, buffer);
    if low >= 1.0 {
        return 1.0;
    }
    let mean = match cycle.growth {
        Growth::PerRound => (top * top - low * low) / 2.0 / cycle_time(cycle, buffer),
        Growth::Cubic => {
            let queued = queued_share(cycle, buffer);
            queued + top * ((1.0 - queued) - (1.0 - cycle.beta) * (1.0 - queued.powi(4)) / 4.0)
        }
        Growth::Exponential => (top - low) / cycle_time(cycle, buffer),
    };
    mean.min(1.0)
}

/// Returns the mean utilization over a `cycle` whose window turns back at `held` bandwidth-delay products, for any size
/// of the buffer. Windows whose sum the queue can hold never lose packets, in whatever bursts they arrive.
///
/// ```text
/// u = that of mean_utilization at b = held - 1          from 1 on
/// u = (1 + beta)/2 held                                 below: the mean of a window that is uniform
/// ```
///
/// # Errors
/// If an argument is out of its range.
pub fn held_utilization(cycle: WindowCycle, held: f64) -> Result<f64, OutOfRange> {
    let beta = checked_beta(cycle.beta)?;
    let held = products(held)?;
    Ok(if held < 1.0 { (1.0 + beta) / 2.0 * held } else { mean(cycle, held - 1.0) })
}

/// Returns the buffer, in bandwidth-delay products, at which [`mean_utilization`] is `utilization`. It is zero if the
/// link reaches this utilization without a buffer, and `1/beta - 1` for a utilization of 1.
///
/// # Errors
/// If an argument is out of its range.
pub fn buffer_for_mean(cycle: WindowCycle, utilization: f64) -> Result<f64, OutOfRange> {
    checked_beta(cycle.beta)?;
    let utilization = part("utilization", utilization)?;
    let enough = buffer_for_least(cycle.beta, 1.0)?;
    Ok(decreasing_root(0.0, enough, |buffer| utilization - mean(cycle, buffer)))
}

/// Returns the mean backlog over a cycle, in bandwidth-delay products, averaged over time.
///
/// It is the integral of `w - 1` over the time in which the window `w` is above 1, divided by the time of the cycle.
///
/// # Errors
/// If an argument is out of its range.
pub fn mean_backlog(cycle: WindowCycle, buffer: f64) -> Result<f64, OutOfRange> {
    checked_beta(cycle.beta)?;
    let buffer = products(buffer)?;
    let (top, low) = ends(cycle, buffer);
    let knee = low.max(1.0);
    let backlog = match cycle.growth {
        Growth::PerRound => {
            let integral = (top.powi(3) - knee.powi(3)) / 3.0 - (top * top - knee * knee) / 2.0;
            integral / cycle_time(cycle, buffer)
        }
        Growth::Cubic => {
            let queued = queued_share(cycle, buffer);
            (top - 1.0) * queued - top * (1.0 - cycle.beta) * queued.powi(4) / 4.0
        }
        Growth::Exponential => ((top - 1.0).powi(2) - (knee - 1.0).powi(2)) / 2.0 / cycle_time(cycle, buffer),
    };
    Ok(backlog.clamp(0.0, buffer))
}

/// Returns the backlog that is not exceeded for the share `share` of a cycle's time, in bandwidth-delay products.
/// `share` is in [0, 1].
///
/// # Errors
/// If an argument is out of its range.
pub fn backlog_quantile(cycle: WindowCycle, buffer: f64, share: f64) -> Result<f64, OutOfRange> {
    checked_beta(cycle.beta)?;
    let buffer = products(buffer)?;
    let share = part("share of time", share)?;
    let (top, _) = ends(cycle, buffer);
    let left = (1.0 - share) * cycle_time(cycle, buffer);
    let window = match cycle.growth {
        // A window above 1 takes the time (top^2 - w^2)/2 to grow from w to the top.
        Growth::PerRound => (top * top - 2.0 * left).max(0.0).sqrt(),
        Growth::Cubic => top * (1.0 - (1.0 - cycle.beta) * (1.0 - share).powi(3)),
        Growth::Exponential => top - left,
    };
    Ok((window - 1.0).clamp(0.0, buffer))
}

/// Returns the least utilization of one BBR flow, `[spang:performance21]`: the rate in the round trip in which it sends
/// at 3/4 of the measured rate.
///
/// ```text
/// u = min( 3/4 + b, 1 )
/// ```
///
/// # Errors
/// If an argument is out of its range.
pub fn bbr_least_utilization(buffer: f64) -> Result<f64, OutOfRange> {
    let buffer = products(buffer)?;
    Ok((0.75 + buffer).min(1.0))
}

/// Returns the buffer, in bandwidth-delay products, at which [`bbr_least_utilization`] is `utilization`: a quarter for
/// 1.
///
/// # Errors
/// If an argument is out of its range.
pub fn bbr_buffer_for_least(utilization: f64) -> Result<f64, OutOfRange> {
    let utilization = part("utilization", utilization)?;
    Ok((utilization - 0.75).max(0.0))
}

/// Returns the mean utilization of one BBR flow over the eight round trips of its gain cycle (5/4, 3/4, six times 1).
/// Only the second round trip can leave the link idle. `[bbr:draft00 4.3.4.1]` has the gains.
///
/// ```text
/// u = 1 - max(0, 1/4 - b) / 8
/// ```
/// The probe for the round-trip time, 0.2 s of 10 s, is left out: it costs a single flow another 2 %.
///
/// # Errors
/// If an argument is out of its range.
pub fn bbr_mean_utilization(buffer: f64) -> Result<f64, OutOfRange> {
    let buffer = products(buffer)?;
    Ok(1.0 - (0.25 - buffer).max(0.0) / 8.0)
}

/// Returns the buffer, in bandwidth-delay products, at which [`bbr_mean_utilization`] is `utilization`; zero up to
/// 31/32.
///
/// # Errors
/// If an argument is out of its range.
pub fn bbr_buffer_for_mean(utilization: f64) -> Result<f64, OutOfRange> {
    let utilization = part("utilization", utilization)?;
    Ok((0.25 - 8.0 * (1.0 - utilization)).max(0.0))
}

/// Returns the window at the loss and after it.
fn ends(cycle: WindowCycle, buffer: f64) -> (f64, f64) {
    (1.0 + buffer, cycle.beta * (1.0 + buffer))
}

/// Returns the time of a cycle, in units that cancel the growth's constant.
fn cycle_time(cycle: WindowCycle, buffer: f64) -> f64 {
    let (top, low) = ends(cycle, buffer);
    let (knee, below) = (low.max(1.0), low.min(1.0));
    match cycle.growth {
        Growth::PerRound => (1.0 - below) + (top * top - knee * knee) / 2.0,
        Growth::Cubic => 1.0,
        Growth::Exponential => libm::log(1.0 / below) + (top - knee),
    }
}

/// Returns the share of a cubic cycle's time with a queue.
fn queued_share(cycle: WindowCycle, buffer: f64) -> f64 {
    libm::cbrt(buffer / (1.0 + buffer) / (1.0 - cycle.beta)).min(1.0)
}
