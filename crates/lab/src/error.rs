//! [`Error`]: the one error that callers of this library get. Its kind says who can remove the cause.

use crate::run::engine::{EngineError, Misfit};
use crate::study::claims::ClaimError;
use crate::study::curves::CurvesError;
use crate::study::experiment::ExperimentError;
use crate::study::search::SearchError;
use crate::study::store::StoreError;
use crate::study::sweep::{PutError, SweepError};
use scenario::{Complaints, Faults};
use std::fmt;
use units::Complaint;

/// The person or thing that can remove the cause of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The scenario, an option or a file of the caller is wrong.
    Usage,
    /// The machine or the user lacks a right or a resource, or a run failed.
    Environment,
    /// A [`Watch`](crate::study::watch::Watch) stopped the work. Finished runs are kept, if there is a folder.
    Stopped,
    /// The engine has no answer to this scenario; another engine, or a smaller scenario, may have one.
    Engine,
}

/// The reason for which a call gives no result.
///
/// Its text form is for a person; if the scenario came from text, it shows the lines. Programs read `kind` and
/// `complaints`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The kind.
    pub kind: ErrorKind,
    /// Everything that is wrong, at least one complaint. The place of each is the path of a key such as
    /// `flow[2].control`, a file, or empty.
    pub complaints: Vec<Complaint>,
    /// The complaints with line and column, if the scenario came from text.
    pub faults: Option<Faults>,
    text: String,
}

impl Error {
    /// Returns an error with one complaint.
    #[must_use]
    pub fn new(kind: ErrorKind, complaint: Complaint) -> Self {
        Self { kind, text: complaint.to_string(), complaints: vec![complaint], faults: None }
    }

    /// Returns an error whose complaint is the text of `error`, without a key.
    fn words(kind: ErrorKind, error: impl fmt::Display) -> Self {
        let text = error.to_string();
        Self { kind, complaints: vec![Complaint::new("", text.clone())], faults: None, text }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<Complaint> for Error {
    fn from(complaint: Complaint) -> Self {
        Self::new(ErrorKind::Usage, complaint)
    }
}

impl From<Complaints> for Error {
    fn from(complaints: Complaints) -> Self {
        let text = complaints.to_string();
        Self { kind: ErrorKind::Usage, complaints: complaints.into_iter().collect(), faults: None, text }
    }
}

impl From<Faults> for Error {
    fn from(faults: Faults) -> Self {
        let complaints = faults.iter().map(|fault| fault.complaint.clone()).collect();
        Self { kind: ErrorKind::Usage, complaints, text: faults.to_string(), faults: Some(faults) }
    }
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Self {
        let text = misfit.to_string();
        Self { kind: ErrorKind::Engine, complaints: vec![misfit.complaint], faults: None, text }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::CannotAnswer(misfit) => misfit.into(),
            EngineError::NothingMeasured(complaint) | EngineError::TooLarge(complaint) => {
                Self::new(ErrorKind::Engine, complaint)
            }
            EngineError::Capture(complaint) => Self::new(ErrorKind::Environment, complaint),
            EngineError::Stopped => Self::words(ErrorKind::Stopped, error),
            // This error counts as wrong usage, because the user chose the scenario together with an engine that cannot
            // run it.
            #[cfg(feature = "kernel")]
            EngineError::Emulator(emu::EmuError::Refused(complaint)) => complaint.into(),
            #[cfg(feature = "kernel")]
            EngineError::Emulator(error) => Self::new(ErrorKind::Environment, error.complaint()),
            #[cfg(feature = "kernel")]
            EngineError::Host(_) | EngineError::Live(_) => Self::words(ErrorKind::Environment, error),
            EngineError::Broken(_) => Self::words(ErrorKind::Environment, error),
        }
    }
}

#[cfg(feature = "kernel")]
impl From<emu::EmuError> for Error {
    fn from(error: emu::EmuError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(ErrorKind::Environment, error.0)
    }
}

impl From<SweepError> for Error {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Keep(complaint) => Self::new(ErrorKind::Environment, complaint),
            SweepError::Point { .. } | SweepError::Threads { .. } => {
                Self::words(ErrorKind::Environment, error)
            }
        }
    }
}

impl From<PutError> for Error {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Damaged(complaint) | PutError::OtherBuild(complaint) => {
                Self::new(ErrorKind::Environment, complaint)
            }
            PutError::Unknown(complaint) => complaint.into(),
            PutError::Keep(error) => error.into(),
        }
    }
}

impl From<ClaimError> for Error {
    fn from(error: ClaimError) -> Self {
        Self::words(ErrorKind::Usage, error)
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Faults(faults) => faults.into(),
            SearchError::Engine(error) => (*error).into(),
            SearchError::Keep(error) => (*error).into(),
            SearchError::NoAnswer(complaint) => complaint.into(),
        }
    }
}

impl From<CurvesError> for Error {
    fn from(error: CurvesError) -> Self {
        match error {
            CurvesError::Sweep(error) => error.into(),
            CurvesError::Search(error) => error.into(),
            CurvesError::Faults(faults) => faults.into(),
            unknown @ CurvesError::Unknown(_) => Self::words(ErrorKind::Usage, unknown),
        }
    }
}

impl From<ExperimentError> for Error {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Faults(faults) => faults.into(),
            ExperimentError::Misfit(faults) => Self { kind: ErrorKind::Engine, ..faults.into() },
            ExperimentError::Engine(error) => error.into(),
            ExperimentError::Store(error) => error.into(),
            ExperimentError::Sweep(error) => error.into(),
            ExperimentError::Search(error) => error.into(),
            ExperimentError::Curves(error) => error.into(),
            ExperimentError::Unanswered(_) | ExperimentError::Unanswerable(_) => {
                Self::words(ErrorKind::Engine, error)
            }
            ExperimentError::NothingDrawn(complaint) | ExperimentError::Varied(complaint) => complaint.into(),
            ExperimentError::Page(complaint) | ExperimentError::Table(complaint) => {
                Self::new(ErrorKind::Environment, complaint)
            }
            ExperimentError::Stopped { .. } => Self::words(ErrorKind::Stopped, error),
        }
    }
}
