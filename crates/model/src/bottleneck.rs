//! Estimates of end hosts about the bottleneck: backlog, utilization, cross traffic, and the number of flows that share
//! it. From them follows the rate that reaches a target backlog, `[madison:eq1]` to `[madison:eq14]`.
//!
//! Units. A packet is the unit of data. Its service time at the bottleneck, `12/C` in the paper, is the unit of time.
//! So rates are shares of the capacity (`x = S 12/C`), and backlogs are packets. A delay divided by the service time
//! is a backlog. The paper's packets have 1500 bytes.
//!
//! The bottleneck is modelled as an M/D/1 queue, whose mean wait is `U/(2(1 - U))` service times. Arrivals that are
//! smoother than Poisson, such as those of a few paced flows, wait less: then the utilization is underestimated.
//!
//! The functions here are those of a controller: they accept all measured values. Those of [`calculus`] have inverses,
//! and report values outside the range for which they hold.

pub mod calculus;

/// `d/RTT_norm`: queueing delay over the normalized round-trip time `[madison:table2]`.
pub const DELAY_RATIO: f64 = 0.0235;

/// Returns the backlog that Reno keeps, packets, `[madison:eq2]`.
///
/// ```text
/// alpha_Reno = (2/7) (d/RTT) (9 + sqrt(25 + 56/p))
/// ```
/// `d/RTT` = `delay_ratio`, queueing delay over average RTT; `p` = `loss`, loss events per packet. The result solves
/// Vegas' bound `p = 32/(7 W^2 - 36 W + 32)`, with `W = alpha RTT/d`, for `alpha` `[madison:eq1]`. It is infinite
/// without loss.
#[must_use]
pub fn reno_backlog(delay_ratio: f64, loss: f64) -> f64 {
    2.0 / 7.0 * delay_ratio * (9.0 + (25.0 + 56.0 / loss).sqrt())
}

/// Returns the target backlog of a Madison flow, packets, `[madison:eq3]`: Reno's at the normalized round-trip time.
///
/// The paper prints 4.33 at `p = 1e-4`; its own equation gives 5.085.
#[must_use]
pub fn target_backlog(loss: f64) -> f64 {
    reno_backlog(DELAY_RATIO, loss)
}

/// Returns the number of packets that wait at the bottleneck, `[madison:eq6]`.
///
/// ```text
/// B = d C/12
/// ```
/// `d` = `delay`, the mean queueing delay; `12/C` = `service`, the service time of a packet; in the same unit.
#[must_use]
pub fn waiting(delay: f64, service: f64) -> f64 {
    delay / service
}

/// Returns the share of the capacity that a rate takes, `[madison:eq9]`.
///
/// ```text
/// x = S 12/C
/// ```
/// `S` = `rate`, packets per unit of time; `12/C` = `service`, the service time of a packet.
#[must_use]
pub fn share(rate: f64, service: f64) -> f64 {
    rate * service
}

/// Returns the rate, packets per unit of time, that takes the share `share`: the inverse of [`share()`].
#[must_use]
pub fn rate(share: f64, service: f64) -> f64 {
    share / service
}

/// Returns the rate of all other flows, a share of the capacity, `[madison:eq10]`; zero if the flow alone has more than
/// the utilization.
///
/// ```text
/// X 12/C = U - x
/// ```
#[must_use]
pub fn cross_share(utilization: f64, own: f64) -> f64 {
    (utilization - own).max(0.0)
}

/// Returns the number of flows, each with the share `own`, that together make the `utilization`, `[madison:eq11]`.
///
/// ```text
/// n = C U/(12 S)
/// ```
#[must_use]
pub fn equivalent_flows(utilization: f64, own: f64) -> f64 {
    utilization / own
}

/// Returns the utilization of an M/D/1 queue where `backlog` packets wait on average, `[madison:eq8]`.
///
/// ```text
/// U = 2B / (2B + 1)
/// ```
#[must_use]
pub fn utilization(backlog: f64) -> f64 {
    let twice = 2.0 * backlog;
    if twice.is_finite() { twice.max(0.0) / (twice.max(0.0) + 1.0) } else { 1.0 }
}

/// Returns the change of [`utilization`] per packet of backlog: `dU/dB = 2/(2B + 1)^2`.
#[must_use]
pub fn utilization_slope(backlog: f64) -> f64 {
    2.0 / (2.0 * backlog + 1.0).powi(2)
}

/// Returns the rate, a share of the capacity, at which a starting flow has `backlog` packets of its own in the queue,
/// `[madison:eq12]` with `[madison:eq13]`.
///
/// ```text
/// x = 2b (1 - u0) / (1 + 2b)
/// ```
/// `u0` = `others`: the utilization by all others, which are assumed not to respond.
#[must_use]
pub fn starting_rate(backlog: f64, others: f64) -> f64 {
    let free = 1.0 - others.clamp(0.0, 1.0);
    if (2.0 * backlog).is_infinite() { free } else { 2.0 * backlog * free / (1.0 + 2.0 * backlog) }
}

/// Returns the rate, a share of the capacity, at which each of `adapting` flows that change together has `backlog`
/// packets of its own in the queue, `[madison:eq12]` with `[madison:eq14]`.
///
/// ```text
/// x = 2b (1 - ux) / (1 + 2b nD),   ux = max(0, X - (nD - 1) S) 12/C
/// ```
/// `cross` = `X 12/C`: the utilization by all others; `own` = `S 12/C`: the utilization by the flow before the change.
#[must_use]
pub fn shared_rate(backlog: f64, cross: f64, own: f64, adapting: f64) -> f64 {
    let free = 1.0 - steady_share(cross, own, adapting);
    if (2.0 * backlog * adapting).is_infinite() {
        free / adapting
    } else {
        2.0 * backlog * free / (1.0 + 2.0 * backlog * adapting)
    }
}

/// Returns `ux` of `[madison:eq14]`: the rate of the flows that do not adapt.
fn steady_share(cross: f64, own: f64, adapting: f64) -> f64 {
    (cross - (adapting - 1.0) * own).clamp(0.0, 1.0)
}

/// Returns the number of flows that must have changed together, if a change of the own rate from `before` to `after`
/// left `backlog` packets in the queue. This is `[madison:eq14]` solved for `nD`, with the utilization that
/// `[madison:eq12]` gives for `backlog`.
/// `cross` is the value before the change. If the rate changed by less than a hundredth, all other flows are assumed to
/// adapt as the flow does. Returns `None` if no number of flows explains it.
#[must_use]
pub fn adapted(backlog: f64, cross: f64, before: f64, after: f64) -> Option<f64> {
    let reached = 1.0 - after / (2.0 * backlog);
    // The number of flows that adapt, if others keep a steady rate and if there are no such others.
    let mixed = (reached - cross - before) / (after - before);
    let all = reached / after;
    let changed = (after - before).abs() >= 0.01 * before;
    let adapted = if changed && cross - (mixed - 1.0) * before > 0.0 { mixed } else { all };
    (adapted.is_finite() && adapted >= 1.0).then_some(adapted)
}

/// A flow's knowledge of its bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// The number of packets that wait at the bottleneck (`B`): the mean queueing delay `d` over the service time of a
    /// packet `[madison:eq6]`.
    pub total_backlog: f64,
    /// The flow's own packets among them: `b = S d` `[madison:eq4]`.
    pub backlog: f64,
    /// The utilization of the bottleneck (`U`), at least the flow's own `[madison:eq8]`.
    pub utilization: f64,
    /// The utilization by the flow: `x = S 12/C` `[madison:eq9]`.
    pub own: f64,
    /// The utilization by all others: `X 12/C = U - x` `[madison:eq10]`.
    pub cross: f64,
    /// Equivalent flows: `n = C U/(12 S)`, at least one `[madison:eq11]`.
    pub flows: f64,
}

impl Measures {
    /// Computes the measures of a flow that sends at the share `own` of the capacity, where packets wait for `delay`
    /// service times. A `delay` up to `noise` counts as zero: then the flow is alone, `n = 1` and `U = x`.
    ///
    /// The paper gives `n = B/b = C U/(12 S)`. The first expression is `C/(12 S)` at any `U`, because `B` and `b` have
    /// the same `d`. So this code takes the second expression.
    #[must_use]
    pub fn new(delay: f64, own: f64, noise: f64) -> Self {
        let total_backlog = if delay > noise { delay } else { 0.0 };
        let utilization = utilization(total_backlog).max(own.min(1.0));
        let is_shared = own > 0.0 && total_backlog > 0.0;
        let flows = if is_shared { equivalent_flows(utilization, own).max(1.0) } else { 1.0 };
        Self {
            total_backlog,
            backlog: own * total_backlog,
            utilization,
            own,
            cross: cross_share(utilization, own),
            flows,
        }
    }
}
