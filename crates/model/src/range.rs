//! [`OutOfRange`]: an argument outside the range of a theory.

use units::Complaint;

/// An argument outside the range for which a formula holds.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {found}; it must be {accepted}")]
pub struct OutOfRange {
    /// The argument: `loss rate`.
    pub what: &'static str,
    /// Its value.
    pub found: String,
    /// The range, in words: `from 1e-12 to 0.05`.
    pub accepted: &'static str,
}

impl OutOfRange {
    /// Returns `found` if it `fits`.
    ///
    /// # Errors
    /// If it does not fit.
    pub(crate) fn unless<T: ToString>(
        fits: bool,
        what: &'static str,
        found: T,
        accepted: &'static str,
    ) -> Result<T, Self> {
        if fits { Ok(found) } else { Err(Self { what, found: found.to_string(), accepted }) }
    }
}

impl From<OutOfRange> for Complaint {
    fn from(error: OutOfRange) -> Self {
        Self::new(error.what, error.found).accepted(error.accepted)
    }
}
