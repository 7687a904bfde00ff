//! The distribution of the queueing delay over time.
//!
//! The queueing delay at an instant is the wait of the packet that is being sent, from its arrival to the start of its
//! transmission. While the link is idle it is zero. So each packet's wait weighs by its transmission time. Of the
//! possible weightings by time this one
//! - holds for every queue policy, in any order of service and with any drops, because it counts sent packets. The
//!   delay that an arrival *would* meet is known only for first-in, first-out queues;
//! - has as its mean the mean backlog over the rate (Little's law), if the waiting packets were sent. That is the
//!   queueing delay of a fluid, and of a model;
//! - costs no more per simulated packet than counting it.

use crate::buckets::Buckets;
use units::Span;

/// Time spent at each queueing delay, in log-linear buckets, and the exact mean and maximum.
///
/// Delays up to 1024 ns are kept exactly, a longer one in a bucket at most 1/1024 of it wide.
#[derive(Clone, Debug, Default)]
pub struct QueueingDelay {
    /// Nanoseconds by delay.
    nanos: Buckets<1024>,
    /// Integral of the delay over time, ns^2.
    integral: u128,
    max: u64,
}

impl QueueingDelay {
    /// Adds the time `sent` for which a packet that had waited for `wait` was being sent, or, with a `wait` of zero,
    /// nothing was.
    #[inline]
    pub fn held(&mut self, wait: Span, sent: Span) {
        let (wait, sent) = (wait.as_nanos(), sent.as_nanos());
        self.nanos.add(wait, sent);
        self.integral += u128::from(wait) * u128::from(sent);
        self.max = self.max.max(wait);
    }

    /// Returns the observed time.
    #[must_use]
    pub fn total(&self) -> Span {
        Span::from_nanos(self.nanos.total())
    }

    /// Returns the time average, to the nanosecond; `None` if no time was observed.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        let total = u128::from(self.nanos.total());
        (total > 0).then(|| Span::from_nanos(((self.integral + total / 2) / total) as u64))
    }

    /// Returns the longest wait of a packet that was sent.
    #[must_use]
    pub fn max(&self) -> Span {
        Span::from_nanos(self.max)
    }

    /// Returns the least delay that is not exceeded during the share `q` of the time, interpolated within its bucket.
    /// It is right to within 0.1 %, and to the nanosecond up to 1 us. Returns `None` if no time was observed.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Span> {
        let total = self.nanos.total();
        let wanted = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
        let (bucket, share) = self.nanos.reach(wanted)?;
        Some(bucket.at(share).min(self.max()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(nanos: u64) -> Span {
        Span::from_nanos(nanos)
    }

    #[test]
    fn every_delay_weighs_by_the_time_it_lasted() {
        let mut delay = QueueingDelay::default();
        assert_eq!((delay.mean(), delay.quantile(0.5), delay.max()), (None, None, Span::ZERO));
        delay.held(Span::ZERO, span(50));
        delay.held(span(900), span(15));
        delay.held(span(10), span(30));
        delay.held(span(20), span(5));
        assert_eq!(delay.total(), span(100));
        assert_eq!((delay.mean(), delay.max()), (Some(span(139)), span(900)));
        let quantiles = [0.0, 0.5, 0.51, 0.8, 0.81, 0.85, 0.86, 1.0].map(|q| delay.quantile(q).unwrap());
        assert_eq!(quantiles.map(Span::as_nanos), [0, 0, 10, 10, 20, 20, 900, 900]);
    }

    #[test]
    fn quantiles_of_a_smooth_distribution_are_closer_than_a_bucket() {
        let mut delay = QueueingDelay::default();
        for nanos in 1..=1_000_000u64 {
            delay.held(span(nanos), span(7));
        }
        for q in [0.0001, 0.01, 0.5, 0.95, 0.99, 1.0] {
            let (found, exact) = (delay.quantile(q).unwrap().as_nanos() as f64, q * 1e6);
            assert!((found / exact - 1.0).abs() < 2e-4, "{q}: {found}");
        }
    }

    #[test]
    fn a_delay_that_always_was_the_same_is_found_to_within_a_tenth_of_a_percent() {
        for nanos in [1025, 1_000_003, 20_000_000, 7_654_321_987] {
            let mut delay = QueueingDelay::default();
            delay.held(span(nanos), span(1000));
            delay.held(span(2 * nanos), span(1));
            for q in [0.001, 0.3, 0.99] {
                let found = delay.quantile(q).unwrap().as_nanos() as f64;
                assert!((found / nanos as f64 - 1.0).abs() < 0.001, "{nanos} at {q}: {found}");
            }
        }
    }
}
