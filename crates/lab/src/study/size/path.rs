//! A scenario as the simulated path: its own flows, traffic, hosts, ECN and way back. Only the keys that a row is about
//! are set anew.

use super::answer::Point;
use super::call;
use super::question::{Ends, Question};
use super::second_queue::SecondQueue;
use super::trials::{Room, delay};
use super::variants::{instead, other_control};
use super::wire::TestPath;
use crate::run::record::Summary;
use crate::run::resolve::ResolvedFlow;
use crate::study::task::Task;
use scenario::{Direction, Document, Faults};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Span;

/// A policy is measured again after its time of settling times this factor, because the time was estimated before it
/// settled.
const LATER: f64 = 2.0;

/// The number of runs of each limit if a link changes. Its outages and losses are drawn, and batches of a run differ as
/// the link does.
const SEEDS: u64 = 4;

/// The scenario, with the settings of a row.
#[derive(Clone)]
pub(super) struct ScenarioPath {
    document: Arc<Document>,
    base: Arc<Task>,
    /// The table of the tight link's queue.
    queue: String,
    question: Box<Question>,
    set: Vec<(String, String)>,
}

impl ScenarioPath {
    pub(super) fn of(document: &Document, question: &Question) -> Result<Self, Faults> {
        let document = Arc::new(document.clone());
        let base = Task::at(&document, Vec::new())?;
        let tight = &base.resolved.links[base.resolved.tight];
        let queue = match (base.resolved.is_network(), tight.direction) {
            (false, _) => "link.queue".into(),
            (true, Direction::Forward) => format!("link.{}.queue", tight.name),
            (true, Direction::Reverse) => format!("link.{}.reverse.queue", tight.name),
        };
        Ok(Self {
            document,
            base: Arc::new(base),
            queue,
            question: Box::new(question.clone()),
            set: Vec::new(),
        })
    }

    /// Returns the same path with these keys.
    fn with(&self, set: Vec<(String, String)>) -> Self {
        Self { set, ..self.clone() }
    }

    /// Returns its greedy flows over the tight link, by table.
    fn entries(&self) -> BTreeMap<usize, Vec<&ResolvedFlow>> {
        let mut entries: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for flow in self.base.resolved.greedy() {
            entries.entry(flow.entry).or_default().push(flow);
        }
        entries
    }

    /// Returns the path with `times` as many greedy flows, rounded to whole flows of each table.
    fn with_flows(&self, times: f64) -> Self {
        let (mut before, mut given, mut set) = (0.0, 0, Vec::new());
        for (entry, flows) in self.entries() {
            before += flows.len() as f64 * times;
            let count = (before as u64).saturating_sub(given);
            given += count;
            set.push((format!("flow.{entry}.count"), count.to_string()));
        }
        self.with(set)
    }

    /// Returns the path with base RTTs that are `times` as long.
    fn with_rtt(&self, times: u64) -> Self {
        let one = |(entry, flows): (usize, Vec<&ResolvedFlow>)| {
            let rtts: Vec<String> =
                flows.iter().map(|flow| format!("\"{}\"", flow.base_rtt * times)).collect();
            let value = if rtts.len() == 1 { rtts[0].clone() } else { format!("[{}]", rtts.join(", ")) };
            (format!("flow.{entry}.rtt"), value)
        };
        self.with(self.entries().into_iter().map(one).collect())
    }

    /// Returns the path with `new` in place of the control `old`.
    fn with_control(&self, old: &str, new: &str) -> Self {
        let tables = self.entries().into_iter().filter(|(_, flows)| flows[0].control.name == old);
        self.with(tables.map(|(entry, _)| (format!("flow.{entry}.control"), new.to_owned())).collect())
    }

    /// Returns the path with this policy and limit at another queue.
    fn with_queue(&self, table: &str, policy: &str, limit: &str) -> Self {
        let queue = format!("{{ kind = \"{policy}\", limit = \"{limit}\" }}");
        self.with(vec![(format!("{table}.queue"), queue)])
    }
}

impl ScenarioPath {
    /// Returns the settings of the run behind `room` of `queue`.
    fn settings(&self, room: Room, queue: &str) -> Vec<(String, String)> {
        let limit = match room {
            Room::Packets(packets) => format!("{packets} packets"),
            Room::Bytes(packets) => format!("{} B", self.question.mean_packet().get() * packets),
        };
        let mut point = self.set.clone();
        // Another policy does not have the settings of the scenario's own.
        point.push(if queue == self.question.queue {
            (format!("{}.limit", self.queue), limit)
        } else {
            (self.queue.clone(), format!("{{ kind = \"{queue}\", limit = \"{limit}\" }}"))
        });
        point
    }
}

impl TestPath for ScenarioPath {
    /// Returns a run, or several with seeds from the scenario's on if a link changes.
    fn tasks(&self, room: Room, queue: &str, _seed: u64) -> Result<Vec<Task>, Faults> {
        let (settings, first) = (self.settings(room, queue), self.base.resolved.seed);
        if self.question.changing.is_none() {
            return Ok(vec![Task::at(&self.document, settings)?]);
        }
        let seeded = |nth| {
            let seed = ("seed".to_owned(), first.wrapping_add(nth).to_string());
            Task::at(&self.document, settings.iter().cloned().chain([seed]).collect())
        };
        (0..SEEDS).map(seeded).collect()
    }

    fn live_task(&self, packets: u64, queue: &str, _seed: u64) -> Result<Task, Faults> {
        Task::at(&self.document, self.settings(Room::Packets(packets), queue))
    }

    fn point(&self, packets: u64, summary: &Summary) -> Point {
        Point {
            utilization: summary.utilization.unwrap_or_default(),
            utilization_ci95: summary.utilization_ci95,
            queueing_delay_s: delay(summary),
            loss_rate: summary.loss_rate.unwrap_or_default(),
            loss_rate_ci95: summary.loss_rate_ci95,
            self_inflicted_delay_s: summary.self_inflicted_delay_s,
            ..Point::at(&self.question, packets)
        }
    }

    fn later(&self, seconds: Option<f64>, most: f64) -> Option<Self> {
        let resolved = &self.base.resolved;
        let (warmup, end) = (resolved.warmup.as_secs_f64(), resolved.end?.as_secs_f64());
        let warmup_later = seconds.map_or(end, |seconds| LATER * seconds + warmup);
        let end = warmup_later + end - warmup;
        let rate = resolved.link.rate.as_bps_f64() / self.question.mean_packet().bits_f64();
        let mut set = self.set.clone();
        set.push(("duration".into(), Span::from_secs_f64(end).to_string()));
        set.push(("warmup".into(), Span::from_secs_f64(warmup_later).to_string()));
        (rate * end <= most).then(|| self.with(set))
    }

    /// Returns the scenario, whose times are its own.
    fn shortest(&self) -> Self {
        self.clone()
    }

    fn longer(&self, _shorter: &Self, _times: f64) -> Option<Self> {
        None
    }

    fn assumption(&self) -> Option<String> {
        let seed = self.base.resolved.seed;
        let runs = || format!("each number is the mean of {SEEDS} runs, of the seeds from {seed}");
        self.question.changing.is_some().then(runs)
    }

    fn alike(&self, _question: &Question) -> Vec<Self> {
        vec![self.clone()]
    }

    fn with_call(&self) -> Result<Self, String> {
        call::fits(self.question.rate)?;
        let resolved = &self.base.resolved;
        if resolved.links[resolved.tight].direction == Direction::Reverse {
            return Err("the tight link is on the way back, which traffic of this kind does not take".into());
        }
        let text = format!("{}{}", self.document.text(), call::table());
        let with = || -> Result<Document, Faults> {
            let mut document = Document::parse(self.document.name(), &text)?;
            self.document.overrides().iter().try_for_each(|(key, value)| document.set(key, value))?;
            Task::at(&Arc::new(document.clone()), self.set.clone())?;
            Ok(document)
        };
        let document =
            with().map_err(|_| "the scenario writes its traffic in another way than [[traffic]]")?;
        Ok(Self { document: Arc::new(document), ..self.clone() })
    }

    /// Returns variants of the scenario, each with one change.
    fn variants(&self, question: &Question, full: Option<&SecondQueue>) -> Vec<(String, Vec<Self>)> {
        let flows = question.flows.most;
        let mut variants = Vec::new();
        if flows > 1 {
            variants.push((format!("half the flows ({})", flows / 2), self.with_flows(0.5)));
        }
        variants.push((format!("double the flows ({})", flows * 2), self.with_flows(2.0)));
        let rtt = Ends { least: question.rtt.least * 2, most: question.rtt.most * 2 };
        variants.push((format!("double the RTT ({rtt})"), self.with_rtt(2)));
        let (old, new) = other_control(question);
        variants.push((instead(&old, new), self.with_control(&old, new)));
        if let Some(full) = full {
            let path = self.with_queue(&full.table, "fq-codel", &full.limit);
            variants.push((format!("fq-codel at {}", full.table), path));
        }
        variants.into_iter().map(|(what, path)| (what, vec![path])).collect()
    }
}
