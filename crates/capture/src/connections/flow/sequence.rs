//! Sequence numbers without wrap, and sets of them.

use std::collections::VecDeque;

/// The origin of unwrapped numbers, far enough from zero that no sequence of packets gets below it.
const ORIGIN: u64 = 1 << 48;
/// The most ranges of a set. A receiver that has more holes than this is not helped by exact accounts of them.
const MOST_RANGES: usize = 256;

/// Returns the unwrapped form of the first sequence number of a connection.
pub(super) const fn first(sequence: u32) -> u64 {
    ORIGIN + sequence as u64
}

/// Returns the unwrapped form of `sequence` that is nearest to `reference`.
pub(super) const fn unwrapped(reference: u64, sequence: u32) -> u64 {
    reference.saturating_add_signed(sequence.wrapping_sub(reference as u32) as i32 as i64)
}

/// Returns true if a time stamp is before another one (RFC 7323, 5.2).
pub(super) const fn stamped_before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

/// A set of sequence numbers: ranges in order, which do not touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: VecDeque<(u64, u64)>,
    total: u64,
}

impl Ranges {
    /// Returns the count of numbers.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the end of the last range.
    pub(super) fn end(&self) -> Option<u64> {
        self.ranges.back().map(|&(_, end)| end)
    }

    /// Adds a range, unless the set has too many. Returns the count of numbers that are new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let first = self.ranges.partition_point(|&(_, other)| other < start);
        let after = self.ranges.partition_point(|&(other, _)| other <= end);
        if first == after {
            if self.ranges.len() == MOST_RANGES {
                return 0;
            }
            self.ranges.insert(first, (start, end));
            self.total += end - start;
            return end - start;
        }
        let joined = (self.ranges[first].0.min(start), self.ranges[after - 1].1.max(end));
        let had: u64 = self.ranges.range(first..after).map(|&(start, end)| end - start).sum();
        self.ranges.drain(first + 1..after);
        self.ranges[first] = joined;
        let new = joined.1 - joined.0 - had;
        self.total += new;
        new
    }

    /// Removes all numbers below `limit`. Returns their count.
    pub(super) fn remove_below(&mut self, limit: u64) -> u64 {
        let mut removed = 0;
        while let Some(first) = self.ranges.front_mut() {
            if first.1 <= limit {
                removed += first.1 - first.0;
                self.ranges.pop_front();
            } else {
                removed += limit.saturating_sub(first.0);
                first.0 = first.0.max(limit);
                break;
            }
        }
        self.total -= removed;
        removed
    }

    /// Returns true if all of a range is in the set.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        let at = self.ranges.partition_point(|&(_, other)| other < end);
        self.ranges.get(at).is_some_and(|range| range.0 <= start)
    }

    /// Removes all numbers.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
    }
}
