//! [`Tasks`] and [`Store`]: the points of a sweep that are computed elsewhere.

use crate::errors::{SweepFailed, raised, wrong};
use crate::frame::Frame;
use cli::units::Complaint;
use cli::{Engine, FailedPoint, KeptPoints, Task};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;

/// The points of a sweep, by their numbers.
#[pyclass(frozen, module = "tightlink._native")]
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<Task>,
    pub(crate) engine: Engine,
}

#[pymethods]
impl Tasks {
    /// Returns the engine that runs them.
    #[getter]
    fn engine(&self) -> String {
        self.engine.to_string()
    }

    fn __len__(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the swept keys of a point, and their values.
    fn point(&self, py: Python<'_>, number: usize) -> PyResult<Vec<(String, String)>> {
        Ok(self.task(py, number)?.point.clone())
    }

    /// Returns a point in words: "limit = 1 bdp, seed = 3".
    fn label(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        Ok(self.task(py, number)?.label())
    }

    /// Returns the hashes of the points' scenarios.
    #[getter]
    fn hashes(&self) -> Vec<&str> {
        self.tasks.iter().map(|task| task.resolved.hash.as_str()).collect()
    }

    /// Returns the files that the scenario reads, such as traces.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.tasks.first().map(Task::files).unwrap_or_default()
    }
}

impl Tasks {
    fn task(&self, py: Python<'_>, number: usize) -> PyResult<&Task> {
        let known = self.tasks.len();
        self.tasks.get(number).ok_or_else(|| {
            wrong(py, Complaint::new("number", number.to_string()).accepted(format!("less than {known}")))
        })
    }
}

/// The kept points of some tasks in a results folder.
#[pyclass(frozen, module = "tightlink._native")]
pub(crate) struct Store(KeptPoints);

#[pymethods]
impl Store {
    /// Opens the points of `tasks` in a results folder, which is made if need be.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, tasks: &Tasks) -> PyResult<Self> {
        let opened = py.detach(|| KeptPoints::open(&folder, &tasks.tasks, tasks.engine));
        opened.map(Self).map_err(|error| raised(py, error.into()))
    }

    /// Returns the numbers of the points that are not kept by this build; of several equal points the first.
    fn missing(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| self.0.missing())
    }

    /// Keeps a point that `Scenario.kept` returned, and returns its number. The file is written whole or not at all.
    fn put(&self, py: Python<'_>, data: &[u8]) -> PyResult<usize> {
        py.detach(|| self.0.put(data)).map_err(|error| raised(py, error.into()))
    }
}

/// Makes the exception of a sweep of `all` points of which some failed; `rest` has the others.
pub(crate) fn failed(py: Python<'_>, points: &[FailedPoint], all: usize, rest: Frame) -> PyResult<PyErr> {
    let shown = points.iter().take(3).map(|point| format!("{}: {}", point.label, point.reason));
    let shown: Vec<String> = shown.collect();
    let more = if points.len() > shown.len() { "\n…" } else { "" };
    let error =
        SweepFailed::new_err(format!("{} of {all} points failed\n{}{more}", points.len(), shown.join("\n")));
    let mut failed = Vec::new();
    for point in points {
        let keys = PyDict::new(py);
        for (key, value) in &point.point {
            keys.set_item(key, value)?;
        }
        failed.push((keys, point.reason.clone()));
    }
    error.value(py).setattr("points", PyTuple::new(py, failed)?)?;
    error.value(py).setattr("frame", rest)?;
    Ok(error)
}
