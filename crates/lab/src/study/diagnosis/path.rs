//! [`ObservedPath`]: the path of a connection as its evidence has it, and simulations on it.

use super::proposal::Outcome;
use crate::run::engine::{self, UNWATCHED};
use crate::run::record::{Engine, Summary};
use crate::study::size::period;
use crate::study::task::Task;
use estimate::diagnosis::Evidence;
use scenario::{Flow, Scenario};
use std::sync::Arc;
use units::{Bytes, Rate, Span};

/// The headers of a simulated segment (`flow.segment`): IPv4 20, TCP 20, time stamps 12.
const HEADERS: Bytes = Bytes::new(52);
/// The largest segment that a scenario has. Segments on loopback are larger.
const LARGEST_SEGMENT: Bytes = Bytes::new(65_535);
/// The control of a sender that is not known: the default of Linux.
const USUAL_CONTROL: &str = "cubic";
/// Segments in flight beyond the bandwidth-delay product: a delayed acknowledgement waits for two of them, and two are
/// at the hosts.
const AT_HOSTS: u64 = 4;
/// The least buffer in packets, where it is unknown: a burst fits in.
const LEAST_BUFFER: u64 = 20;
/// The most packets of a simulation: about a tenth of a second of one core. A proposal takes four simulations at most.
const PACKETS: f64 = 1.2e6;
/// The smallest window to which a smaller path may shrink a window, packets.
const LEAST_WINDOW: f64 = 100.0;
/// The round trips and the seconds before the measurement behind a window: slow start ends, and the window is full.
const SETTLED: (f64, f64) = (30.0, 1.0);
/// The round trips and the seconds of the measurement behind a window.
const MEASURED: (f64, f64) = (20.0, 1.0);
/// The cycles from loss to loss that are measured, and the least number of them.
const CYCLES: (f64, f64) = (3.0, 1.0);
/// The least length of a measurement without a window, seconds.
const LEAST_MEASURED: f64 = 5.0;

/// The path of a connection, as far as the evidence has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObservedPath {
    /// The bottleneck's rate; `None` if the path was never full, and the user does not know it.
    pub(super) rate: Option<Rate>,
    pub(super) round_trip: Span,
    /// The buffer in front of the bottleneck; `None` if it is unknown.
    pub(super) buffer: Option<Bytes>,
    /// The control of the simulations.
    pub(super) control: String,
    /// True if the sender's control is unknown, or is one that the simulator lacks.
    other_control: bool,
    /// A full segment, with its headers.
    pub(super) segment: Bytes,
}

/// The limit of the data in flight, other than the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    None,
    /// A receive window, or a window of the program's own.
    Window(Bytes),
    SendBuffer(Bytes),
}

/// A state of a path of this rate that is simulated.
#[derive(Clone, Debug)]
pub(super) struct Trial<'a> {
    pub(super) rate: Rate,
    pub(super) limit: Limit,
    pub(super) connections: u64,
    pub(super) queue: &'a str,
    pub(super) control: &'a str,
    /// The share of packets that is lost without a queue.
    pub(super) loss: f64,
    /// The payload of the transfer; `None` if it has no end.
    pub(super) size: Option<Bytes>,
}

impl ObservedPath {
    /// Returns the path of a connection. `known` is the bottleneck's rate by the user's word.
    ///
    /// # Errors
    /// The sentence about what the evidence lacks.
    pub(super) fn of(evidence: &Evidence, known: Option<Rate>) -> Result<Self, &'static str> {
        let round_trip = evidence.base_round_trip.filter(|span| !span.is_zero());
        let round_trip = round_trip
            .ok_or("Its round-trip time is unknown, so the effect of a change cannot be simulated.")?;
        if evidence.goodput() == Rate::ZERO {
            return Err("No data arrived, so the effect of a change cannot be simulated.");
        }
        let simulated =
            |control: &&String| cc::registry::has_control(control) && cc::registry::assist(control).is_none();
        let control = evidence.control.as_ref().filter(simulated);
        let path = Self {
            rate: None,
            round_trip,
            buffer: None,
            control: control.map_or(USUAL_CONTROL, String::as_str).to_owned(),
            other_control: control.is_none(),
            segment: (evidence.segment.max(Bytes::new(1)) + HEADERS).min(LARGEST_SEGMENT),
        };
        // A bottleneck is not slower than what crossed it.
        let rate = evidence.capacity.or(known).map(|rate| rate.max(path.on_the_wire(evidence.goodput())));
        let seen = evidence.buffer.map(|buffer| (buffer.size, buffer.at_least));
        let buffer = seen.zip(rate).map(|((size, at_least), rate)| {
            let least = if at_least { path.usual_buffer(rate) } else { path.segment };
            size.max(least)
        });
        Ok(Self { rate, buffer, ..path })
    }

    /// Returns the rate at the IP layer that has this goodput.
    pub(super) fn on_the_wire(&self, goodput: Rate) -> Rate {
        goodput.scale(self.segment.get() as f64 / self.payload().get() as f64)
    }

    fn payload(&self) -> Bytes {
        self.segment.saturating_sub(HEADERS).max(Bytes::new(1))
    }

    /// Returns the payload in flight that fills a path of `rate` without a standing queue. The bandwidth-delay product
    /// counts headers, and a few segments are at the hosts.
    pub(super) fn needed(&self, rate: Rate) -> Bytes {
        rate.volume(self.round_trip) + self.payload() * AT_HOSTS
    }

    /// Returns the buffer that is assumed where it is unknown: one bandwidth-delay product.
    fn usual_buffer(&self, rate: Rate) -> Bytes {
        rate.volume(self.round_trip).max(self.segment * LEAST_BUFFER)
    }

    /// Returns the buffer of the simulations.
    pub(super) fn room(&self, rate: Rate) -> Bytes {
        self.buffer.unwrap_or_else(|| self.usual_buffer(rate))
    }

    /// Returns a trial of one connection that only its control limits.
    pub(super) fn trial(&self, rate: Rate) -> Trial<'_> {
        Trial {
            rate,
            limit: Limit::None,
            connections: 1,
            queue: "drop-tail",
            control: &self.control,
            loss: 0.0,
            size: None,
        }
    }

    /// Returns the assumptions of simulations on this path.
    pub(super) fn assumptions(&self) -> Vec<String> {
        let mut listed = Vec::new();
        if self.buffer.is_none() {
            listed.push("the bottleneck's buffer is one bandwidth-delay product".to_owned());
        }
        if self.other_control {
            listed.push(format!("the sender's congestion control is {USUAL_CONTROL}"));
        }
        listed.push("hosts are Linux's".to_owned());
        listed
    }

    /// Simulates a trial. Returns `None` if the path is too fast or too long for a short simulation.
    pub(super) fn simulate(&self, trial: &Trial<'_>) -> Option<Outcome> {
        let smaller = Smaller::of(self, trial)?;
        let task = smaller.task(self, trial)?;
        let record = engine::run(Engine::Sim, &task.resolved, UNWATCHED).ok()?;
        Some(smaller.outcome(&record.summary, trial))
    }
}

/// The time of a simulation, and the share of the path's rate, window and buffer with which it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Smaller {
    share: f64,
    warmup: f64,
    measured: f64,
}

impl Smaller {
    /// Returns `None` if even the shortest simulation takes too many packets.
    fn of(path: &ObservedPath, trial: &Trial<'_>) -> Option<Self> {
        let (rtt, segment) = (path.round_trip.as_secs_f64(), path.segment.bits_f64());
        let a_second = trial.rate.as_bps_f64() / segment;
        if let Some(size) = trial.size {
            let packets = size.get() as f64 / path.payload().get() as f64;
            return (packets <= PACKETS).then_some(Self { share: 1.0, warmup: 0.0, measured: 0.0 });
        }
        if let Limit::Window(window) | Limit::SendBuffer(window) = trial.limit {
            let time = |(rounds, least): (f64, f64)| (rounds * rtt).max(least);
            let (warmup, measured) = (time(SETTLED), time(MEASURED));
            let share = (PACKETS / (a_second * (warmup + measured))).min(1.0);
            // Behind a window, a path with a smaller rate, window and buffer has the same shares and delays.
            let window = window.get() as f64 / path.payload().get() as f64;
            let allowed = share == 1.0 || window * share >= LEAST_WINDOW;
            return allowed.then_some(Self { share, warmup, measured });
        }
        let full = rtt + path.room(trial.rate).bits_f64() / trial.rate.as_bps_f64();
        let window = a_second * full / trial.connections as f64;
        let cycle = period(trial.control, window, full).max(full);
        let warmup = (cycle + 10.0 * full).max(1.0);
        let wanted = (CYCLES.0 * cycle).max(LEAST_MEASURED).max(30.0 * full);
        let measured = wanted.min(PACKETS / a_second - warmup);
        (measured >= (CYCLES.1 * cycle).max(30.0 * full).min(wanted)).then_some(Self {
            share: 1.0,
            warmup,
            measured,
        })
    }

    fn task(self, path: &ObservedPath, trial: &Trial<'_>) -> Option<Task> {
        let less = |bytes: Bytes| bytes.scale(self.share).max(path.payload() * 2);
        let delay = Span::from_nanos(path.round_trip.as_nanos() / 2);
        let mut flow = Flow::new(trial.control).set("host", "linux").set("segment", path.segment);
        flow = match trial.limit {
            Limit::Window(window) => flow.set("socket_buffer", less(window)),
            Limit::SendBuffer(_) | Limit::None => flow.set("socket_buffer", "max"),
        };
        flow = match trial.limit {
            Limit::SendBuffer(buffer) => flow.set("send_buffer", less(buffer)),
            Limit::Window(_) | Limit::None => flow.set("send_buffer", "unlimited"),
        };
        // The window has grown before: only what comes after is measured.
        flow = flow.set("quick_growth", false).count(trial.connections);
        let mut draft = Scenario::link(trial.rate.scale(self.share), delay)
            .queue(trial.queue)
            .limit(path.room(trial.rate).scale(self.share).max(path.segment * 2));
        if trial.loss > 0.0 {
            draft = draft.of_link("loss", trial.loss.min(0.5));
        }
        if let Some(size) = trial.size {
            flow = flow.set("size", size);
        } else {
            draft = draft
                .warmup(Span::from_secs_f64(self.warmup))
                .duration(Span::from_secs_f64(self.warmup + self.measured));
        }
        let document = draft.flow(flow).set("record.columns", Vec::<String>::new()).document().ok()?;
        Task::at(&Arc::new(document), Vec::new()).ok()
    }

    fn outcome(self, summary: &Summary, trial: &Trial<'_>) -> Outcome {
        let goodput = match (trial.size, summary.flows.first().and_then(|flow| flow.completion_s)) {
            (Some(size), Some(seconds)) if seconds > 0.0 => size.bits_f64() / seconds,
            _ => summary.goodput_bps(),
        };
        Outcome {
            goodput_bps: goodput / self.share,
            utilization: summary.utilization.unwrap_or_default(),
            queueing_delay_s: summary.queueing_delay_s.map_or(0.0, |delay| delay.mean),
        }
    }
}
