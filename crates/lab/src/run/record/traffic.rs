//! Numbers of cross traffic: one [`TrafficSummary`] for each source.

use super::DelayStatistics;
use crate::run::resolve::Resolved;
use link::SourceReport;
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// The packets of one `[[traffic]]` that arrived within the measured interval, over their whole route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrafficSummary {
    /// Its name in the scenario.
    pub name: String,
    /// Packets sent.
    pub packets: u64,
    /// Bytes delivered per second, headers included, as bits per second, while the source was present.
    pub throughput_bps: f64,
    /// Packets dropped over packets sent; `None` without packets.
    pub loss_rate: Option<f64>,
    /// One-way delay of the packets delivered: waiting, transmission and propagation (RFC 7679).
    pub delay_s: Option<DelayStatistics>,
    /// The time for which the delivered packets waited in queues.
    pub queueing_delay_s: Option<DelayStatistics>,
    /// Mean absolute difference between the one-way delays of consecutive packets, |D(i-1, i)| of RFC 3550 (6.4.1).
    pub jitter_s: Option<f64>,
}

/// Makes the numbers of each source from `reports`, which has one for each source in the scenario's order.
pub(crate) fn traffic(resolved: &Resolved, reports: &[SourceReport], end: Time) -> Vec<TrafficSummary> {
    let warmup = Time::ZERO + resolved.warmup;
    let one = |(source, report): (&sim::TrafficPlan, &SourceReport)| {
        let there = source.config.stop.min(end).since(source.config.start.max(warmup)).as_secs_f64();
        TrafficSummary {
            name: source.name.clone(),
            packets: report.packets,
            throughput_bps: if there > 0.0 { report.delivered_bytes.bits_f64() / there } else { 0.0 },
            loss_rate: report.loss_rate(),
            delay_s: DelayStatistics::of(&report.delay),
            queueing_delay_s: DelayStatistics::of(&report.queueing),
            jitter_s: report.jitter.map(Span::as_secs_f64),
        }
    };
    resolved.traffic.iter().zip(reports).map(one).collect()
}
