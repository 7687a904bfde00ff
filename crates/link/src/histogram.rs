//! A histogram of durations with a relative resolution of under 1 %, in constant memory.

use crate::buckets::Buckets;
use units::Span;

/// Counts of durations in log-linear buckets at most 1/128 of their values wide, with the exact mean and maximum. The
/// buckets are coarse, so that every flow can have its own histogram.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Buckets<128>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: Span) {
        let nanos = duration.as_nanos();
        self.counts.add(nanos, 1);
        self.count += 1;
        self.sum += u128::from(nanos);
        self.max = self.max.max(nanos);
    }

    /// Returns the number of durations that were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact mean; `None` without durations.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_nanos((self.sum / u128::from(self.count)) as u64))
    }

    /// Returns the longest duration.
    #[must_use]
    pub fn max(&self) -> Span {
        Span::from_nanos(self.max)
    }

    /// Returns the duration that a share `q` of the durations does not exceed, to within 1 %; `None` without durations.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Span> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let (bucket, _) = self.counts.reach(rank)?;
        Some(bucket.middle().min(self.max()))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_percent_and_the_mean_is_exact() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for nanos in 1..=1_000_000u64 {
            histogram.record(Span::from_nanos(nanos));
        }
        for q in [0.0001, 0.01, 0.5, 0.95, 0.99, 1.0] {
            let (found, exact) = (histogram.quantile(q).unwrap().as_nanos() as f64, q * 1e6);
            assert!((found / exact - 1.0).abs() < 0.01, "{q}: {found}");
        }
        assert_eq!(histogram.mean(), Some(Span::from_nanos(500_000)));
        assert_eq!((histogram.max(), histogram.count()), (Span::from_nanos(1_000_000), 1_000_000));
        histogram.clear();
        assert_eq!((histogram.count(), histogram.mean()), (0, None));
    }
}
