//! The path that is simulated for a question: the path itself if that is affordable, a smaller twin otherwise.
//!
//! A twin keeps the ratios that decide. Where there are many flows, it has fewer, each with its window and RTT, at a
//! lower rate, and the limit keeps its ratio to `BDP / sqrt(n)`. Where the windows are large, it has smaller ones, and
//! the limit keeps its ratio to the BDP. CUBIC's cubic does not scale with the RTT. Therefore the RTT then grows until
//! the ratio of the round trips between losses to the window is that of the path. docs/guide/size.md has the errors of
//! twins.

use super::answer::{Delay, Point};
use super::call;
use super::l4s;
use super::question::{Ends, FEW, Question};
use super::second_queue::SecondQueue;
use super::theory::{Behaviour, behaviour, period};
use super::trials::{Room, delay};
use super::variants::variants;
use super::wire::TestPath;
use crate::run::record::Summary;
use crate::study::task::Task;
use model::rules::single_flow::{Growth, WindowCycle};
use scenario::{Document, Faults, Flow, Scenario, Spread};
use std::sync::Arc;
use units::{Bytes, Rate, Span};

/// The bounds of a path's simulations. Their packets are the most that all take together. Flows forget their start in
/// `forget` cycles, and a policy holds them after `settled` seconds. A measurement of fewer than `least` cycles decides
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effort {
    pub(super) packets: f64,
    pub(super) forget: f64,
    pub(super) settled: f64,
    pub(super) least: f64,
}

/// The effort for a limit: about a second of one core with today's hosts.
pub(super) const LIMITS: Effort = Effort { packets: 5e6, forget: 1.0, settled: 0.0, least: 2.0 };
/// The effort for a row of a table. Behind the queue of a policy, or with other flows, the start is forgotten later.
pub(super) const ROWS: Effort = Effort { packets: LIMITS.packets / 2.0, forget: 2.0, settled: 2.0, ..LIMITS };
/// The number of cycles from loss to loss that are measured if that is affordable, and the least number that is
/// measured.
const CYCLES: (f64, f64) = (12.0, 5.0);
/// The least number of measured round trips.
const ROUNDS: f64 = 40.0;
/// The share of the measured time after which a run may have decided already, and the least number of round trips by
/// then.
const SHORTEST: f64 = 0.125;
const LEAST_ROUNDS: f64 = 20.0;
/// A shorter run is made if it takes at most this share of the packets of the whole one.
const WORTHWHILE: f64 = 0.85;
/// The least measured time, seconds: timeouts take 0.2 s.
const LEAST_MEASURED: f64 = 1.0;
/// The seconds that are measured if this takes at most half of the packets.
const WANTED_MEASURED: f64 = 20.0;
/// The least number of a twin's flows. This many flows are out of step already, so they can stand for more.
const LEAST_FLOWS: u64 = 300;
/// The smallest window of a twin's flows, packets: a round trip adds a hundredth of it.
const LEAST_WINDOW: f64 = 100.0;
/// The seconds for which BBR remembers a rate that it probed for; its probe for the RTT is rarer and short.
const BBR_MEMORY: f64 = 2.0;
/// The least measured time of few flows with BBR among them, seconds: each then probes for the RTT once.
const BBR_PROBE: f64 = 10.0;
/// The most seconds that the kernel is measured, because it runs in real time.
pub(super) const MOST_LIVE: f64 = 60.0;
/// The seconds within which flows begin; if a cycle is shorter, they begin within a cycle.
const STARTS: f64 = 2.0;

/// A path that is simulated in place of the question's path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Twin {
    question: Question,
    flows: u64,
    /// The number of flows that it stands for.
    stands_for: u64,
    /// The packets that each flow has under way on a full link.
    window: f64,
    /// The ratio of its RTT to the question's.
    stretch: f64,
    effort: Effort,
    /// The seconds of the longest cycle from loss to loss.
    cycle: f64,
    /// The least seconds of measurement that may decide.
    least: f64,
    /// The seconds before measurement begins.
    warmup: f64,
    /// The seconds of measurement.
    measured: f64,
    /// The seconds that are added to the warm-up for a policy that settles late.
    later: f64,
    /// True if a call shares the link.
    call: bool,
}

/// Returns twins for the least and the greatest number of flows of a question, which take `effort` together.
pub(super) fn cases(question: &Question, effort: Effort) -> Vec<Twin> {
    let ends = question.flows;
    let flows = if ends.is_one() { vec![ends.least] } else { vec![ends.least, ends.most] };
    let each = Effort { packets: effort.packets / flows.len() as f64, ..effort };
    flows.into_iter().map(|flows| Twin::of(question, flows, each)).collect()
}

impl Twin {
    /// Creates the twin for `flows` of the question's, which takes `effort`.
    pub(super) fn of(question: &Question, flows: u64, effort: Effort) -> Self {
        let packets = effort.packets;
        let window = question.window(flows);
        let mut twin = Self {
            question: question.clone(),
            flows,
            stands_for: flows,
            window,
            stretch: 1.0,
            effort,
            cycle: 0.0,
            least: 0.0,
            warmup: 0.0,
            measured: 0.0,
            later: 0.0,
            call: false,
        };
        let cycles = |of: f64, twin: &mut Self| {
            twin.take_time(of);
            packets / twin.packets()
        };
        let (wanted, enough) = CYCLES;
        let affordable = cycles(wanted, &mut twin);
        if affordable >= 1.0 {
            let paid = packets / 2.0 / twin.rate() - twin.warmup;
            twin.measured = twin.measured.max(paid.min(WANTED_MEASURED));
            return twin;
        }
        let few = (wanted * affordable).max(enough);
        if cycles(few, &mut twin) < 1.0 && flows > LEAST_FLOWS {
            let share = packets / twin.packets();
            twin.flows = ((flows as f64 * share) as u64).max(LEAST_FLOWS);
        }
        if cycles(few, &mut twin) < 1.0 && window > LEAST_WINDOW {
            // The number of packets grows with the window, so the loop bisects the window's logarithm.
            let (mut low, mut high) = (LEAST_WINDOW, window);
            while high / low > 1.05 {
                let middle = (low * high).sqrt();
                twin.shrink(middle);
                if cycles(few, &mut twin) < 1.0 { high = middle } else { low = middle }
            }
            twin.shrink(low);
        }
        let affordable = cycles(few, &mut twin).min(1.0);
        twin.measured = (twin.measured * affordable).max(ROUNDS * twin.rtt());
        twin
    }

    /// Shrinks the windows to `window` packets.
    fn shrink(&mut self, window: f64) {
        let full = self.question.window(self.stands_for);
        self.window = window;
        let rtt = self.question.rtt.mean().as_secs_f64();
        let first = self.question.mix.shares().first().map(|(control, _)| behaviour(control, full, rtt));
        let cubic = matches!(first, Some(Behaviour::WindowCycle(WindowCycle { growth: Growth::Cubic, .. })));
        self.stretch = if cubic && !self.has_bbr() { libm::pow(full / window, 2.0 / 3.0) } else { 1.0 };
    }

    fn has_bbr(&self) -> bool {
        self.question.mix.shares().iter().any(|(control, _)| behaviour(control, 1.0, 1.0) == Behaviour::Bbr)
    }

    /// Sets the time for `cycles` cycles, and for the flows to begin and forget their start.
    fn take_time(&mut self, cycles: f64) {
        let rtt = self.rtt();
        let cycle = |control: &str| match behaviour(control, self.window, rtt) {
            Behaviour::Bbr => None,
            Behaviour::WindowCycle(_) => Some(period(control, self.window, rtt)),
        };
        let controls = self.question.mix.shares().iter();
        let of_windows = controls.filter_map(|(control, _)| cycle(control)).fold(rtt, f64::max);
        let (memory, probe) = match (self.has_bbr(), self.flows <= FEW) {
            (false, _) => (0.0, 0.0),
            (true, false) => (BBR_MEMORY, BBR_MEMORY),
            (true, true) => (BBR_MEMORY, BBR_PROBE),
        };
        self.cycle = of_windows.max(memory);
        self.measured = (cycles * self.cycle).max(ROUNDS * rtt).max(LEAST_MEASURED);
        self.least = (self.effort.least * of_windows).max(LEAST_ROUNDS * rtt).max(LEAST_MEASURED).max(probe);
        let forgotten = self.cycle.min(STARTS) + self.effort.forget * self.cycle + 10.0 * rtt;
        self.warmup = forgotten.max(self.effort.settled);
    }

    fn rtt(&self) -> f64 {
        self.question.rtt.mean().as_secs_f64() * self.stretch
    }

    /// Returns the packets a second on a full link.
    fn rate(&self) -> f64 {
        self.flows as f64 * self.window / self.rtt()
    }

    fn packets(&self) -> f64 {
        self.rate() * (self.warmup + self.later + self.measured)
    }

    /// Returns the same path, measured for `seconds` if that saves much.
    fn measuring(&self, seconds: f64) -> Self {
        let path = Self { measured: seconds, ..self.clone() };
        if path.packets() <= WORTHWHILE * self.packets() { path } else { self.clone() }
    }

    fn is_whole(&self) -> bool {
        self.flows == self.stands_for && self.window == self.question.window(self.stands_for)
    }

    /// Returns the twin's limit for a limit of `packets` in the question.
    pub(super) fn limit(&self, packets: u64) -> u64 {
        if self.is_whole() {
            return packets;
        }
        let small = self.flows as f64 * self.window / (self.flows as f64).sqrt();
        let large = self.question.bdp_packets() / (self.stands_for as f64).sqrt();
        ((packets as f64 * small / large).round() as u64).max(1)
    }

    /// Returns the scenario behind a limit of `packets`. If `simulated` is false, it is a scenario for the kernel,
    /// which has its own slow start and its own buffers.
    fn scenario(&self, packets: u64, queue: &str, seed: u64, simulated: bool) -> Result<Task, Faults> {
        let (question, time) = (&self.question, |seconds: f64| Span::from_secs_f64(seconds));
        let stretched = |rtt: Span| time(rtt.as_secs_f64() * self.stretch);
        let rtt = Ends { least: stretched(question.rtt.least), most: stretched(question.rtt.most) };
        let (segment, limit) = (question.packet, self.limit(packets));
        let rate = if self.is_whole() {
            question.rate.to_string()
        } else {
            format!("{:.0}bit/s", self.rate() * segment.bits_f64())
        };
        let (flows, all) = (self.stands_for, question.rate);
        let mut draft = Scenario::link(rate, Span::from_nanos(rtt.least.as_nanos() / 2))
            .title(format!(
                "{flows} flows over {all}, {} of base RTT, behind {packets} packets",
                question.rtt
            ))
            .seed(seed)
            .duration(time(self.warmup + self.later + self.measured))
            .warmup(time(self.warmup + self.later))
            .queue(queue)
            .limit(format!("{limit} packets"))
            .set("record.columns", Vec::<String>::new());
        // After slow start each flow has about its share, so that no overflow delays the measurement.
        let window = self.window * question.reach(self.flows);
        let share = Bytes::new(segment.get().saturating_sub(52) * (window.ceil() as u64).max(2));
        for (control, count) in question.mix.counts(self.flows) {
            let rtts = match rtt.is_one() {
                true => Spread::All(rtt.least),
                false if count <= FEW => Spread::List(rtt.spread(count).collect()),
                false => Spread::Uniform(rtt.least, rtt.most),
            };
            let mut flow = Flow::new(control).set("name", control).set("host", "linux");
            flow = flow.count(count).set("segment", segment).rtt(rtts);
            if simulated || share * 2 > transport::LARGEST_SEND_BUFFER {
                flow = flow.set("socket_buffer", "max").set("send_buffer", "unlimited");
            }
            if simulated {
                // The receive window begins large, as if it had grown already.
                flow = flow.set("quick_growth", false).set("initial_ssthresh", share);
                flow = l4s::aged(flow, control);
            }
            if self.flows > 1 {
                flow = flow.set("start", Spread::Uniform(Span::ZERO, time(self.cycle.min(STARTS))));
            }
            draft = draft.flow(flow);
        }
        if self.call {
            draft = call::added(draft);
        }
        let document: Document = draft.document().expect("keys of the schema, none within another");
        Task::at(&Arc::new(document), Vec::new())
    }
}

impl TestPath for Twin {
    fn tasks(&self, room: Room, queue: &str, seed: u64) -> Result<Vec<Task>, Faults> {
        Ok(vec![self.scenario(room.packets(), queue, seed, true)?])
    }

    fn live_task(&self, packets: u64, queue: &str, seed: u64) -> Result<Task, Faults> {
        let short = Self { measured: self.measured.min(MOST_LIVE), ..self.clone() };
        short.scenario(packets, queue, seed, false)
    }

    /// Converts the numbers measured behind the twin's limit into those behind a limit of `packets` in the question.
    fn point(&self, packets: u64, summary: &Summary) -> Point {
        let point = Point::at(&self.question, packets);
        let scale = self.delay_scale(packets);
        // Between two losses a flow sends a number of packets that grows with the square of the window: see theory.rs.
        // BBR's losses are those of its probes.
        let full = self.question.window(self.stands_for);
        let rarer = if self.has_bbr() { 1.0 } else { (self.window / full).powi(2) };
        let (utilization, half) = (summary.utilization.unwrap_or_default(), summary.utilization_ci95);
        let delay = delay(summary);
        Point {
            utilization,
            utilization_ci95: half,
            queueing_delay_s: Delay { mean: delay.mean * scale, p95: delay.p95 * scale },
            loss_rate: summary.loss_rate.unwrap_or_default() * rarer,
            loss_rate_ci95: summary.loss_rate_ci95.map(|half| half * rarer),
            ..point
        }
    }

    fn later(&self, seconds: Option<f64>, most: f64) -> Option<Self> {
        let (later, measured) = match seconds {
            Some(seconds) => (seconds, self.shortest().measured),
            None => (self.measured, self.measured),
        };
        let later = Self { later, measured, ..self.clone() };
        (later.packets() <= most).then_some(later)
    }

    fn shortest(&self) -> Self {
        self.measuring((SHORTEST * self.measured).max(self.least))
    }

    fn longer(&self, shorter: &Self, times: f64) -> Option<Self> {
        (shorter.measured < self.measured).then(|| self.measuring(shorter.measured * times))
    }

    fn alike(&self, question: &Question) -> Vec<Self> {
        cases(question, ROWS)
    }

    fn with_call(&self) -> Result<Self, String> {
        call::fits(Rate::from_bps_f64(self.rate() * self.question.packet.bits_f64()))?;
        let measured = self.shortest().measured.max(call::MEASURED);
        let path = Self { call: true, measured, ..self.clone() };
        match path.packets() <= ROWS.packets {
            true => Ok(path),
            false => {
                Err(format!("its runs would take more than {} million packets each", ROWS.packets / 1e6))
            }
        }
    }

    fn delay_scale(&self, packets: u64) -> f64 {
        let drain = self.limit(packets) as f64 / self.rate();
        if self.is_whole() { 1.0 } else { self.question.drain(packets as f64) / drain }
    }

    fn shaped(&self, question: &Question) -> Vec<Self> {
        let rate = Rate::from_bps_f64(question.rate.as_bps_f64() * call::SHAPED);
        cases(&Question { rate, ..question.clone() }, ROWS)
    }

    fn variants(&self, question: &Question, _full: Option<&SecondQueue>) -> Vec<(String, Vec<Self>)> {
        variants(question).into_iter().map(|(what, question)| (what, cases(&question, ROWS))).collect()
    }

    fn assumption(&self) -> Option<String> {
        if self.is_whole() {
            return None;
        }
        let (full, mut parts) = (self.question.window(self.stands_for), Vec::new());
        if self.flows < self.stands_for {
            parts.push(format!(
                "{} of {} flows, at the same share of BDP/sqrt(n)",
                self.flows, self.stands_for
            ));
        }
        if self.window < full {
            parts.push(format!(
                "windows of {:.0} for {full:.0} packets, at the same share of the BDP",
                self.window
            ));
        }
        if self.stretch > 1.0 {
            parts.push(format!("an RTT {:.1} times as long, as CUBIC's growth asks for", self.stretch));
        }
        Some(format!(
            "a smaller twin of the path for {} {} ({:.1} Mbit/s) is simulated, with {}; delays and losses are scaled back",
            self.stands_for,
            if self.stands_for == 1 { "flow" } else { "flows" },
            self.rate() * self.question.packet.bits_f64() / 1e6,
            parts.join(", ")
        ))
    }
}

#[cfg(test)]
#[path = "../../../tests/within/twin.rs"]
mod tests;
