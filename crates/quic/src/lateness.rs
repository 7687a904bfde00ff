//! [`LatenessCounts`]: how late departures were, to a microsecond.

use live::Lateness;
use units::Span;

/// The latest departure that has a count of its own, in microseconds.
const MOST: usize = 10_000;

/// Counts of departures by their lateness.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatenessCounts {
    /// The departures with each lateness in whole microseconds; the last count has all later ones.
    counts: Vec<u64>,
    total: Span,
    count: u64,
    max: Span,
}

impl LatenessCounts {
    /// Counts a departure that was `late`.
    pub(crate) fn note(&mut self, late: Span) {
        if self.counts.is_empty() {
            self.counts = vec![0; MOST + 1];
        }
        let micros = usize::try_from(late.as_nanos() / 1000).unwrap_or(MOST).min(MOST);
        self.counts[micros] += 1;
        (self.count, self.total, self.max) = (self.count + 1, self.total + late, self.max.max(late));
    }

    /// Returns the statistics; `None` if no departure was timed.
    pub(crate) fn summary(&self) -> Option<Lateness> {
        let mean = (self.count > 0).then(|| self.total / self.count)?;
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen * 100 >= self.count * 99
        });
        // The count of a microsecond covers times up to the next one.
        let p99 = Span::from_micros(place.unwrap_or(MOST) as u64 + 1).min(self.max);
        Some(Lateness { count: self.count, mean, p99, max: self.max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_late_departure_of_two_hundred_is_the_maximum_and_not_the_percentile() {
        let mut counts = LatenessCounts::default();
        assert_eq!(counts.summary(), None);
        (0..199).for_each(|_| counts.note(Span::from_micros(3)));
        counts.note(Span::from_millis(50));
        let summary = counts.summary().unwrap();
        assert_eq!(
            (summary.p99, summary.max, summary.count),
            (Span::from_micros(4), Span::from_millis(50), 200)
        );
        assert_eq!(summary.mean, Span::from_nanos((199 * 3_000 + 50_000_000) / 200));
    }
}
