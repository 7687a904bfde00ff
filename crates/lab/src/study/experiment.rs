//! Experiments: a scenario, the engines that are asked, the number of runs, and the folder for results.
//!
//! Each command of `tightlink` that runs scenarios is one method here, which other programs may call, too. No method
//! prints anything: each reports its progress to a [`Watch`], which may stop it.
//!
//! `experiment/kernel.rs` estimates the time of the kernel's runs, and `experiment/error.rs` has the errors.
//! `experiment/swept.rs` is a sweep.
//! `experiment/headline.rs` writes the headline of a figure, and `experiment/reference.rs` reads the reference data
//! that is drawn with it.

mod answers;
mod error;
mod headline;
mod kernel;
mod reference;
mod swept;

pub use error::ExperimentError;
pub use kernel::{UNASKED, shortened};
pub use swept::SweepResult;

use super::claims::{
    Claim, ClaimSettings, Evidence, Verdict, check, confirmed, evidence, judged_by, kernel_runs,
};
use super::curves::{self, Curves, draw};
use super::search::{Target, search};
use super::store::Store;
use super::sweep::Runner;
use super::task::{self, Answer, SearchResult, Task, hopeless, tasks};
use super::watch::{SharedWatch, Watch, Work};
use crate::files::{replace, try_replace};
use crate::run::captured::{CaptureFile, CapturedEnds};
use crate::run::engine;
use crate::run::record::Engine;
use headline::headline;
use scenario::{Document, Faults, FigureNumbers, FigureSpec};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Complaint, Span, is_visible};

/// The most threads. More threads than any machine has cores would only cost memory.
const MOST_JOBS: usize = 1024;

/// A scenario and the way in which it is run.
#[derive(Clone, Debug)]
pub struct Experiment {
    tasks: Vec<Task>,
    /// The engines that are asked, in the order reports show them.
    pub engines: Vec<Engine>,
    /// True if a comparison includes estimates: answers under assumptions that the scenario breaks. Otherwise a line
    /// gives the reason for a missing answer.
    pub estimates: bool,
    /// The number of runs of each point, with consecutive seeds; `None`: one, or as many as a figure states.
    pub repeat: Option<u64>,
    /// The number of seeds by which claims are judged, for a simulated case whose numbers depend on the seed.
    pub seeds: u64,
    /// The number of threads for simulations.
    pub jobs: usize,
    /// The points that failed elsewhere, by their numbers, each with the reason: [`Experiment::sweep_on`] does not run
    /// them.
    pub failed: BTreeMap<usize, String>,
    /// The folder in which results are kept, and from which finished points are reused; `None`: none is kept.
    pub folder: Option<PathBuf>,
    /// The page that will be written at the end. Before anything runs, the experiment checks that it can be written.
    pub page: Option<PathBuf>,
    /// The command line, for manifests and pages.
    pub command: String,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The engines' results at each point.
    pub answers: Vec<Answer>,
    /// The verdicts on the claims.
    pub verdicts: Vec<Verdict>,
    /// The scenario's `[figure]`, if it has one.
    pub drawn: Option<DrawnFigure>,
    /// The number of runs tried and of those that were valid, where only valid runs count.
    pub tried: Option<(u64, u64)>,
}

/// A drawn `[figure]`.
#[derive(Clone, Debug)]
pub struct DrawnFigure {
    /// Its charts.
    pub curves: Curves,
    /// "42 points simulated, 420 million packets. 5 of 5 published claims held."
    pub headline: String,
}

/// The verdicts on claims.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedClaims {
    /// One verdict per claim that is a statement to judge.
    pub verdicts: Vec<Verdict>,
    /// The number of runs tried and of those that were valid, where only valid runs count.
    pub tried: Option<(u64, u64)>,
    /// The number of cases that the kernel ran three times, because one run contradicted a claim.
    pub confirmed: usize,
}

impl Experiment {
    /// Creates an experiment with the document's points, each run once by every engine, on all cores, with results in
    /// `folder`.
    ///
    /// # Errors
    /// All faults of the scenario or its sweep.
    pub fn new(document: &Document, folder: &Path) -> Result<Self, Faults> {
        Ok(Self::in_memory(document)?.folder(folder))
    }

    /// Creates the same experiment without a folder: it writes nothing.
    ///
    /// # Errors
    /// All faults of the scenario or its sweep.
    pub fn in_memory(document: &Document) -> Result<Self, Faults> {
        Ok(Self {
            tasks: tasks(document)?,
            engines: Engine::ALL.into(),
            estimates: true,
            repeat: None,
            seeds: 1,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            failed: BTreeMap::new(),
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

    /// Runs each point `times` times, with consecutive seeds.
    #[must_use]
    pub fn repeat(mut self, times: u64) -> Self {
        self.repeat = Some(times);
        self
    }

    /// Runs at most `threads` simulations at once.
    #[must_use]
    pub fn jobs(mut self, threads: usize) -> Self {
        self.jobs = threads;
        self
    }

    /// Keeps results in `folder`, and reuses finished points from it.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Writes the packets of the only run at `ends` of the path to `file`, as pcapng.
    ///
    /// # Errors
    /// If there are several runs, or if the simulator does not make the run.
    pub fn capture(mut self, file: &Path, ends: CapturedEnds) -> Result<Self, Complaint> {
        let refused = |found: String, accepted: &str, help: &str| {
            Err(Complaint::new("--pcap", found).accepted(accepted).help(help))
        };
        if self.engines != [Engine::Sim] {
            let help = "leave out --engine; of real packets, tightlink emulate --pcap writes a capture";
            return refused("a capture of a run that is not simulated".into(), "--engine sim", help);
        }
        let runs = self.tasks.len() as u64 * self.repeat.unwrap_or(1);
        let [task] = self.tasks.as_mut_slice() else {
            let help = "choose a point with --set";
            return refused(format!("a capture of {runs} runs"), "one run", help);
        };
        if runs > 1 {
            return refused(format!("a capture of {runs} runs"), "one run", "leave out --repeat");
        }
        Arc::make_mut(&mut task.resolved).capture = Some(CaptureFile { path: file.to_owned(), ends });
        Ok(self)
    }

    /// Returns the points.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the scenario.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.tasks[0].document
    }

    /// Returns the name of the experiment's page: `sobas-fig1-4.html` for a published result, `NAME.html` for the sweep
    /// of the scenario NAME.toml, `<hash>.html` otherwise.
    #[must_use]
    pub fn page_name(&self) -> String {
        let first = &self.tasks[0].resolved;
        let several = || (self.tasks.len() > 1).then(|| self.stem());
        let name = first.source.clone().or_else(several).unwrap_or_else(|| first.hash.clone());
        format!("{}.html", name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-"))
    }

    /// Returns the scenario's file name with the settings that override it, so that other settings get another table.
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

    /// Writes the page, if one was asked for.
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
            task::can_answer(&self.tasks, &[*engine]).map_err(ExperimentError::Misfit)?;
        }
        let store = self.ready(&self.engines)?;
        let answers = self.watched(watch, |watched| self.answers(&self.tasks, store.as_ref(), watched))?;
        match answers.iter().find_map(|answer| answer.absent.first()) {
            Some(reason) => Err(ExperimentError::Unanswered(reason.clone())),
            None => Ok(answers),
        }
    }

    /// Runs every point on every engine that can answer, and checks `claims` by these runs. The `[figure]` of a
    /// scenario is drawn from the runs that it requests.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn compare(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<Comparison, ExperimentError> {
        self.compared(claims, false, watch)
    }

    /// Compares as [`Self::compare`], with `claims` checked by as many simulated runs as [`Self::check`] makes. Where
    /// only some runs are valid, the first of these is the one that is shown.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn figure(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<Comparison, ExperimentError> {
        self.compared(claims, true, watch)
    }

    /// Makes the runs by which `claims` are judged, and judges them.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn check(&self, claims: &[Claim], watch: &mut dyn Watch) -> Result<CheckedClaims, ExperimentError> {
        self.ready(&judged_by(claims, &self.engines))?;
        self.watched(watch, |watched| {
            watched.begin(Work::Evidence);
            let judging = self.judging(&self.engines, watched);
            let evidence = evidence(self.document(), claims, &judging)?;
            let (evidence, confirmed) = confirmed(self.document(), claims, evidence, &judging)?;
            let verdicts = check(&statements(claims), &evidence.answers, &self.engines);
            Ok(CheckedClaims { verdicts, tried: evidence.tried, confirmed })
        })
    }

    /// Returns the number of the kernel's runs, one after the other, that [`Self::check`] makes, and the time that they
    /// take.
    ///
    /// # Errors
    /// The faults of the scenario.
    pub fn kernel_runs(&self, claims: &[Claim]) -> Result<(u64, Span), Faults> {
        kernel_runs(self.document(), claims, &self.engines, self.repeat)
    }

    /// Searches at every point for the smallest value of the key `over` at which simulations meet `target`, or for the
    /// largest.
    ///
    /// # Errors
    /// [`ExperimentError`]; finished runs are kept.
    pub fn search(
        &self,
        over: &str,
        target: &Target,
        watch: &mut dyn Watch,
    ) -> Result<Vec<(Task, SearchResult)>, ExperimentError> {
        task::check(&self.tasks, &[Engine::Sim]).map_err(ExperimentError::Misfit)?;
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
    ) -> Result<Comparison, ExperimentError> {
        // All faults of the scenario, the machine or the folder are found before anything runs.
        let spec = curves::figure(self.document())?.map(|spec| self.narrowed(spec)).transpose()?;
        let engines = spec.as_ref().map_or_else(|| self.engines.clone(), curves::engines);
        let reference =
            spec.as_ref().map(|spec| reference::read(self.document(), spec)).transpose()?.flatten();
        if spec.is_some() {
            task::check(&self.tasks, &engines).map_err(ExperimentError::Misfit)?;
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
            let verdicts = |answers: &[Answer]| check(&claims, &evidence.with_all_runs(answers), &engines);
            let tried = evidence.tried;
            let Some(spec) = spec else {
                let first = |task: &Task| evidence.first(task.clone());
                let tasks = self.tasks.iter().map(first).collect::<Result<Vec<Task>, _>>()?;
                let mut answers = self.answers(&tasks, store.as_ref(), watched)?;
                let verdicts = verdicts(&answers);
                if !self.estimates {
                    answers.iter_mut().for_each(Answer::set_estimates_aside);
                }
                return Ok(Comparison { verdicts, answers, drawn: None, tried });
            };
            watched.begin(Work::Points);
            let (mut curves, answers) = draw(&spec, &self.tasks, &self.runner(watched))?;
            let comparison =
                reference.map(|reference| reference.draw(&spec, &mut curves)).unwrap_or_default();
            let verdicts = verdicts(&answers);
            let headline = headline(&answers, &spec, &comparison, &verdicts);
            Ok(Comparison { answers, verdicts, drawn: Some(DrawnFigure { curves, headline }), tried })
        })
    }

    /// Restricts the figure to those of its engines that are asked, and sets the number of its repetitions.
    fn narrowed(&self, mut spec: FigureSpec) -> Result<FigureSpec, ExperimentError> {
        let drawn = curves::engines(&spec);
        spec.engines.retain(|engine| self.engines.contains(&Engine::from(*engine)));
        if spec.engines.is_empty() {
            let drawn: Vec<String> = drawn.iter().map(ToString::to_string).collect();
            let complaint = Complaint::new("", "--engines leaves out the engines of this [figure]");
            let accepted = format!("{} among the engines", drawn.join(", "));
            return Err(ExperimentError::NothingDrawn(complaint.accepted(accepted)));
        }
        // A search repeats its runs by its own rule.
        if let (FigureNumbers::Numbers(_), Some(repeat)) = (&spec.y, self.repeat) {
            spec.repeat = repeat;
        }
        Ok(spec)
    }

    /// Checks the things that the runs will need: the folder, the page, and the rights for the kernel's runs. The
    /// rights are needed if the kernel is one of `engines` and suits a point.
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

    /// Does `work`. If the watch stopped it, the error has the number of finished steps.
    fn watched<T>(
        &self,
        watch: &mut dyn Watch,
        work: impl FnOnce(&SharedWatch<'_>) -> Result<T, ExperimentError>,
    ) -> Result<T, ExperimentError> {
        let watched = SharedWatch::new(watch);
        work(&watched).map_err(|error| {
            if !watched.is_stopped() {
                return error;
            }
            let (done, all) = watched.steps();
            ExperimentError::Stopped { done, all, folder: self.folder.clone() }
        })
    }

    fn runner<'a, 'w>(&'a self, watched: &'a SharedWatch<'w>) -> Runner<'a, 'w> {
        Runner { jobs: self.jobs.clamp(1, MOST_JOBS), folder: self.folder.as_deref(), watched }
    }

    /// Returns the settings by which claims are judged, with the runs of the engines `run` made here.
    fn judging<'a, 'w>(&'a self, run: &'a [Engine], watched: &'a SharedWatch<'w>) -> ClaimSettings<'a, 'w> {
        let live = self.repeat;
        ClaimSettings { asked: &self.engines, run, seeds: self.seeds, live, runner: self.runner(watched) }
    }
}

/// Returns the claims that are statements to judge, without those that say which runs are valid.
fn statements(claims: &[Claim]) -> Vec<Claim> {
    claims.iter().filter(|claim| !claim.validity).cloned().collect()
}
