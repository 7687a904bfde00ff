//! [`EmuError`]: what went wrong, what was found, and what to do.

use std::fmt;
use std::io;
use units::Complaint;

/// Why the emulator cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmuError {
    /// The machine or the user's rights lack something.
    Missing(Complaint),
    /// The configuration asks for something the emulator cannot do honestly. The place is the setting, what was found
    /// its value.
    Refused(Complaint),
    /// The operating system refused a step.
    Os {
        /// The step.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The emulator's thread ended before it was asked to.
    Ended(String),
}

impl fmt::Display for EmuError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl EmuError {
    /// The place, what was found, what is accepted, and what to do.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        match self {
            Self::Missing(complaint) | Self::Refused(complaint) => complaint.clone(),
            Self::Os { what, source } => Complaint::new("", format!("{what}: {source}")),
            Self::Ended(reason) => Complaint::new("", format!("the emulated path ended early: {reason}"))
                .help("the run is void: start it again"),
        }
    }

    /// An operating-system failure during `what`.
    pub(crate) fn os(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Os { what: what.into(), source: source.into() }
    }
}
