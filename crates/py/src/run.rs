//! [`Run`]: one run's numbers and series, and [`Comparison`]: those of several engines.

use crate::arguments::{known_engine, loaded};
use crate::errors::{nearest, no_such_key, raised};
use crate::frame::Frame;
use crate::scenario::Scenario;
use cli::metric::{described, value};
use cli::units::Complaint;
use cli::{
    Comparison as CliComparison, Document, Error, Experiment, PointResult, Record, Series, Summary, Task,
    series, tabulate, tabulate_answers,
};
use lab::study::claims::{Claim, parse_claims};
use lab::study::figures;
use lab::study::lines::OtherLine;
use lab::study::store::read_series;
use lab::study::task::Answer;
use pyo3::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One run of a scenario on an engine.
#[pyclass(frozen, module = "tightlink._native")]
#[derive(Clone)]
pub(crate) struct Run {
    task: Task,
    in_code: bool,
    summary: Summary,
    notes: Vec<String>,
    series: Vec<(String, Frame)>,
}

/// The parts from which a run is restored: scenario, point, summary, notes, series.
type Restored = (Scenario, Vec<(String, String)>, String, Vec<String>, Vec<(String, Py<Frame>)>);

#[pymethods]
impl Run {
    /// Returns the engine that made the run.
    #[getter]
    fn engine(&self) -> String {
        self.summary.engine.to_string()
    }

    /// Returns the hash of the scenario that was run.
    #[getter]
    fn hash(&self) -> &str {
        &self.summary.scenario_hash
    }

    /// Returns the remarks on the run.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Returns the scenario that was run.
    #[getter]
    fn scenario(&self, py: Python<'_>) -> PyResult<Scenario> {
        let document = self.task.document.at(&self.task.point).map_err(|faults| raised(py, faults.into()))?;
        Scenario::new(py, document, self.in_code)
    }

    /// Returns the swept keys and their values, if the run is a point of a sweep.
    #[getter]
    fn point(&self) -> Vec<(String, String)> {
        self.task.point.clone()
    }

    /// Returns all numbers, as summary.json has them.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loaded(py, &serde_json::to_string(&self.summary))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.number(py, key)?.ok_or_else(|| {
            let complaint = Complaint::new(key, "no number of this run has this name");
            let known = self.known();
            let near = nearest(complaint, key, known.iter().map(String::as_str));
            let help = near.help.clone().unwrap_or_else(|| "keys() lists the names".to_owned());
            no_such_key(py, near.help(help))
        })
    }

    /// Returns the number called `key`, or `default` if the run does not have it.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.number(py, key)?.filter(|number| !number.is_none()).or(default))
    }

    /// Returns the names of all numbers that the run knows.
    fn keys(&self) -> Vec<String> {
        let mut known = self.known();
        known.retain(|key| value(&self.summary, key).is_some());
        known
    }

    fn __contains__(&self, key: &str) -> bool {
        value(&self.summary, key).is_some()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys().into_pyobject(py)?.try_iter()?.into_any())
    }

    fn __len__(&self) -> usize {
        self.keys().len()
    }

    /// Returns the names of the series that the run has.
    #[getter]
    fn series_names(&self) -> Vec<&str> {
        self.series.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns a series as a frame: "flows", "spread", "link", "queue" or "fairness".
    fn series(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        let found = self.series.iter().find(|(known, _)| known == name);
        found.map(|(_, frame)| frame.clone()).ok_or_else(|| {
            let complaint = Complaint::new("series", format!("the run has no series \"{name}\""));
            let complaint = nearest(complaint, name, self.series_names());
            no_such_key(py, complaint.accepted(self.series_names().join(", ")))
        })
    }

    /// Returns the run as a frame of one row, with the columns of a sweep.
    fn to_frame(&self) -> Frame {
        tabulate(&[self.result()]).into()
    }

    #[staticmethod]
    fn restored(
        py: Python<'_>,
        scenario: &Scenario,
        point: Vec<(String, String)>,
        summary: &str,
        notes: Vec<String>,
        series: Vec<(String, Py<Frame>)>,
    ) -> PyResult<Self> {
        let task =
            Task::at(&scenario.document, point).map_err(|faults| scenario.raises(py, faults.into()))?;
        let summary = serde_json::from_str(summary)
            .map_err(|error| raised(py, Complaint::new("summary", error.to_string()).into()))?;
        let series = series.into_iter().map(|(name, frame)| (name, frame.get().clone())).collect();
        Ok(Self { task, in_code: scenario.in_code, summary, notes, series })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Restored)> {
        let (py, this) = (slf.py(), slf.get());
        let scenario = Scenario::new(py, (*this.task.document).clone(), this.in_code)?;
        let summary = serde_json::to_string(&this.summary).unwrap_or_default();
        let frame = |(name, frame): &(String, Frame)| Ok((name.clone(), Py::new(py, frame.clone())?));
        let series = this.series.iter().map(frame).collect::<PyResult<_>>()?;
        let parts = (scenario, this.task.point.clone(), summary, this.notes.clone(), series);
        Ok((slf.get_type().getattr("restored")?, parts))
    }

    fn __repr__(&self) -> String {
        format!("<Run of {:?} by {}>", self.task.resolved.title, self.summary.engine)
    }
}

impl Run {
    /// Makes the run of a record.
    pub(crate) fn new(task: Task, record: Record, in_code: bool) -> Self {
        let tables = series(&record.series).into_iter();
        Self {
            task,
            in_code,
            series: tables.map(|(name, table)| (name.to_owned(), table.into())).collect(),
            notes: record.notes.iter().map(ToString::to_string).collect(),
            summary: record.summary,
        }
    }

    /// Returns the number called `key`, or None of Python if the run does not know it; `None` for an unknown key.
    fn number<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = value(&self.summary, key);
        let Some((metric, _)) = described(key) else { return Ok(None) };
        Ok(Some(match found {
            Some(number) if metric.whole => (number as u64).into_pyobject(py)?.into_any(),
            Some(number) => number.into_pyobject(py)?.into_any(),
            None if self.known().iter().any(|known| known == key) => py.None().into_bound(py),
            None => return Ok(None),
        }))
    }

    /// Returns the names of all numbers that such a run can have.
    fn known(&self) -> Vec<String> {
        let fields = tabulate(&[self.result()]).fields.into_iter().map(|field| field.name);
        fields.filter(|name| described(name).is_some()).collect()
    }

    fn result(&self) -> PointResult {
        PointResult::of(&self.task, self.record())
    }

    fn record(&self) -> Record {
        Record { summary: self.summary.clone(), series: Series::default(), notes: Vec::new() }
    }
}

/// Reads a run back from a results folder: FOLDER/HASH/ENGINE.
#[pyfunction]
#[pyo3(signature = (scenario, folder, engine, point=Vec::new()))]
pub(crate) fn run_of(
    py: Python<'_>,
    scenario: &Scenario,
    folder: PathBuf,
    engine: &str,
    point: Vec<(String, String)>,
) -> PyResult<Run> {
    let engine = known_engine(py, engine)?;
    let task = Task::at(&scenario.document, point).map_err(|faults| scenario.raises(py, faults.into()))?;
    let place = folder.join(&task.resolved.hash).join(engine.to_string());
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        let complaint =
            Complaint::new(path.display().to_string(), format!("cannot read the results: {error}"));
        raised(py, Error::new(cli::ErrorKind::Environment, complaint))
    };
    let text = |name: &str| {
        let path = place.join(name);
        fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))
    };
    let summary = serde_json::from_str(&text("summary.json")?).map_err(|error| unreadable(&place, &error))?;
    let notes = text("notes.txt")?.lines().map(str::to_owned).collect();
    let series = read_series(&place).map_err(|error| unreadable(&place, &error))?;
    let series = series.into_iter().map(|(name, table)| (name.to_owned(), table.into())).collect();
    Ok(Run { task, in_code: scenario.in_code, summary, notes, series })
}

/// Makes the frame of some runs, a row for each. The first column has the engine, unless `engine` is False.
#[pyfunction]
#[pyo3(signature = (runs, *, engine=true))]
pub(crate) fn frame_of(runs: Vec<Py<Run>>, engine: bool) -> Frame {
    let runs = runs.iter().map(Py::get);
    if engine {
        let answers: Vec<Answer> = runs.map(|run| Answer::of(run.task.clone(), vec![run.record()])).collect();
        return tabulate_answers(&answers).into();
    }
    tabulate(&runs.map(Run::result).collect::<Vec<_>>()).into()
}

/// Returns the claims of a text about `source`, or without a text those of a published scenario that is unchanged.
pub(crate) fn claims_of(
    document: &Document,
    source: Option<&str>,
    text: Option<&str>,
) -> Result<Vec<Claim>, Error> {
    let source = source.unwrap_or_default();
    if let Some(text) = text {
        let mut claims = parse_claims("claims", text)?;
        claims.retain(|claim| claim.figure.is_empty() || claim.figure == source);
        return Ok(claims);
    }
    let own = Path::new(document.name()).file_name().and_then(|name| name.to_str());
    let published = own.is_some_and(|own| figures::published_file(document, own).is_some());
    match published && document.overrides().is_empty() {
        true => Ok(figures::claims(source)?),
        false => Ok(Vec::new()),
    }
}

/// The answers of several engines.
#[pyclass(frozen, module = "tightlink._native")]
pub(crate) struct Comparison {
    experiment: Experiment,
    compared: Arc<CliComparison>,
    in_code: bool,
}

impl Comparison {
    pub(crate) fn new(experiment: Experiment, compared: CliComparison, in_code: bool) -> Self {
        Self { experiment, compared: Arc::new(compared), in_code }
    }
}

#[pymethods]
impl Comparison {
    /// Returns a frame with a row for each point and engine.
    #[getter]
    fn frame(&self) -> Frame {
        tabulate_answers(&self.compared.answers).into()
    }

    /// Returns the runs; of several of one engine the one with the median goodput.
    #[getter]
    fn runs(&self) -> Vec<Run> {
        let of = |answer: &Answer| {
            let run = |record: &Record| Run::new(answer.task.clone(), record.clone(), self.in_code);
            answer.records.iter().map(run).collect::<Vec<_>>()
        };
        self.compared.answers.iter().flat_map(of).collect()
    }

    /// Returns the engines that could not answer, with the reasons.
    #[getter]
    fn absent(&self) -> Vec<String> {
        let mut absent: Vec<String> = Vec::new();
        for reason in self.compared.answers.iter().flat_map(|answer| &answer.absent) {
            if !absent.contains(reason) {
                absent.push(reason.clone());
            }
        }
        absent
    }

    /// Returns the verdicts on claims.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let verdicts = self.compared.verdicts.iter();
        verdicts.map(|verdict| loaded(py, &serde_json::to_string(verdict))).collect()
    }

    /// Returns the headline of a figure, if the scenario has one.
    #[getter]
    fn headline(&self) -> Option<&str> {
        self.compared.drawn.as_ref().map(|drawn| drawn.headline.as_str())
    }

    /// Returns the charts of a figure, as `--json` has them.
    fn charts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let drawn = self.compared.drawn.iter().flat_map(|drawn| lab::study::lines::drawn(&drawn.curves));
        drawn.map(|line: OtherLine<'_>| loaded(py, &serde_json::to_string(&line))).collect()
    }

    /// Returns the report: one HTML page that needs no network.
    fn report(&self) -> String {
        report::page_of(&self.experiment, &self.compared)
    }
}
