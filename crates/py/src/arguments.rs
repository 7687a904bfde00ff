//! Arguments that several questions have, and JSON as their answer.

use crate::errors::{nearest, wrong};
use cli::Engine;
use cli::units::Complaint;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Returns the engine of this name.
pub(crate) fn known_engine(py: Python<'_>, name: &str) -> PyResult<Engine> {
    Engine::ALL.into_iter().find(|engine| engine.to_string() == name).ok_or_else(|| {
        let complaint = Complaint::new("engine", format!("unknown engine \"{name}\""));
        wrong(py, nearest(complaint, name, ["model", "sim", "live"]).accepted("\"model\", \"sim\", \"live\""))
    })
}

/// Refuses zero.
pub(crate) fn at_least_one(py: Python<'_>, place: &str, number: u64) -> PyResult<u64> {
    match number {
        0 => Err(wrong(py, Complaint::new(place, "0: nothing would run").accepted("1 or more"))),
        number => Ok(number),
    }
}

/// Returns the number of threads, if it was given.
pub(crate) fn threads(py: Python<'_>, jobs: Option<usize>) -> PyResult<Option<usize>> {
    jobs.map(|jobs| at_least_one(py, "jobs", jobs as u64).map(|_| jobs)).transpose()
}

/// Returns JSON as Python's values.
pub(crate) fn loaded<'py>(py: Python<'py>, json: &serde_json::Result<String>) -> PyResult<Bound<'py, PyAny>> {
    let json = json.as_ref().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (json,))
}
