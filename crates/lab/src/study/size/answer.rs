//! The answer: limits and their effects, with the evidence for them. As JSON the keys are the fields' names.

use super::question::{CellFacts, ChangingFacts, Question};
use crate::run::record::Engine;
use crate::run::statistics::estimate;
use serde::Serialize;
use units::Span;

/// The mean and the 95th percentile of the queueing delay, seconds: time-weighted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// The mean.
    pub mean: f64,
    /// The 95th percentile: for 95 % of the time, packets wait no longer.
    pub p95: f64,
}

/// A limit and its effects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The limit, in packets of the mean length.
    pub packets: u64,
    /// The limit in bytes.
    pub bytes: u64,
    /// The time in which the link sends a full queue, milliseconds.
    pub ms: f64,
    /// The limit in bandwidth-delay products of the mean RTT; `None` in a wireless cell, which has none.
    pub bdp: Option<f64>,
    /// The mean utilization of the link. In a wireless cell, the goodput of its downloads over the most that they get
    /// behind any limit.
    pub utilization: f64,
    /// Half the width of its 95 % confidence interval; `None` from theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_ci95: Option<f64>,
    /// The time that packets wait.
    pub queueing_delay_s: Delay,
    /// The self-inflicted delay at the 95th percentile, seconds: its excess over that of a sender that knows how the
    /// rate will change. `None` if the rate does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_inflicted_delay_s: Option<f64>,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Half the width of its 95 % confidence interval; `None` from theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_rate_ci95: Option<f64>,
    /// The L4S flows among classic ones; `None` if the flows are of one kind, and from theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l4s: Option<L4s>,
    /// True if the 95 % confidence interval of the utilization holds the target: it may be met or missed.
    #[serde(skip_serializing_if = "is_false")]
    pub undecided: bool,
    /// True if a longer run would give other numbers: utilization or loss changed within the measured time, or a
    /// policy's rate of drops still had to rise.
    #[serde(skip_serializing_if = "is_false")]
    pub unsettled: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Point {
    /// Creates the point of `packets`, without its effects.
    #[must_use]
    pub fn at(question: &Question, packets: u64) -> Self {
        let room = question.scale().room(packets);
        Self {
            packets,
            bytes: room.bytes,
            ms: room.seconds * 1e3,
            bdp: room.bdp,
            utilization: 0.0,
            utilization_ci95: None,
            queueing_delay_s: Delay { mean: 0.0, p95: 0.0 },
            self_inflicted_delay_s: None,
            loss_rate: 0.0,
            loss_rate_ci95: None,
            l4s: None,
            undecided: false,
            unsettled: false,
        }
    }

    /// Returns the mean of several runs behind the same limit, with the confidence interval of that mean; one run keeps
    /// its own.
    pub(super) fn mean(runs: &[Self]) -> Self {
        let [first, _, ..] = runs else { return runs[0] };
        let of = |value: fn(&Self) -> f64| estimate(&runs.iter().map(value).collect::<Vec<f64>>());
        let utilization = of(|run| run.utilization);
        let loss = of(|run| run.loss_rate);
        let (mean, p95) = (of(|run| run.queueing_delay_s.mean), of(|run| run.queueing_delay_s.p95));
        let self_inflicted = of(|run| run.self_inflicted_delay_s.unwrap_or_default()).mean;
        Self {
            utilization: utilization.mean,
            utilization_ci95: Some(utilization.half_width),
            queueing_delay_s: Delay { mean: mean.mean, p95: p95.mean },
            self_inflicted_delay_s: first.self_inflicted_delay_s.map(|_| self_inflicted),
            loss_rate: loss.mean,
            loss_rate_ci95: Some(loss.half_width),
            ..*first
        }
    }

    /// Returns the point, marked as undecided if its utilization neither surely reaches nor surely misses `target`.
    #[must_use]
    pub fn judged(self, target: f64) -> Self {
        Self { undecided: self.surely() < target && target <= self.perhaps(), ..self }
    }

    /// Returns the doubt that belongs before the row's numbers; empty for most rows.
    #[must_use]
    pub const fn doubt(&self) -> &'static str {
        match (self.undecided, self.unsettled) {
            (false, false) => "",
            (true, false) => "undecided",
            (false, true) => "not settled",
            (true, true) => "undecided, not settled",
        }
    }

    /// Returns the lower end of the utilization's confidence interval.
    #[must_use]
    pub fn surely(&self) -> f64 {
        self.utilization - self.utilization_ci95.unwrap_or(0.0)
    }

    /// Returns the upper end of the utilization's confidence interval.
    #[must_use]
    pub fn perhaps(&self) -> f64 {
        self.utilization + self.utilization_ci95.unwrap_or(0.0)
    }

    /// Combines the results of two numbers of flows into the worse for an operator: the lower utilization, the longer
    /// delay, the higher loss.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let less = if other.utilization < self.utilization { other } else { self };
        let lost = if other.loss_rate > self.loss_rate { other } else { self };
        let (a, b) = (self.queueing_delay_s, other.queueing_delay_s);
        let inflicted = [self.self_inflicted_delay_s, other.self_inflicted_delay_s];
        Self {
            utilization: less.utilization,
            utilization_ci95: less.utilization_ci95,
            queueing_delay_s: Delay { mean: a.mean.max(b.mean), p95: a.p95.max(b.p95) },
            self_inflicted_delay_s: inflicted.into_iter().flatten().reduce(f64::max),
            loss_rate: lost.loss_rate,
            loss_rate_ci95: lost.loss_rate_ci95,
            l4s: match (self.l4s, other.l4s) {
                (Some(l4s), Some(other)) => Some(l4s.worse(other)),
                (l4s, other) => l4s.or(other),
            },
            undecided: less.undecided,
            unsettled: self.unsettled || other.unsettled,
            ..self
        }
    }
}

/// L4S flows among classic ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct L4s {
    /// The goodput of the L4S flows over that of all flows.
    pub goodput_share: f64,
    /// Their number over that of all flows, which is the share that would be even.
    pub even_share: f64,
    /// The 95th percentile of the time for which their packets wait, seconds; `None` if the queue does not hold them
    /// apart from others.
    pub queueing_delay_p95_s: Option<f64>,
}

impl L4s {
    /// Returns the mean of several runs; `None` if there are no runs.
    pub(super) fn mean(runs: &[Self]) -> Option<Self> {
        let first = runs.first()?;
        let mean = |of: fn(&Self) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let wait = mean(|run| run.queueing_delay_p95_s.unwrap_or_default());
        let queueing_delay_p95_s = first.queueing_delay_p95_s.map(|_| wait);
        Some(Self { goodput_share: mean(|run| run.goodput_share), queueing_delay_p95_s, ..*first })
    }

    /// Combines the results of two numbers of flows into the worse: the share that is less even, the longer wait.
    pub(super) fn worse(self, other: Self) -> Self {
        let off = |seen: &Self| (seen.goodput_share - seen.even_share).abs();
        let less_even = if off(&other) > off(&self) { other } else { self };
        let waits = [self.queueing_delay_p95_s, other.queueing_delay_p95_s];
        Self { queueing_delay_p95_s: waits.into_iter().flatten().reduce(f64::max), ..less_even }
    }
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The limit that it asks for; `None` where it gives no answer.
    pub packets: Option<u64>,
    /// The source of the rule.
    pub source: &'static str,
    /// True if the rule is made for such a question.
    pub fits: bool,
    /// Its assumptions, which explain why it differs from the others.
    pub because: String,
}

/// The same limit under other circumstances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// The difference: "half the flows".
    pub what: String,
    /// The effects of the recommended limit with that difference.
    #[serde(flatten)]
    pub point: Point,
}

/// A policy in the picture of utilization against delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// Its name in the registry of `link`.
    pub queue: String,
    /// Its limit, and the effects.
    #[serde(flatten)]
    pub point: Point,
    /// True if no other point of the picture has more utilization and less delay at the 95th percentile.
    pub best: bool,
    /// The effects on a call; `None` if none was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

/// The effects of a queue on a call of 80 kbit/s, which does not respond to losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Call {
    /// The 95th percentile of the time that the call's packets wait in the queue, seconds.
    pub queueing_delay_p95_s: f64,
    /// The share of the call's packets that are dropped.
    pub loss_rate: f64,
}

impl Call {
    /// Combines the results of two numbers of flows into the worse.
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            queueing_delay_p95_s: self.queueing_delay_p95_s.max(other.queueing_delay_p95_s),
            loss_rate: self.loss_rate.max(other.loss_rate),
        }
    }
}

/// The policy to prefer to a fixed limit on a link that changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preferred {
    /// Its name in the registry of `link`.
    pub queue: String,
    /// Its effects.
    #[serde(flatten)]
    pub point: Point,
    /// True if its utilization is at most one point below that of the recommended limit.
    pub keeps_utilization: bool,
    /// The cost of the recommended limit in comparison, in a sentence.
    pub says: String,
}

/// Wishes that no limit grants together, and the limits that grant single ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TradeOff {
    /// The conflict in a sentence.
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
    /// The system.
    pub system: &'static str,
    /// The line to paste.
    pub line: String,
    /// The quantity that the line counts, or the effects of a queue with this line. Empty if the effects of the
    /// recommended limit apply.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The manual that has the form of the line.
    pub source: &'static str,
}

/// The kernel's result for the recommended limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// True if the utilization met the target; `None` if it was less on a machine that was too busy to judge.
    pub held: Option<bool>,
    /// The measured numbers.
    #[serde(flatten)]
    pub point: Point,
    /// Remarks on the run.
    pub notes: Vec<String>,
}

/// The question, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionNumbers {
    /// Capacity, bits per second; in a wireless cell the rate that a download alone would get, headers included.
    pub rate_bps: f64,
    /// Least and greatest base RTT, seconds.
    pub rtt_s: [f64; 2],
    /// Least and greatest number of greedy flows.
    pub flows: [u64; 2],
    /// Their controls, as typed.
    pub control: String,
    /// A full packet, bytes.
    pub packet_bytes: u64,
    /// The mean packet that arrives at the queue, bytes.
    pub mean_packet_bytes: u64,
    /// The queue policy.
    pub queue: String,
    /// The bandwidth-delay product of the mean RTT, packets of the mean length; `None` in a wireless cell.
    pub bdp_packets: Option<f64>,
    /// The wireless cell, if the question is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellFacts>,
    /// The link that changes, if the question is about one. `rate_bps` is then its mean rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changing: Option<ChangingFacts>,
    /// The wished mean utilization.
    pub target_utilization: f64,
    /// The wished 95th percentile of the queueing delay, seconds.
    pub max_delay_s: Option<f64>,
    /// The wished loss rate.
    pub max_loss: Option<f64>,
}

impl QuestionNumbers {
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
            changing: question.changing.clone(),
            target_utilization: question.target.get(),
            max_delay_s: question.max_delay.map(seconds),
            max_loss: question.max_loss.map(units::Fraction::get),
        }
    }
}

/// Returns whole nanoseconds as the shortest number of seconds: 30 ms are 0.03, which 30 000 000 times 1e-9 is not.
fn seconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e9
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// The question.
    pub asked: QuestionNumbers,
    /// The advice for a link with calls, in a sentence; `None` if no call was simulated.
    pub advice: Option<String>,
    /// The source of the limits' numbers: theory or simulation.
    pub engine: Engine,
    /// The total goodput of a wireless cell's downloads that counts as 100 % of utilization, bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_bps: Option<f64>,
    /// The least limit that grants the wishes.
    pub least: Point,
    /// The limit to configure.
    pub recommended: Point,
    /// The largest sensible limit: a larger one gains less than 0.1 points of utilization in simulation, and only adds
    /// delay. A recommended limit above it allows for hosts that are not simulated.
    pub most: Point,
    /// Remarks for a reader who would trust the limits: numbers that are undecided, not settled, or limited elsewhere.
    pub remarks: Vec<String>,
    /// The results of rules.
    pub rules: Vec<Rule>,
    /// Limits around the answer, ascending.
    pub curve: Vec<Point>,
    /// The limit from which utilization grows slowly: the point of the curve farthest above the line between its ends.
    pub knee: Option<u64>,
    /// The recommended limit under other circumstances.
    pub sensitivity: Vec<Variant>,
    /// Utilization against delay.
    pub pareto: Vec<Policy>,
    /// The policy to prefer to the recommended limit, if the link changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<Preferred>,
    /// The conflict, if wishes exclude each other.
    pub trade_off: Option<TradeOff>,
    /// Lines to paste, per queue.
    pub lines: Vec<Line>,
    /// The kernel's result, where it was asked.
    pub proof: Option<Proof>,
    /// The assumptions.
    pub assumptions: Vec<String>,
}
