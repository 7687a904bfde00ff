//! Every number of a summary, once: its key, words, unit, digits, direction, and the function that reads it.
//!
//! Here are the lists [`RUN`], [`FLOW`], [`GROUP`], [`TRAFFIC`], [`LINK`], [`USERS`] and [`STATION`], and [`value`],
//! which finds a number by its key. Tables, reports, CSV and Parquet files, axes, claims, targets of searches,
//! `tightlink list metrics` and the guide read them. A new number is a field in `record.rs` and an entry here. Series
//! against time are not here: their columns state their unit in their name ([`Unit::of_name`]).
//!
//! Reading order: [`Metric`], the lists, then `metric/unit.rs` and `metric/find.rs`.

mod classes;
mod completions;
mod find;
mod unit;

pub use completions::Completions;
pub use find::{all, described, is_missing, numbers, of_run, value};
pub use unit::Unit;

use crate::run::record::{
    FlowSummary, LinkSummary, SessionsSummary, StationSummary, Summary, TrafficSummary,
};
use Unit::{BitRate, Bytes, Count, Data, Delay, Number, Packets, Segments, Share, Time};
use classes::{CLASSIC_DELAY, L4S_DELAY};
use std::fmt;

/// The name of a number and the way it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its path in the summary, and its column in a sweep's table.
    pub key: &'static str,
    /// An older name of that column, which tables also have; otherwise equal to the key.
    pub column: &'static str,
    /// Its meaning in words.
    pub words: &'static str,
    /// Its meaning in the few words that a terminal's table has room for.
    pub short: &'static str,
    /// Its unit in files and its unit for readers.
    pub unit: Unit,
    /// True if it is a count.
    pub whole: bool,
    /// Decimals in the unit for readers.
    pub digits: usize,
    /// The better one of two values.
    pub better: Better,
}

/// The better one of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The greater one.
    Higher,
    /// The smaller one.
    Lower,
    /// Neither.
    Neither,
}

impl fmt::Display for Better {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "",
        })
    }
}

/// A metric and the function that reads it from a `T`; the function returns `None` where `T` does not know the number.
#[derive(Debug)]
pub struct MetricReader<T: 'static> {
    /// The name of the number and the way it is shown.
    pub metric: Metric,
    /// Reads it, in the unit of files.
    pub get: fn(&T) -> Option<f64>,
}

impl Metric {
    const fn new(key: &'static str, words: &'static str, unit: Unit) -> Self {
        let (column, short) = (key, words);
        Self { key, column, words, short, unit, whole: false, digits: unit.digits(), better: Better::Neither }
    }

    const fn count(key: &'static str, words: &'static str, unit: Unit) -> Self {
        Self { whole: true, digits: 0, ..Self::new(key, words, unit) }
    }

    /// Returns the same metric under another key.
    const fn named(self, key: &'static str) -> Self {
        Self { key, column: key, ..self }
    }

    const fn column(self, column: &'static str) -> Self {
        Self { column, ..self }
    }

    const fn short(self, short: &'static str) -> Self {
        Self { short, ..self }
    }

    /// Returns the same metric with another number of decimals.
    #[must_use]
    pub const fn digits(self, digits: usize) -> Self {
        Self { digits, ..self }
    }

    const fn higher(self) -> Self {
        Self { better: Better::Higher, ..self }
    }

    const fn lower(self) -> Self {
        Self { better: Better::Lower, ..self }
    }

    /// Formats `value` in the unit for readers, without naming the unit.
    #[must_use]
    pub fn shown(&self, value: f64) -> String {
        format!("{:.*}", self.digits, self.unit.to_shown(value))
    }

    /// Formats `value` in the unit for readers, followed by the unit.
    #[must_use]
    pub fn with_unit(&self, value: f64) -> String {
        format!("{} {}", self.shown(value), self.unit.shown()).trim_end().to_owned()
    }
}

const fn of<T>(metric: Metric, get: fn(&T) -> Option<f64>) -> MetricReader<T> {
    MetricReader { metric, get }
}

// Numbers that occur in more than one of the lists.
const GOODPUT: Metric = Metric::new("goodput_bps", "goodput", BitRate).higher();
const RTT_MEAN: Metric = Metric::new("rtt_s.mean", "mean RTT", Delay).column("rtt_mean_s").lower();
const RETRANSMITS: Metric = Metric::count("retransmits", "retransmits", Segments).lower();
const UTILIZATION: Metric = Metric::new("utilization", "utilization", Share).digits(2).higher();
const IDLE: Metric = Metric::new("idle_fraction", "idle time", Share).lower();
const LOSS_RATE: Metric = Metric::new("loss_rate", "loss rate", Share).short("loss").digits(4).lower();
const BACKLOG: Metric = Metric::new("mean_backlog_bytes", "mean backlog", Bytes).short("backlog").lower();
const OCCUPANCY: Metric = Metric::new("mean_occupancy", "mean occupancy of the buffer", Share).lower();
const CONVERGENCE: Metric = Metric::new("convergence_s", "time to the fair share", Time).lower();
const BACKLOG_PACKETS: Metric = Metric::new("backlog_packets", "mean backlog", Packets).lower();
const AIR_THROUGHPUT: Metric = Metric::new("throughput_bps", "throughput over the air", BitRate).higher();
const ACTIVE: Metric = Metric::new("mean_active", "mean number of active users", Number).digits(1);

/// The columns of a table of runs, on the terminal and on a page, by the keys of the summary.
pub const COLUMNS: [&str; 7] = [
    "goodput_bps",
    "rtt_s.mean",
    "loss_rate",
    "retransmits",
    "utilization",
    "queueing_delay_s.mean",
    "queueing_delay_s.p95",
];

/// The queueing delay: its mean, its percentiles in the order of `Percentiles::NAMES`, its maximum.
const DELAY: [Metric; 7] = [
    delay("queueing_delay_s.mean", "queueing_delay_mean_s", "mean queueing delay").short("mean queue"),
    delay("queueing_delay_s.p1", "queueing_delay_p1_s", "p1 queueing delay"),
    delay("queueing_delay_s.p5", "queueing_delay_p5_s", "p5 queueing delay"),
    delay("queueing_delay_s.p50", "queueing_delay_p50_s", "median queueing delay"),
    delay("queueing_delay_s.p95", "queueing_delay_p95_s", "p95 queueing delay").short("p95 queue"),
    delay("queueing_delay_s.p99", "queueing_delay_p99_s", "p99 queueing delay"),
    delay("queueing_delay_s.max", "queueing_delay_max_s", "greatest queueing delay"),
];

const fn delay(key: &'static str, column: &'static str, words: &'static str) -> Metric {
    Metric::new(key, words, Delay).column(column).lower()
}

const fn length(key: &'static str, column: &'static str, words: &'static str) -> Metric {
    Metric::count(key, words, Packets).column(column).lower()
}

/// Numbers of a run. Goodput is the payload that all flows delivered in the measured time, over that time; RTTs are
/// averaged.
pub const RUN: &[MetricReader<Summary>] = &[
    of(Metric::new("measured_s", "measured time", Time), |s| Some(s.measured_s)),
    of(Metric::new("delivering_s", "time over which goodput is counted, if another", Time), |s| {
        s.delivering_s
    }),
    of(Metric::count("packets_forwarded", "packets forwarded", Packets), |s| real(s.packets_forwarded)),
    of(Metric::count("packets_dropped", "packets dropped", Packets).lower(), |s| real(s.packets_dropped)),
    of(UTILIZATION, |s| s.utilization),
    of(
        Metric::new("utilization_ci95", "half width of the utilization's 95 % confidence interval", Share),
        |s| s.utilization_ci95,
    ),
    of(IDLE, |s| s.idle_fraction),
    of(Metric::new("queue_empty_fraction", "time without a packet waiting", Share).lower(), |s| {
        s.queue_empty_fraction
    }),
    of(LOSS_RATE, |s| s.loss_rate),
    of(Metric::new("loss_rate_ci95", "half width of the loss rate's 95 % confidence interval", Share), |s| {
        s.loss_rate_ci95
    }),
    of(Metric::count("loss_episodes", "loss episodes", Count).lower(), |s| real(s.loss_episodes)),
    of(Metric::new("synchronized_loss_share", "loss episodes common to most flows", Share).lower(), |s| {
        s.synchronized_loss_share
    }),
    of(BACKLOG, |s| s.mean_backlog_bytes),
    of(OCCUPANCY, |s| s.mean_occupancy),
    of(
        Metric::new("queue_length_packets.mean", "mean queue length", Packets)
            .column("queue_length_packets_mean")
            .lower(),
        |s| Some(s.queue_length_packets?.mean),
    ),
    of(length("queue_length_packets.p1", "queue_length_packets_p1", "p1 queue length"), |s| {
        Some(s.queue_length_packets?.percentiles.p1 as f64)
    }),
    of(length("queue_length_packets.p5", "queue_length_packets_p5", "p5 queue length"), |s| {
        Some(s.queue_length_packets?.percentiles.p5 as f64)
    }),
    of(length("queue_length_packets.p50", "queue_length_packets_p50", "median queue length"), |s| {
        Some(s.queue_length_packets?.percentiles.p50 as f64)
    }),
    of(length("queue_length_packets.p95", "queue_length_packets_p95", "p95 queue length"), |s| {
        Some(s.queue_length_packets?.percentiles.p95 as f64)
    }),
    of(length("queue_length_packets.p99", "queue_length_packets_p99", "p99 queue length"), |s| {
        Some(s.queue_length_packets?.percentiles.p99 as f64)
    }),
    of(length("queue_length_packets.max", "queue_length_packets_max", "greatest queue length"), |s| {
        Some(s.queue_length_packets?.max as f64)
    }),
    of(DELAY[0], |s| Some(s.queueing_delay_s?.mean)),
    of(DELAY[1], |s| s.queueing_delay_s?.percentiles.p1),
    of(DELAY[2], |s| s.queueing_delay_s?.percentiles.p5),
    of(DELAY[3], |s| s.queueing_delay_s?.percentiles.p50),
    of(DELAY[4], |s| s.queueing_delay_s?.percentiles.p95),
    of(DELAY[5], |s| s.queueing_delay_s?.percentiles.p99),
    of(DELAY[6], |s| s.queueing_delay_s?.max),
    of(L4S_DELAY[0], |s| Some(s.l4s_delay_s?.mean)),
    of(L4S_DELAY[1], |s| s.l4s_delay_s?.percentiles.p1),
    of(L4S_DELAY[2], |s| s.l4s_delay_s?.percentiles.p5),
    of(L4S_DELAY[3], |s| s.l4s_delay_s?.percentiles.p50),
    of(L4S_DELAY[4], |s| s.l4s_delay_s?.percentiles.p95),
    of(L4S_DELAY[5], |s| s.l4s_delay_s?.percentiles.p99),
    of(L4S_DELAY[6], |s| s.l4s_delay_s?.max),
    of(CLASSIC_DELAY[0], |s| Some(s.classic_delay_s?.mean)),
    of(CLASSIC_DELAY[1], |s| s.classic_delay_s?.percentiles.p1),
    of(CLASSIC_DELAY[2], |s| s.classic_delay_s?.percentiles.p5),
    of(CLASSIC_DELAY[3], |s| s.classic_delay_s?.percentiles.p50),
    of(CLASSIC_DELAY[4], |s| s.classic_delay_s?.percentiles.p95),
    of(CLASSIC_DELAY[5], |s| s.classic_delay_s?.percentiles.p99),
    of(CLASSIC_DELAY[6], |s| s.classic_delay_s?.max),
    of(Metric::count("shaper.queue_p99_packets", "p99 length of the shaper's queue", Packets).lower(), |s| {
        real(Some(s.shaper?.queue_p99_packets))
    }),
    of(
        Metric::count(
            "shaper.link_queue_p99_packets",
            "p99 length of the link's queue behind the shaper",
            Packets,
        )
        .lower(),
        |s| real(Some(s.shaper?.link_queue_p99_packets)),
    ),
    of(Metric::count("shaper.packets_dropped", "packets dropped by the shaper", Packets).lower(), |s| {
        real(Some(s.shaper?.packets_dropped))
    }),
    of(Metric::new("offered_bps", "mean rate that the link offered", BitRate), |s| s.offered_bps),
    of(delay("self_inflicted_delay_s", "self_inflicted_delay_s", "self-inflicted delay, p95"), |s| {
        s.self_inflicted_delay_s
    }),
    of(Metric::new("jain_index", "Jain's index", Number).higher(), |s| s.jain_index),
    of(Metric::new("jain_index_mean", "Jain's index, mean over time", Number).higher(), |s| {
        s.jain_index_mean
    }),
    of(CONVERGENCE, |s| s.convergence_s),
    of(BACKLOG_PACKETS, |s| s.flows.iter().map(|flow| flow.backlog_packets).sum()),
    of(GOODPUT, |s| Some(s.goodput_bps())),
    of(COMPLETIONS[0], |s| Completions::of(s.flows.iter())?.mean()),
    of(COMPLETIONS[1], |s| Completions::of(s.flows.iter())?.quantile(0.5)),
    of(COMPLETIONS[2], |s| Completions::of(s.flows.iter())?.quantile(0.95)),
    of(COMPLETIONS[3], |s| Completions::of(s.flows.iter())?.quantile(1.0)),
    of(RTT_MEAN, Summary::rtt_mean_s),
    of(RETRANSMITS, |s| real(s.retransmits())),
    of(ACTIVE, |s| s.sessions.first().map(|_| s.sessions.iter().map(|users| users.mean_active).sum())),
    of(AIR_THROUGHPUT.named("wlan.throughput_bps"), |s| Some(s.wlan.as_ref()?.throughput_bps)),
    of(
        Metric::new("wlan.collision_probability", "transmissions that collide", Share).digits(2).lower(),
        |s| s.wlan.as_ref()?.collision_probability,
    ),
    of(Metric::new("wlan.idle_share", "time without a transmission", Share).digits(2), |s| {
        Some(s.wlan.as_ref()?.idle_share)
    }),
    of(Metric::new("wlan.mean_limit_packets", "mean of the limit that moves", Packets), |s| {
        s.wlan.as_ref()?.mean_limit_packets
    }),
];

/// Keys of [`RUN`] that `summary.json` does not have, because they are sums and means over its other numbers.
pub const OVER_ALL: [&str; 9] = [
    "goodput_bps",
    "rtt_s.mean",
    "retransmits",
    "backlog_packets",
    "mean_active",
    "completion_s.mean",
    "completion_s.p50",
    "completion_s.p95",
    "completion_s.max",
];

/// Completion times over several flows.
const COMPLETIONS: [Metric; 4] = [
    completion("completion_s.mean", "mean completion time of the sized flows"),
    completion("completion_s.p50", "median completion time of the sized flows"),
    completion("completion_s.p95", "p95 completion time of the sized flows"),
    completion("completion_s.max", "completion time of the slowest flow"),
];

/// Numbers over the flows of one `[[flow]]` with a `count`: `flows.NAME.completion_s.max`.
pub const GROUP: &[MetricReader<Completions>] = &[
    of(COMPLETIONS[0], Completions::mean),
    of(COMPLETIONS[1], |c| c.quantile(0.5)),
    of(COMPLETIONS[2], |c| c.quantile(0.95)),
    of(COMPLETIONS[3], |c| c.quantile(1.0)),
];

/// Numbers of a flow: `flows.NAME.goodput_bps`.
pub const FLOW: &[MetricReader<FlowSummary>] = &[
    of(GOODPUT, |f| Some(f.goodput_bps)),
    of(Metric::new("goodput_share", "share of the goodput", Share), |f| f.goodput_share),
    of(Metric::new("reno_ratio", "goodput over Reno's", Number), |f| f.reno_ratio),
    of(LOSS_RATE, |f| f.loss_rate),
    of(RETRANSMITS, |f| real(f.retransmits)),
    of(Metric::count("timeouts", "retransmission timeouts", Count).lower(), |f| real(f.timeouts)),
    of(Metric::new("first_loss_window_segments", "window at the first loss", Segments).digits(1), |f| {
        f.first_loss_window_segments
    }),
    of(Metric::new("threshold_segments", "slow-start threshold in the end", Segments).digits(1), |f| {
        f.threshold_segments
    }),
    of(Metric::new("window_bytes", "sized window in the end", Data), |f| f.window_bytes),
    of(Metric::count("marks", "congestion marks", Segments).lower(), |f| real(f.marks)),
    of(Metric::new("rtt_s.min", "least RTT", Delay).lower(), |f| Some(f.rtt_s?.min)),
    of(RTT_MEAN, |f| Some(f.rtt_s?.mean)),
    of(Metric::new("rtt_s.p95", "p95 RTT", Delay).lower(), |f| f.rtt_s?.p95),
    of(Metric::new("rtt_p99_s", "p99 RTT", Delay).lower(), |f| f.rtt_p99_s),
    of(JITTER, |f| f.jitter_s),
    of(Metric::new("max_smoothed_rtt_s", "greatest smoothed RTT", Delay).lower(), |f| f.max_smoothed_rtt_s),
    of(Metric::new("completion_s", "completion time", Time).digits(3).lower(), |f| f.completion_s),
    of(Metric::new("handshake_s", "time of the handshake", Time).digits(3).lower(), |f| f.handshake_s),
    of(Metric::new("size_bytes", "size", Data), |f| f.size_bytes),
    of(Metric::new("delivered_bytes", "data delivered", Data).higher(), |f| f.delivered_bytes),
    of(BACKLOG_PACKETS, |f| f.backlog_packets),
    of(late("departure_late_s.mean", "mean lateness of departures"), |f| Some(f.departure_late_s?.mean)),
    of(late("departure_late_s.p99", "p99 lateness of departures"), |f| Some(f.departure_late_s?.p99)),
    of(CONVERGENCE, |f| f.convergence_s),
];

/// Numbers of a source of cross traffic: `traffic.NAME.delay_s.p95`.
pub const TRAFFIC: &[MetricReader<TrafficSummary>] = &[
    of(Metric::count("packets", "packets sent", Packets), |t| Some(t.packets as f64)),
    of(Metric::new("throughput_bps", "throughput, headers included", BitRate).higher(), |t| {
        Some(t.throughput_bps)
    }),
    of(LOSS_RATE, |t| t.loss_rate),
    of(one_way("delay_s.mean", "mean one-way delay"), |t| Some(t.delay_s?.mean)),
    of(one_way("delay_s.p1", "p1 one-way delay"), |t| t.delay_s?.percentiles.p1),
    of(one_way("delay_s.p5", "p5 one-way delay"), |t| t.delay_s?.percentiles.p5),
    of(one_way("delay_s.p50", "median one-way delay"), |t| t.delay_s?.percentiles.p50),
    of(one_way("delay_s.p95", "p95 one-way delay"), |t| t.delay_s?.percentiles.p95),
    of(one_way("delay_s.p99", "p99 one-way delay"), |t| t.delay_s?.percentiles.p99),
    of(one_way("delay_s.max", "greatest one-way delay"), |t| t.delay_s?.max),
    of(JITTER, |t| t.jitter_s),
    of(DELAY[0], |t| Some(t.queueing_delay_s?.mean)),
    of(DELAY[1], |t| t.queueing_delay_s?.percentiles.p1),
    of(DELAY[2], |t| t.queueing_delay_s?.percentiles.p5),
    of(DELAY[3], |t| t.queueing_delay_s?.percentiles.p50),
    of(DELAY[4], |t| t.queueing_delay_s?.percentiles.p95),
    of(DELAY[5], |t| t.queueing_delay_s?.percentiles.p99),
    of(DELAY[6], |t| t.queueing_delay_s?.max),
];

const fn late(key: &'static str, words: &'static str) -> Metric {
    Metric::new(key, words, Delay).digits(3).lower()
}

const JITTER: Metric = Metric::new("jitter_s", "mean difference of consecutive delays", Delay).lower();

const fn one_way(key: &'static str, words: &'static str) -> Metric {
    Metric::new(key, words, Delay).lower()
}

/// Numbers of one direction of one of several links: `links.NAME.utilization`, `links.NAME.reverse.utilization`.
pub const LINK: &[MetricReader<LinkSummary>] = &[
    of(UTILIZATION, |l| Some(l.utilization)),
    of(IDLE, |l| Some(l.idle_fraction)),
    of(LOSS_RATE, |l| l.loss_rate),
    of(BACKLOG, |l| l.mean_backlog_bytes),
    of(OCCUPANCY, |l| l.mean_occupancy),
    of(DELAY[0], |l| Some(l.queueing_delay_s?.mean)),
    of(DELAY[1], |l| l.queueing_delay_s?.percentiles.p1),
    of(DELAY[2], |l| l.queueing_delay_s?.percentiles.p5),
    of(DELAY[3], |l| l.queueing_delay_s?.percentiles.p50),
    of(DELAY[4], |l| l.queueing_delay_s?.percentiles.p95),
    of(DELAY[5], |l| l.queueing_delay_s?.percentiles.p99),
    of(DELAY[6], |l| l.queueing_delay_s?.max),
];

/// Numbers of a population of users: `sessions.NAME.mean_active`.
pub const USERS: &[MetricReader<SessionsSummary>] = &[
    of(Metric::count("users", "users", Count), |u| Some(u.users as f64)),
    of(Metric::count("completed", "sessions that ended", Count).higher(), |u| Some(u.completed as f64)),
    of(ACTIVE, |u| Some(u.mean_active)),
    of(GOODPUT, |u| Some(u.goodput_bps)),
    of(completion("completion_s.mean", "mean completion time"), |u| Some(u.completion_s?.mean)),
    of(completion("completion_s.p1", "p1 completion time"), |u| u.completion_s?.percentiles.p1),
    of(completion("completion_s.p5", "p5 completion time"), |u| u.completion_s?.percentiles.p5),
    of(completion("completion_s.p50", "median completion time"), |u| u.completion_s?.percentiles.p50),
    of(completion("completion_s.p95", "p95 completion time"), |u| u.completion_s?.percentiles.p95),
    of(completion("completion_s.p99", "p99 completion time"), |u| u.completion_s?.percentiles.p99),
    of(completion("completion_s.max", "greatest completion time"), |u| u.completion_s?.max),
    of(RETRANSMITS, |u| Some(u.retransmits as f64)),
    of(LOSS_RATE, |u| u.loss_rate),
];

/// Numbers of a station of a wireless cell, in one category: `wlan.stations.NAME.CATEGORY.throughput_bps`.
pub const STATION: &[MetricReader<StationSummary>] = &[
    of(AIR_THROUGHPUT, |s| Some(s.throughput_bps)),
    of(Metric::new("airtime_share", "share of airtime", Share), |s| s.airtime_share),
    of(Metric::count("retries", "retries", Count).lower(), |s| real(s.retries)),
    of(Metric::count("dropped_at_limit", "frames dropped at the retry limit", Count).lower(), |s| {
        real(s.dropped_at_limit)
    }),
];

const fn completion(key: &'static str, words: &'static str) -> Metric {
    Metric::new(key, words, Time).digits(3).lower()
}

fn real(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}
