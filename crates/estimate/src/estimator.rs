//! [`Estimator`]: the trait of all estimators.

use units::Time;

/// A machine that learns from samples, and gives its estimate at any time.
pub trait Estimator {
    /// The type of its samples.
    type Sample;
    /// The type of its estimate.
    type Estimate;

    /// Adds `sample`, which was taken at `at`, not before the previous one.
    fn observe(&mut self, at: Time, sample: Self::Sample);

    /// Returns the estimate so far; `None` if there is not enough data.
    fn estimate(&self) -> Option<Self::Estimate>;
}
