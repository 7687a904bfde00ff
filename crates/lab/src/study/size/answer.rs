//! What is answered: limits with what they do, and what led to them. As JSON the keys are the fields' names.

use super::question::{InCell, Question};
use crate::run::record::Engine;
use serde::Serialize;
use units::Span;

/// Mean and 95th percentile of the queueing delay, seconds: time-weighted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Mean.
    pub mean: f64,
    /// For 95 % of the time it is no longer.
    pub p95: f64,
}

/// A limit and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The limit, in packets of the mean length.
    pub packets: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// The time in which the link sends that, milliseconds.
    pub ms: f64,
    /// The same in bandwidth-delay products of the mean RTT; `None` in a wireless cell, which has none.
    pub bdp: Option<f64>,
    /// Mean utilization of the link; in a wireless cell the share of the most that its downloads get behind any limit.
    pub utilization: f64,
    /// Half the width of its 95 % confidence interval; `None` from theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_ci95: Option<f64>,
    /// How long packets wait.
    pub queueing_delay_s: Delay,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Half the width of its 95 % confidence interval; `None` from theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_rate_ci95: Option<f64>,
    /// The 95 % confidence interval of the utilization holds the target: it may be met or missed.
    #[serde(skip_serializing_if = "is_false")]
    pub undecided: bool,
    /// Utilization or loss still rose or fell within the measured time, or a policy's rate of drops had to: a longer
    /// run would have other numbers.
    #[serde(skip_serializing_if = "is_false")]
    pub unsettled: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Point {
    /// A limit of `packets` without knowledge of what it does.
    #[must_use]
    pub fn at(question: &Question, packets: u64) -> Self {
        Self {
            packets,
            bytes: question.mean_packet().get() * packets,
            ms: question.drain(packets as f64) * 1e3,
            bdp: question.cell.is_none().then(|| packets as f64 / question.bdp_limit()),
            utilization: 0.0,
            utilization_ci95: None,
            queueing_delay_s: Delay { mean: 0.0, p95: 0.0 },
            loss_rate: 0.0,
            loss_rate_ci95: None,
            undecided: false,
            unsettled: false,
        }
    }

    /// The same, with a word on whether its utilization surely reaches or misses `target`.
    #[must_use]
    pub fn judged(self, target: f64) -> Self {
        Self { undecided: self.surely() < target && target <= self.perhaps(), ..self }
    }

    /// What a reader has to know of the row before its numbers; empty of most.
    #[must_use]
    pub const fn doubt(&self) -> &'static str {
        match (self.undecided, self.unsettled) {
            (false, false) => "",
            (true, false) => "undecided",
            (false, true) => "not settled",
            (true, true) => "undecided, not settled",
        }
    }

    /// The utilization that it has with some certainty.
    #[must_use]
    pub fn surely(&self) -> f64 {
        self.utilization - self.utilization_ci95.unwrap_or(0.0)
    }

    /// The utilization that it has at most.
    #[must_use]
    pub fn perhaps(&self) -> f64 {
        self.utilization + self.utilization_ci95.unwrap_or(0.0)
    }

    /// Of two numbers of flows what is worse for an operator: the lower utilization, the longer delay, the higher loss.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let less = if other.utilization < self.utilization { other } else { self };
        let lost = if other.loss_rate > self.loss_rate { other } else { self };
        let (a, b) = (self.queueing_delay_s, other.queueing_delay_s);
        Self {
            utilization: less.utilization,
            utilization_ci95: less.utilization_ci95,
            queueing_delay_s: Delay { mean: a.mean.max(b.mean), p95: a.p95.max(b.p95) },
            loss_rate: lost.loss_rate,
            loss_rate_ci95: lost.loss_rate_ci95,
            undecided: less.undecided,
            unsettled: self.unsettled || other.unsettled,
            ..self
        }
    }
}

/// What one rule says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The limit that it asks for; `None` where it has no answer.
    pub packets: Option<u64>,
    /// Where it is from.
    pub source: &'static str,
    /// Whether it is made for this question.
    pub fits: bool,
    /// What it takes for granted, and so why it differs from the others.
    pub because: String,
}

/// The same limit under other circumstances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// What is otherwise: "half the flows".
    pub what: String,
    /// What the recommended limit then does.
    #[serde(flatten)]
    pub point: Point,
}

/// A policy in the picture of utilization against delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// Its name in the registry of `link`.
    pub queue: String,
    /// Its limit, and what it does.
    #[serde(flatten)]
    pub point: Point,
    /// Whether no other point of the picture has more utilization and less delay at the 95th percentile.
    pub best: bool,
}

/// Wishes that no limit grants together, and which of them can be had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TradeOff {
    /// In a sentence.
    pub says: String,
    /// The least limit that keeps the utilization.
    pub keeps_utilization: Option<Point>,
    /// The limit with the most utilization that keeps the delay.
    pub keeps_delay: Option<Point>,
    /// The least limit that keeps the loss.
    pub keeps_loss: Option<Point>,
}

/// A line for the configuration of a system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Which system.
    pub system: &'static str,
    /// What to paste.
    pub line: String,
    /// What the line counts, or what a queue with it does; empty where the recommended limit says that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// What the kernel made of the recommended limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// Whether the utilization was what is wished; `None` where it was less on a machine that was too busy to judge.
    pub held: Option<bool>,
    /// What was measured.
    #[serde(flatten)]
    pub point: Point,
    /// Remarks on the run.
    pub notes: Vec<String>,
}

/// What was asked, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// Capacity, bits per second; in a wireless cell what a download alone would have of the air, headers included.
    pub rate_bps: f64,
    /// Least and greatest base RTT, seconds.
    pub rtt_s: [f64; 2],
    /// Least and greatest number of greedy flows.
    pub flows: [u64; 2],
    /// Their controls, as typed.
    pub control: String,
    /// A full packet, bytes.
    pub packet_bytes: u64,
    /// The mean packet that comes to the queue, bytes.
    pub mean_packet_bytes: u64,
    /// The queue policy.
    pub queue: String,
    /// The bandwidth-delay product of the mean RTT, packets of the mean length; `None` in a wireless cell.
    pub bdp_packets: Option<f64>,
    /// The wireless cell, if it is one that is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<InCell>,
    /// Wished mean utilization.
    pub target_utilization: f64,
    /// Wished 95th percentile of the queueing delay, seconds.
    pub max_delay_s: Option<f64>,
    /// Wished loss rate.
    pub max_loss: Option<f64>,
}

impl Asked {
    pub(super) fn of(question: &Question) -> Self {
        Self {
            rate_bps: question.rate.as_bps_f64(),
            rtt_s: [seconds(question.rtt.least), seconds(question.rtt.most)],
            flows: [question.flows.least, question.flows.most],
            control: question.mix.to_string(),
            packet_bytes: question.packet.get(),
            mean_packet_bytes: question.mean_packet().get(),
            queue: question.queue.clone(),
            bdp_packets: question.cell.is_none().then(|| question.bdp_limit()),
            cell: question.cell.clone(),
            target_utilization: question.target.get(),
            max_delay_s: question.max_delay.map(seconds),
            max_loss: question.max_loss.map(units::Fraction::get),
        }
    }
}

/// Whole nanoseconds as the shortest number of seconds: 30 ms are 0.03, which 30 000 000 times 1e-9 is not.
fn seconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e9
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// What was asked.
    pub asked: Asked,
    /// What the limits' numbers are from: theory or simulation.
    pub engine: Engine,
    /// Goodput of a wireless cell's downloads together that is 100 % of utilization, bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_bps: Option<f64>,
    /// The least limit that keeps what is wished.
    pub least: Point,
    /// The limit to configure.
    pub recommended: Point,
    /// The smallest limit from which on a larger one gains less than 0.1 points of utilization in simulation, and only
    /// adds delay. Where the recommended limit is larger, hosts that are not simulated ask for that.
    pub most: Point,
    /// What a reader has to know before he trusts the limits: what is undecided, not settled, or limited elsewhere.
    pub remarks: Vec<String>,
    /// What rules say.
    pub rules: Vec<Rule>,
    /// Limits around the answer, ascending.
    pub curve: Vec<Point>,
    /// The limit from which utilization grows slowly: the point of the curve farthest above the line between its ends.
    pub knee: Option<u64>,
    /// The recommended limit under other circumstances.
    pub sensitivity: Vec<Variant>,
    /// Utilization against delay.
    pub pareto: Vec<Policy>,
    /// Where wishes exclude each other.
    pub trade_off: Option<TradeOff>,
    /// Lines to paste, per queue.
    pub lines: Vec<Line>,
    /// What the kernel says, where it was asked.
    pub proof: Option<Proof>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
}
