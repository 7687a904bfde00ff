//! [`EmuError`]: what went wrong, what was found, and how to mend it.

use std::io;

/// Why the emulator cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmuError {
    /// The machine or the user's rights lack something.
    #[error("{what}: {found} - {mend}")]
    Missing {
        /// What is needed.
        what: String,
        /// What was found instead.
        found: String,
        /// What to type or change.
        mend: String,
    },
    /// The configuration asks for something the emulator cannot do honestly.
    #[error("{key} = {found}: accepted is {accepted} - {mend}")]
    Refused {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: String,
        /// The accepted range.
        accepted: String,
        /// What to do instead.
        mend: String,
    },
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
