//! [`EmuError`]: what went wrong, what was found, and what to do.

use std::io;
use units::Complaint;

/// Why the emulator cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmuError {
    /// The machine or the user's rights lack something.
    #[error("{}: {} - {}", .0.place, .0.found, .0.help.as_deref().unwrap_or_default())]
    Missing(Complaint),
    /// The configuration asks for something the emulator cannot do honestly. The place is the setting, what was found its value.
    #[error("{} = {}: accepted is {} - {}", .0.place, .0.found, .0.accepted, .0.help.as_deref().unwrap_or_default())]
    Refused(Complaint),
    /// The operating system refused a step.
    #[error("{what}: {source}")]
    Os {
        /// The step.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The emulator's thread ended before it was asked to.
    #[error("the emulated path ended early: {0} - the run is void, start it again")]
    Ended(String),
}

impl EmuError {
    /// An operating-system failure during `what`.
    pub(crate) fn os(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Os { what: what.into(), source: source.into() }
    }
}
