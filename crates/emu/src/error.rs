//! [`EmuError`]: the failure, the value found, and the remedy.

use std::fmt;
use std::io;
use units::Complaint;

/// The reason why the emulator cannot do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmuError {
    /// The machine or the user's rights lack something.
    Missing(Complaint),
    /// The configuration requires something that the emulator cannot do correctly. The complaint's place is the
    /// setting, with the value found there.
    Refused(Complaint),
    /// The operating system refused a step.
    Os {
        /// The step.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The emulator's thread ended before it was stopped.
    Ended(String),
}

impl fmt::Display for EmuError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl EmuError {
    /// Returns the place, the value found, the values accepted, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        match self {
            Self::Missing(complaint) | Self::Refused(complaint) => complaint.clone(),
            Self::Os { what, source } => Complaint::new("", format!("{what}: {source}")),
            Self::Ended(reason) => Complaint::new("", format!("the emulated path ended early: {reason}"))
                .help("the run is void: start it again"),
        }
    }

    /// Makes the error for a failure of the operating system in the step `what`.
    pub(crate) fn os(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Os { what: what.into(), source: source.into() }
    }
}
