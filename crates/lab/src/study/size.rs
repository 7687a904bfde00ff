//! The size of a buffer. Theory answers an operator's question ([`from_theory`]), and simulation, or the kernel if
//! asked, checks the answer ([`Study`]).
//!
//! Reading order: `question.rs` has the question and its defaults, `answer.rs` the answer, `hosts.rs` the effects of
//! hosts that theory does not know. `theory.rs` has rules and their expectations, `choice.rs` the way from a curve to
//! limits. `trials.rs` has the simulations of limits over any testbed. There are four testbeds. `twin.rs` is a path
//! made of the question, or a smaller one if that is too large. `changing.rs` is a link whose rate a trace gives, and
//! `path.rs` a scenario as it is. `wire.rs` has the common part of these three. `cell.rs` is the testbed of an
//! access point's queue. `alternatives.rs` has the answer under other circumstances (`variants.rs`) and policies,
//! `settling.rs` the time that a policy needs, `second_queue.rs` a full queue elsewhere on the path. `lines.rs` has
//! lines to paste for the systems of `systems.rs`, with the disciplines of `tc.rs`. `call.rs` has a call with the advice
//! that follows, `l4s.rs` the share of L4S flows. Files depend on each other in one direction only, and none depends on
//! this one.

mod alternatives;
mod answer;
mod call;
mod cell;
mod changing;
mod choice;
mod hosts;
mod l4s;
mod lines;
mod path;
mod question;
mod second_queue;
mod settling;
mod systems;
mod tc;
mod theory;
mod trials;
mod twin;
mod variants;
mod wire;

pub use answer::{
    Call, Delay, L4s, Line, Point, Policy, Preferred, Proof, QuestionNumbers, Rule, Sizing, TradeOff, Variant,
};
pub use choice::MARGIN;
pub use hosts::Hosts;
pub use question::{CONTROL, CellFacts, ChangingFacts, Ends, Mix, PACKET, PLACES, Question, RTT, TARGET};
pub(super) use theory::period;

use super::experiment::ExperimentError;
use super::repeat::record;
use super::sweep::Runner;
use super::task::{Task, check};
use super::watch::{SharedWatch, Watch, Work};
use crate::run::record::{Engine, Note};
use crate::run::resolve::Resolved;
use choice::{Choice, choice, knee, trade_off};
use path::ScenarioPath;
use scenario::{Document, Faults};
use std::path::PathBuf;
use std::sync::Arc;
use trials::{LARGEST, Trials, spaced};
use twin::Effort;
use units::Complaint;
use wire::{TestPath, TestPaths};

/// The smallest limit that theory is asked about, packets. Smaller queues lose bursts, which theory does not know.
const SMALLEST: f64 = 4.0;

impl Question {
    /// Returns the question that a scenario poses: its tight link or its cell, its greedy flows and their RTTs, with
    /// the wishes of [`Question::of`].
    ///
    /// # Errors
    /// If it has no greedy flow.
    pub fn of_scenario(resolved: &Resolved) -> Result<Self, Complaint> {
        match &resolved.cell {
            Some(plan) => cell::question(resolved, plan),
            None => Self::of_path(resolved),
        }
    }
}

/// Returns the answer of theory alone, in microseconds.
#[must_use]
pub fn from_theory(question: &Question) -> Sizing {
    // The steps are so fine that rounding does not show.
    let steps = 400;
    let (low, high) = (SMALLEST, (question.pipe_limit() * LARGEST.1).max(2.0 * SMALLEST));
    let mut limits: Vec<u64> =
        (0..=steps).map(|step| spaced(low, high, f64::from(step) / f64::from(steps))).collect();
    limits.dedup();
    let fine = theory::curve(question, &limits);
    let chosen = choice(question, &fine);
    let at = |packets: u64| theory::curve(question, &[packets])[0];
    let shown = fine.iter().step_by(fine.len().div_ceil(12)).copied();
    let mut assumptions = assumptions(question);
    assumptions.push(
        "theory alone: flows are all in step, or one of nine is out of it, whichever gives more, unless bursts that meet in the queue leave less; \
         without start-up"
            .into(),
    );
    assumptions.extend(theory::hosts(question));
    assumptions.extend(choice::clumps(question, chosen.recommended));
    let doubts = [theory::range(question, chosen.least), theory::policy(question), theory::traffic(question)];
    let remarks = doubts.into_iter().flatten().chain(theory::small_windows(question)).collect();
    Sizing {
        engine: Engine::Model,
        remarks,
        curve: shown.collect(),
        knee: knee(&fine),
        trade_off: chosen.conflict.as_ref().map(|conflict| trade_off(question, conflict, &fine, at)),
        assumptions,
        ..sizing(question, &chosen, at)
    }
}

/// Creates the parts that every answer has. `at` returns a limit with its effects.
fn sizing(question: &Question, chosen: &Choice, at: impl Fn(u64) -> Point) -> Sizing {
    let recommended = at(chosen.recommended);
    Sizing {
        asked: QuestionNumbers::of(question),
        advice: None,
        engine: Engine::default(),
        best_bps: None,
        least: at(chosen.least),
        recommended,
        most: at(chosen.most),
        // Every rule describes a link that stays as it is.
        rules: if question.changing.is_some() { Vec::new() } else { theory::rules(question) },
        curve: Vec::new(),
        knee: None,
        sensitivity: Vec::new(),
        pareto: Vec::new(),
        preferred: None,
        trade_off: None,
        remarks: Vec::new(),
        lines: lines::lines(question, &recommended, &lines::AlsoSimulated::default()),
        proof: None,
        assumptions: Vec::new(),
    }
}

/// Describes limits whose own simulation does not surely meet the target.
fn doubts(question: &Question, chosen: &Choice, least: &Point, recommended: &Point) -> Vec<String> {
    let target = question.target;
    let measured = |point: &Point| {
        format!("{:.2} ± {:.2} %", point.utilization * 100.0, point.utilization_ci95.unwrap_or(0.0) * 100.0)
    };
    let mut doubts = Vec::new();
    if chosen.conflict.is_some() {
        return doubts;
    }
    if recommended.utilization < target.get() {
        doubts.push(format!(
            "the recommended limit had {} of utilization in its own simulation, less than the {target} that limits near it have: these \
             flows vary too much for a more certain answer",
            measured(recommended)
        ));
    } else if recommended.undecided {
        doubts.push(format!(
            "the recommended limit is undecided: its interval of {} holds {target}",
            measured(recommended)
        ));
    }
    if least.undecided && least.packets != recommended.packets {
        doubts.push(format!(
            "the least limit is undecided: its interval of {} holds {target}, so {} packets may miss it",
            measured(least),
            least.packets
        ));
    }
    doubts
}

/// Returns the assumptions of every answer.
fn assumptions(question: &Question) -> Vec<String> {
    let mut listed = vec![
        "every flow always has data to send, and only its congestion control limits its window".into(),
        "the limit is that of one queue; a box with several queues has it for each".into(),
    ];
    if question.is_mixed() {
        listed.push(format!(
            "packets come in several lengths: {} in the mean, where full ones have {}; kB, ms and BDP of a limit are of mean packets",
            question.mean_packet(),
            question.packet
        ));
    }
    listed.extend(l4s::assumption(question));
    if !question.rtt.is_one() {
        let alone = if question.flows.least == 1 { "; a flow alone has the longest" } else { "" };
        listed.push(format!("base RTTs are spread evenly over {}{alone}", question.rtt));
    }
    if !question.flows.is_one() {
        listed.push(format!(
            "each number is that of {} or of {} flows, whichever is worse",
            question.flows.least, question.flows.most
        ));
    }
    listed
}

/// A question and the settings of its simulations.
#[derive(Clone, Debug)]
pub struct Study {
    /// The question.
    pub question: Question,
    /// The scenario that poses the question, which is simulated as it is; `None`: a path made of the question.
    pub scenario: Option<Document>,
    /// The number of threads for simulations.
    pub jobs: usize,
    /// The folder in which finished simulations are kept, and from which they are reused; `None`: none is kept.
    pub folder: Option<PathBuf>,
    /// The seed of the random streams.
    pub seed: u64,
}

impl Study {
    /// Creates the study of a scenario's queue at its tight link.
    ///
    /// # Errors
    /// The faults of the scenario, or that it has no greedy flow.
    pub fn of_scenario(document: &Document, folder: PathBuf) -> Result<Self, Faults> {
        let task = Task::at(&Arc::new(document.clone()), Vec::new())?;
        let question = Question::of_scenario(&task.resolved)
            .map_err(|complaint| Faults::from(document.complain(complaint)))?;
        Ok(Self { scenario: Some(document.clone()), seed: task.resolved.seed, ..Self::of(question, folder) })
    }

    /// Creates the study of a question, with a simulation for each core.
    #[must_use]
    pub fn of(question: Question, folder: PathBuf) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Self { question, scenario: None, jobs, folder: Some(folder), seed: 1 }
    }

    /// Checks, before anything runs, that `engine` can be asked.
    ///
    /// # Errors
    /// The option that does not fit.
    pub fn check(&self, engine: Engine) -> Result<(), Complaint> {
        self.question.check()?;
        if self.question.cell.is_some() && engine != Engine::Sim {
            let (asked, why) = match engine {
                Engine::Live => ("--engine live", "the kernel's path here is a wire, without air"),
                _ => (
                    "--quick, --engine model",
                    "no theory covers the effects of a limit among other stations",
                ),
            };
            return Err(Complaint::new(asked, format!("a wireless cell: {why}"))
                .accepted("--engine sim")
                .help(format!("leave out {asked}: simulation answers")));
        }
        if self.question.changing.is_some() && engine == Engine::Model {
            let asked = "--quick, --engine model";
            let found = "a link that changes over time: theory describes links that stay as they are";
            return Err(Complaint::new(asked, found)
                .accepted("--engine sim")
                .help(format!("leave out {asked}: simulation answers")));
        }
        if engine == Engine::Live && !self.question.is_for_the_kernel() {
            return Err(Complaint::new(
                "--control",
                format!("{}: the kernel does not have it", self.question.mix),
            )
            .accepted(crate::run::resolve::KERNEL_CONTROLS.join(", "))
            .help("leave out --engine live"));
        }
        Ok(())
    }

    /// Returns the answer, with every number simulated.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished simulations are kept.
    pub fn simulate(&self, watch: &mut dyn Watch) -> Result<Sizing, ExperimentError> {
        let watched = SharedWatch::new(watch);
        self.simulated(&watched).map_err(|error| self.stopped(&watched, error))
    }

    fn simulated(&self, watched: &SharedWatch<'_>) -> Result<Sizing, ExperimentError> {
        watched.begin(Work::Points);
        let question = &self.question;
        let runner = Runner { jobs: self.jobs, folder: self.folder.as_deref(), watched };
        match (&self.scenario, &question.cell) {
            (Some(document), Some(_)) => cell::simulated(question, document, self.seed, runner),
            (Some(document), None) => {
                let path = ScenarioPath::of(document, question)?;
                let listed = "flows, hosts, traffic and queues on the way back are the scenario's own";
                self.over(vec![path], runner, &[listed])
            }
            (None, _) if question.changing.is_some() => {
                let listed: Vec<&str> = [wire::HOSTS].into_iter().chain(l4s::age(question)).collect();
                self.over(changing::cases(question), runner, &listed)
            }
            (None, _) => {
                let listed = ["all packets are full; acknowledgements meet no queue", wire::HOSTS];
                let listed: Vec<&str> = listed.into_iter().chain(l4s::age(question)).collect();
                self.over(twin::cases(question, twin::LIMITS), runner, &listed)
            }
        }
    }

    /// Answers by simulations of `paths`, under the assumptions `listed`.
    fn over<W: TestPath>(
        &self,
        paths: Vec<W>,
        runner: Runner<'_, '_>,
        listed: &[&str],
    ) -> Result<Sizing, ExperimentError> {
        let question = &self.question;
        let mut trials = Trials::new(question, TestPaths { question, paths, seed: self.seed }, runner);
        let chosen = trials.choose()?;
        let curve = trials.curve();
        let at = |packets| trials.found(packets).expect("a limit that was simulated").point;
        let alternatives = alternatives::alternatives(&trials, &chosen)?;
        let (least, recommended) = (at(chosen.least), at(chosen.recommended));
        let mut remarks = doubts(question, &chosen, &least, &recommended);
        let best =
            curve.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization)).map(|point| point.packets);
        let best = best.filter(|_| chosen.none_meets()).and_then(|packets| trials.found(packets));
        remarks.extend(best.and_then(|found| found.second_queue.as_ref()).map(ToString::to_string));
        remarks.extend(alternatives.remarks);
        let mut assumptions = assumptions(question);
        assumptions.extend(listed.iter().map(ToString::to_string));
        if question.changing.is_some() {
            assumptions.extend(changing::assumptions(question));
        }
        assumptions.extend(trials.testbed.paths.iter().filter_map(W::assumption));
        assumptions.push(alternatives.about_call);
        assumptions.dedup();
        assumptions.extend(choice::clumps(question, chosen.recommended));
        let also_simulated = lines::AlsoSimulated {
            in_bytes: alternatives.in_bytes,
            room: Some(alternatives::safe_room(question, &chosen)),
            policies: alternatives.pareto.clone(),
        };
        let changing = question.changing.is_some();
        Ok(Sizing {
            engine: Engine::Sim,
            preferred: changing
                .then(|| changing::preferred(question, &recommended, &alternatives.pareto))
                .flatten(),
            knee: knee(&curve),
            trade_off: chosen.conflict.as_ref().map(|conflict| trade_off(question, conflict, &curve, at)),
            advice: alternatives.advice,
            sensitivity: alternatives.sensitivity,
            pareto: alternatives.pareto,
            remarks,
            lines: lines::lines(question, &recommended, &also_simulated),
            assumptions,
            curve: curve.clone(),
            ..sizing(question, &chosen, at)
        })
    }

    /// Measures the effect of the recommended limit of `sizing` on the kernel, and adds it as its proof.
    ///
    /// # Errors
    /// [`ExperimentError`], for example if the machine lacks something that runs of the kernel need.
    pub fn prove(&self, sizing: &mut Sizing, watch: &mut dyn Watch) -> Result<(), ExperimentError> {
        let watched = SharedWatch::new(watch);
        let limit = sizing.recommended.packets;
        let proved = self.proved(limit, &watched).map_err(|error| self.stopped(&watched, error))?;
        sizing.proof = Some(proved);
        Ok(())
    }

    fn proved(&self, limit: u64, watched: &SharedWatch<'_>) -> Result<Proof, ExperimentError> {
        crate::run::engine::prepare_kernel()?;
        watched.begin(Work::Runs);
        match &self.scenario {
            Some(document) => self.proved_on(&[ScenarioPath::of(document, &self.question)?], limit, watched),
            None if self.question.changing.is_some() => {
                self.proved_on(&changing::cases(&self.question)[..1], limit, watched)
            }
            None => {
                // The kernel runs the path itself if the emulator carries it; otherwise the twin.
                let least = |packets| {
                    let effort = Effort { packets, ..twin::ROWS };
                    twin::cases(&self.question, effort).swap_remove(0)
                };
                self.proved_on(&[least(f64::INFINITY), least(twin::LIMITS.packets)], limit, watched)
            }
        }
    }

    /// Runs the kernel on the first of `paths` that suits it.
    fn proved_on<W: TestPath>(
        &self,
        paths: &[W],
        limit: u64,
        watched: &SharedWatch<'_>,
    ) -> Result<Proof, ExperimentError> {
        let tasks = paths.iter().map(|path| path.live_task(limit, &self.question.queue, self.seed));
        let tasks = tasks.collect::<Result<Vec<Task>, Faults>>()?;
        let suits = |task: &Task| check(std::slice::from_ref(task), &[Engine::Live]).is_ok();
        let place = tasks.iter().position(suits).unwrap_or(tasks.len() - 1);
        let (case, task) = (&paths[place], &tasks[place]);
        check(std::slice::from_ref(task), &[Engine::Live])?;
        watched.need(1);
        let record = record(task, Engine::Live, watched)?;
        watched.finish(1);
        let point = case.point(limit, &record.summary);
        let mut notes: Vec<String> = case.assumption().into_iter().collect();
        notes.extend(record.notes.iter().map(ToString::to_string));
        let point = point.judged(self.question.target.get());
        let busy = record.notes.iter().any(|note| matches!(note, Note::Busy(_)));
        let held = point.perhaps() >= self.question.target.get();
        Ok(Proof { held: (held || !busy).then_some(held), point, notes })
    }

    fn stopped(&self, watched: &SharedWatch<'_>, error: ExperimentError) -> ExperimentError {
        if !watched.is_stopped() {
            return error;
        }
        let (done, all) = watched.steps();
        ExperimentError::Stopped { done, all, folder: self.folder.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    #[test]
    fn a_limit_whose_own_simulation_falls_short_or_does_not_decide_is_said_so() {
        let question = Question::of(Rate::from_bps(10_000_000));
        let of = |packets, utilization| {
            let point = Point::at(&question, packets);
            Point { utilization, utilization_ci95: Some(0.02), ..point }.judged(0.99)
        };
        let chosen = Choice { least: 10, recommended: 20, most: 20, conflict: None };
        let listed = doubts(&question, &chosen, &of(10, 0.98), &of(20, 0.9812));
        assert!(
            listed[0].contains("98.12 ± 2.00 %") && listed[0].contains("less than the 99%"),
            "{listed:?}"
        );
        assert!(
            listed[1].contains("the least limit is undecided: its interval of 98.00 ± 2.00 %"),
            "{listed:?}"
        );
        let listed = doubts(&question, &chosen, &of(10, 0.995), &of(20, 0.995));
        assert!(listed[0].starts_with("the recommended limit is undecided"), "{listed:?}");
        let sure = |packets| Point { utilization_ci95: Some(0.001), ..of(packets, 0.995) }.judged(0.99);
        assert!(doubts(&question, &chosen, &sure(10), &sure(20)).is_empty());
    }
}
