//! Confidence intervals from batch means: the measured interval is divided into ten equal parts, and each part's mean
//! is a sample.
//!
//! The parts of one run are not quite independent. They are nearly so once each is much longer than the memory of the
//! traffic, a few of its oscillations. Repeated runs with other seeds say more and cost more.

use crate::run::statistics::{Estimate, estimate};
use link::{Changing, LinkState};
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// The number of parts.
pub(crate) const BATCHES: u64 = sim::BATCHES;

/// Half widths of 95 % confidence intervals (Student's t, nine degrees of freedom).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HalfWidths {
    /// Half width for the tight link's utilization.
    pub(crate) utilization: Option<f64>,
    /// Half width for drops over arrivals; `None` if a part had no arrivals.
    pub(crate) loss_rate: Option<f64>,
    /// The significant change from the first half of the parts to the second, if any.
    pub(crate) trend: Option<Trend>,
}

/// The changes of the means from the first half of the measured time to the second; `None` for a quantity without a
/// significant change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Change of the tight link's utilization.
    pub utilization: Option<f64>,
    /// Change of the loss rate: drops divided by arrivals.
    pub loss_rate: Option<f64>,
}

/// The change, in standard errors of the difference between two means of five samples each, that only 0.1 % of steady
/// runs exceed (Student's t, eight degrees of freedom).
const SURELY: f64 = 5.04;
/// The smallest changes that matter: an absolute change of the utilization, and a relative change of the loss rate.
const MATTERS: (f64, f64) = (0.001, 0.1);

/// Returns the second half's mean less the first half's, if the difference exceeds both chance and `least`.
fn drift(batches: &[f64], least: f64) -> Option<f64> {
    let (first, second) = batches.split_at(batches.len() / 2);
    // The half width of a 95 % interval is 2.776 standard errors of a mean of five samples.
    let error = |of: Estimate| of.half_width / 2.776;
    let (first, second) = (estimate(first), estimate(second));
    let change = second.mean - first.mean;
    let chance = SURELY * libm::hypot(error(first), error(second));
    (change.abs() > chance.max(least)).then_some(change)
}

/// The tight link's counters at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) at: Time,
    pub(crate) busy: Span,
    /// The time for which the link could have been busy, from any beginning.
    pub(crate) possible: Span,
    pub(crate) arrivals: u64,
    pub(crate) drops: u64,
}

impl From<&(Time, LinkState)> for Reading {
    fn from((at, state): &(Time, LinkState)) -> Self {
        let possible = possible(*at, state.changing);
        Self { at: *at, busy: state.busy, possible, arrivals: state.arrivals, drops: state.drops }
    }
}

/// Returns the time for which a link could have been busy at `at`.
pub(crate) fn possible(at: Time, changing: Option<Changing>) -> Span {
    changing.map_or_else(|| at.since(Time::ZERO), |changing| changing.possible)
}

/// Computes half widths from the readings at the ends of the batches and at the beginning of the first. Returns no
/// values if the number of readings is wrong.
pub(crate) fn half_widths(readings: &[Reading]) -> HalfWidths {
    if readings.len() as u64 != BATCHES + 1 || readings.windows(2).any(|pair| pair[1].at <= pair[0].at) {
        return HalfWidths::default();
    }
    let pairs = || readings.windows(2).map(|pair| (pair[0], pair[1]));
    let utilizations: Vec<f64> = pairs()
        .map(|(from, to)| {
            let possible = to.possible.saturating_sub(from.possible).as_secs_f64();
            let busy = to.busy.saturating_sub(from.busy).as_secs_f64();
            if possible > 0.0 { busy / possible } else { 0.0 }
        })
        .collect();
    let losses: Option<Vec<f64>> = pairs()
        .map(|(from, to)| {
            let arrivals = to.arrivals - from.arrivals;
            (arrivals > 0).then(|| (to.drops - from.drops) as f64 / arrivals as f64)
        })
        .collect();
    let (least, share) = MATTERS;
    let trend = Trend {
        utilization: drift(&utilizations, least),
        loss_rate: losses.as_ref().and_then(|losses| drift(losses, share * estimate(losses).mean)),
    };
    HalfWidths {
        utilization: Some(estimate(&utilizations).half_width),
        loss_rate: losses.map(|losses| estimate(&losses).half_width),
        trend: Some(trend).filter(|trend| *trend != Trend::default()),
    }
}

/// Chooses, from readings at fixed steps, those nearest to the ends of the batches between `from` and `end`. Returns an
/// empty list if a batch would be missed by more than a tenth of its length.
#[cfg(feature = "kernel")]
pub(crate) fn nearest(readings: &[Reading], from: Time, end: Time) -> Vec<Reading> {
    let batch = end.since(from) / BATCHES;
    let nearest = |boundary: Time| {
        let apart = |reading: &&Reading| reading.at.since(boundary).max(boundary.since(reading.at));
        readings.iter().min_by_key(apart).filter(|reading| apart(reading) <= batch / 10).copied()
    };
    (0..=BATCHES).map(|index| nearest(from + batch * index)).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
#[path = "../../tests/within/batches.rs"]
mod tests;
