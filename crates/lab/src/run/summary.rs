//! The parts of a summary that engines share: memory, wall-clock time, and the link's.

use crate::run::batches::HalfWidths;
use crate::run::fairness;
use crate::run::record::{
    DelayStatistics, Engine, FlowSummary, LinkSummary, Percentiles, QueueLength, Summary,
};
use crate::run::resolve::{Resolved, ResolvedLink};
use crate::run::statistics::jain_index;
use link::{Histogram, Limit, LinkReport, Occupancy, QueueingDelay, SynchronizedLosses};
use scenario::Direction;
use std::time::Instant;
use units::Span;

/// Wall-clock time since it was started: how long an engine took, never what it measures.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "reports how long a run took; no result depends on it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Largest resident memory of this process so far, bytes; zero where the system does not say.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    kilobytes.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Mean and quantiles of a histogram; `None` without samples.
#[must_use]
pub fn delay_statistics(delays: &Histogram) -> Option<DelayStatistics> {
    Some(statistics(delays.mean()?, |q| delays.quantile(q), delays.max()))
}

/// Mean and quantiles of the queueing delay over time; `None` if no time was measured.
#[must_use]
pub fn queueing_delay(delay: &QueueingDelay) -> Option<DelayStatistics> {
    Some(statistics(delay.mean()?, |q| delay.quantile(q), delay.max()))
}

fn statistics(mean: Span, quantile: impl Fn(f64) -> Option<Span>, max: Span) -> DelayStatistics {
    DelayStatistics {
        mean: mean.as_secs_f64(),
        percentiles: Percentiles::of(|share| quantile(share).map(Span::as_secs_f64)),
        max: Some(max.as_secs_f64()),
    }
}

/// Mean and quantiles of the queue's length; `None` if no time was measured.
#[must_use]
pub fn queue_length(occupancy: &Occupancy) -> Option<QueueLength> {
    Some(QueueLength {
        mean: occupancy.mean()?,
        // Where there is a mean there are quantiles.
        percentiles: Percentiles::of(|share| occupancy.quantile(share).unwrap_or_default()),
        max: occupancy.max(),
    })
}

/// The mean share of a queue's room that is taken.
fn occupancy(link: &LinkReport, limit: Limit) -> f64 {
    match limit {
        Limit::Packets(packets) => link.mean_waiting_packets / packets as f64,
        Limit::Bytes(bytes) => link.mean_waiting_bytes / bytes.get() as f64,
    }
}

/// One of several links; `tight` if it is the tight one.
#[must_use]
pub fn link_summary(link: &ResolvedLink, tight: bool, report: &LinkReport) -> LinkSummary {
    LinkSummary {
        name: link.name.clone(),
        direction: match link.direction {
            Direction::Forward => "forward".into(),
            Direction::Reverse => "reverse".into(),
        },
        tight,
        utilization: report.utilization,
        idle_fraction: report.idle_fraction,
        loss_rate: report.loss_rate(),
        mean_backlog_bytes: report.mean_waiting_bytes,
        mean_occupancy: occupancy(report, link.limit),
        queueing_delay_s: queueing_delay(&report.queueing_delay),
    }
}

/// The summary of a run whose link reports itself.
#[must_use]
pub(crate) fn summary(
    engine: Engine,
    resolved: &Resolved,
    link: &LinkReport,
    ci95: HalfWidths,
    mut flows: Vec<FlowSummary>,
    wall_s: f64,
) -> Summary {
    fairness::compare(&mut flows, resolved);
    let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    Summary {
        engine,
        scenario_hash: resolved.hash.clone(),
        seed: resolved.seed,
        measured_s: link.measured.as_secs_f64(),
        packets_forwarded: Some(link.conservation.forwarded),
        packets_dropped: Some(link.conservation.dropped),
        wall_s,
        peak_rss_bytes: peak_rss_bytes(),
        utilization: Some(link.utilization),
        utilization_ci95: ci95.utilization,
        idle_fraction: Some(link.idle_fraction),
        queue_empty_fraction: Some(link.queue_empty_fraction),
        loss_rate: Some(link.loss_rate()),
        loss_rate_ci95: ci95.loss_rate,
        mean_backlog_bytes: Some(link.mean_waiting_bytes),
        mean_occupancy: Some(occupancy(link, resolved.limit)),
        queue_length_packets: queue_length(&link.queue_length),
        queueing_delay_s: queueing_delay(&link.queueing_delay),
        jain_index: jain_index(&goodputs),
        flows,
        ..Summary::default()
    }
}

/// Puts loss episodes into a summary, if there are flows that can lose together.
pub(crate) fn tell_losses(summary: &mut Summary, losses: SynchronizedLosses, resolved: &Resolved) {
    if resolved.greedy().count() > 1 {
        summary.loss_episodes = Some(losses.episodes);
        summary.synchronized_loss_share = losses.share();
    }
}
