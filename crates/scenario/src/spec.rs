//! The scenario as plain data: what a person wrote, read and checked but not yet resolved against anything.
//!
//! One struct per table of the file, one field per key, named as the key. Relative quantities ("0.25 bdp",
//! a distribution of RTTs) stay relative here; `lab::run::resolve` turns them into numbers.
//!
//! Keys will come, so structs whose tables grow are `#[non_exhaustive]`: other crates make them with `default()` and
//! set fields, or by a [draft](crate::ScenarioDraft), and no key that comes later breaks them.

mod queue;
mod traffic;
mod wlan;

pub use queue::{QueueSettings, Threshold};
pub use traffic::{Pattern, Replay, Sessions, Traffic, Volume};
pub use wlan::{
    Access, AccessRule, AfterCollision, AirtimeLimits, Alt, Backhaul, Categories, Category, CellDirection,
    CellQueue, CellWay, Ebdp, Saturated, Sizing, Station, Wlan,
};

use serde::Serialize;
pub use transport::{
    BbrVariant, CubicVariant, LossDetection, Recovery, SendBuffer, Transport, WindowVariant,
};
use units::{Bytes, Fraction, Rate, Span};

/// A whole scenario file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scenario {
    /// What a report is headed with.
    pub title: String,
    /// The id of the published result this reproduces, such as `sobas:fig1-4`.
    pub source: Option<String>,
    /// Seeds every random stream of the run.
    pub seed: u64,
    /// When the run stops; absent: when every sized flow has ended.
    pub duration: Option<Span>,
    /// Metrics leave out what happens before this.
    pub warmup: Span,
    /// The links in path order; the tight link is the one with the least available bandwidth. None in a cell.
    pub links: Vec<Link>,
    /// A wireless cell in the place of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wlan: Option<Wlan>,
    /// The transfers under study.
    pub flows: Vec<Flow>,
    /// Cross traffic that does not answer to congestion.
    pub traffic: Vec<Traffic>,
    /// Traces that are played back: cross traffic, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<Replay>,
    /// Populations of users that come and go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Sessions>,
    /// What only the model reads. Left out of the hash where nothing is set.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Model,
    /// What only the live engine reads.
    pub live: Live,
    /// What is recorded as series, and how often.
    pub record: Record,
}

/// `[link]` or one `[[link]]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Link {
    /// Names the link in paths and results.
    pub name: String,
    /// Capacity.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
    /// The queue in front of the serializer.
    pub queue: Queue,
    /// Each arriving packet is lost with this probability, whatever the queue holds.
    pub loss: Fraction,
    /// Each packet takes up to this much longer, and may overtake others.
    #[serde(skip_serializing_if = "Span::is_zero")]
    pub jitter: Span,
    /// What its router tells senders: "xcp" or "rcp"; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assist: Option<String>,
    /// The other direction; absent: what goes back meets no queue.
    pub reverse: Option<Reverse>,
}

/// `reverse = { … }` of a link: its other direction, with the same delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reverse {
    /// Capacity; the link's own if absent.
    pub rate: Rate,
    /// The queue in front of the serializer.
    pub queue: Queue,
    /// Each arriving packet is lost with this probability.
    pub loss: Fraction,
}

/// `direction = …` of a flow or traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// As the links are listed.
    Forward,
    /// Against it, through the links' `reverse`.
    Reverse,
}

/// `queue = { kind = …, limit = … }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// The policy's name in `link`'s registry, such as `drop-tail`.
    pub kind: String,
    /// How much may wait.
    pub limit: Limit,
    /// What is turned on the policy.
    #[serde(skip_serializing_if = "QueueSettings::is_default")]
    pub settings: QueueSettings,
}

/// The room in a queue. The packet being sent does not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// "250 packets".
    Packets(u64),
    /// "512kB".
    Bytes(Bytes),
    /// "40ms": what the link sends in that time.
    Time(Span),
    /// "0.25 bdp": a share of the link's rate times the flows' mean base RTT.
    Bdp(f64),
}

impl Limit {
    /// No room at all.
    pub(crate) const ZERO: Self = Self::Packets(0);
}

/// One `[[flow]]`: `count` transfers alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Flow {
    /// Names the flow in results; with `count` over 1 the flows are `name-1`, `name-2`, …
    pub name: String,
    /// How many transfers alike.
    pub count: u64,
    /// The congestion control's name in the registry of `cc`.
    pub control: String,
    /// Data to move; absent: greedy, always more to send.
    pub size: Option<Bytes>,
    /// The whole base RTT; absent: twice the links' one-way delay.
    pub rtt: Option<Spread<Span>>,
    /// Segment size on the wire, headers included.
    pub segment: Bytes,
    /// The receiver acknowledges every this many segments.
    pub delayed_ack: u64,
    /// A withheld acknowledgement leaves after this at the latest.
    pub delayed_ack_timeout: Span,
    /// The receive window.
    pub socket_buffer: SocketBuffer,
    /// When the transfer starts.
    pub start: Spread<Span>,
    /// A SYN and its answer cross the path before the data; of users see [`Sessions`].
    #[serde(skip_serializing_if = "is_true")]
    pub handshake: bool,
    /// When it leaves: nothing new is sent from then on; absent: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Each packet leaves later by a uniform random share of this.
    pub send_jitter: Span,
    /// Congestion window at the start, in segments.
    pub initial_window: u64,
    /// Slow-start threshold at the start; absent: unlimited.
    pub initial_ssthresh: Option<Bytes>,
    /// The slow start's name in the registry of `cc`.
    pub slow_start: String,
    /// Where limited slow start begins to be slower, in segments.
    pub max_ssthresh: u64,
    /// Packets that FAST wants of its own in the queue; absent: as it finds by its throughput. No other control reads
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_alpha: Option<u64>,
    /// Segments one acknowledgement may count for in slow start; zero counts acknowledgements instead of bytes.
    pub byte_counting: u64,
    /// How its two ends send, acknowledge and repair losses.
    #[serde(flatten)]
    pub transport: Transport,
    /// The rate of the sender's own line, on the wire; absent: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<Rate>,
    /// The names of the links it crosses, in the order of the file whatever its direction.
    pub path: Vec<String>,
    /// Which way its data goes.
    pub direction: Direction,
    /// Its way in a cell, in the place of `path` and `direction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellWay>,
}

impl Flow {
    /// What TCP/IP takes of each segment: IPv4 20, TCP 20, time stamps 12 [rfc791:3.1] [rfc9293:3.1] [rfc7323:3.2].
    #[must_use]
    pub const fn header(timestamps: bool) -> Bytes {
        Bytes::new(if timestamps { 52 } else { 40 })
    }

    /// Useful data in a full segment.
    #[must_use]
    pub const fn payload(&self) -> Bytes {
        self.segment.saturating_sub(Self::header(self.transport.timestamps))
    }
}

/// `socket_buffer = "max"`, a size, or a sizer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketBuffer {
    /// Never the limit.
    Max,
    /// As the kernel sizes it unasked.
    Autotuned,
    /// This many bytes of payload may be unacknowledged.
    Fixed(Bytes),
    /// `{ sizer = "drs", max = "6MB" }`: decided while the flow runs.
    Sized {
        /// The sizer's name in the registry of `sizing`.
        sizer: String,
        /// The largest window.
        max: Bytes,
        /// The share of goodput that it may give up against a window without limit; `None`: no bound.
        regret: Option<Fraction>,
    },
}

/// One value for every flow, a list with one per flow, or a distribution drawn from once per flow.
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

/// `[model]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// Which theory answers.
    pub theory: Theory,
}

/// `theory = …`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Theory {
    /// The one that the scenario fits best.
    #[default]
    Nearest,
    /// One file: its first slow start, the repair of what that loses, congestion avoidance.
    SlowStart,
    /// One transfer's steady state.
    Mft,
    /// Many flows: load, loss and round-trip times at one queue.
    FixedPoint,
    /// Many flows: windows and the queue against time.
    Fluid,
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// `[live]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Live {
    /// The kernel's loss recovery.
    pub stack: Stack,
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

/// `[record]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Record {
    /// Sampling interval of the series.
    pub every: Span,
    /// Which columns are kept.
    pub columns: Vec<Column>,
    /// Of which flows, where there are many.
    #[serde(skip_serializing_if = "RecordedFlows::is_sample")]
    pub flows: RecordedFlows,
    /// Length of the intervals over which fairness and convergence are measured; absent: they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Span>,
}

/// Which flows have series of their own, where a scenario has many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedFlows {
    /// A sample; percentiles over all flows stand for the others.
    #[default]
    Sample,
    /// All of them.
    All,
}

impl RecordedFlows {
    fn is_sample(&self) -> bool {
        *self == Self::Sample
    }
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
    /// What a flow's controller measures or decides by, each quantity under its own name.
    Measures,
    /// Payload received since the start; only where it is asked for.
    Data,
}
