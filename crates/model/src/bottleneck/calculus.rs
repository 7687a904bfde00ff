//! The equations of [`super`] for people and programs that ask one question. Each has its inverse, and an error that
//! states the range for which it holds. Controllers use the functions of [`super`], which these call.
//!
//! | `[madison]` | forward | inverse |
//! |---|---|---|
//! | eq1 | [`vegas_loss`] | [`vegas_window`] |
//! | eq2 | [`reno_backlog`] | [`reno_loss`] |
//! | eq3 | [`target_backlog`] | [`target_loss`] |
//! | eq4 | [`own_backlog`] | [`own_rate`] |
//! | eq5 | [`service_time`] | [`capacity`] |
//! | eq6 | [`total_backlog`] | [`queueing_delay`] |
//! | eq7, eq8 | [`utilization`] | [`backlog`] |
//! | eq9 | [`share`] | [`rate`] |
//! | eq10 | [`cross_share`] | [`own_share`] |
//! | eq11 | [`equivalent_flows`] | [`equal_share`] |
//! | eq12 | [`reached_backlog`] | [`needed_utilization`] |
//! | eq13 | [`starting_rate`] | [`starting_backlog`] |
//! | eq14 | [`shared_rate`] | [`shared_backlog`], [`adapting_flows`] |
//!
//! Units as in [`super`]: backlogs in packets, rates as shares of the capacity, times in seconds unless stated
//! otherwise.

use super as total;
use crate::OutOfRange;
use units::{Bytes, Rate};

/// The least window for which eq1 gives a loss rate, which is 1 there.
const LEAST_WINDOW: f64 = 36.0 / 7.0;

/// Returns `found`, or an error if the arguments are so extreme that it is not finite.
fn number(found: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(found.is_finite(), "result", found, "a finite number, of arguments less extreme")
}

fn loss_rate(loss: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(loss > 0.0 && loss <= 1.0, "loss rate", loss, "above 0, at most 1")
}

fn delay_ratio(ratio: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(ratio > 0.0 && ratio < 1.0, "queueing delay over RTT", ratio, "between 0 and 1")
}

fn packets(what: &'static str, backlog: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(backlog >= 0.0 && backlog.is_finite(), what, backlog, "zero packets or more")
}

fn some_packets(what: &'static str, backlog: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(backlog > 0.0 && backlog.is_finite(), what, backlog, "more than zero packets")
}

fn below_one(what: &'static str, share: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless((0.0..1.0).contains(&share), what, share, "from 0 to below 1")
}

fn part(what: &'static str, share: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(share > 0.0 && share <= 1.0, what, share, "above 0, at most 1")
}

fn seconds(what: &'static str, time: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(time > 0.0 && time.is_finite(), what, time, "more than zero seconds")
}

fn per_second(rate: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(rate >= 0.0 && rate.is_finite(), "rate", rate, "zero packets per second or more")
}

fn flows(count: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(count >= 1.0 && count.is_finite(), "number of flows", count, "one or more")
}

/// Returns the largest loss rate at which Vegas keeps its backlog: the bound of `[madison:eq1]`.
///
/// ```text
/// p = 32 / (7 W^2 - 36 W + 32)
/// ```
/// `W` = `window`, packets, `alpha RTT/d`.
///
/// # Errors
/// If the window is below 36/7, where this is not a loss rate.
pub fn vegas_loss(window: f64) -> Result<f64, OutOfRange> {
    let w = OutOfRange::unless(
        window >= LEAST_WINDOW && window.is_finite(),
        "window",
        window,
        "36/7 packets or more",
    )?;
    number((32.0 / (7.0 * w * w - 36.0 * w + 32.0)).min(1.0))
}

/// Returns the window, packets, at which [`vegas_loss`] is `loss`: its inverse.
///
/// ```text
/// W = (2/7) (9 + sqrt(25 + 56/p))
/// ```
///
/// # Errors
/// If `loss` is not above 0 and at most 1.
pub fn vegas_window(loss: f64) -> Result<f64, OutOfRange> {
    number(total::reno_backlog(1.0, loss_rate(loss)?))
}

/// Returns [`super::reno_backlog`], `[madison:eq2]`.
///
/// # Errors
/// If the ratio or the loss rate is out of its range.
pub fn reno_backlog(ratio: f64, loss: f64) -> Result<f64, OutOfRange> {
    number(total::reno_backlog(delay_ratio(ratio)?, loss_rate(loss)?))
}

/// Returns the loss rate at which Reno keeps `backlog` packets: the inverse of [`reno_backlog`], `[madison:eq1]` with
/// `W = alpha RTT/d`.
///
/// # Errors
/// If the ratio is out of its range, or the backlog is too small for any loss rate.
pub fn reno_loss(ratio: f64, backlog: f64) -> Result<f64, OutOfRange> {
    vegas_loss(packets("backlog", backlog)? / delay_ratio(ratio)?)
}

/// Returns [`super::target_backlog`], `[madison:eq3]`.
///
/// # Errors
/// If `loss` is not above 0 and at most 1.
pub fn target_backlog(loss: f64) -> Result<f64, OutOfRange> {
    number(total::target_backlog(loss_rate(loss)?))
}

/// Returns the loss rate at which a Madison flow has the target `backlog`: the inverse of [`target_backlog`].
///
/// # Errors
/// If the backlog is below 0.121 packets, the target where every packet is lost.
pub fn target_loss(backlog: f64) -> Result<f64, OutOfRange> {
    reno_loss(total::DELAY_RATIO, backlog)
}

/// Returns the number of the flow's own packets in the queue, `[madison:eq4]`.
///
/// ```text
/// b = S d
/// ```
/// `S` = `rate`, packets per second; `d` = `delay`, seconds.
///
/// # Errors
/// If the rate is negative, or the delay is not above zero.
pub fn own_backlog(rate: f64, delay: f64) -> Result<f64, OutOfRange> {
    number(per_second(rate)? * seconds("queueing delay", delay)?)
}

/// Returns the rate, packets per second, at which a flow has `backlog` packets in a queue with the delay `delay`: the
/// inverse of [`own_backlog`].
///
/// # Errors
/// If the backlog is negative, or the delay is not above zero.
pub fn own_rate(backlog: f64, delay: f64) -> Result<f64, OutOfRange> {
    number(packets("backlog", backlog)? / seconds("queueing delay", delay)?)
}

/// Returns the bottleneck's time for a packet, seconds, `[madison:eq5]`: `12/C` for 1500 bytes.
///
/// # Errors
/// If the rate of the link or the size of the packet is zero.
pub fn service_time(capacity: Rate, packet: Bytes) -> Result<f64, OutOfRange> {
    let bits = OutOfRange::unless(packet > Bytes::ZERO, "packet", packet.bits_f64(), "one byte or more")?;
    let rate =
        OutOfRange::unless(capacity > Rate::ZERO, "capacity", capacity.as_bps_f64(), "1bit/s or more")?;
    number(bits / rate)
}

/// Returns the capacity at which a packet takes `service` seconds: the inverse of [`service_time`], rounded to a bit
/// per second.
///
/// # Errors
/// If the time is not above zero, or the size of the packet is zero.
pub fn capacity(service: f64, packet: Bytes) -> Result<Rate, OutOfRange> {
    let bits = OutOfRange::unless(packet > Bytes::ZERO, "packet", packet.bits_f64(), "one byte or more")?;
    Ok(Rate::from_bps_f64(bits / seconds("service time", service)?))
}

/// Returns [`super::waiting`], `[madison:eq6]`: the packets that wait where the delay is `delay` and a packet takes
/// `service`, both in seconds.
///
/// # Errors
/// If the delay is negative, or the service time is not above zero.
pub fn total_backlog(delay: f64, service: f64) -> Result<f64, OutOfRange> {
    let fits = delay >= 0.0 && delay.is_finite();
    let delay = OutOfRange::unless(fits, "queueing delay", delay, "zero seconds or more")?;
    number(total::waiting(delay, seconds("service time", service)?))
}

/// Returns the queueing delay, seconds, where `backlog` packets wait: the inverse of [`total_backlog`].
///
/// # Errors
/// If the backlog is negative, or the service time is not above zero.
pub fn queueing_delay(backlog: f64, service: f64) -> Result<f64, OutOfRange> {
    number(packets("backlog", backlog)? * seconds("service time", service)?)
}

/// Returns [`super::utilization`], `[madison:eq8]`, from the number of packets that wait in an M/D/1 queue.
///
/// # Errors
/// If the backlog is negative.
pub fn utilization(backlog: f64) -> Result<f64, OutOfRange> {
    number(total::utilization(packets("backlog", backlog)?))
}

/// Returns the number of packets that wait in an M/D/1 queue, which is also its mean wait in service times:
/// `[madison:eq7]`, the inverse of [`utilization`].
///
/// ```text
/// B = d C/12 = U / (2 (1 - U))
/// ```
///
/// # Errors
/// If the utilization is 1 or more, where the queue has no mean.
pub fn backlog(utilization: f64) -> Result<f64, OutOfRange> {
    let u = below_one("utilization", utilization)?;
    number(u / (2.0 * (1.0 - u)))
}

/// Returns [`super::share`], `[madison:eq9]`: the share of the capacity that `rate` packets per second take, if each
/// takes `service` seconds.
///
/// # Errors
/// If the rate is negative, the service time is not above zero, or the share exceeds the capacity.
pub fn share(rate: f64, service: f64) -> Result<f64, OutOfRange> {
    let share = total::share(per_second(rate)?, seconds("service time", service)?);
    OutOfRange::unless(share <= 1.0, "rate times service time", share, "at most 1, the capacity")
}

/// Returns the rate, packets per second, that takes the share `share`: the inverse of [`share()`].
///
/// # Errors
/// If the share is not from 0 to 1, or the service time is not above zero.
pub fn rate(share: f64, service: f64) -> Result<f64, OutOfRange> {
    let share = OutOfRange::unless((0.0..=1.0).contains(&share), "share", share, "from 0 to 1")?;
    number(total::rate(share, seconds("service time", service)?))
}

/// Returns [`super::cross_share`], `[madison:eq10]`: the rate of all others, a share of the capacity.
///
/// # Errors
/// If the utilization is not from 0 to 1, or the own share not from 0 to the utilization.
pub fn cross_share(utilization: f64, own: f64) -> Result<f64, OutOfRange> {
    let u =
        OutOfRange::unless((0.0..=1.0).contains(&utilization), "utilization", utilization, "from 0 to 1")?;
    let own = OutOfRange::unless((0.0..=u).contains(&own), "own share", own, "from 0 to the utilization")?;
    number(total::cross_share(u, own))
}

/// Returns the own share if all others together have the share `cross`: the inverse of [`cross_share`].
///
/// # Errors
/// As [`cross_share`].
pub fn own_share(utilization: f64, cross: f64) -> Result<f64, OutOfRange> {
    cross_share(utilization, cross)
}

/// Returns [`super::equivalent_flows`], `[madison:eq11]`.
///
/// # Errors
/// If the utilization is not above 0 and at most 1, or the own share not above 0 and at most the utilization.
pub fn equivalent_flows(utilization: f64, own: f64) -> Result<f64, OutOfRange> {
    let u = part("utilization", utilization)?;
    let fits = own > 0.0 && own <= u;
    number(total::equivalent_flows(
        u,
        OutOfRange::unless(fits, "own share", own, "above 0, at most the utilization")?,
    ))
}

/// Returns the share of each of `count` equal flows: the inverse of [`equivalent_flows`].
///
/// # Errors
/// If the utilization is not above 0 and at most 1, or there is less than one flow.
pub fn equal_share(utilization: f64, count: f64) -> Result<f64, OutOfRange> {
    number(part("utilization", utilization)? / flows(count)?)
}

/// Returns the number of own packets in the queue of a flow with the share `share`, at the utilization `utilization`,
/// `[madison:eq12]`.
///
/// ```text
/// b = x / (2 (1 - U))
/// ```
/// The source omits a factor of `U`: at `U = 0.9` the result is a ninth more than that of M/D/1.
///
/// # Errors
/// If the share is not from 0 to the utilization, or the utilization is 1 or more.
pub fn reached_backlog(share: f64, utilization: f64) -> Result<f64, OutOfRange> {
    let u = below_one("utilization", utilization)?;
    let share = OutOfRange::unless((0.0..=u).contains(&share), "share", share, "from 0 to the utilization")?;
    number(share / (2.0 * (1.0 - u)))
}

/// Returns the utilization at which a flow with the share `share` has `backlog` own packets in the queue: the inverse
/// of [`reached_backlog`].
///
/// ```text
/// U = 1 - x / (2b)
/// ```
///
/// # Errors
/// If the share is not above 0 and at most 1, or the backlog would require a utilization below the share itself.
pub fn needed_utilization(share: f64, backlog: f64) -> Result<f64, OutOfRange> {
    let share = part("share", share)?;
    let utilization = 1.0 - share / (2.0 * some_packets("backlog", backlog)?);
    let fits = utilization >= share;
    OutOfRange::unless(fits, "backlog", backlog, "x / (2 (1 - x)) packets or more, of the share x")?;
    number(utilization)
}

/// Returns [`super::starting_rate`], `[madison:eq12]` with `[madison:eq13]`: a share of the capacity.
///
/// # Errors
/// If the backlog is negative, or the utilization by others is not from 0 to below 1.
pub fn starting_rate(backlog: f64, others: f64) -> Result<f64, OutOfRange> {
    number(total::starting_rate(packets("backlog", backlog)?, below_one("utilization by others", others)?))
}

/// Returns the number of own packets in the queue once a flow sends at `share`, while the others send at `others`: the
/// inverse of [`starting_rate`].
///
/// ```text
/// b = x / (2 (1 - u0 - x))
/// ```
///
/// # Errors
/// If the shares are out of their range, or are 1 or more together.
pub fn starting_backlog(share: f64, others: f64) -> Result<f64, OutOfRange> {
    shared_backlog(share, others, 0.0, 1.0)
}

/// Returns [`super::shared_rate`], `[madison:eq12]` with `[madison:eq14]`: a share of the capacity.
///
/// # Errors
/// If the backlog is negative, a share is not from 0 to below 1, or there is less than one flow.
pub fn shared_rate(backlog: f64, cross: f64, own: f64, adapting: f64) -> Result<f64, OutOfRange> {
    let (backlog, adapting) = (packets("backlog", backlog)?, flows(adapting)?);
    let own = below_one("own share", own)?;
    let cross = below_one("utilization by others", cross)?;
    number(total::shared_rate(backlog, cross, own, adapting))
}

/// Returns the number of own packets in the queue once each of `adapting` flows has changed its share from `own` to
/// `share`: the inverse of [`shared_rate`].
///
/// ```text
/// b = x / (2 (1 - ux - nD x)),   ux = max(0, X - (nD - 1) S) 12/C
/// ```
///
/// # Errors
/// If a share is out of its range, there is less than one flow, or the arrival rate is 1 or more: then the queue has no
/// mean.
pub fn shared_backlog(share: f64, cross: f64, own: f64, adapting: f64) -> Result<f64, OutOfRange> {
    let (share, adapting) = (below_one("share", share)?, flows(adapting)?);
    let own = below_one("own share", own)?;
    let cross = below_one("utilization by others", cross)?;
    let arriving = total::steady_share(cross, own, adapting) + adapting * share;
    reached_backlog(share, below_one("utilization with the new rates", arriving)?)
}

/// Returns `nD`, the number of flows that changed together: [`super::adapted`], `[madison:eq14]` solved for that
/// number. Returns `None` if no number of flows explains the backlog.
///
/// # Errors
/// If the backlog is not above zero, or a share is out of its range.
pub fn adapting_flows(backlog: f64, cross: f64, before: f64, after: f64) -> Result<Option<f64>, OutOfRange> {
    let backlog = some_packets("backlog", backlog)?;
    let cross = below_one("utilization by others", cross)?;
    let (before, after) = (part("share before", before)?, part("share after", after)?);
    Ok(total::adapted(backlog, cross, before, after))
}
