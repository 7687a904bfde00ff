//! The distribution of the queueing delay over time.
//!
//! The queueing delay at an instant is the wait of the packet that is being sent, from its arrival to the start of its
//! transmission. While the link is idle it is zero. So each packet's wait is weighted by its transmission time. This
//! weighting has three advantages over others. It
//! - holds for every queue policy, in any order of service and with any drops, because it counts sent packets. The
//!   delay that an arrival *would* meet is known only for first-in, first-out queues;
//! - has a mean that equals the mean backlog over the rate (Little's law), if all waiting packets are sent. That is the
//!   queueing delay of a fluid, and of a model;
//! - costs no more per simulated packet than a counter.

use crate::buckets::Buckets;
use units::Span;

/// Time spent at each queueing delay, in log-linear buckets, and the exact mean and maximum.
///
/// Delays up to 1024 ns are kept exactly. A longer one falls into a bucket whose width is at most 1/1024 of the delay.
#[derive(Clone, Debug, Default)]
pub struct QueueingDelay {
    /// Nanoseconds by delay.
    nanos: Buckets<1024>,
    /// Integral of the delay over time, ns^2.
    integral: u128,
    max: u64,
}

impl QueueingDelay {
    /// Adds the transmission time `sent` of a packet that had waited for `wait`. Idle time is added with a `wait` of
    /// zero.
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
