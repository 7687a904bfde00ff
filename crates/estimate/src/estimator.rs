//! The trait of all estimators.

use units::Time;

/// Learns from samples, and says at any time what it knows.
pub trait Estimator {
    /// What it is shown.
    type Sample;
    /// What it says.
    type Estimate;

    /// `sample` was taken at `at`, not before the one shown last.
    fn observe(&mut self, at: Time, sample: Self::Sample);

    /// What is known so far; `None` before anything is.
    fn estimate(&self) -> Option<Self::Estimate>;
}
