//! The [`Summary`]: one row of numbers with the same keys from every engine.

use super::shaper::{ShaperSummary, occupancy};
use super::{Engine, Hosts, Percentiles, TrafficSummary, WlanSummary};
use crate::run::batches::{HalfWidths, Trend};
use crate::run::resolve::{Resolved, ResolvedLink};
use crate::run::statistics::jain_index;
use link::{Histogram, LinkReport, Occupancy, QueueingDelay, SynchronizedLosses};
use scenario::Direction;
use serde::{Deserialize, Serialize};
use units::Span;

/// One run's numbers. `None` (JSON `null`) where the engine cannot know. Rates are bits per second, times
/// seconds, shares in [0, 1].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The engine that answered.
    pub engine: Engine,
    /// Hash of the resolved scenario, 16 hex digits.
    pub scenario_hash: String,
    /// The seed of the run.
    pub seed: u64,
    /// The assumptions that the scenario breaks, of the theory that answered: one sentence each, with the theory's
    /// name. Absent where the theory fits the scenario exactly; otherwise no claim judges these numbers. Only the model
    /// fills them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Length of the measured interval: duration less warm-up.
    pub measured_s: f64,
    /// Length of the interval over which the `goodput_bps` of all flows is counted, if it is not the measured interval.
    /// In a run without a duration it begins when the first connection is established.
    #[serde(default)]
    pub delivering_s: Option<f64>,
    /// Packets the tight link sent over the whole run, warm-up included.
    pub packets_forwarded: Option<u64>,
    /// Packets that were dropped at the tight link, for any reason, over the whole run.
    pub packets_dropped: Option<u64>,
    /// Wall-clock time that the run took.
    pub wall_s: f64,
    /// Largest resident memory of the process so far.
    pub peak_rss_bytes: u64,
    /// Bytes that the tight link sent over the bytes that it could have sent.
    pub utilization: Option<f64>,
    /// Half the width of the utilization's 95 % confidence interval, from ten batch means; idle time has the same.
    /// `None` for a run without a duration.
    pub utilization_ci95: Option<f64>,
    /// Share of time in which the queue is empty and the link is not sending.
    pub idle_fraction: Option<f64>,
    /// Share of time in which no packet waits.
    pub queue_empty_fraction: Option<f64>,
    /// Drops over arrivals at the tight link.
    pub loss_rate: Option<f64>,
    /// Half the width of the loss rate's 95 % confidence interval, from ten batch means.
    pub loss_rate_ci95: Option<f64>,
    /// The changes from the first half of the measured time to the second that exceed chance; absent if nothing
    /// changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// Number of loss episodes of the greedy flows at the tight link. An episode is all drops within one round trip of
    /// its first, queueing delay included. `None` with fewer than two such flows.
    pub loss_episodes: Option<u64>,
    /// Share of the loss episodes in which more than half of the greedy flows lost packets; `None` with fewer than ten
    /// episodes.
    pub synchronized_loss_share: Option<f64>,
    /// Time-average of the bytes waiting, the packet being sent excluded.
    pub mean_backlog_bytes: Option<f64>,
    /// Mean backlog over the queue's limit.
    pub mean_occupancy: Option<f64>,
    /// Packets waiting, the one being sent excluded, weighted by time.
    pub queue_length_packets: Option<QueueLength>,
    /// The time that the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
    /// The same wait of the packets of scalable flows (ECT(1) and CE) alone, if the queue has a class for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4s_delay_s: Option<DelayStatistics>,
    /// The same of the packets of all other flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic_delay_s: Option<DelayStatistics>,
    /// The mean rate that the link offered in the measured interval, if its rate changes.
    #[serde(default)]
    pub offered_bps: Option<f64>,
    /// The self-inflicted delay, if the link's rate changes. It is how much the 95th percentile of the
    /// age of what has arrived exceeds that of a sender that knew the capacity over time.
    #[serde(default)]
    pub self_inflicted_delay_s: Option<f64>,
    /// Jain's fairness index of the flows' goodputs; `None` for a single flow.
    pub jain_index: Option<f64>,
    /// Mean of Jain's index over intervals of `record.fairness` within the measured time.
    pub jain_index_mean: Option<f64>,
    /// The longest time that any flow took to come within 20 % of its fair share; `None` if one never did.
    pub convergence_s: Option<f64>,
    /// One entry per flow.
    pub flows: Vec<FlowSummary>,
    /// Every direction of every link that has a queue, the tight link among them; empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSummary>,
    /// One entry per source of cross traffic; absent without such traffic, and from a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficSummary>,
    /// One entry per population of users that come and go; absent without such users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionsSummary>,
    /// The state of the air in a wireless cell; absent elsewhere. In a cell, `utilization` is the share of time in
    /// which the air is busy, and the queue is the access point's, that of the first download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wlan: Option<WlanSummary>,
    /// The two queues of a tight link with a shaper; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<ShaperSummary>,
    /// The hosts at both ends of the emulated path; absent for other engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// The results of the other runs, if this is the median of several; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
}

impl Summary {
    /// Summarizes a run whose tight link made `report`, with the numbers of its `flows`.
    pub(crate) fn of(
        engine: Engine,
        resolved: &Resolved,
        link: &LinkReport,
        ci95: HalfWidths,
        flows: Vec<FlowSummary>,
    ) -> Self {
        let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
        Self {
            engine,
            scenario_hash: resolved.hash.clone(),
            seed: resolved.seed,
            measured_s: link.measured.as_secs_f64(),
            packets_forwarded: Some(link.conservation.forwarded),
            packets_dropped: Some(link.conservation.dropped),
            utilization: Some(link.utilization),
            utilization_ci95: ci95.utilization,
            idle_fraction: Some(link.idle_fraction),
            queue_empty_fraction: Some(link.queue_empty_fraction),
            loss_rate: Some(link.loss_rate()),
            loss_rate_ci95: ci95.loss_rate,
            trend: ci95.trend,
            mean_backlog_bytes: Some(link.mean_waiting_bytes),
            mean_occupancy: occupancy(link, resolved.limit),
            queue_length_packets: queue_length(&link.queue_length),
            queueing_delay_s: DelayStatistics::of_queue(&link.queueing_delay),
            l4s_delay_s: link.classes.as_ref().and_then(|c| DelayStatistics::of_queue(&c.scalable)),
            classic_delay_s: link.classes.as_ref().and_then(|c| DelayStatistics::of_queue(&c.classic)),
            offered_bps: link.offered_bps(),
            self_inflicted_delay_s: link
                .changing
                .as_ref()
                .and_then(|changing| changing.self_inflicted(0.95))
                .map(Span::as_secs_f64),
            jain_index: jain_index(&goodputs),
            shaper: ShaperSummary::of(link),
            flows,
            ..Self::default()
        }
    }

    /// Adds the numbers of loss episodes, if there are several greedy flows.
    pub(crate) fn set_losses(&mut self, losses: SynchronizedLosses, resolved: &Resolved) {
        if resolved.greedy().count() > 1 {
            self.loss_episodes = Some(losses.episodes);
            self.synchronized_loss_share = losses.share();
        }
    }

    /// Returns true if the scenario breaks no assumption of the engine or theory that answered.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.assumptions.is_empty()
    }

    /// Returns the payload that all flows and users delivered within the measured interval, over its length, bits per
    /// second.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        let over = self.delivering_s.unwrap_or(self.measured_s);
        let flows = self.flows.iter().map(|flow| match flow.delivered_bytes {
            Some(delivered) if over > 0.0 => delivered * 8.0 / over,
            _ => flow.goodput_bps,
        });
        flows.chain(self.sessions.iter().map(|sessions| sessions.goodput_bps)).sum()
    }

    /// Sets the time over which the goodput of all flows counts, if it is not the measured time: a run without a
    /// duration counts from the first established connection.
    pub(crate) fn delivers_from(&mut self, established: impl Iterator<Item = f64>, resolved: &Resolved) {
        let warmup = resolved.warmup.as_secs_f64();
        let first = established.reduce(f64::min).filter(|first| *first > warmup && resolved.end.is_none());
        self.delivering_s = first.map(|first| (self.measured_s + warmup - first).max(0.0));
    }

    /// Returns the mean of the mean round-trip times of the flows that have one, seconds.
    #[must_use]
    pub fn rtt_mean_s(&self) -> Option<f64> {
        let known: Vec<f64> = self.flows.iter().filter_map(|flow| Some(flow.rtt_s?.mean)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// Returns the number of packets that flows and users sent again, if it is known for all of them.
    #[must_use]
    pub fn retransmits(&self) -> Option<u64> {
        let flows = self.flows.iter().map(|flow| flow.retransmits);
        flows.chain(self.sessions.iter().map(|sessions| Some(sessions.retransmits))).sum()
    }
}

/// Several runs of one scenario with consecutive seeds, this one among them. The numbers are those of the first flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// The number of runs.
    pub runs: u64,
    /// Their seeds, ascending.
    pub seeds: Vec<u64>,
    /// The number of discarded runs in which the machine was too busy: a figure runs these again.
    pub run_again: u64,
    /// Goodput, bits per second.
    pub goodput_bps: Option<Extent>,
    /// Mean round-trip time, seconds.
    pub rtt_mean_s: Option<Extent>,
    /// Segments sent again.
    pub retransmits: Option<Extent>,
}

/// The least and the greatest value of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

/// One direction of one of several links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name in the scenario.
    pub name: String,
    /// `forward`, or `reverse`.
    pub direction: String,
    /// True if the summary's own numbers are about this direction.
    pub tight: bool,
    /// Bytes that it sent over the bytes that it could have sent.
    pub utilization: f64,
    /// Share of time in which its queue is empty and it is not sending.
    pub idle_fraction: f64,
    /// Drops over arrivals.
    pub loss_rate: Option<f64>,
    /// Time-average of the bytes waiting, the packet being sent excluded.
    pub mean_backlog_bytes: Option<f64>,
    /// Mean backlog over the queue's limit.
    pub mean_occupancy: Option<f64>,
    /// The time that the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
}

impl LinkSummary {
    /// Summarizes one of several links; `tight` if it is the tight one.
    pub(crate) fn of(link: &ResolvedLink, tight: bool, report: &LinkReport) -> Self {
        Self {
            utilization: report.utilization,
            idle_fraction: report.idle_fraction,
            loss_rate: Some(report.loss_rate()),
            mean_backlog_bytes: Some(report.mean_waiting_bytes),
            mean_occupancy: occupancy(report, link.limit),
            queueing_delay_s: DelayStatistics::of_queue(&report.queueing_delay),
            ..Self::named(link, tight)
        }
    }

    /// Makes the summary of one of several links without numbers; `tight` if it is the tight one.
    pub(crate) fn named(link: &ResolvedLink, tight: bool) -> Self {
        let direction = match link.direction {
            Direction::Forward => "forward".into(),
            Direction::Reverse => "reverse".into(),
        };
        Self { name: link.name.clone(), direction, tight, ..Self::default() }
    }

    /// Returns its name in keys and columns; the way back has the suffix `.reverse`, as in a scenario's keys.
    #[must_use]
    pub fn key(&self) -> String {
        if self.direction == "reverse" { format!("{}.reverse", self.name) } else { self.name.clone() }
    }
}

/// The queue's length over the measured interval, in packets: exact, each length weighted by the time it lasted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueLength {
    /// Time average.
    pub mean: f64,
    /// For each share of the time, the length that the queue does not exceed. In the summary these fields stand next to
    /// `mean`.
    #[serde(flatten)]
    pub percentiles: Percentiles<u64>,
    /// The longest queue.
    pub max: u64,
}

/// One population's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionsSummary {
    /// Its name in the scenario.
    pub name: String,
    /// The number of users.
    pub users: u64,
    /// Sessions that ended within the measured interval.
    pub completed: u64,
    /// Time-average number of users with a session under way.
    pub mean_active: f64,
    /// Payload delivered to all users per second, bits per second.
    pub goodput_bps: f64,
    /// The time from a session's beginning to its last byte's acknowledgement, of the sessions that ended.
    pub completion_s: Option<DelayStatistics>,
    /// Packets sent again.
    pub retransmits: u64,
    /// The users' packets dropped over those sent.
    pub loss_rate: Option<f64>,
}

/// Mean and quantiles of a delay, seconds. A model knows the mean only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayStatistics {
    /// Mean.
    pub mean: f64,
    /// Percentiles over time for a queueing delay, and over sessions for their completion. In the summary these fields
    /// stand next to `mean`.
    #[serde(flatten)]
    pub percentiles: Percentiles<Option<f64>>,
    /// The longest.
    pub max: Option<f64>,
}

impl DelayStatistics {
    /// Computes the mean and quantiles of a histogram; `None` without samples.
    pub(crate) fn of(delays: &Histogram) -> Option<Self> {
        Some(statistics(delays.mean()?, |q| delays.quantile(q), delays.max()))
    }

    /// Computes the mean and quantiles of a queueing delay over time; `None` if no time was measured.
    pub(crate) fn of_queue(delay: &QueueingDelay) -> Option<Self> {
        Some(statistics(delay.mean()?, |q| delay.quantile(q), delay.max()))
    }
}

/// One flow's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// The flow's name in the scenario.
    pub name: String,
    /// Goodput, bits per second. For a sized flow that completed, it is the size over `completion_s`. For any other, it
    /// is the payload delivered within the measured interval over the time for which the flow was present.
    pub goodput_bps: f64,
    /// The flow's packets dropped over its packets sent.
    pub loss_rate: Option<f64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// The number of times its retransmission timer expired.
    pub timeouts: Option<u64>,
    /// Its send window when its first packet was dropped, segments; `None` if no packet was dropped.
    pub first_loss_window_segments: Option<f64>,
    /// Its slow-start threshold in the end, segments; `None` if it has no threshold.
    pub threshold_segments: Option<f64>,
    /// The receive window that a sizer set in the end, bytes. A model has the least window that takes all the available
    /// bandwidth, `A Te` [sobas:mft].
    #[serde(default)]
    pub window_bytes: Option<f64>,
    /// Segments that arrived with a congestion mark.
    pub marks: Option<u64>,
    /// Round-trip time of the flow.
    pub rtt_s: Option<RttStatistics>,
    /// The time from the instant at which the sender's connection was established until all data of a sized flow was
    /// acknowledged.
    pub completion_s: Option<f64>,
    /// The time from the SYN until the connection was established at the sender; `None` if there was no handshake.
    #[serde(default)]
    pub handshake_s: Option<f64>,
    /// Payload to move, bytes; `None` for a greedy flow.
    #[serde(default)]
    pub size_bytes: Option<f64>,
    /// The 99th percentile of the round-trip samples.
    #[serde(default)]
    pub rtt_p99_s: Option<f64>,
    /// Mean absolute difference between consecutive round-trip samples, as RFC 3550 (6.4.1) defines it for one-way
    /// delays.
    #[serde(default)]
    pub jitter_s: Option<f64>,
    /// Payload delivered within the measured interval, bytes.
    pub delivered_bytes: Option<f64>,
    /// Its delivered payload over that of all flows; `None` for a single flow.
    pub goodput_share: Option<f64>,
    /// Its goodput over the mean of the run's other flows with `reno` or `newreno`; `None` without one.
    pub reno_ratio: Option<f64>,
    /// Mean number of its packets waiting at the tight link, the one being sent excluded.
    pub backlog_packets: Option<f64>,
    /// The greatest smoothed round-trip time. Absent where all propagation is lumped behind one link, and from an
    /// engine that does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_smoothed_rtt_s: Option<f64>,
    /// The times by which its packets left after they were due. Absent where no program of ours times departures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub departure_late_s: Option<Departures>,
    /// The time from its start until its goodput had come within 20 % of its fair share and stayed there.
    pub convergence_s: Option<f64>,
}

/// The lateness of a flow's departures, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departures {
    /// The mean.
    pub mean: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// A flow's round-trip time, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttStatistics {
    /// Least sample.
    pub min: f64,
    /// Mean over samples.
    pub mean: f64,
    /// The 95th percentile of the samples.
    pub p95: Option<f64>,
}

fn statistics(mean: Span, quantile: impl Fn(f64) -> Option<Span>, max: Span) -> DelayStatistics {
    DelayStatistics {
        mean: mean.as_secs_f64(),
        percentiles: Percentiles::of(|share| quantile(share).map(Span::as_secs_f64)),
        max: Some(max.as_secs_f64()),
    }
}

/// Computes the mean and quantiles of the queue's length; `None` if no time was measured.
fn queue_length(occupancy: &Occupancy) -> Option<QueueLength> {
    Some(QueueLength {
        mean: occupancy.mean()?,
        // Quantiles exist wherever a mean exists.
        percentiles: Percentiles::of(|share| occupancy.quantile(share).unwrap_or_default()),
        max: occupancy.max(),
    })
}
