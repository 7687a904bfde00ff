//! [`Sizing`]: the buffer that a link needs.

use crate::arguments::{known_engine, loaded};
use crate::errors::wrong;
use crate::scenario::Scenario;
use crate::watch::attend;
use cli::units::{Bytes, Complaint, Fraction, Rate, TextError};
use cli::{Engine, Error, Study};
use lab::study::size::{PLACES, Question, from_theory};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The answer about a buffer: a mapping with the keys of `tightlink size --json`.
#[pyclass(frozen, module = "tightlink._native")]
pub(crate) struct Sizing {
    sizing: cli::Sizing,
    data: Py<PyDict>,
}

#[pymethods]
impl Sizing {
    /// Returns the answer as a dict.
    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyDict> {
        self.data.clone_ref(py)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.data.bind(py).as_any().get_item(key)
    }

    /// Returns the keys.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.data.bind(py).keys().into_any()
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.data.bind(py).contains(key)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.data.bind(py).try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.data.bind(py).len()
    }

    /// Returns the report: one HTML page that needs no network.
    fn report(&self) -> String {
        report::size::html(&self.sizing, "tightlink.size(...)")
    }
}

/// The wishes that a person has about a buffer.
pub(crate) struct Wishes<'py> {
    pub(crate) target_utilization: Option<Bound<'py, PyAny>>,
    pub(crate) max_delay: Option<Bound<'py, PyAny>>,
    pub(crate) max_loss: Option<Bound<'py, PyAny>>,
}

impl Wishes<'_> {
    fn set(&self, py: Python<'_>, question: &mut Question) -> PyResult<()> {
        question.target =
            read(py, "target_utilization", self.target_utilization.as_ref())?.unwrap_or(question.target);
        question.max_delay = read(py, "max_delay", self.max_delay.as_ref())?;
        question.max_loss = read::<Fraction>(py, "max_loss", self.max_loss.as_ref())?;
        Ok(())
    }
}

/// The capacity of the link in question.
enum Capacity {
    /// The same throughout.
    Constant(Rate),
    /// A file with the rate over time.
    Trace(String),
}

impl Capacity {
    /// Reads the one of both arguments that is given.
    fn of(py: Python<'_>, rate: Option<&Bound<'_, PyAny>>, trace: Option<PathBuf>) -> PyResult<Self> {
        let both = "rate=\"10Gbit/s\", or trace=\"lte.down\" with the rate over time";
        match (rate, trace) {
            (Some(rate), None) => {
                let text = rate.str()?.to_string();
                let rate = text.parse().map_err(|error: TextError| {
                    let complaint = Complaint { place: "rate".to_owned(), ..error.complaint() };
                    // A file in the place of a rate is meant for a trace.
                    let is_file = Path::new(&text).is_file();
                    wrong(
                        py,
                        if is_file { complaint.help(format!("write trace={text:?}")) } else { complaint },
                    )
                });
                rate.map(Self::Constant)
            }
            (None, Some(trace)) => match trace.to_str() {
                Some(trace) => Ok(Self::Trace(trace.to_owned())),
                None => {
                    let found = format!("{}: the name is not UTF-8", trace.display());
                    Err(wrong(py, Complaint::new("trace", found).accepted("a file whose name is UTF-8")))
                }
            },
            (Some(_), Some(_)) => {
                Err(wrong(py, Complaint::new("trace", "a trace, and a rate as well").accepted(both)))
            }
            (None, None) => {
                Err(wrong(py, Complaint::new("rate", "neither a rate nor a trace").accepted(both)))
            }
        }
    }
}

/// Returns the buffer that a link needs, by theory ("model") or by simulation ("sim").
#[pyfunction]
#[pyo3(signature = (rate=None, *, trace=None, rtt=None, flows=None, place="edge", control=None, packet=None,
    queue=None, target_utilization=None, max_delay=None, max_loss=None, engine="sim", seed=None, store=None,
    progress=None))]
pub(crate) fn size(
    py: Python<'_>,
    rate: Option<&Bound<'_, PyAny>>,
    trace: Option<PathBuf>,
    rtt: Option<&Bound<'_, PyAny>>,
    flows: Option<&Bound<'_, PyAny>>,
    place: &str,
    control: Option<&Bound<'_, PyAny>>,
    packet: Option<&Bound<'_, PyAny>>,
    queue: Option<String>,
    target_utilization: Option<Bound<'_, PyAny>>,
    max_delay: Option<Bound<'_, PyAny>>,
    max_loss: Option<Bound<'_, PyAny>>,
    engine: &str,
    seed: Option<u64>,
    store: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Sizing> {
    let link = Capacity::of(py, rate, trace)?;
    let usual = PLACES.iter().find(|(name, _)| *name == place).ok_or_else(|| {
        let places = PLACES.map(|(name, _)| format!("\"{name}\"")).join(", ");
        wrong(py, Complaint::new("place", format!("unknown place \"{place}\"")).accepted(places))
    })?;
    let rate = if let Capacity::Constant(rate) = link { rate } else { Rate::ZERO };
    let mut question = Question { flows: read(py, "flows", flows)?.unwrap_or(usual.1), ..Question::of(rate) };
    question.rtt = read(py, "rtt", rtt)?.unwrap_or(question.rtt);
    question.mix = read(py, "control", control)?.unwrap_or(question.mix);
    question.packet = read::<Bytes>(py, "packet", packet)?.unwrap_or(question.packet);
    question.queue = queue.unwrap_or(question.queue);
    Wishes { target_utilization, max_delay, max_loss }.set(py, &mut question)?;
    if let Capacity::Trace(trace) = &link {
        question =
            Question::of_trace(trace, question).map_err(|complaint| wrong(py, of_argument(complaint)))?;
    }
    let mut study = Study::of(question, PathBuf::new());
    study.seed = seed.unwrap_or(study.seed);
    answer(py, Study { folder: store, ..study }, engine, progress, |error| crate::errors::raised(py, error))
}

/// Returns the buffer that the tight link of a scenario needs.
pub(crate) fn of_scenario(
    py: Python<'_>,
    scenario: &Scenario,
    engine: &str,
    wishes: &Wishes<'_>,
    store: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Sizing> {
    let study = Study::of_scenario(&scenario.document, PathBuf::new());
    let mut study = study.map_err(|faults| scenario.raises(py, faults.into()))?;
    wishes.set(py, &mut study.question)?;
    answer(py, Study { folder: store, ..study }, engine, progress, |error| scenario.raises(py, error))
}

fn answer(
    py: Python<'_>,
    study: Study,
    engine: &str,
    progress: Option<Py<PyAny>>,
    raises: impl Fn(Error) -> PyErr,
) -> PyResult<Sizing> {
    let engine = known_engine(py, engine)?;
    study.check(engine).map_err(|complaint| wrong(py, of_argument(complaint)))?;
    let sizing = match engine {
        Engine::Model => py.detach(|| from_theory(&study.question)),
        Engine::Sim => attend(py, progress.as_ref(), |watch| study.simulate(watch))?
            .map_err(|error| raises(error.into()))?,
        Engine::Live => {
            let complaint =
                Complaint::new("engine", "\"live\": the kernel proves an answer in the command only");
            return Err(wrong(
                py,
                complaint.accepted("\"model\", \"sim\"").help("tightlink size --engine live"),
            ));
        }
    };
    let data = loaded(py, &serde_json::to_string(&sizing))?.cast_into::<PyDict>()?.unbind();
    Ok(Sizing { sizing, data })
}

/// Returns a complaint that the library worded for the command, with the argument in place of the option.
fn of_argument(complaint: Complaint) -> Complaint {
    if complaint.place.contains("--engine") {
        let complaint = Complaint { place: "engine".to_owned(), help: None, ..complaint };
        return complaint.accepted("\"sim\"").help("leave out engine: simulation answers");
    }
    let place = complaint.place.strip_prefix("--").map(|option| option.replace('-', "_"));
    Complaint { place: place.unwrap_or(complaint.place), ..complaint }
}

/// Reads an argument as the command reads its option; a number counts as its text.
fn read<T: FromStr<Err: Reason>>(
    py: Python<'_>,
    place: &str,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let text = value.str()?.to_string();
    let read = text.parse().map_err(|error: T::Err| {
        let complaint = Complaint { place: place.to_owned(), ..error.complaint() };
        wrong(py, complaint)
    });
    read.map(Some)
}

/// An error of a text, as a complaint.
trait Reason {
    /// Returns the complaint, whose place has no meaning here.
    fn complaint(self) -> Complaint;
}

impl Reason for Complaint {
    fn complaint(self) -> Complaint {
        self
    }
}

impl Reason for TextError {
    fn complaint(self) -> Complaint {
        let found = format!("{}: {:?}", self.found, self.text);
        Complaint { place: String::new(), found, accepted: self.accepted, help: self.help }
    }
}
