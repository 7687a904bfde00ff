//! The distribution of the queue's length over time, exact.

use units::{Span, Time};

/// Time spent with each number of packets waiting. Its memory grows with the longest queue seen, but stays below that
/// of the packets in such a queue.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    /// Nanoseconds by packets waiting.
    nanos: Vec<u64>,
    /// The time up to which it is known.
    until: Time,
}

impl Occupancy {
    /// Counts `packets` as waiting from the last call to `now`.
    #[inline]
    pub(crate) fn held(&mut self, packets: u64, now: Time) {
        let span = now.since(self.until).as_nanos();
        self.until = now;
        if let Some(nanos) = self.nanos.get_mut(packets as usize) {
            *nanos += span;
        } else {
            self.grow(packets as usize, span);
        }
    }

    #[cold]
    fn grow(&mut self, packets: usize, span: u64) {
        self.nanos.resize((packets + 1).next_power_of_two().max(64), 0);
        self.nanos[packets] += span;
    }

    /// Forgets everything before `now`.
    pub(crate) fn begin(&mut self, now: Time) {
        self.nanos.fill(0);
        self.until = now;
    }

    /// Returns the time up to which it is known.
    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Returns the integral of waiting packets over time, in nanoseconds.
    #[must_use]
    pub fn packet_nanos(&self) -> u128 {
        (0u128..).zip(&self.nanos).map(|(packets, nanos)| packets * u128::from(*nanos)).sum()
    }

    /// Returns the observed time.
    #[must_use]
    pub fn total(&self) -> Span {
        Span::from_nanos(self.nanos.iter().sum())
    }

    /// Returns the time with `packets` waiting.
    #[must_use]
    pub fn time(&self, packets: u64) -> Span {
        Span::from_nanos(self.nanos.get(packets as usize).copied().unwrap_or(0))
    }

    /// Returns the length of the longest queue that lasted for more than an instant.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.nanos.iter().rposition(|nanos| *nanos > 0).unwrap_or(0) as u64
    }

    /// Returns the time average of packets waiting; `None` if no time was observed.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total().as_nanos();
        (total > 0).then(|| self.packet_nanos() as f64 / total as f64)
    }

    /// Returns the least length that the queue does not exceed during the share `q` of the time; `None` if no time was
    /// observed.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let total = self.total().as_nanos();
        let wanted = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        let at = self.nanos.iter().position(|nanos| {
            seen += nanos;
            seen >= wanted
        });
        at.map(|packets| packets as u64)
    }

    /// Returns the shares of the time with no packet waiting, with one, and so on up to the longest queue.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let total = self.total().as_nanos();
        if total == 0 {
            return Vec::new();
        }
        self.nanos[..=self.max() as usize].iter().map(|nanos| *nanos as f64 / total as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn every_length_weighs_by_the_time_it_lasted() {
        let mut occupancy = Occupancy::default();
        assert_eq!((occupancy.mean(), occupancy.quantile(0.5), occupancy.max()), (None, None, 0));
        occupancy.held(0, at(50));
        occupancy.held(1, at(80));
        occupancy.held(200, at(95));
        occupancy.held(1, at(100));
        assert_eq!(occupancy.total(), Span::from_nanos(100));
        assert_eq!(occupancy.time(1), Span::from_nanos(35));
        assert_eq!(occupancy.mean(), Some(30.35));
        let quantiles = [0.0, 0.5, 0.51, 0.85, 0.86, 1.0].map(|q| occupancy.quantile(q).unwrap());
        assert_eq!(quantiles, [0, 0, 1, 1, 200, 200]);
        let shares = occupancy.shares();
        assert_eq!((shares.len(), shares[0], shares[200]), (201, 0.5, 0.15));
        occupancy.begin(at(100));
        occupancy.held(3, at(107));
        assert_eq!((occupancy.total(), occupancy.max()), (Span::from_nanos(7), 3));
    }

    #[test]
    fn a_length_that_lasted_no_time_does_not_count() {
        let mut occupancy = Occupancy::default();
        occupancy.held(2, at(10));
        occupancy.held(90, at(10));
        assert_eq!((occupancy.max(), occupancy.quantile(1.0)), (2, Some(2)));
    }
}
