//! The result of a run: the [`Summary`] (one row of numbers) and the [`Series`], together a [`Record`]. Both have the
//! same keys and columns from every engine.

mod acks;
mod host;
mod note;
mod percentiles;
mod shaper;
mod summary;
mod times;
mod traffic;
mod wlan;

pub use super::batches::Trend;
pub use acks::{AckRow, AckSeries};
pub use host::{HostSummary, Hosts};
pub use note::Note;
pub use percentiles::Percentiles;
pub use shaper::ShaperSummary;
pub use summary::{
    DelayStatistics, Departures, Extent, FlowSummary, LinkSummary, QueueLength, Repeats, RttStatistics,
    SessionsSummary, Summary,
};
pub use times::Times;
pub use traffic::TrafficSummary;
pub(crate) use traffic::traffic;
pub use wlan::{StationSummary, WlanSummary};

use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Bytes, Time};

/// The engine that answered.
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

/// The run against time, in columns: index i of every column is sample i.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// One entry per flow, in the summary's order; only a sample of them if there are many flows.
    pub flows: Vec<FlowSeries>,
    /// Percentiles over all flows, where `flows` is a sample of them.
    #[serde(default, skip_serializing_if = "SpreadSeries::is_empty")]
    pub spread: SpreadSeries,
    /// The tight link.
    pub link: LinkSeries,
    /// Share of the measured interval with 0, 1, 2, … packets waiting at the tight link, up to the longest queue. Empty
    /// where the engine cannot know it. It is kept whatever columns the scenario asks for.
    #[serde(default)]
    pub queue_length: Vec<f64>,
    /// Fairness against time, where the scenario asks for it.
    #[serde(default)]
    pub fairness: FairnessSeries,
    /// Acknowledgements one by one, where the scenario asks for them.
    #[serde(default, skip_serializing_if = "AckSeries::is_empty")]
    pub acks: AckSeries,
}

/// Mean and percentiles over all flows against time. Empty where every flow has a series of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpreadSeries {
    /// Sample times, seconds from the start of the run: some of the sample times of the flows' series.
    pub t_s: Vec<f64>,
    /// The number of flows that had started and not ended.
    pub flows: Vec<u64>,
    /// Goodput of each of these flows since the previous sample, bits per second.
    pub rate_bps: Vec<Spread>,
    /// Smoothed round-trip time, seconds, of the flows that have one.
    pub rtt_s: Vec<Spread>,
    /// Send window, bytes.
    pub window_bytes: Vec<Spread>,
    /// Payload received in order since the start, bytes.
    pub data_bytes: Vec<Spread>,
}

impl SpreadSeries {
    /// Returns true if it has no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.t_s.is_empty()
    }
}

/// One quantity over many flows at one time; NaN without flows.
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
    /// Jain's index of the goodputs of the flows that were present throughout the interval; NaN for fewer than two.
    pub jain_index: Vec<f64>,
}

/// One flow against time. A column that the scenario did not ask for, or that the engine cannot know, is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// The flow's name.
    pub name: String,
    /// Sample times, seconds from the start of the run; shared by flows that are sampled together.
    pub t_s: Times,
    /// Goodput over the last interval, bits per second.
    pub rate_bps: Vec<f64>,
    /// Smoothed round-trip time, seconds.
    pub rtt_s: Vec<f64>,
    /// Send window, bytes: the least of congestion window, receive window and send buffer.
    pub window_bytes: Vec<f64>,
    /// Payload received in order since the start, bytes.
    #[serde(default)]
    pub data_bytes: Vec<f64>,
    /// The socket buffer that the scenario asks for, and the kernel's response; only the live engine fills it.
    pub socket_buffer: SocketBufferSeries,
    /// The quantities that its controller measures; only the simulator fills them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<MeasureSeries>,
}

/// One quantity that a flow's controller measures or decides by, against the flow's times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasureSeries {
    /// The name of the quantity, with its unit at the end: `backlog_packets`.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// The socket buffer that was asked for and the limits that the kernel derived from it, in bytes against the flow's
/// times. Empty where no buffer was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SocketBufferSeries {
    /// The size that was asked for.
    pub requested: Vec<f64>,
    /// The limit that the kernel keeps.
    pub granted: Vec<f64>,
    /// The receive window that the kernel offers.
    pub observed: Vec<f64>,
}

/// The tight link against time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Sample times, seconds from the start of the run.
    pub t_s: Times,
    /// Bytes waiting.
    pub backlog_bytes: Vec<f64>,
    /// Drops during the last interval.
    pub drops: Vec<u64>,
    /// Limit of the queue, packets, if it changes over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_packets: Vec<u64>,
    /// In a wireless cell, the share of the last interval in which the air was busy; NaN if measuring began within that
    /// interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy_share: Vec<f64>,
    /// The mean rate that the link offered during the last interval, bits per second, if its rate changes; NaN if
    /// measuring began within that interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity_bps: Vec<f64>,
}

/// The rate that a link offers between samples of what it has offered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfferedRate {
    last: Time,
    offered: Bytes,
}

impl OfferedRate {
    /// Returns the mean rate from the last sample to this one, bits per second. It is NaN if the count has restarted in
    /// between, as it does at the end of the warm-up.
    pub(crate) fn next(&mut self, at: Time, offered: Bytes) -> f64 {
        let interval = at.since(self.last).as_secs_f64();
        let more = offered.bits_f64() - self.offered.bits_f64();
        *self = Self { last: at, offered };
        if more < 0.0 || interval <= 0.0 { f64::NAN } else { more / interval }
    }
}

/// The result of one scenario on one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The numbers.
    pub summary: Summary,
    /// The run against time. A model draws its steady state as two samples.
    pub series: Series,
    /// Remarks on the run.
    pub notes: Vec<Note>,
}

/// Returns the names of all quantities that any of `flows` measures, in order of first appearance.
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

/// Returns the values that `flow` measured under `name`; empty if it does not measure that quantity.
#[must_use]
pub fn measure_values<'a>(flow: &'a FlowSeries, name: &str) -> &'a [f64] {
    flow.measures.iter().find(|measure| measure.name == name).map_or(&[], |measure| &measure.values)
}
