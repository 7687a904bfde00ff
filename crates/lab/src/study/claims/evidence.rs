//! [`Evidence`]: the runs that judge claims, simulated on all cores and kept, so that judging can be
//! resumed.
//!
//! A simulation whose numbers depend on its seed is run with several seeds. Claims may say which runs are valid: some
//! papers repeat a series of measurements until its ends agree. A run that is not valid is then replaced by one with
//! the next seed.

use super::check::check;
use super::{Claim, judged_by};
use crate::run::engine;
use crate::run::record::{Engine, Record, Summary};
use crate::study::curves::{CurvesError, draw, engines, figure};
use crate::study::repeat::{median, repeats, seeded};
use crate::study::sweep::{Runner, sweep};
use crate::study::task::{Answer, Task, tasks};
use scenario::{Document, Faults, FigureNumbers};
use units::Span;

/// The most runs that are made for each valid run that is wanted.
const MOST_TRIES: u64 = 10;

/// The settings by which claims are judged.
#[derive(Clone, Copy)]
pub struct ClaimSettings<'a, 'w> {
    /// The engines asked.
    pub asked: &'a [Engine],
    /// Those of the asked engines that are run here.
    pub run: &'a [Engine],
    /// The number of seeds of a simulation whose numbers depend on its seed.
    pub seeds: u64,
    /// The number of runs of the kernel at each case; `None`: as many as the figure states, or one.
    pub live: Option<u64>,
    /// The runner that makes the runs.
    pub runner: Runner<'a, 'w>,
}

/// The runs by which claims are judged.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Each case that a claim is about, with the runs of each engine.
    pub answers: Vec<Answer>,
    /// The number of runs tried and of those that were valid, where only valid runs count.
    pub tried: Option<(u64, u64)>,
}

/// Returns the number of the kernel's runs, one after the other, by which `claims` about `document` are judged, and the
/// time that they take.
///
/// # Errors
/// The faults of the scenario.
pub fn kernel_runs(
    document: &Document,
    claims: &[Claim],
    asked: &[Engine],
    repeat: Option<u64>,
) -> Result<(u64, Span), Faults> {
    let stated = document.figure()?.map_or(1, |spec| spec.repeat);
    let asks: Vec<&Claim> =
        claims.iter().filter(|claim| claim.judged(asked).contains(&Engine::Live)).collect();
    let (mut runs, mut time) = (0, Span::ZERO);
    for task in tasks(document)? {
        let resolved = &task.resolved;
        if asks.iter().any(|claim| claim.concerns(&task)) && engine::check(Engine::Live, resolved).is_ok() {
            let here = repeat.unwrap_or(stated);
            runs += here;
            time += resolved.end.unwrap_or(Span::ZERO) * here;
        }
    }
    Ok((runs, time))
}

/// Makes the runs by which `claims` about `document` are judged.
///
/// # Errors
/// [`CurvesError`]; finished runs are kept.
pub fn evidence(
    document: &Document,
    claims: &[Claim],
    judging: &ClaimSettings<'_, '_>,
) -> Result<Evidence, CurvesError> {
    let asked = judged_by(claims, judging.asked);
    let tasks = tasks(document)?;
    let spec = figure(document)?;
    if let Some(spec) = spec.as_ref().filter(|spec| matches!(spec.y, FigureNumbers::Smallest(_))) {
        if engines(spec).iter().any(|engine| !asked.contains(engine)) {
            return Ok(Evidence::default());
        }
        let (_, answers) = draw(spec, &tasks, &judging.runner)?;
        return Ok(Evidence { answers, tried: None });
    }
    let live = judging.live.unwrap_or_else(|| spec.map_or(1, |spec| spec.repeat));
    let mut gathering = Gathering {
        judging,
        valid: claims.iter().filter(|claim| claim.validity).cloned().collect(),
        answers: tasks.into_iter().map(|task| Answer::of(task, Vec::new())).collect(),
        tried: None,
    };
    for engine in asked.into_iter().filter(|engine| judging.run.contains(engine)) {
        let concerned: Vec<Claim> =
            claims.iter().filter(|claim| claim.judged(judging.asked).contains(&engine)).cloned().collect();
        let mut places = Vec::new();
        for (place, answer) in gathering.answers.iter_mut().enumerate() {
            if concerned.iter().any(|claim| claim.concerns(&answer.task)) {
                match engine::check(engine, &answer.task.resolved) {
                    Ok(()) => places.push(place),
                    Err(misfit) => answer.absent.push(misfit.to_string()),
                }
            }
        }
        match engine {
            Engine::Model => gathering.run(engine, &places, 0..1)?,
            Engine::Live => gathering.run(engine, &places, 0..live)?,
            Engine::Sim => gathering.simulate(places)?,
        }
    }
    let Gathering { mut answers, tried, .. } = gathering;
    for answer in &mut answers {
        let all = std::mem::take(&mut answer.runs);
        for engine in Engine::ALL {
            let of: Vec<Record> =
                all.iter().filter(|record| record.summary.engine == engine).cloned().collect();
            if of.len() > 1 {
                answer.runs.extend(of.clone());
            }
            answer.records.extend(median(of));
        }
    }
    answers.retain(|answer| !answer.records.is_empty() || !answer.absent.is_empty());
    Ok(Evidence { answers, tried })
}

impl Evidence {
    /// Returns the task with the seed of the first run that counts.
    ///
    /// # Errors
    /// If the scenario cannot have that seed.
    pub fn first(&self, task: Task) -> Result<Task, Faults> {
        let runs = self.of(&task).map(|answer| answer.runs(Engine::Sim)).unwrap_or_default();
        match runs.first().map(|record| record.summary.seed) {
            Some(seed) if seed != task.resolved.seed => seeded(&task, u128::from(seed)),
            _ => Ok(task),
        }
    }

    /// Returns the answers with all simulated runs that count in place of their own simulated run.
    #[must_use]
    pub fn with_all_runs(&self, answers: &[Answer]) -> Vec<Answer> {
        let merged = |answer: &Answer| {
            let mut merged = answer.clone();
            let Some(own) = self.of(&answer.task) else { return merged };
            merged.task = own.task.clone();
            let is_other = |record: &Record| record.summary.engine != Engine::Sim;
            merged.records.retain(is_other);
            merged.runs.retain(is_other);
            merged.records.extend(own.record(Engine::Sim).cloned());
            merged.runs.extend(own.runs(Engine::Sim).into_iter().cloned());
            merged
        };
        answers.iter().map(merged).collect()
    }

    /// Finds the answer to this task, whatever its seed.
    fn of(&self, task: &Task) -> Option<&Answer> {
        let bare =
            |task: &Task| task.point.iter().filter(|(key, _)| key != "seed").cloned().collect::<Vec<_>>();
        let wanted = bare(task);
        self.answers.iter().find(|answer| bare(&answer.task) == wanted)
    }
}

struct Gathering<'a, 'w> {
    judging: &'a ClaimSettings<'a, 'w>,
    /// The claims that must hold in a run for it to count.
    valid: Vec<Claim>,
    /// The answers, with all runs of all engines.
    answers: Vec<Answer>,
    tried: Option<(u64, u64)>,
}

impl Gathering<'_, '_> {
    /// Runs the tasks of the answers at `places` on `engine`, with `seeds` counted from their own.
    fn run(
        &mut self,
        engine: Engine,
        places: &[usize],
        seeds: std::ops::Range<u64>,
    ) -> Result<(), CurvesError> {
        let (mut all, mut of) = (Vec::new(), Vec::new());
        // Repetitions go round the cases, so that a short disturbance of the machine spoils one run of many cases, not
        // every run of one.
        let mut each = Vec::new();
        for place in places {
            each.push(repeats(&self.answers[*place].task, seeds.end)?);
        }
        for seed in seeds {
            for (place, tasks) in places.iter().zip(&each) {
                all.push(tasks[seed as usize].clone());
                of.push(*place);
            }
        }
        let runner = self.judging.runner;
        runner.watched.need(all.len());
        let jobs = if engine == Engine::Live { 1 } else { runner.jobs };
        let results = sweep(&all, engine, &Runner { jobs, ..runner })?;
        for (place, result) in of.into_iter().zip(results) {
            self.answers[place].runs.push(result.into());
        }
        Ok(())
    }

    /// Simulates the tasks of the answers at `places`. Tasks whose numbers do not depend on the seed are run once. The
    /// others are run until they have the wanted number of valid runs.
    fn simulate(&mut self, mut places: Vec<usize>) -> Result<(), CurvesError> {
        let wanted = self.judging.seeds.max(1);
        if wanted == 1 && self.valid.is_empty() {
            return self.run(Engine::Sim, &places, 0..1);
        }
        self.run(Engine::Sim, &places, 0..2)?;
        places.retain(|place| {
            let runs = &mut self.answers[*place].runs;
            let mut simulated = (0..runs.len()).filter(|at| runs[*at].summary.engine == Engine::Sim);
            let (first, second) = (simulated.next(), simulated.next());
            let same =
                first.zip(second).is_some_and(|(one, two)| is_same(&runs[one].summary, &runs[two].summary));
            if same {
                runs.truncate(runs.len() - 1);
            }
            !same
        });
        let mut next = 2;
        if self.valid.is_empty() {
            return if next < wanted { self.run(Engine::Sim, &places, next..wanted) } else { Ok(()) };
        }
        let (mut tried, mut counted) = (0, 0);
        while !places.is_empty() {
            places.retain(|place| {
                let (valid, all) = keep_valid(&mut self.answers[*place], &self.valid);
                let enough = valid >= wanted as usize || next >= wanted * MOST_TRIES;
                if enough {
                    tried += next;
                    counted += valid.min(wanted as usize) as u64;
                }
                debug_assert!(valid <= all);
                !enough
            });
            let until = (next + wanted).min(wanted * MOST_TRIES);
            if !places.is_empty() {
                self.run(Engine::Sim, &places, next..until)?;
            }
            next = until;
        }
        for answer in &mut self.answers {
            let mut left = wanted;
            answer.runs.retain(|record| {
                let counts = record.summary.engine != Engine::Sim || left > 0;
                left = left.saturating_sub(u64::from(record.summary.engine == Engine::Sim));
                counts
            });
        }
        self.tried = Some((tried, counted));
        Ok(())
    }
}

/// Keeps the simulated runs for which the claims hold. Returns their number, and the number of all runs.
fn keep_valid(answer: &mut Answer, valid: &[Claim]) -> (usize, usize) {
    let all = answer.runs.len();
    let alone = |record: &Record| Answer::of(answer.task.clone(), vec![record.clone()]);
    let holds =
        |record: &Record| check(valid, &[alone(record)], &[Engine::Sim]).iter().all(|verdict| verdict.held);
    let kept: Vec<bool> =
        answer.runs.iter().map(|record| record.summary.engine != Engine::Sim || holds(record)).collect();
    let mut kept_of = kept.into_iter();
    answer.runs.retain(|_| kept_of.next().unwrap_or(false));
    let simulated = answer.runs.iter().filter(|record| record.summary.engine == Engine::Sim).count();
    (simulated, all)
}

/// Returns true if two runs differ only in their seeds and their costs.
fn is_same(one: &Summary, other: &Summary) -> bool {
    let bare = |summary: &Summary| {
        let mut bare = summary.clone();
        (bare.seed, bare.wall_s, bare.peak_rss_bytes) = (0, 0.0, 0);
        bare.scenario_hash.clear();
        serde_json::to_string(&bare).unwrap_or_default()
    };
    bare(one) == bare(other)
}
