//! [`Scenario`]: a document that never changes, and the questions about it.

use crate::arguments::{at_least_one, known_engine, loaded, threads};
use crate::errors::{nearest, raised, raised_in_code, wrong};
use crate::frame::Frame;
use crate::points::{Tasks, failed as sweep_failed};
use crate::run::{Comparison, Run, claims_of};
use crate::sizing::{Sizing, Wishes, of_scenario};
use crate::value::{axis, text_of, typed};
use crate::watch::attend;
use cli::units::Complaint;
use cli::{Document, Engine, Error, Experiment, ExperimentError, SharedWatch, Task, kept, read, tabulate};
use lab::run::engine;
use lab::study::figures;
use lab::study::lines::ResultLine;
use lab::study::task::{Target, check, tasks};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, OnceLock};

/// A description of a path and of what flows over it. It never changes, and `set` returns another one.
#[pyclass(frozen, module = "tightlink._native")]
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) document: Arc<Document>,
    /// True if the scenario was made in code. Errors then name keys only, because nobody wrote its text.
    pub(crate) in_code: bool,
    /// The first point of its sweep.
    pub(crate) first: Task,
    identity: OnceLock<String>,
}

/// The parts from which a scenario is restored: text, name, settings, and true if it was made in code.
type Restored = (String, String, Vec<(String, String)>, bool);

#[pymethods]
impl Scenario {
    /// Reads a scenario file. Files that it names are relative to its folder.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let document = read(&path).map_err(|error| raised(py, error))?;
        Self::new(py, document, false)
    }

    /// Reads a scenario from a text. Files that it names are relative to the folder of `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name="scenario.toml"))]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let document = Document::parse(name, text).map_err(|faults| raised(py, faults.into()))?;
        Self::new(py, document, false)
    }

    /// Makes a scenario of a dict with the keys of a scenario file.
    #[staticmethod]
    #[pyo3(signature = (data, name="scenario.toml"))]
    fn from_dict(py: Python<'_>, data: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let text = text_of(data).map_err(|complaint| wrong(py, complaint))?;
        let document = Document::parse(name, &text).map_err(|faults| raised_in_code(py, faults.into()))?;
        Self::new(py, document, true)
    }

    /// Returns a scenario to start from, such as "first".
    #[staticmethod]
    fn preset(py: Python<'_>, name: &str) -> PyResult<Self> {
        Self::carried(py, "preset", name, figures::presets())
    }

    /// Returns the scenario of a published figure, such as "sobas:fig1-4".
    #[staticmethod]
    fn figure(py: Python<'_>, id: &str) -> PyResult<Self> {
        Self::carried(py, "figure", id, figures::figures())
    }

    /// Makes a scenario of its text and of what was set over it, as `--set` has it.
    #[staticmethod]
    #[pyo3(signature = (text, name, settings, in_code=false))]
    fn restored(
        py: Python<'_>,
        text: &str,
        name: &str,
        settings: Vec<(String, String)>,
        in_code: bool,
    ) -> PyResult<Self> {
        let fail = |error: Error| raises(py, error, in_code);
        let mut document = Document::parse(name, text).map_err(|faults| fail(faults.into()))?;
        for (key, value) in &settings {
            document.set(key, value).map_err(|faults| fail(faults.into()))?;
        }
        Self::new(py, document, in_code)
    }

    /// Returns a scenario with other values, by the paths of their keys. A swept key becomes a fixed one.
    #[pyo3(signature = (changes=None, /, **more))]
    fn set(
        &self,
        py: Python<'_>,
        changes: Option<&Bound<'_, PyMapping>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut document = Document::clone(&self.document);
        let more = more.map(PyDictMethods::as_mapping);
        for mapping in changes.into_iter().chain(more) {
            for item in mapping.items()?.iter() {
                let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
                let value = typed(&value, &key).map_err(|complaint| wrong(py, complaint))?;
                document.set(&key, &value).map_err(|faults| self.raises(py, faults.into()))?;
            }
        }
        Self::new(py, document, self.in_code)
    }

    /// Returns the scenario as the text of a file. Without a sweep it has all that was set over it, and no comments.
    /// With a sweep it is the text as it was read, after comments with the settings.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        if self.first.point.is_empty() {
            let scenario = self.document.scenario().map_err(|faults| self.raises(py, faults.into()))?;
            return Ok(scenario.to_toml());
        }
        let settings = self.document.overrides().iter();
        let settings = settings.map(|(key, value)| format!("# {key} = {}\n", value.replace('\n', "\n#   ")));
        Ok(settings.collect::<String>() + self.document.text())
    }

    /// Returns the text as it was read.
    #[getter]
    fn text(&self) -> &str {
        self.document.text()
    }

    /// Returns the file's name.
    #[getter]
    fn name(&self) -> &str {
        self.document.name()
    }

    /// Returns the keys and values that were set, as `--set` has them.
    #[getter]
    fn settings(&self) -> Vec<(String, String)> {
        self.document.overrides().to_vec()
    }

    /// Returns the title.
    #[getter]
    fn title(&self) -> &str {
        &self.first.resolved.title
    }

    /// Returns the id of the published result, if it is one.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.first.resolved.source.as_deref()
    }

    /// Returns a hash of the content, with that of the files that it names: 16 hex digits.
    #[getter]
    fn hash(&self) -> &str {
        self.identity()
    }

    /// Returns the keys that the scenario's own sweep varies.
    #[getter]
    fn keys(&self) -> Vec<&str> {
        self.first.point.iter().map(|(key, _)| key.as_str()).collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().identity() == self.identity())
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.identity())
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {:?}, {}>", self.title(), self.identity())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Restored)> {
        let document = &slf.get().document;
        let name = Path::new(document.name());
        let own = name.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Traces are relative to the folder of the file, whatever folder the other process is in. A published scenario
        // has its files in the program.
        let name = match figures::published_file(document, own) {
            Some(_) => name.to_owned(),
            None => absolute(name).unwrap_or_else(|_| name.to_owned()),
        };
        let (text, settings) = (document.text().to_owned(), document.overrides().to_vec());
        let parts = (text, name.display().to_string(), settings, slf.get().in_code);
        Ok((slf.get_type().getattr("restored")?, parts))
    }

    /// Runs the scenario once on an engine. Nothing is written.
    #[pyo3(signature = (engine="sim", *, repeat=1, progress=None))]
    fn run(&self, py: Python<'_>, engine: &str, repeat: u64, progress: Option<Py<PyAny>>) -> PyResult<Run> {
        if !self.first.point.is_empty() {
            let complaint = Complaint::new("sweep", "a scenario with several points").accepted("one point");
            let help = format!("call sweep(), or set {}", self.keys().join(" and "));
            return Err(wrong(py, complaint.help(help)));
        }
        let experiment = self.experiment(py, None, engine, 1)?;
        let experiment = experiment.repeat(at_least_one(py, "repeat", repeat)?);
        let mut answers = self.ask(py, progress, |watch| experiment.run(watch))?;
        let mut answer = answers.swap_remove(0);
        Ok(Run::new(answer.task, answer.records.swap_remove(0), self.in_code))
    }

    /// Asks several engines, and judges claims by their answers. Nothing is written.
    #[pyo3(signature = (engines=None, *, repeat=None, estimates=true, claims=None, jobs=None, progress=None))]
    fn compare(
        &self,
        py: Python<'_>,
        engines: Option<Vec<String>>,
        repeat: Option<u64>,
        estimates: bool,
        claims: Option<&str>,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Comparison> {
        let engines = engines.unwrap_or_else(|| vec!["model".into(), "sim".into()]);
        let asked: Vec<Engine> =
            engines.iter().map(|engine| known_engine(py, engine)).collect::<PyResult<_>>()?;
        let claims =
            claims_of(&self.document, self.source(), claims).map_err(|error| self.raises(py, error))?;
        let mut experiment =
            Experiment::in_memory(&self.document).map_err(|faults| self.raises(py, faults.into()))?;
        experiment.engines = Engine::ALL.into_iter().filter(|engine| asked.contains(engine)).collect();
        experiment.estimates = estimates;
        experiment.repeat = repeat.map(|repeat| at_least_one(py, "repeat", repeat)).transpose()?;
        experiment.jobs = threads(py, jobs)?.unwrap_or(experiment.jobs);
        experiment.command = format!(
            "scenario.compare([{}])",
            engines.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
        );
        let compared = self.ask(py, progress, |watch| experiment.compare(&claims, watch))?;
        Ok(Comparison::new(experiment, compared, self.in_code))
    }

    /// Runs every combination of the values of some keys. With `store` finished points are kept there and reused, and
    /// tables are written.
    #[pyo3(signature = (keys=None, *, engine="sim", repeat=1, jobs=None, store=None, failed=None, progress=None))]
    fn sweep(
        &self,
        py: Python<'_>,
        keys: Option<&Bound<'_, PyMapping>>,
        engine: &str,
        repeat: u64,
        jobs: Option<usize>,
        store: Option<PathBuf>,
        failed: Option<BTreeMap<usize, String>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Frame> {
        let mut experiment = self.experiment(py, keys, engine, repeat)?;
        experiment.folder = store;
        experiment.jobs = threads(py, jobs)?.unwrap_or(experiment.jobs);
        experiment.failed = failed.unwrap_or_default();
        let engine = known_engine(py, engine)?;
        let swept = self.ask(py, progress, |watch| experiment.sweep_on(engine, watch))?;
        let frame = Frame::from(tabulate(&swept.results));
        match swept.failed.is_empty() {
            true => Ok(frame),
            false => Err(sweep_failed(py, &swept.failed, experiment.tasks().len(), frame)?),
        }
    }

    /// Searches for the smallest or largest value of a key that meets a target, at each point of the scenario's sweep.
    #[pyo3(signature = (over, target, *, jobs=None, store=None, progress=None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        over: &str,
        target: &str,
        jobs: Option<usize>,
        store: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let target: Target = target.parse().map_err(|complaint: Complaint| {
            let found = format!("{:?}: {}", complaint.place, complaint.found);
            wrong(py, Complaint { place: "target".into(), found, ..complaint })
        })?;
        let mut experiment = self.experiment(py, None, "sim", 1)?;
        experiment.folder = store;
        experiment.jobs = threads(py, jobs)?.unwrap_or(experiment.jobs);
        let answers = self.ask(py, progress, |watch| experiment.search(over, &target, watch))?;
        answers
            .iter()
            .map(|(task, found)| loaded(py, &serde_json::to_string(&ResultLine::found(&task.point, found))))
            .collect()
    }

    /// Finds the limits of the tight link's queue that keep the link busy.
    #[pyo3(signature = (*, engine="sim", target_utilization=None, max_delay=None, max_loss=None, store=None, progress=None))]
    fn size(
        &self,
        py: Python<'_>,
        engine: &str,
        target_utilization: Option<Bound<'_, PyAny>>,
        max_delay: Option<Bound<'_, PyAny>>,
        max_loss: Option<Bound<'_, PyAny>>,
        store: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Sizing> {
        let wishes = Wishes { target_utilization, max_delay, max_loss };
        of_scenario(py, self, engine, &wishes, store, progress)
    }

    /// Returns the points of a sweep, to be computed elsewhere.
    #[pyo3(signature = (keys=None, *, engine="sim", repeat=1))]
    fn tasks(
        &self,
        py: Python<'_>,
        keys: Option<&Bound<'_, PyMapping>>,
        engine: &str,
        repeat: u64,
    ) -> PyResult<Tasks> {
        let experiment = self.experiment(py, keys, engine, repeat)?;
        let engine = known_engine(py, engine)?;
        check(experiment.tasks(), &[engine])
            .map_err(|faults| self.raises(py, ExperimentError::Misfit(faults).into()))?;
        Ok(Tasks { tasks: experiment.tasks().to_vec(), engine })
    }

    /// Runs the scenario at one point, and returns the point as a store keeps it.
    #[pyo3(signature = (point, *, engine="sim", progress=None))]
    fn kept<'py>(
        &self,
        py: Python<'py>,
        point: Vec<(String, String)>,
        engine: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let engine = known_engine(py, engine)?;
        let task = Task::at(&self.document, point).map_err(|faults| self.raises(py, faults.into()))?;
        engine::check(engine, &task.resolved).map_err(|misfit| self.raises(py, misfit.into()))?;
        let bytes = self.ask(py, progress, |watch| kept(&task, engine, &SharedWatch::new(watch)))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Scenario {
    /// Makes a scenario of a document whose first point is valid.
    pub(crate) fn new(py: Python<'_>, document: Document, in_code: bool) -> PyResult<Self> {
        let document = Arc::new(document);
        let first = || {
            let point = document.sweep()?.points().next().unwrap_or_default();
            Task::at(&document, point)
        };
        let first = first().map_err(|faults| raises(py, faults.into(), in_code))?;
        Ok(Self { document, in_code, first, identity: OnceLock::new() })
    }

    fn carried(
        py: Python<'_>,
        kind: &str,
        id: &str,
        all: Result<Vec<figures::Figure>, cli::Faults>,
    ) -> PyResult<Self> {
        let all = all.map_err(|faults| raised(py, faults.into()))?;
        let Some(found) = all.iter().find(|figure| figure.id == id) else {
            let complaint = Complaint::new(kind, format!("no {kind} is called \"{id}\""));
            let near = nearest(complaint, id, all.iter().map(|figure| &*figure.id));
            return Err(wrong(py, near.accepted(format!("one of tightlink.{kind}s()"))));
        };
        Self::new(py, found.document.clone(), false)
    }

    /// Makes an exception of an error.
    pub(crate) fn raises(&self, py: Python<'_>, error: Error) -> PyErr {
        raises(py, error, self.in_code)
    }

    /// Does `work` while Python runs other threads.
    pub(crate) fn ask<T: Send, E: Into<Error> + Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&mut dyn cli::Watch) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        attend(py, progress.as_ref(), work)?.map_err(|error| self.raises(py, error.into()))
    }

    /// Makes the experiment over the combinations of the values of `keys`, with one engine.
    fn experiment(
        &self,
        py: Python<'_>,
        keys: Option<&Bound<'_, PyMapping>>,
        engine: &str,
        repeat: u64,
    ) -> PyResult<Experiment> {
        let engine = known_engine(py, engine)?;
        let mut document = Document::clone(&self.document);
        let mut sweep = |key: &str, values: &str| -> PyResult<()> {
            if self.first.point.iter().any(|(swept, _)| swept == key) {
                let complaint = Complaint::new(key, "[sweep] varies this key already");
                return Err(wrong(py, complaint.help("set the key first, which takes it out of [sweep]")));
            }
            document.set(&format!("sweep.\"{key}\""), values).map_err(|faults| self.raises(py, faults.into()))
        };
        let mut axes = Vec::new();
        for item in keys.map(PyMappingMethods::items).transpose()?.iter().flatten() {
            let (key, values): (String, Bound<'_, PyAny>) = item.extract()?;
            let values = axis(&values, &key).map_err(|complaint| wrong(py, complaint))?;
            axes.push((key, values));
        }
        if at_least_one(py, "repeat", repeat)? > 1 {
            if axes.iter().any(|(key, _)| key == "seed") {
                let complaint = Complaint::new("repeat", "\"seed\" is among the keys");
                return Err(wrong(py, complaint.accepted("one of the two")));
            }
            let first = self.first.resolved.seed;
            let seeds: Vec<u64> = (0..repeat).filter_map(|more| first.checked_add(more)).collect();
            axes.push(("seed".to_owned(), cli::Written::written(&seeds)));
        }
        for (key, values) in &axes {
            sweep(key, values)?;
        }
        let experiment = Experiment::in_memory(&document).map_err(|faults| self.raises(py, faults.into()))?;
        Ok(experiment.engines([engine]))
    }

    /// Returns the hash of all points.
    fn identity(&self) -> &str {
        self.identity.get_or_init(|| {
            if self.first.point.is_empty() {
                return self.first.resolved.hash.clone();
            }
            let points = tasks(&self.document).unwrap_or_default();
            let points: Vec<_> = points.iter().map(|task| (&task.point, &task.resolved.hash)).collect();
            format!("{:016x}", hash_of(&points))
        })
    }
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn raises(py: Python<'_>, error: Error, in_code: bool) -> PyErr {
    if in_code { raised_in_code(py, error) } else { raised(py, error) }
}
