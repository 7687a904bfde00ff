//! A link whose rate a trace gives, as the simulated path: the trace itself, again and again.
//!
//! A flow at another place of the trace meets another rate. Therefore each number is the mean of several runs. Their
//! flows begin at places that are spread evenly over the trace.

use super::answer::{Point, Policy, Preferred};
use super::call;
use super::l4s;
use super::question::{ChangingFacts, FEW, Question};
use super::second_queue::SecondQueue;
use super::trials::{Room, delay};
use super::twin::{LIMITS, MOST_LIVE};
use super::variants::variants;
use super::wire::TestPath;
use crate::run::record::Summary;
use crate::study::task::Task;
use link::changes::Capacity;
use scenario::spec::OverTime;
use scenario::{Faults, Flow, Scenario, Spread};
use std::fs;
use std::sync::Arc;
use units::{Complaint, Rate, Span};

/// The number of runs of each limit, which begin at different places of the trace.
const STARTS: u64 = 8;
/// The seconds from the first flow's start until the measurement begins.
const SETTLE: f64 = 10.0;
/// The seconds within which the flows of a run begin.
const BEGIN: f64 = 2.0;
/// A run measures whole periods of the trace that have at least this many seconds together.
const LEAST_MEASURED: f64 = 60.0;
/// The seconds that a run measures at least if the packets of whole periods would be too many.
const SHORTEST: f64 = 15.0;
/// The packets that all runs of a limit may take together. Below it, runs measure whole periods.
const PACKETS: f64 = LIMITS.packets;
/// The largest difference of utilization at which a policy counts as equal to a fixed limit.
const POINT: f64 = 0.01;

/// The reason why a draft of this file becomes a document.
const DRAFT: &str = "keys of the schema, none within another";

/// Writes the trace as the rate of a scenario's link.
fn rate(trace: &str, period: Option<Span>) -> OverTime<Rate> {
    OverTime::Trace { trace: trace.to_owned(), repeat: None, every: period, reorder: false }
}

impl Question {
    /// Returns the question about a link whose rate the file `trace` gives. `wishes` has everything but the link.
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn of_trace(trace: &str, wishes: Self) -> Result<Self, Complaint> {
        if fs::metadata(trace).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            let found = format!("{trace}: a pipe or a device, which gives its content once");
            let accepted = "a file, because every simulation reads it";
            return Err(Complaint::new("--trace", found).accepted(accepted).help("save it to a file first"));
        }
        let probe = Scenario::link(rate(trace, None), Span::from_millis(1)).limit("1 packets");
        let probe = probe.flow(Flow::cubic()).duration(Span::from_secs(1)).document().expect(DRAFT);
        let resolved = Task::at(&Arc::new(probe), Vec::new())
            .map_err(|faults| Complaint {
                place: "--trace".into(),
                ..faults.as_slice()[0].complaint.clone()
            })?
            .resolved;
        let (is_table, mean, period) = match &resolved.link.changes.capacity {
            Some(Capacity::Rates(steps)) => {
                // A table does not say how long its last rate holds: as long as the others in the mean.
                let last = steps.last_begins();
                let period = last + Span::from_nanos(last.as_nanos() / (steps.len() as u64 - 1).max(1));
                let period = if period == Span::ZERO { Span::from_secs(1) } else { period };
                (true, Rate::from_bps_f64(steps.mean_until(Some(period), |rate| rate.as_bps_f64())), period)
            }
            Some(Capacity::Opportunities(all)) => (false, all.mean_rate(), all.period()),
            None => unreachable!("a trace is a capacity over time"),
        };
        let (trace, period_s) = (Some(trace.to_owned()), Some(period.as_secs_f64()));
        Ok(Self { rate: mean, changing: Some(ChangingFacts { trace, period_s, is_table }), ..wishes })
    }
}

/// The trace with a number of flows.
#[derive(Clone)]
pub(super) struct TracePath {
    question: Question,
    trace: String,
    period: f64,
    flows: u64,
    /// The seconds that a run measures.
    measured: f64,
    /// True if a call shares the link.
    call: bool,
}

/// Returns the paths for the least and the greatest number of flows of a question about a trace.
pub(super) fn cases(question: &Question) -> Vec<TracePath> {
    let facts = question.changing.as_ref();
    let (trace, period) = (question.trace().unwrap_or_default(), facts.and_then(|facts| facts.period_s));
    let period = period.unwrap_or(LEAST_MEASURED);
    let ends = question.flows;
    let flows = if ends.is_one() { vec![ends.least] } else { vec![ends.least, ends.most] };
    let each = PACKETS / (STARTS * flows.len() as u64) as f64;
    let seconds = each * question.mean_packet().bits_f64() / question.rate.as_bps_f64();
    let whole = period * (LEAST_MEASURED / period).ceil();
    let measured = (seconds - SETTLE).max(SHORTEST).min(whole);
    let path = |flows| TracePath {
        question: question.clone(),
        trace: trace.into(),
        period,
        flows,
        measured,
        call: false,
    };
    flows.into_iter().map(path).collect()
}

impl TracePath {
    /// Returns the scenario behind a limit of `packets`, whose flows begin at `place` of the trace. If `simulated` is
    /// false, it is a scenario for the kernel, which has its own buffers.
    fn scenario(
        &self,
        packets: u64,
        queue: &str,
        seed: u64,
        place: f64,
        simulated: bool,
    ) -> Result<Task, Faults> {
        let (question, time) = (&self.question, |seconds: f64| Span::from_secs_f64(seconds));
        let (rtt, flows) = (question.rtt, self.flows);
        let table = question.changing.as_ref().is_some_and(|facts| facts.is_table);
        let mut draft = Scenario::link(
            rate(&self.trace, table.then(|| time(self.period))),
            Span::from_nanos(rtt.least.as_nanos() / 2),
        )
        .title(format!("{flows} flows over {}, {rtt} of base RTT, behind {packets} packets", self.trace))
        .seed(seed)
        .duration(time(place + SETTLE + self.measured))
        .warmup(time(place + SETTLE))
        .queue(queue)
        .limit(format!("{packets} packets"))
        .set("record.columns", Vec::<String>::new());
        for (control, count) in question.mix.counts(flows) {
            let rtts = match rtt.is_one() {
                true => Spread::All(rtt.least),
                false if count <= FEW => Spread::List(rtt.spread(count).collect()),
                false => Spread::Uniform(rtt.least, rtt.most),
            };
            let start = match flows {
                1 => Spread::All(time(place)),
                _ => Spread::Uniform(time(place), time(place + BEGIN)),
            };
            let mut flow = Flow::new(control).set("name", control).set("host", "linux").count(count);
            flow = flow.set("segment", question.packet).rtt(rtts).set("start", start);
            if simulated {
                flow = flow.set("socket_buffer", "max").set("send_buffer", "unlimited");
                flow = l4s::aged(flow, control);
            }
            draft = draft.flow(flow);
        }
        if self.call {
            draft = call::added(draft);
        }
        Task::at(&Arc::new(draft.document().expect(DRAFT)), Vec::new())
    }
}

impl TestPath for TracePath {
    fn tasks(&self, room: Room, queue: &str, seed: u64) -> Result<Vec<Task>, Faults> {
        let from = |nth: u64| {
            let place = self.period * nth as f64 / STARTS as f64;
            self.scenario(room.packets(), queue, seed.wrapping_add(nth), place, true)
        };
        (0..STARTS).map(from).collect()
    }

    fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults> {
        let short = Self { measured: self.measured.min(MOST_LIVE), ..self.clone() };
        short.scenario(packets, queue, seed, 0.0, false)
    }

    fn point(&self, packets: u64, summary: &Summary) -> Point {
        Point {
            utilization: summary.utilization.unwrap_or_default(),
            utilization_ci95: summary.utilization_ci95,
            queueing_delay_s: delay(summary),
            self_inflicted_delay_s: summary.self_inflicted_delay_s,
            loss_rate: summary.loss_rate.unwrap_or_default(),
            loss_rate_ci95: summary.loss_rate_ci95,
            ..Point::at(&self.question, packets)
        }
    }

    fn later(&self, _seconds: Option<f64>, _most: f64) -> Option<Self> {
        None
    }

    /// Returns the path itself, because all runs measure as much of the trace.
    fn shortest(&self) -> Self {
        self.clone()
    }

    fn longer(&self, _shorter: &Self, _times: f64) -> Option<Self> {
        None
    }

    fn assumption(&self) -> Option<String> {
        let (measured, period) = (Span::from_secs_f64(self.measured), Span::from_secs_f64(self.period));
        let part = if self.measured < self.period { ", of which each run sees a part" } else { "" };
        Some(format!(
            "each number is the mean of {STARTS} runs, which begin at evenly spread places of the trace and measure {} after {SETTLE} s; \
             the trace repeats after {}{part}",
            measured.rounded(),
            period.rounded(),
        ))
    }

    fn alike(&self, question: &Question) -> Vec<Self> {
        cases(question)
    }

    fn with_call(&self) -> Result<Self, String> {
        call::fits(self.question.rate)?;
        Ok(Self { call: true, ..self.clone() })
    }

    fn variants(&self, question: &Question, _full: Option<&SecondQueue>) -> Vec<(String, Vec<Self>)> {
        variants(question).into_iter().map(|(what, question)| (what, cases(&question))).collect()
    }
}

/// Returns the assumptions about a link that changes.
pub(super) fn assumptions(question: &Question) -> Vec<String> {
    let mut listed = vec![
        "utilization is the share of the bytes that the link offered; ms and BDP of a limit are those of the mean rate".into(),
        "the recommended limit has no reserve: it is the least that surely keeps the utilization on these changes".into(),
    ];
    if question.trace().is_some() {
        listed.push(
            "the link changes as the trace does, whatever the flows send; acknowledgements meet no queue"
                .into(),
        );
    }
    listed
}

/// Chooses the policy to prefer to the `recommended` limit, among those that keep the queue short by themselves and that
/// no row of the picture excels. It is the one with the least delay whose utilization is at most one point less. If all
/// have even less, it is the one with the most utilization.
pub(super) fn preferred(question: &Question, recommended: &Point, picture: &[Policy]) -> Option<Preferred> {
    let candidates = || picture.iter().filter(|policy| policy.best && policy.queue != question.queue);
    let keeps = |policy: &Policy| policy.point.utilization >= recommended.utilization - POINT;
    let delay = |policy: &Policy| policy.point.queueing_delay_s.p95;
    let kept = candidates().filter(|policy| keeps(policy)).min_by(|a, b| delay(a).total_cmp(&delay(b)));
    let most = || candidates().max_by(|a, b| a.point.utilization.total_cmp(&b.point.utilization));
    let chosen = kept.or_else(most)?;
    Some(Preferred {
        queue: chosen.queue.clone(),
        point: chosen.point,
        keeps_utilization: keeps(chosen),
        says: cost(recommended, chosen),
    })
}

/// Compares a fixed limit with a policy in a sentence.
fn cost(fixed: &Point, policy: &Policy) -> String {
    let (point, name) = (&policy.point, &policy.queue);
    let gain = (fixed.utilization - point.utilization) * 100.0;
    let (own, other) = (fixed.queueing_delay_s.p95 * 1e3, point.queueing_delay_s.p95 * 1e3);
    let verdict = match (gain > 0.0, own > other) {
        (true, true) => {
            format!("the fixed limit pays for {gain:.1} points with {:.1} times the delay", own / other)
        }
        (false, true) => format!("the fixed limit has {:.1} times the delay, and gains nothing", own / other),
        (true, false) => format!("the fixed limit is better by {gain:.1} points, and has no more delay"),
        (false, false) => format!("the fixed limit has less delay, and {:.1} points less utilization", -gain),
    };
    format!(
        "against {name}: {} packets keep {:.1} % with a p95 delay of {own:.0} ms, {name} keeps {:.1} % with {other:.0} ms, so {verdict}",
        fixed.packets,
        fixed.utilization * 100.0,
        point.utilization * 100.0,
    )
}
