//! What a run leaves behind: the [`Summary`] (one row of numbers, the same keys from every engine) and the
//! [`Series`] (the same columns from every engine), together a [`Record`].

mod note;
mod percentiles;

pub use note::Note;
pub use percentiles::Percentiles;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which engine answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Closed forms and fixed points.
    Model,
    /// Packet-level simulation.
    #[default]
    Sim,
    /// The real kernel over an emulated path.
    Live,
}

impl Engine {
    /// Every engine, in the order reports show them.
    pub const ALL: [Self; 3] = [Self::Model, Self::Sim, Self::Live];
}

impl From<scenario::FigureEngine> for Engine {
    fn from(engine: scenario::FigureEngine) -> Self {
        match engine {
            scenario::FigureEngine::Model => Self::Model,
            scenario::FigureEngine::Sim => Self::Sim,
            scenario::FigureEngine::Live => Self::Live,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Sim => "sim",
            Self::Live => "live",
        })
    }
}

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
    /// What the theory that answered assumes and the scenario breaks, a plain sentence each, with the theory's name. Absent where
    /// it is about exactly such a scenario; otherwise no claim judges these numbers. Of the model only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Length of the measured interval: duration less warm-up.
    pub measured_s: f64,
    /// Packets the tight link sent over the whole run, warm-up included.
    pub packets_forwarded: Option<u64>,
    /// Packets that were dropped at the tight link, for any reason, over the whole run.
    pub packets_dropped: Option<u64>,
    /// Wall-clock time the run took.
    pub wall_s: f64,
    /// Largest resident memory of the process so far.
    pub peak_rss_bytes: u64,
    /// Bytes the tight link sent over what it could have sent.
    pub utilization: Option<f64>,
    /// Half the width of its 95 % confidence interval, from ten batch means; idle time has the same. `None` for a run
    /// without a duration.
    pub utilization_ci95: Option<f64>,
    /// Share of time the queue is empty and the link not sending.
    pub idle_fraction: Option<f64>,
    /// Share of time no packet waits.
    pub queue_empty_fraction: Option<f64>,
    /// Drops over arrivals at the tight link.
    pub loss_rate: Option<f64>,
    /// Half the width of its 95 % confidence interval, from ten batch means.
    pub loss_rate_ci95: Option<f64>,
    /// Loss episodes of the greedy flows at the tight link: drops within one round trip, the delay of the queue included. `None`
    /// with fewer than two such flows.
    pub loss_episodes: Option<u64>,
    /// Share of these in which more than half of the greedy flows lost packets; `None` with fewer than ten.
    pub synchronized_loss_share: Option<f64>,
    /// Time-average of the bytes waiting, the packet being sent excluded.
    pub mean_backlog_bytes: Option<f64>,
    /// Mean backlog over the queue's limit.
    pub mean_occupancy: Option<f64>,
    /// Packets waiting, the one being sent excluded, weighted by time.
    pub queue_length_packets: Option<QueueLength>,
    /// How long the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
    /// Jain's fairness index of the flows' goodputs; `None` for a single flow.
    pub jain_index: Option<f64>,
    /// Mean of Jain's index over intervals of `record.fairness` within the measured time.
    pub jain_index_mean: Option<f64>,
    /// The longest time any flow took to come within 20 % of its fair share; `None` if one never did.
    pub convergence_s: Option<f64>,
    /// One entry per flow.
    pub flows: Vec<FlowSummary>,
    /// Every direction of every link that has a queue, the tight link among them; empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSummary>,
    /// One entry per population of users that come and go; absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionsSummary>,
    /// What the other runs found, where this is the median of several; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
}

impl Summary {
    /// Whether the scenario breaks no assumption of what answered.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.assumptions.is_empty()
    }

    /// Goodput of all flows and users, bits per second.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        let flows = self.flows.iter().map(|flow| flow.goodput_bps);
        flows.chain(self.sessions.iter().map(|sessions| sessions.goodput_bps)).sum()
    }

    /// Mean of the mean round-trip times of the flows that have one, seconds.
    #[must_use]
    pub fn rtt_mean_s(&self) -> Option<f64> {
        let known: Vec<f64> = self.flows.iter().filter_map(|flow| Some(flow.rtt_s?.mean)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// Packets that flows and users sent again, if that is known of all.
    #[must_use]
    pub fn retransmits(&self) -> Option<u64> {
        let flows = self.flows.iter().map(|flow| flow.retransmits);
        flows.chain(self.sessions.iter().map(|sessions| Some(sessions.retransmits))).sum()
    }
}

/// Several runs of one scenario with seeds that follow each other, this one among them. The numbers are the first
/// flow's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// How many.
    pub runs: u64,
    /// Their seeds, ascending.
    pub seeds: Vec<u64>,
    /// Runs in their place in which the machine was too busy: a figure runs these again.
    pub run_again: u64,
    /// Goodput, bits per second.
    pub goodput_bps: Option<Extent>,
    /// Mean round-trip time, seconds.
    pub rtt_mean_s: Option<Extent>,
    /// Segments sent again.
    pub retransmits: Option<Extent>,
}

/// The least and the greatest of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

/// One direction of one of several links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name in the scenario.
    pub name: String,
    /// `forward`, or `reverse`.
    pub direction: String,
    /// Whether the summary's own numbers are about this one.
    pub tight: bool,
    /// Bytes it sent over what it could have sent.
    pub utilization: f64,
    /// Share of time its queue is empty and it is not sending.
    pub idle_fraction: f64,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Time-average of the bytes waiting, the packet being sent excluded.
    pub mean_backlog_bytes: f64,
    /// Mean backlog over the queue's limit.
    pub mean_occupancy: f64,
    /// How long the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
}

impl LinkSummary {
    /// Its name in keys and columns; the way back has `.reverse` behind it, as in a scenario's keys.
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
    /// The length that the queue does not exceed for a share of the time, one for each share; beside `mean` in the summary.
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
    /// How many users.
    pub users: u64,
    /// Sessions that ended within the measured interval.
    pub completed: u64,
    /// Time-average number of users with a session under way.
    pub mean_active: f64,
    /// Payload delivered to all users per second, bits per second.
    pub goodput_bps: f64,
    /// From a session's beginning to its last byte's acknowledgement, of those that ended.
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
    /// Of the time for a queueing delay, of sessions for their completion: beside `mean` in the summary.
    #[serde(flatten)]
    pub percentiles: Percentiles<Option<f64>>,
    /// The longest.
    pub max: Option<f64>,
}

/// One flow's numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// The flow's name in the scenario.
    pub name: String,
    /// Payload delivered per second, bits per second, over the measured interval or until completion.
    pub goodput_bps: f64,
    /// The flow's packets dropped over its packets sent.
    pub loss_rate: Option<f64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// How often its retransmission timer expired.
    pub timeouts: Option<u64>,
    /// Its send window when its first packet was dropped, segments; `None` if none was.
    pub first_loss_window_segments: Option<f64>,
    /// Its slow-start threshold in the end, segments; `None` if it has none.
    pub threshold_segments: Option<f64>,
    /// Segments that arrived with a congestion mark.
    pub marks: Option<u64>,
    /// Round-trip time of the flow.
    pub rtt_s: Option<RttStatistics>,
    /// When a sized flow had all its data acknowledged, from its start.
    pub completion_s: Option<f64>,
    /// Payload delivered within the measured interval, bytes.
    pub delivered_bytes: Option<f64>,
    /// Its goodput over that of all flows; `None` for a single flow.
    pub goodput_share: Option<f64>,
    /// Its goodput over the mean of the run's other flows with `reno` or `newreno`; `None` without one.
    pub reno_ratio: Option<f64>,
    /// Mean number of its packets waiting at the tight link, the one being sent excluded.
    pub backlog_packets: Option<f64>,
    /// From its start until its goodput had come within 20 % of its fair share and stayed there.
    pub convergence_s: Option<f64>,
}

/// A flow's round-trip time, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttStatistics {
    /// Least sample.
    pub min: f64,
    /// Mean over samples.
    pub mean: f64,
    /// 95 % of samples are no longer.
    pub p95: Option<f64>,
}

/// The run against time, in columns: index i of every column is sample i.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// One per flow, in the summary's order; of many flows a sample.
    pub flows: Vec<FlowSeries>,
    /// Percentiles over all flows, where `flows` is a sample of them.
    #[serde(default, skip_serializing_if = "SpreadSeries::is_empty")]
    pub spread: SpreadSeries,
    /// The tight link.
    pub link: LinkSeries,
    /// Share of the measured interval with so many packets waiting at the tight link: none, one, and so on up to the
    /// longest queue. Empty where the engine cannot know. Kept whatever columns are asked for.
    #[serde(default)]
    pub queue_length: Vec<f64>,
    /// Fairness against time, where the scenario asks for it.
    #[serde(default)]
    pub fairness: FairnessSeries,
}

/// Mean and percentiles over all flows against time. Empty where every flow has a series of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpreadSeries {
    /// Sample times, seconds from the start of the run: a part of those of the flows' series.
    pub t_s: Vec<f64>,
    /// How many flows had started and not ended.
    pub flows: Vec<u64>,
    /// Goodput of each of these since the sample before, bits per second.
    pub rate_bps: Vec<Spread>,
    /// Smoothed round-trip time, seconds, of those that have one.
    pub rtt_s: Vec<Spread>,
    /// Send window, bytes.
    pub window_bytes: Vec<Spread>,
    /// Payload received in order since the start, bytes.
    pub data_bytes: Vec<Spread>,
}

impl SpreadSeries {
    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.t_s.is_empty()
    }
}

/// One quantity over many flows at one time; NaN over none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Its mean.
    pub mean: f64,
    /// The value that a share of the flows does not exceed, for each share.
    #[serde(flatten)]
    pub percentiles: Percentiles<f64>,
}

/// Fairness against time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FairnessSeries {
    /// Ends of the intervals, seconds from the start of the run.
    pub t_s: Vec<f64>,
    /// Jain's index of the goodputs of the flows that were there throughout the interval; NaN for fewer than two.
    pub jain_index: Vec<f64>,
}

/// One flow against time. A column the scenario did not ask for, or the engine cannot know, is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// The flow's name.
    pub name: String,
    /// Sample times, seconds from the start of the run.
    pub t_s: Vec<f64>,
    /// Goodput over the last interval, bits per second.
    pub rate_bps: Vec<f64>,
    /// Smoothed round-trip time, seconds.
    pub rtt_s: Vec<f64>,
    /// Send window, bytes: the least of congestion window, receive window and send buffer.
    pub window_bytes: Vec<f64>,
    /// Payload received in order since the start, bytes.
    #[serde(default)]
    pub data_bytes: Vec<f64>,
    /// What became of the socket buffer the scenario asks for; only the live engine fills it.
    pub socket_buffer: SocketBufferSeries,
    /// What its controller measures; only the simulator fills it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<MeasureSeries>,
}

/// One quantity that a flow's controller measures or decides by, against the flow's times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasureSeries {
    /// What it is, with its unit at the end: `backlog_packets`.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// The socket buffer that was asked for and what the kernel made of it, in bytes against the flow's times. Empty
/// where none was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SocketBufferSeries {
    /// What was asked for.
    pub requested: Vec<f64>,
    /// What the kernel keeps as its limit.
    pub granted: Vec<f64>,
    /// The receive window it offers.
    pub observed: Vec<f64>,
}

/// The tight link against time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Sample times, seconds from the start of the run.
    pub t_s: Vec<f64>,
    /// Bytes waiting.
    pub backlog_bytes: Vec<f64>,
    /// Drops during the last interval.
    pub drops: Vec<u64>,
}

/// What one engine left behind for one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The numbers.
    pub summary: Summary,
    /// The run against time. A model draws its steady state as two samples.
    pub series: Series,
    /// Remarks on the run.
    pub notes: Vec<Note>,
}

/// The names of what any of `flows` measures, in the order in which they first come.
#[must_use]
pub fn measure_names(flows: &[FlowSeries]) -> Vec<&str> {
    let mut names = Vec::new();
    for measure in flows.iter().flat_map(|flow| &flow.measures) {
        if !names.contains(&measure.name.as_str()) {
            names.push(measure.name.as_str());
        }
    }
    names
}

/// What `flow` has measured under `name`; nothing if it does not measure it.
#[must_use]
pub fn measure_values<'a>(flow: &'a FlowSeries, name: &str) -> &'a [f64] {
    flow.measures.iter().find(|measure| measure.name == name).map_or(&[], |measure| &measure.values)
}
