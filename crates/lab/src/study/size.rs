//! Which buffer? An operator's question, answered by theory ([`from_theory`]) and checked by simulation, and by the
//! kernel if asked ([`Study`]).
//!
//! Reading order: `question.rs` the question and its defaults, `answer.rs` the answer, `hosts.rs` the effects of
//! hosts that theory does not know. `theory.rs` has rules and their expectations, `choice.rs` the way from a curve to
//! limits. `twin.rs` simulates a smaller path in place of one that is too large, and `bench.rs` has the simulations
//! of limits; `path.rs` simulates a scenario as it is. `around.rs` has the answer under other circumstances and
//! policies, `settling.rs` what a policy needs time for, `elsewhere.rs` a full queue elsewhere on the path. `cell.rs` is
//! the same for an access point's queue, `lines.rs` has lines to paste.

mod answer;
mod around;
mod bench;
mod cell;
mod choice;
mod elsewhere;
mod hosts;
mod lines;
mod path;
mod question;
mod settling;
mod theory;
mod twin;

pub use answer::{Asked, Delay, Line, Point, Policy, Proof, Rule, Sizing, TradeOff, Variant};
pub use choice::MARGIN;
pub use hosts::Hosts;
pub use question::{CONTROL, Ends, InCell, Mix, PACKET, PLACES, Question, RTT, TARGET};

use super::experiment::ExperimentError;
use super::repeat::record;
use super::sweep::Runner;
use super::task::{Task, check};
use super::watch::{Watch, Watched, Work};
use crate::run::record::{Engine, Note};
use bench::{Bench, Case, spaced};
use choice::{Choice, choice, knee, trade_off};
use path::ScenarioPath;
use scenario::{Document, Faults};
use std::path::PathBuf;
use std::sync::Arc;
use units::Complaint;

/// Smaller queues lose bursts, which theory does not know: packets.
const SMALLEST: f64 = 4.0;
/// Limits of the first look, evenly spaced on a logarithmic axis.
const LOOKS: u32 = 6;
/// The largest of these over the smallest.
const SPAN: f64 = 64.0;
/// Limits between the last that misses the target and the first that meets it.
const BETWEEN: u32 = 3;
/// The first look reaches up to so many bandwidth-delay products over the square root of the flows, or to `LARGEST`.
const ROOTS: f64 = 6.0;
/// Bandwidth-delay products up to which the first look reaches, and up to which any limit is tried, what hosts hold
/// included.
const LARGEST: (f64, f64) = (1.2, 2.5);
/// A choice among simulated limits may ask for others. They are simulated, and it is chosen again so often at most.
const CHOICES: usize = 4;

/// The answer of theory alone, in microseconds.
#[must_use]
pub fn from_theory(question: &Question) -> Sizing {
    // Fine enough that rounding is not seen.
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

/// What every answer has, with `at` for what a limit does.
fn sizing(question: &Question, chosen: &Choice, at: impl Fn(u64) -> Point) -> Sizing {
    let recommended = at(chosen.recommended);
    Sizing {
        asked: Asked::of(question),
        engine: Engine::default(),
        best_bps: None,
        least: at(chosen.least),
        recommended,
        most: at(chosen.most),
        rules: theory::rules(question),
        curve: Vec::new(),
        knee: None,
        sensitivity: Vec::new(),
        pareto: Vec::new(),
        trade_off: None,
        remarks: Vec::new(),
        lines: lines::lines(question, &recommended, &lines::Beside::default()),
        proof: None,
        assumptions: Vec::new(),
    }
}

/// Said of limits whose own simulation does not surely have the target.
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

/// What holds of every answer.
fn assumptions(question: &Question) -> Vec<String> {
    let mut told = vec![
        "every flow always has data to send, and only its congestion control limits its window".into(),
        "the limit is one queue's: a box with several has as many times that".into(),
    ];
    if question.is_mixed() {
        told.push(format!(
            "packets come in several lengths: {} in the mean, where full ones have {}; kB, ms and BDP of a limit are of mean packets",
            question.mean_packet(),
            question.packet
        ));
    }
    if !question.rtt.is_one() {
        let alone = if question.flows.least == 1 { "; a flow alone has the longest" } else { "" };
        told.push(format!("base RTTs are spread evenly over {}{alone}", question.rtt));
    }
    if !question.flows.is_one() {
        told.push(format!(
            "each number is that of {} or of {} flows, whichever is worse",
            question.flows.least, question.flows.most
        ));
    }
    told
}

/// Where and how the answer is simulated.
#[derive(Clone, Debug)]
pub struct Study {
    /// What is asked.
    pub question: Question,
    /// The scenario that it is asked of, which is simulated as it is; `None`: a path made of the question.
    pub scenario: Option<Document>,
    /// Threads of simulations.
    pub jobs: usize,
    /// Where finished simulations are kept, and reused from; `None`: nowhere.
    pub folder: Option<PathBuf>,
    /// Seed of the random streams.
    pub seed: u64,
}

impl Study {
    /// Of a scenario: its tight link's queue. `adjusted` may change what is wished.
    ///
    /// # Errors
    /// What is wrong with the scenario, or that nothing in it is greedy.
    pub fn of_scenario(document: &Document, folder: PathBuf) -> Result<Self, Faults> {
        let task = Task::at(&Arc::new(document.clone()), Vec::new())?;
        let question = Question::of_scenario(&task.resolved)
            .map_err(|complaint| Faults::from(document.complain(complaint)))?;
        Ok(Self { scenario: Some(document.clone()), seed: task.resolved.seed, ..Self::of(question, folder) })
    }

    /// Of a question, with a simulation for each core.
    #[must_use]
    pub fn of(question: Question, folder: PathBuf) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Self { question, scenario: None, jobs, folder: Some(folder), seed: 1 }
    }

    /// Whether `engine` can be asked, before anything runs.
    ///
    /// # Errors
    /// The option that does not fit.
    pub fn check(&self, engine: Engine) -> Result<(), Complaint> {
        self.question.check()?;
        if self.question.cell.is_some() && engine != Engine::Sim {
            let (asked, why) = match engine {
                Engine::Live => ("--engine live", "the kernel's path here is a wire, without air"),
                _ => ("--quick, --engine model", "no theory says what a limit does beside other stations"),
            };
            return Err(Complaint::new(asked, format!("a wireless cell: {why}"))
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

    /// The answer, with every number simulated.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished simulations are kept.
    pub fn simulate(&self, watch: &mut dyn Watch) -> Result<Sizing, ExperimentError> {
        let watched = Watched::new(watch);
        self.simulated(&watched).map_err(|error| self.stopped(&watched, error))
    }

    fn simulated(&self, watched: &Watched<'_>) -> Result<Sizing, ExperimentError> {
        watched.begin(Work::Points);
        let question = &self.question;
        let runner = Runner { jobs: self.jobs, folder: self.folder.as_deref(), watched };
        if let (Some(document), Some(_)) = (&self.scenario, &question.cell) {
            return cell::simulated(question, document, self.seed, runner);
        }
        let mut bench = Bench::new(question, self.cases(twin::PACKETS)?, self.seed, runner);
        bench.add(&self.first_look())?;
        self.reach(&mut bench)?;
        let between = bench.between(BETWEEN);
        bench.add(&between)?;
        let mut chosen = choice(question, bench.curve());
        for _ in 0..CHOICES {
            let asked = [chosen.least, chosen.recommended, chosen.most].into_iter();
            let asked: Vec<u64> =
                asked.chain(chosen.conflict.iter().flat_map(choice::Conflict::limits)).collect();
            if !bench.add(&asked)? {
                break;
            }
            chosen = choice(question, bench.curve());
            // What was asked for surely misses the target, although smaller limits have it: larger ones may.
            if chosen.none_meets() {
                self.reach(&mut bench)?;
                let between = bench.between(BETWEEN);
                bench.add(&between)?;
                chosen = choice(question, bench.curve());
            }
        }
        let (curve, at) = (bench.curve().to_vec(), |packets| bench.at(packets));
        let around = around::around(question, &bench, &chosen)?;
        let (least, recommended) = (at(chosen.least), at(chosen.recommended));
        let mut remarks = doubts(question, &chosen, &least, &recommended);
        let best =
            curve.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization)).map(|point| point.packets);
        let full = best.filter(|_| chosen.none_meets()).and_then(|packets| bench.elsewhere(packets));
        remarks.extend(full.map(ToString::to_string));
        remarks.extend(around.remarks);
        let mut assumptions = assumptions(question);
        assumptions.push(match &self.scenario {
            Some(_) => "flows, hosts, traffic and queues on the way back are the scenario's own".into(),
            None => "all packets are full; acknowledgements meet no queue".into(),
        });
        if self.scenario.is_none() {
            assumptions.push(bench::HOSTS.into());
        }
        assumptions.extend(bench.assumptions());
        assumptions.extend(choice::clumps(question, chosen.recommended));
        let beside = lines::Beside {
            in_bytes: around.in_bytes,
            room: Some(around::safe_room(question, &chosen)),
            policies: around.pareto.clone(),
        };
        Ok(Sizing {
            engine: Engine::Sim,
            knee: knee(&curve),
            trade_off: chosen.conflict.as_ref().map(|conflict| trade_off(question, conflict, &curve, at)),
            sensitivity: around.sensitivity,
            pareto: around.pareto,
            remarks,
            lines: lines::lines(question, &recommended, &beside),
            assumptions,
            curve: curve.clone(),
            ..sizing(question, &chosen, at)
        })
    }

    /// What is simulated: the least and the greatest number of flows.
    fn cases(&self, packets: f64) -> Result<Vec<Case>, Faults> {
        match &self.scenario {
            Some(document) => Ok(vec![Case::Scenario(ScenarioPath::of(document, &self.question)?)]),
            None => Ok(twin::cases(&self.question, packets)),
        }
    }

    fn first_look(&self) -> Vec<u64> {
        let (bdp, flows) = (self.question.bdp_limit(), self.question.flows.least as f64);
        let high = (bdp * LARGEST.0).min(bdp * ROOTS / flows.sqrt()).max(f64::from(LOOKS));
        let low = (high / SPAN).max(1.0);
        (0..LOOKS).map(|look| spaced(low, high, f64::from(look) / f64::from(LOOKS - 1))).collect()
    }

    /// Looks at larger limits while none meets the target, and at smaller ones if all do.
    fn reach(&self, bench: &mut Bench<'_, '_>) -> Result<(), ExperimentError> {
        let step = SPAN.powf(1.0 / f64::from(LOOKS - 1));
        let most = (self.question.pipe_limit() * LARGEST.1).max(f64::from(LOOKS) * step) as u64;
        let target = self.question.target.get();
        while let Some(last) =
            bench.curve().last().filter(|last| last.surely() < target && last.packets < most)
        {
            let next = |steps: i32| ((last.packets as f64 * step.powi(steps)) as u64).min(most);
            let next = [next(1), next(2)];
            bench.add(&next)?;
        }
        if let Some(first) =
            bench.curve().first().filter(|first| first.perhaps() >= target && first.packets > 2)
        {
            let next = |steps: i32| ((first.packets as f64 * step.powi(steps)) as u64).max(1);
            let next = [next(-1), next(-2)];
            bench.add(&next)?;
        }
        Ok(())
    }

    /// Asks the kernel what the recommended limit of `sizing` does, and adds it as its proof.
    ///
    /// # Errors
    /// [`ExperimentError`], as where the machine lacks what runs of the kernel need.
    pub fn prove(&self, sizing: &mut Sizing, watch: &mut dyn Watch) -> Result<(), ExperimentError> {
        let watched = Watched::new(watch);
        let limit = sizing.recommended.packets;
        let proved = self.proved(limit, &watched).map_err(|error| self.stopped(&watched, error))?;
        sizing.proof = Some(proved);
        Ok(())
    }

    fn proved(&self, limit: u64, watched: &Watched<'_>) -> Result<Proof, ExperimentError> {
        crate::run::engine::prepare_kernel()?;
        watched.begin(Work::Runs);
        // The path itself, if the emulator carries it; otherwise the twin.
        let whole = self.cases(f64::INFINITY)?.swap_remove(0);
        let task = whole.live_task(limit, &self.question.queue, self.seed)?;
        let (case, task) = match check(std::slice::from_ref(&task), &[Engine::Live]) {
            Ok(()) => (whole, task),
            Err(_) => {
                let twin = self.cases(twin::PACKETS)?.swap_remove(0);
                let task = twin.live_task(limit, &self.question.queue, self.seed)?;
                (twin, task)
            }
        };
        check(std::slice::from_ref(&task), &[Engine::Live])?;
        watched.need(1);
        let record = record(&task, Engine::Live, watched)?;
        watched.finish(1);
        let point = case.point(limit, &record.summary);
        let mut notes: Vec<String> = case.assumption().into_iter().collect();
        notes.extend(record.notes.iter().map(ToString::to_string));
        let point = point.judged(self.question.target.get());
        let busy = record.notes.iter().any(|note| matches!(note, Note::Busy(_)));
        let held = point.perhaps() >= self.question.target.get();
        Ok(Proof { held: (held || !busy).then_some(held), point, notes })
    }

    fn stopped(&self, watched: &Watched<'_>, error: ExperimentError) -> ExperimentError {
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
        let told = doubts(&question, &chosen, &of(10, 0.98), &of(20, 0.9812));
        assert!(told[0].contains("98.12 ± 2.00 %") && told[0].contains("less than the 99%"), "{told:?}");
        assert!(told[1].contains("the least limit is undecided: its interval of 98.00 ± 2.00 %"), "{told:?}");
        let told = doubts(&question, &chosen, &of(10, 0.995), &of(20, 0.995));
        assert!(told[0].starts_with("the recommended limit is undecided"), "{told:?}");
        let sure = |packets| Point { utilization_ci95: Some(0.001), ..of(packets, 0.995) }.judged(0.99);
        assert!(doubts(&question, &chosen, &sure(10), &sure(20)).is_empty());
    }
}
