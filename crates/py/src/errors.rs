//! Python's exceptions, with what is wrong as data.

use cli::units::Complaint;
use cli::{Complaints, Error, ErrorKind, did_you_mean};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

create_exception!(
    tightlink,
    ScenarioError,
    PyValueError,
    "A scenario, a key, a value or an argument is wrong.\n\n`faults` has a `Fault` for each mistake."
);
create_exception!(
    tightlink,
    CannotAnswer,
    PyException,
    "The engine has no answer to this scenario.\n\n`faults` has the reasons."
);
create_exception!(
    tightlink,
    MachineError,
    PyOSError,
    "The machine lacks a right or a resource, such as room for results.\n\n`faults` has the reasons."
);
create_exception!(
    tightlink,
    SweepFailed,
    PyException,
    "Some points of a sweep failed.\n\n`points` has their keys, values and reasons, and `frame` the other points."
);

/// One thing that is wrong.
#[pyclass(frozen, module = "tightlink", eq, hash, get_all)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fault {
    /// The path of the key, such as `flow[0].rtt`; otherwise the argument or the file.
    key: String,
    /// The scenario file; None if the value was made in code or by `set`.
    file: Option<String>,
    /// The line, counted from 1.
    line: Option<usize>,
    /// The column, counted from 1.
    column: Option<usize>,
    /// The finding.
    found: String,
    /// The values that are accepted instead; may be empty.
    accepted: String,
    /// The remedy, if one is known.
    help: Option<String>,
}

type Parts = (String, Option<String>, Option<usize>, Option<usize>, String, String, Option<String>);

#[pymethods]
impl Fault {
    #[new]
    #[pyo3(signature = (key, file, line, column, found, accepted="".to_owned(), help=None))]
    fn new(
        key: String,
        file: Option<String>,
        line: Option<usize>,
        column: Option<usize>,
        found: String,
        accepted: String,
        help: Option<String>,
    ) -> Self {
        Self { key, file, line, column, found, accepted, help }
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> (Py<PyType>, Parts) {
        let this = slf.get().clone();
        let parts = (this.key, this.file, this.line, this.column, this.found, this.accepted, this.help);
        (slf.get_type().unbind(), parts)
    }

    fn __repr__(&self) -> String {
        let place = match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        };
        format!("<Fault {place}{}: {}>", self.key, self.found)
    }
}

impl From<&Complaint> for Fault {
    fn from(complaint: &Complaint) -> Self {
        let Complaint { place, found, accepted, help } = complaint.clone();
        Self { key: place, file: None, line: None, column: None, found, accepted, help }
    }
}

impl From<&cli::Fault> for Fault {
    fn from(fault: &cli::Fault) -> Self {
        let origin = &fault.origin;
        let file = origin.file().map(str::to_owned);
        // A fault in an override gets no line or column, because an override is not in the file.
        let in_file = |place| file.is_some().then_some(place);
        let (line, column) = (in_file(origin.line()), in_file(origin.column()));
        Self { file, line, column, ..Self::from(&fault.complaint) }
    }
}

/// Makes the exception of an error. Its text is the one that the command would print, without the help, which becomes a
/// note of the exception.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    let (text, faults) = parts(&error);
    let error = match error.kind {
        ErrorKind::Usage => ScenarioError::new_err(text),
        ErrorKind::Engine => CannotAnswer::new_err(text),
        _ => MachineError::new_err(text),
    };
    with_faults(py, error, faults)
}

/// Makes the exception of an error in a scenario that was made in code. Its faults have keys, but no places in a text.
pub(crate) fn raised_in_code(py: Python<'_>, mut error: Error) -> PyErr {
    if let Some(faults) = error.faults.take() {
        let kind = error.kind;
        error = Complaints::from(faults).into();
        error.kind = kind;
    }
    raised(py, error)
}

/// Makes the exception of an argument or a value that is wrong.
pub(crate) fn wrong(py: Python<'_>, complaint: Complaint) -> PyErr {
    raised(py, complaint.into())
}

/// Makes the exception of a name that is not known.
pub(crate) fn no_such_key(py: Python<'_>, complaint: Complaint) -> PyErr {
    let (text, faults) = parts(&complaint.into());
    with_faults(py, PyKeyError::new_err(text), faults)
}

/// Adds the candidate that is nearest to `word`, if one is near, as the help.
pub(crate) fn nearest<'a>(
    complaint: Complaint,
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Complaint {
    Complaint { help: did_you_mean(word, candidates), ..complaint }
}

/// Returns the error's text without helps, and its faults.
fn parts(error: &Error) -> (String, Vec<Fault>) {
    let faults: Vec<Fault> = match &error.faults {
        Some(faults) => faults.iter().map(Fault::from).collect(),
        None => error.complaints.iter().map(Fault::from).collect(),
    };
    let helps = faults.iter().filter_map(|fault| fault.help.as_deref());
    let line = |help: &str| Complaint::default().help(help).advice().to_string();
    let without = |text: String, help| text.replace(&line(help), "");
    (helps.fold(error.to_string(), without), faults)
}

fn with_faults(py: Python<'_>, error: PyErr, faults: Vec<Fault>) -> PyErr {
    let mut notes: Vec<String> = Vec::new();
    for note in faults.iter().filter_map(|fault| Some(format!("help: {}", fault.help.as_ref()?))) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let add = || {
        let value = error.value(py);
        for note in notes {
            value.call_method1("add_note", (note,))?;
        }
        value.setattr("faults", PyTuple::new(py, faults)?)
    };
    match add() {
        Ok(()) => error,
        Err(other) => other,
    }
}
