//! [`Interval::joined`]: two intervals as one, so that an observer of many connections needs little memory.

use super::evidence::{Interval, KernelClocks};
use units::{Bytes, Span};

impl Interval {
    /// Returns this interval and `next`, which follows it, as one. Sums add up, means are weighted by the lengths, and
    /// samples of the end are those of `next`. Time between both belongs to neither.
    #[must_use]
    pub fn joined(self, next: Self) -> Self {
        let (first, second) = (self.length.as_secs_f64(), next.length.as_secs_f64());
        let weight = second / (first + second).max(1e-12);
        let bytes = |a: Bytes, b: Bytes| a.scale(1.0 - weight) + b.scale(weight);
        let spans = |a: Span, b: Span| a.scale(1.0 - weight) + b.scale(weight);
        Self {
            from: self.from,
            length: self.length + next.length,
            delivered: self.delivered + next.delivered,
            sent: both(self.sent, next.sent, |a, b| a + b),
            flight: both(self.flight, next.flight, bytes),
            peak_flight: both(self.peak_flight, next.peak_flight, Bytes::max),
            receive_window: next.receive_window.or(self.receive_window),
            least_window: both(self.least_window, next.least_window, Bytes::min),
            congestion_window: next.congestion_window.or(self.congestion_window),
            unsent: next.unsent.or(self.unsent),
            buffer_full: next.buffer_full.or(self.buffer_full),
            unread: next.unread.or(self.unread),
            returned: both(self.returned, next.returned, |a, b| a + b),
            segments: both(self.segments, next.segments, |a, b| a + b),
            round_trip: both(self.round_trip, next.round_trip, spans),
            idle: self.idle + next.idle,
            kernel: both(self.kernel, next.kernel, |a, b| KernelClocks {
                busy: a.busy + b.busy,
                window_limited: a.window_limited + b.window_limited,
                buffer_limited: a.buffer_limited + b.buffer_limited,
            }),
            retransmitted: self.retransmitted + next.retransmitted,
            out_of_order: self.out_of_order + next.out_of_order,
            marked: self.marked + next.marked,
            ran_dry: next.ran_dry,
        }
    }
}

/// Returns `of` both values, or the one that is known.
fn both<T>(a: Option<T>, b: Option<T>, of: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(of(a, b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn sums_add_up_and_means_are_weighted_by_the_lengths() {
        let first = Interval {
            length: Span::from_millis(30),
            delivered: Bytes::new(100),
            flight: Some(Bytes::new(1000)),
            least_window: Some(Bytes::new(9)),
            retransmitted: 1,
            ..Interval::default()
        };
        let second = Interval {
            from: Time::ZERO + Span::from_millis(30),
            length: Span::from_millis(10),
            delivered: Bytes::new(50),
            flight: Some(Bytes::new(2000)),
            least_window: Some(Bytes::new(7)),
            round_trip: Some(Span::from_millis(5)),
            retransmitted: 2,
            ..Interval::default()
        };
        let joined = first.joined(second);
        assert_eq!((joined.from, joined.length), (Time::ZERO, Span::from_millis(40)));
        assert_eq!((joined.delivered, joined.retransmitted), (Bytes::new(150), 3));
        assert_eq!((joined.flight, joined.least_window), (Some(Bytes::new(1250)), Some(Bytes::new(7))));
        assert_eq!(joined.round_trip, Some(Span::from_millis(5)), "the one that is known");
    }
}
