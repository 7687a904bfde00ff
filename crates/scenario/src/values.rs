//! The values of keys: words, limits, spreads.

use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;
pub use transport::{BbrVariant, CubicVariant, EcnMode, LossDetection, Recovery, SendBuffer, WindowVariant};
use units::{Bytes, Fraction, Rate, Span};

/// `transport = …` of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// The kernel's TCP.
    #[default]
    Tcp,
    /// QUIC: every control of `tightlink list controls` that needs no router, on UDP packets.
    Quic,
}

/// `direction = …` of a flow or traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// In the order in which the links are listed.
    #[default]
    Forward,
    /// Against that order, through the links' `reverse`.
    Reverse,
}

/// `prague_rtt_scaling = …` of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RttScaling {
    /// No dependence of the rate on an RTT up to `prague_rtt_target`.
    #[default]
    Rate,
    /// A segment per round trip at any RTT.
    None,
}

/// The room in a queue, in which the packet being sent does not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// "250 packets".
    Packets(u64),
    /// "512kB".
    Bytes(Bytes),
    /// "40ms": the data that the link sends in that time.
    Time(Span),
    /// "0.25 bdp": a share of the link's rate times the flows' mean base RTT.
    Bdp(f64),
}

impl Limit {
    /// No room at all.
    pub(crate) const ZERO: Self = Self::Packets(0);
}

/// `socket_buffer = "max"`, a size, or a sizer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketBuffer {
    /// A buffer that never limits the window.
    Max,
    /// The size that the kernel chooses by itself.
    Autotuned,
    /// The bytes of payload that may be unacknowledged.
    Fixed(Bytes),
    /// `{ sizer = "drs", max = "6MB" }`: a sizer sets the window while the flow runs.
    Sized {
        /// The sizer's name in the registry of `sizing`.
        sizer: String,
        /// The largest window.
        max: Bytes,
        /// The share of goodput that it may lose against a window without limit; `None`: no bound.
        regret: Option<Fraction>,
    },
}

/// One value for every flow, a list with one per flow, or a distribution from which each flow draws once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread<T> {
    /// The same for each flow.
    All(T),
    /// One per flow, in order.
    List(Vec<T>),
    /// `{ uniform = [low, high] }`.
    Uniform(T, T),
    /// `{ pareto = { shape, mean } }`.
    Pareto {
        /// Tail index, over 1.
        shape: f64,
        /// Mean of the distribution.
        mean: T,
    },
    /// `{ pareto = { shape, mean, draw = "quantiles" } }`: evenly spaced quantiles, ascending, scaled to the mean.
    ParetoQuantiles {
        /// Tail index, over 1.
        shape: f64,
        /// Mean of the flows' values.
        mean: T,
    },
    /// `{ exponential = mean }`.
    Exponential(T),
}

/// `theory = …`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Theory {
    /// The theory that fits the scenario best.
    #[default]
    Nearest,
    /// One file: its first slow start, the repair of its losses, congestion avoidance.
    SlowStart,
    /// One transfer's steady state.
    Mft,
    /// Many flows: load, loss and round-trip times at one queue.
    FixedPoint,
    /// Many flows: windows and the queue against time.
    Fluid,
}

/// `stack = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// SACK and RACK as the kernel ships them.
    Modern,
    /// SACK and RACK off: the recovery of 2004.
    Classic,
}

/// The flows with series of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedFlows {
    /// A sample if there are many flows; percentiles over all flows stand for the others.
    #[default]
    Sample,
    /// All of them.
    All,
    /// These.
    #[serde(untagged)]
    These(Vec<FlowChoice>),
}

/// A choice of flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FlowChoice {
    /// The flow of this name, or all flows of the table of this name.
    Name(String),
    /// The flow of this index: the first one of a summary is 0.
    Index(u64),
}

/// A column of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// Goodput over the interval.
    Rate,
    /// Smoothed round-trip time.
    Rtt,
    /// Send window: the least of congestion window, receive window and send buffer.
    Window,
    /// Data waiting at the tight link.
    Backlog,
    /// Drops at the tight link during the interval.
    Drops,
    /// The quantities that a flow's controller measures or uses to decide, each under its own name.
    Measures,
    /// Payload received since the start; recorded only on request.
    Data,
}

/// `rate = …` of a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShaperRate {
    /// This rate.
    Rate(Rate),
    /// A share such as "95%" of the link's rate.
    Share(Fraction),
}

/// `framing = …` of a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// Bytes as they are.
    None,
    /// ATM cells.
    Atm,
    /// PTM's code.
    Ptm,
}

/// `isolation = …` of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Pairs of hosts.
    Hosts,
    /// Sending hosts, and the flows of each.
    DualSrc,
    /// Receiving hosts, and the flows of each.
    DualDst,
    /// Both.
    Triple,
}

/// `tins = …` of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tins {
    /// One for all packets.
    BestEffort,
    /// Best effort, bulk and voice.
    Diffserv3,
    /// Best effort, bulk, video and voice.
    Diffserv4,
}

/// A length of the average queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// A bare number: mean packets, not only whole ones.
    MeanPackets(f64),
    /// A text in the form of a queue's limit.
    Room(Limit),
    /// A share such as "40%", of the limit.
    OfLimit(Fraction),
}

/// A length of the queue of scalable flows, above which that queue marks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepThreshold {
    /// "1ms": the wait of a packet.
    Time(Span),
    /// "5 packets", behind the packet that leaves.
    Packets(u64),
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Volume {
    /// "200 packets": full segments.
    Packets(u64),
    /// "100kB" of payload.
    Bytes(Bytes),
}

impl Volume {
    /// Returns the number of packets or bytes.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Packets(packets) => *packets,
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

impl PartialOrd for Volume {
    /// Compares two amounts of one unit; packets and bytes do not compare.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Packets(one), Self::Packets(other)) => Some(one.cmp(other)),
            (Self::Bytes(one), Self::Bytes(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// `access = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessRule {
    /// Categories, and counters that go down at every boundary.
    Edca,
    /// Best effort alone, and counters that go down in idle slots.
    Dcf,
}

/// `after_collision = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterCollision {
    /// EIFS.
    Eifs,
    /// DIFS.
    Difs,
}

/// An access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Best effort.
    Be,
    /// Background.
    Bk,
    /// Video.
    Vi,
    /// Voice.
    Vo,
}

/// The way of a flow in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellDirection {
    /// From the wire to the station.
    Down,
    /// From the station to the wire.
    Up,
}

/// An engine that a figure may be drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureEngine {
    /// Closed forms.
    Model,
    /// Simulation, on all cores.
    Sim,
    /// The real kernel, one run at a time.
    Live,
}

/// `host = …`: sets the defaults of other keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// The RFCs without anything that hosts add, as in the papers' simulations.
    #[default]
    Rfc,
    /// Linux 6.18 with the settings that it ships with.
    Linux,
}
