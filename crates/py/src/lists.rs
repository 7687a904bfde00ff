//! Lists of what the library has: numbers, presets, figures.

use crate::errors::raised;
use cli::metric::all;
use lab::study::figures as carried;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Lists the numbers of runs with their words and units.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |(key, metric): (String, &cli::metric::Metric)| {
        let entry = PyDict::new(py);
        entry.set_item("key", key)?;
        entry.set_item("words", metric.words)?;
        entry.set_item("unit", metric.unit.in_files())?;
        entry.set_item("shown", metric.unit.shown())?;
        entry.set_item("scale", metric.unit.scale())?;
        entry.set_item("digits", metric.digits)?;
        entry.set_item("whole", metric.whole)?;
        entry.set_item("better", metric.better.to_string())?;
        Ok(entry)
    };
    all().map(entry).collect()
}

/// Lists the scenarios to start from.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> PyResult<Vec<String>> {
    names(py, carried::presets())
}

/// Lists the published figures.
#[pyfunction]
pub(crate) fn figures(py: Python<'_>) -> PyResult<Vec<String>> {
    names(py, carried::figures())
}

fn names(py: Python<'_>, all: Result<Vec<carried::Figure>, cli::Faults>) -> PyResult<Vec<String>> {
    let all = all.map_err(|faults| raised(py, faults.into()))?;
    Ok(all.into_iter().map(|figure| figure.id).collect())
}
