//! An experiment: a scenario, the engines that are asked, how often, and where results are kept.
//!
//! Each command of `tightlink` that runs scenarios is one method here, and so is what other programs ask for. None
//! prints anything: a [`Watch`] is told how far the work is, and may stop it.
//!
//! `experiment/kernel.rs` says how long the kernel takes, and `experiment/error.rs` how an experiment can end badly.
//! `experiment/headline.rs` writes the headline of a figure, and `experiment/reference.rs` reads the reference data
//! that is drawn with it.

mod answers;
mod error;
mod headline;
mod kernel;
mod reference;

pub use error::ExperimentError;
pub use kernel::{UNASKED, shortened};

use super::claims::{Claim, Evidence, Judging, Verdict, check, confirmed, evidence, judged_by, kernel_runs};
use super::curves::{self, Curves, draw};
use super::ratio::{RatioGroup, compare_with_baseline};
use super::search::{Target, search};
use super::store::Store;
use super::sweep::{PointResult, Runner, sweep};
use super::tabulate::tabulate;
use super::task::{self, Answer, Found, Task, hopeless, tasks};
use super::watch::{Watch, Watched, Work};
use crate::files::{replace, try_replace};
use crate::run::engine;
use crate::run::record::Engine;
use headline::headline;
use scenario::{Document, Drawn as Asked, Faults, FigureSpec};
use std::path::{Path, PathBuf};
use units::{Complaint, Span, is_visible};

/// More threads than any machine has cores would only cost memory.
const MOST_JOBS: usize = 1024;

/// A scenario and how it is run.
#[derive(Clone, Debug)]
pub struct Experiment {
    tasks: Vec<Task>,
    /// The engines that are asked, in the order reports show them.
    pub engines: Vec<Engine>,
    /// Answers under assumptions that the scenario breaks stand among the numbers of a comparison. Otherwise a line
    /// says why there is no answer.
    pub estimates: bool,
    /// Runs of each point, with seeds that follow each other; `None`: one, or as many as a figure states.
    pub repeat: Option<u64>,
    /// Seeds by which claims are judged, for a simulated case whose numbers depend on the seed.
    pub seeds: u64,
    /// Threads of simulations.
    pub jobs: usize,
    /// Where results are kept, and finished points are reused from; `None`: nowhere.
    pub folder: Option<PathBuf>,
    /// The page that will be written at the end. Whether it can be is tried before anything runs.
    pub page: Option<PathBuf>,
    /// The command line, for manifests and pages.
    pub command: String,
}

/// What a comparison found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compared {
    /// What the engines found at each point.
    pub answers: Vec<Answer>,
    /// What became of the claims.
    pub verdicts: Vec<Verdict>,
    /// The scenario's `[figure]`, if it has one.
    pub drawn: Option<Drawn>,
    /// Runs that were tried where only valid ones count, and how many were valid.
    pub tried: Option<(u64, u64)>,
}

/// A `[figure]`, drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its charts.
    pub curves: Curves,
    /// "42 points simulated, 420 million packets. 5 of 5 published claims held."
    pub headline: String,
}

/// What became of claims.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// One per claim that is a statement to judge.
    pub verdicts: Vec<Verdict>,
    /// Runs that were tried where only valid ones count, and how many were valid.
    pub tried: Option<(u64, u64)>,
    /// Cases that the kernel ran three times, as one run did not bear a claim out.
    pub confirmed: usize,
}

/// A finished sweep.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Swept {
    /// The points' results, in the order of the tasks.
    pub results: Vec<PointResult>,
    /// The tables of all points; none without a folder.
    pub files: Vec<PathBuf>,
    /// Quantiles of the ratios to the sweep's baseline; empty without one.
    pub ratios: Vec<RatioGroup>,
}

impl Experiment {
    /// Returns an experiment with the document's points, each run once by every engine, on all cores, with results in
    /// `folder`.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario or its sweep.
    pub fn new(document: &Document, folder: &Path) -> Result<Self, Faults> {
        Ok(Self::in_memory(document)?.folder(folder))
    }

    /// Returns the same experiment without a folder: it writes nothing.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario or its sweep.
    pub fn in_memory(document: &Document) -> Result<Self, Faults> {
        Ok(Self {
            tasks: tasks(document)?,
            engines: Engine::ALL.into(),
            estimates: true,
            repeat: None,
            seeds: 1,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            folder: None,
            page: None,
            command: String::new(),
        })
    }

    /// Asks `engines` only.
    #[must_use]
    pub fn engines(mut self, engines: impl IntoIterator<Item = Engine>) -> Self {
        self.engines = engines.into_iter().collect();
        self
    }

    /// Runs each point so many times, with seeds that follow each other.
    #[must_use]
    pub fn repeat(mut self, times: u64) -> Self {
        self.repeat = Some(times);
        self
    }

    /// Runs at most so many simulations at once.
    #[must_use]
    pub fn jobs(mut self, threads: usize) -> Self {
        self.jobs = threads;
        self
    }

    /// Keeps results in `folder`, and reuses finished points from there.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The points.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The scenario.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.tasks[0].document
    }

    /// The name of the experiment's page: `sobas-fig1-4.html` for a published result, `NAME.html` for the sweep of the
    /// scenario NAME.toml, `<hash>.html` otherwise.
    #[must_use]
    pub fn page_name(&self) -> String {
        let first = &self.tasks[0].resolved;
        let several = || (self.tasks.len() > 1).then(|| self.stem());
        let name = first.source.clone().or_else(several).unwrap_or_else(|| first.hash.clone());
        format!("{}.html", name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-"))
    }

    /// The scenario's file name, with what was set over the file: other settings have a table of their own.
    fn stem(&self) -> String {
        let stem = Path::new(self.document().name()).file_stem();
        let named = |letter: char| if letter == ' ' || !is_visible(letter) { '-' } else { letter };
        let stem: String =
            stem.map_or_else(|| "sweep".into(), |stem| stem.to_string_lossy().chars().map(named).collect());
        let set = self.document().overrides().iter().map(|(key, value)| format!("+{key}={value}"));
        let plain = |c: char| if c.is_ascii_alphanumeric() || "+=.-_%".contains(c) { c } else { '-' };
        let set: String = set.collect::<String>().chars().map(plain).collect();
        // File systems allow 255 bytes.
        if set.len() > 150 { format!("{stem}+{}", self.tasks[0].resolved.hash) } else { stem + &set }
    }

    /// Writes the page, if there is to be one.
    ///
    /// # Errors
    /// [`ExperimentError::Page`].
    pub fn write_page(&self, html: &str) -> Result<(), ExperimentError> {
        self.with_page(|page| replace(page, html.as_bytes()))
    }

    /// Runs every point on every engine, each of which must be able to answer, and keeps every run.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn run(&self, watch: &mut dyn Watch) -> Result<Vec<Answer>, ExperimentError> {
        for engine in &self.engines {
            task::can_answer(&self.tasks, &[*engine])?;
        }
        let store = self.ready(&self.engines)?;
        let answers = self.watched(watch, |watched| self.answers(&self.tasks, store.as_ref(), watched))?;
        match answers.iter().find_map(|answer| answer.absent.first()) {
            Some(reason) => Err(ExperimentError::Unanswered(reason.clone())),
            None => Ok(answers),
        }
    }

    /// Runs every point on every engine that can answer, and checks `claims` by these runs. A scenario with a
    /// `[figure]` is drawn from the runs that are made for it.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn compare(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<Compared, ExperimentError> {
        self.compared(claims, false, watch)
    }

    /// As [`Self::compare`], with `claims` checked by as many simulated runs as [`Self::check`] makes. Where only
    /// some runs are valid, the first of these is the one that is shown.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn figure(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<Compared, ExperimentError> {
        self.compared(claims, true, watch)
    }

    /// Makes the runs that `claims` are judged by, and judges them.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn check(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<Checked, ExperimentError> {
        self.ready(&judged_by(claims, &self.engines))?;
        self.watched(watch, |watched| {
            watched.begin(Work::Evidence);
            let judging = self.judging(&self.engines, watched);
            let evidence = evidence(self.document(), claims, &judging)?;
            let (evidence, confirmed) = confirmed(self.document(), claims, evidence, &judging)?;
            let verdicts = check(&statements(claims), &evidence.answers, &self.engines);
            Ok(Checked { verdicts, tried: evidence.tried, confirmed })
        })
    }

    /// How many runs of the kernel, one after the other, [`Self::check`] makes, and how long these take.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn kernel_runs(&self, claims: &[Claim]) -> Result<(u64, Span), Faults> {
        kernel_runs(self.document(), claims, &self.engines, self.repeat)
    }

    /// Runs every point on `engine` and writes tables of the results. Of each point the summary is kept, and reused.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished points are kept.
    pub fn sweep(&self, engine: Engine, watch: &mut dyn Watch) -> Result<Swept, ExperimentError> {
        task::check(&self.tasks, &[engine])?;
        self.ready(&[engine])?;
        self.watched(watch, |watched| {
            watched.begin(Work::Points);
            watched.need(self.tasks.len());
            // Runs of the kernel would disturb each other.
            let most = if engine == Engine::Live { 1 } else { self.tasks.len() };
            let runner = self.runner(watched);
            let mut results = sweep(&self.tasks, engine, &Runner { jobs: runner.jobs.min(most), ..runner })?;
            let ratios = compare_with_baseline(&self.document().sweep()?, &mut results);
            let files = match &self.folder {
                Some(folder) => tabulate(folder, &self.stem(), &results)
                    .map_err(|error| ExperimentError::table(folder, &error))?,
                None => Vec::new(),
            };
            Ok(Swept { results, files, ratios })
        })
    }

    /// The smallest value of the key `over` at which simulations meet `target`, or the largest, at every point.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn search(
        &self,
        over: &str,
        target: &Target,
        watch: &mut dyn Watch,
    ) -> Result<Vec<(Task, Found)>, ExperimentError> {
        task::check(&self.tasks, &[Engine::Sim])?;
        if self.document().sweep()?.keys().any(|key| key == over) {
            let complaint = Complaint::new(format!("--over {over}"), "[sweep] varies this key already");
            return Err(ExperimentError::Varied(
                complaint.help(format!(
                    "leave it to the search: --set {over}=VALUE, with the value to start from"
                )),
            ));
        }
        self.ready(&[Engine::Sim])?;
        self.watched(watch, |watched| {
            watched.begin(Work::Points);
            watched.need(self.tasks.len());
            let mut answers = Vec::new();
            for task in &self.tasks {
                answers.push((task.clone(), search(task, over, target, &self.runner(watched))?));
                watched.finish(1);
            }
            Ok(answers)
        })
    }

    fn compared(
        &self,
        claims: &[Claim],
        as_checked: bool,
        watch: &mut dyn Watch,
    ) -> Result<Compared, ExperimentError> {
        // Everything that can be wrong with the scenario, the machine or the folder is found before anything runs.
        let spec = curves::figure(self.document())?.map(|spec| self.narrowed(spec)).transpose()?;
        let engines = spec.as_ref().map_or_else(|| self.engines.clone(), curves::engines);
        let reference =
            spec.as_ref().map(|spec| reference::read(self.document(), spec)).transpose()?.flatten();
        if spec.is_some() {
            task::check(&self.tasks, &engines)?;
        } else if let Some(reasons) = hopeless(&self.tasks, &engines) {
            return Err(ExperimentError::Unanswerable(reasons));
        }
        let store = self.ready(&engines)?;
        self.watched(watch, |watched| {
            let evidence = if as_checked && !claims.is_empty() && self.engines.contains(&Engine::Sim) {
                watched.begin(Work::Evidence);
                evidence(self.document(), claims, &self.judging(&[Engine::Sim], watched))?
            } else {
                Evidence::default()
            };
            let claims = if as_checked { statements(claims) } else { claims.to_vec() };
            let verdicts = |answers: &[Answer]| check(&claims, &evidence.beside(answers), &engines);
            let tried = evidence.tried;
            let Some(spec) = spec else {
                let first = |task: &Task| evidence.first(task.clone());
                let tasks = self.tasks.iter().map(first).collect::<Result<Vec<Task>, _>>()?;
                let mut answers = self.answers(&tasks, store.as_ref(), watched)?;
                let verdicts = verdicts(&answers);
                if !self.estimates {
                    answers.iter_mut().for_each(Answer::set_estimates_aside);
                }
                return Ok(Compared { verdicts, answers, drawn: None, tried });
            };
            watched.begin(Work::Points);
            let (mut curves, answers) = draw(&spec, &self.tasks, &self.runner(watched))?;
            let beside = reference.map(|reference| reference.draw(&spec, &mut curves)).unwrap_or_default();
            let verdicts = verdicts(&answers);
            let headline = headline(&answers, &spec, &beside, &verdicts);
            Ok(Compared { answers, verdicts, drawn: Some(Drawn { curves, headline }), tried })
        })
    }

    /// The figure from those of its engines that are asked, repeated as often as asked.
    fn narrowed(&self, mut spec: FigureSpec) -> Result<FigureSpec, ExperimentError> {
        let drawn = curves::engines(&spec);
        spec.engines.retain(|engine| self.engines.contains(&Engine::from(*engine)));
        if spec.engines.is_empty() {
            let drawn: Vec<String> = drawn.iter().map(ToString::to_string).collect();
            let complaint = Complaint::new("", "--engines leaves out what this [figure] is drawn from");
            let accepted = format!("{} among the engines", drawn.join(", "));
            return Err(ExperimentError::NothingDrawn(complaint.accepted(accepted)));
        }
        // A search repeats by itself.
        if let (Asked::Numbers(_), Some(repeat)) = (&spec.y, self.repeat) {
            spec.repeat = repeat;
        }
        Ok(spec)
    }

    /// Tries what the runs will need: the folder, the page, and the rights for the kernel's runs. The rights are
    /// needed if the kernel is one of `engines` and is made for a point.
    fn ready(&self, engines: &[Engine]) -> Result<Option<Store>, ExperimentError> {
        let suits = |task: &Task| engine::check(Engine::Live, &task.resolved).is_ok();
        if engines.contains(&Engine::Live) && self.tasks.iter().any(suits) {
            engine::prepare_kernel()?;
        }
        let store = self.folder.as_deref().map(Store::open).transpose()?;
        self.with_page(try_replace)?;
        Ok(store)
    }

    fn with_page(&self, act: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), ExperimentError> {
        let Some(page) = &self.page else { return Ok(()) };
        act(page).map_err(|error| ExperimentError::page(page, &error))
    }

    /// Does `work`; says how far it came if the watch stopped it.
    fn watched<T>(
        &self,
        watch: &mut dyn Watch,
        work: impl FnOnce(&Watched<'_>) -> Result<T, ExperimentError>,
    ) -> Result<T, ExperimentError> {
        let watched = Watched::new(watch);
        work(&watched).map_err(|error| {
            if !watched.is_stopped() {
                return error;
            }
            let (done, all) = watched.steps();
            ExperimentError::Stopped { done, all, folder: self.folder.clone() }
        })
    }

    fn runner<'a, 'w>(&'a self, watched: &'a Watched<'w>) -> Runner<'a, 'w> {
        Runner { jobs: self.jobs.clamp(1, MOST_JOBS), folder: self.folder.as_deref(), watched }
    }

    /// How claims are judged, with the runs of the engines `run` made here.
    fn judging<'a, 'w>(&'a self, run: &'a [Engine], watched: &'a Watched<'w>) -> Judging<'a, 'w> {
        let live = self.repeat;
        Judging { asked: &self.engines, run, seeds: self.seeds, live, runner: self.runner(watched) }
    }
}

/// The claims that are statements to judge, without those that say which runs are valid.
fn statements(claims: &[Claim]) -> Vec<Claim> {
    claims.iter().filter(|claim| !claim.validity).cloned().collect()
}
