//! Remarks on a run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A remark on a run that the reader must know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Note {
    /// A warning that the result should not be trusted, because the machine was too busy for the emulator.
    Busy(String),
    /// Anything else: a privilege that was missing, a window that was not granted.
    Remark(String),
}

impl Note {
    /// Returns the text of the remark.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Busy(text) | Self::Remark(text) => text,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self::Remark(text)
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Self {
        Self::Remark(text.into())
    }
}

#[cfg(feature = "kernel")]
impl From<emu::Doubt> for Note {
    fn from(doubt: emu::Doubt) -> Self {
        let text = doubt.to_string();
        if doubt.is_busy() { Self::Busy(text) } else { Self::Remark(text) }
    }
}
