//! A histogram of durations with a relative resolution of under 1 %, in constant memory.

use crate::buckets::Buckets;
use units::Span;

/// The number of durations that are kept one by one, in two bytes each. Runs with very many flows have few durations of
/// each, and an octave of counts takes a kilobyte.
const FEW: usize = 64;

/// Counts of durations in log-linear buckets at most 1/128 of their values wide, with the exact mean and maximum. The
/// buckets are coarse, so that every flow can have its own histogram.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The numbers of the first durations' buckets, in the order in which they came.
    few: Option<Box<[u16; FEW]>>,
    /// All counts, once there are more than [`FEW`].
    counts: Option<Box<Buckets<128>>>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: Span) {
        let nanos = duration.as_nanos();
        if let Some(counts) = &mut self.counts {
            counts.add(nanos, 1);
        } else {
            self.record_few(nanos);
        }
        self.count += 1;
        self.sum += u128::from(nanos);
        self.max = self.max.max(nanos);
    }

    #[inline(never)]
    fn record_few(&mut self, nanos: u64) {
        let few = self.few.get_or_insert_with(|| Box::new([0; FEW]));
        if let Some(place) = few.get_mut(self.count as usize) {
            *place = Buckets::<128>::number(nanos);
        } else {
            self.record_more(nanos);
        }
    }

    /// Turns the first durations into counts, and adds one more.
    #[cold]
    fn record_more(&mut self, nanos: u64) {
        let mut counts = Box::<Buckets<128>>::default();
        for number in self.few.take().into_iter().flat_map(|few| *few) {
            counts.add(Buckets::<128>::numbered(number).middle().as_nanos(), 1);
        }
        counts.add(nanos, 1);
        self.counts = Some(counts);
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
        let bucket = if let Some(counts) = &self.counts {
            counts.reach(rank)?.0
        } else {
            let mut few = *self.few.clone()?;
            let few = &mut few[..self.count as usize];
            few.sort_unstable();
            Buckets::<128>::numbered(few[rank as usize - 1])
        };
        Some(bucket.middle().min(self.max()))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the place to which the next duration goes, as long as durations are kept one by one. A run with many
    /// flows loads it early.
    #[must_use]
    #[inline]
    pub fn next_place(&self) -> Option<&u16> {
        self.few.as_ref()?.get(self.count as usize)
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
    #[test]
    fn few_durations_have_the_quantiles_of_the_same_durations_many_times() {
        let (mut few, mut many) = (Histogram::default(), Histogram::default());
        let durations = (0..FEW as u64).map(|number| Span::from_nanos(3 + number * number * 7919));
        for duration in durations {
            few.record(duration);
            (0..5).for_each(|_| many.record(duration));
        }
        assert!(few.counts.is_none() && many.counts.is_some());
        for q in [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0] {
            assert_eq!(few.quantile(q), many.quantile(q), "{q}");
        }
        assert_eq!((few.mean(), few.max()), (many.mean(), many.max()));
    }
}
