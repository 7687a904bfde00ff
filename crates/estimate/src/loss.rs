//! Loss: gaps in sequence numbers, and counters that only rise.

use crate::Estimator;
use units::{Span, Time};

/// A late number still fills its gap if it is less than this far below the highest number seen.
const WITHIN: u64 = 64;

/// A counter of gaps in the sequence numbers of probes: a missing number was lost, unless it comes late [sobas:IV].
#[derive(Clone, Copy, Debug, Default)]
pub struct SequenceGaps {
    /// The number after the highest one seen.
    next: Option<u64>,
    received: u64,
    lost: u64,
    /// The arrivals of the numbers `next - 1`, `next - 2`, …, as bits from the lowest on.
    came: u64,
}

impl SequenceGaps {
    /// Makes a counter; numbers may begin anywhere.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `number`, which has arrived. Returns how many numbers before it are newly missing.
    pub fn count(&mut self, number: u64) -> u64 {
        let Some(next) = self.next else {
            (self.next, self.received, self.came) = (Some(number + 1), 1, 1);
            return 0;
        };
        if let Some(missing) = number.checked_sub(next) {
            self.next = Some(number + 1);
            self.received += 1;
            self.lost += missing;
            let shift = missing + 1;
            self.came = if shift < WITHIN { (self.came << shift) | 1 } else { 1 };
            return missing;
        }
        let back = next - 1 - number;
        if back < WITHIN && self.came & (1 << back) == 0 && self.lost > 0 {
            self.came |= 1 << back;
            self.received += 1;
            self.lost -= 1;
        }
        0
    }

    /// Returns the number of missing numbers.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

impl Estimator for SequenceGaps {
    /// A sequence number.
    type Sample = u64;
    /// The share of the numbers that were lost.
    type Estimate = f64;

    fn observe(&mut self, _at: Time, number: u64) {
        self.count(number);
    }

    fn estimate(&self) -> Option<f64> {
        let known = self.received + self.lost;
        (known > 0).then(|| self.lost as f64 / known as f64)
    }
}

/// Loss events, from counters that rise with losses: segments out of order or retransmissions, as `TCP_INFO` has them.
/// Many signs of one loss follow each other for a round trip, so they are one event, as for congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episodes {
    length: Span,
    began: Option<Time>,
    last: Option<Time>,
    count: u64,
}

impl Episodes {
    /// Makes a counter for which signs within `length` of the first belong to its event.
    #[must_use]
    pub fn new(length: Span) -> Self {
        Self { length, ..Self::default() }
    }

    /// Sets the length of events from now on.
    pub fn set_length(&mut self, length: Span) {
        self.length = length;
    }

    /// Takes a sign of loss at `at`. Returns true if it begins another event.
    pub fn sign(&mut self, at: Time) -> bool {
        let another = self.began.is_none_or(|began| at.since(began) > self.length);
        self.last = Some(at);
        if another {
            self.began = Some(at);
            self.count += 1;
        }
        another
    }

    /// Returns the number of events.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the time of the last sign.
    #[must_use]
    pub fn last(&self) -> Option<Time> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_losses_until_what_is_missing_comes() {
        let mut gaps = SequenceGaps::new();
        let missing: Vec<u64> =
            [7, 8, 10, 14, 11, 11, 8].into_iter().map(|number| gaps.count(number)).collect();
        assert_eq!(missing, [0, 0, 1, 3, 0, 0, 0]);
        // The numbers 9, 12 and 13 are missing from 7 to 14.
        assert_eq!((gaps.lost(), gaps.estimate()), (3, Some(3.0 / 8.0)));
    }

    #[test]
    fn a_repeat_never_fills_a_gap_and_a_long_gap_is_counted_whole() {
        let mut gaps = SequenceGaps::new();
        assert_eq!((gaps.count(0), gaps.count(1000), gaps.count(1000), gaps.count(0)), (0, 999, 0, 0));
        assert_eq!(gaps.lost(), 999);
    }

    #[test]
    fn signs_of_one_round_trip_are_one_event() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut episodes = Episodes::new(Span::from_millis(40));
        let events: Vec<bool> = [10, 20, 55, 90, 200].into_iter().map(|ms| episodes.sign(at(ms))).collect();
        assert_eq!(events, [true, false, true, false, true]);
        assert_eq!((episodes.count(), episodes.last()), (3, Some(at(200))));
    }
}
