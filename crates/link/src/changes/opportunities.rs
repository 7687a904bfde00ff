//! Opportunities to deliver a packet, by the millisecond, as mahimahi's traces list them.

use super::size_of_slice;
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// Opportunities at one millisecond, some milliseconds after the entry before. A long gap or a great number takes
/// several entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    pub(crate) gap: u16,
    pub(crate) count: u16,
}

/// The opportunities of a link to deliver packets. They repeat, with the time of the last one as the period.
///
/// Each opportunity carries 1504 bytes, and each packet takes its own length and 4 bytes more. These 4 bytes are the
/// header of mahimahi's device, which its link counts. So one opportunity carries one packet of 1500 bytes.
///
/// ```
/// use tightlink_link::changes::Opportunities;
/// let mut opportunities = Opportunities::default();
/// for ms in [0, 2, 2, 10] {
///     opportunities.push(ms).unwrap();
/// }
/// let opportunities = opportunities.finish(true).unwrap();
/// assert_eq!(opportunities.count(), 4);
/// assert_eq!(opportunities.mean_rate(), units::Rate::from_bps(4_800_000));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Opportunities {
    entries: Vec<Entry>,
    /// The time of the last opportunity, in milliseconds.
    last: u64,
    count: u64,
    repeat: bool,
}

/// The reason why times are not a trace of opportunities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpportunitiesError {
    /// A time is before the one that precedes it, which is given.
    Descends {
        /// The time before, in milliseconds.
        before: u64,
    },
    /// The first time, or the gap before a time, is longer than a trace may be: 10 years.
    Distant,
    /// There are no times.
    Empty,
    /// The last time is zero, so that the trace has no length.
    NoLength,
}

impl Opportunities {
    /// The bytes that one opportunity carries.
    pub const CARRIES: u64 = 1504;
    /// The bytes that a packet takes beyond its own length.
    pub const HEADER: u64 = 4;
    /// The longest time of an opportunity, in milliseconds: ten years.
    const LONGEST: u64 = 10 * 365 * 86_400_000;

    /// Adds an opportunity at this time, in milliseconds.
    ///
    /// # Errors
    /// If the time is before the last one, or too late.
    pub fn push(&mut self, at: u64) -> Result<(), OpportunitiesError> {
        let Some(gap) = at.checked_sub(self.last) else {
            return Err(OpportunitiesError::Descends { before: self.last });
        };
        if at > Self::LONGEST {
            return Err(OpportunitiesError::Distant);
        }
        match self.entries.last_mut() {
            Some(entry) if gap == 0 && entry.count < u16::MAX => entry.count += 1,
            _ => {
                let mut left = gap;
                while left > u64::from(u16::MAX) {
                    self.entries.push(Entry { gap: u16::MAX, count: 0 });
                    left -= u64::from(u16::MAX);
                }
                self.entries.push(Entry { gap: left as u16, count: 1 });
            }
        }
        self.last = at;
        self.count += 1;
        Ok(())
    }

    /// Closes the list. If it does not `repeat`, the link carries nothing after the last opportunity.
    ///
    /// # Errors
    /// If there are no opportunities, or all of them are at time zero.
    pub fn finish(mut self, repeat: bool) -> Result<Self, OpportunitiesError> {
        if self.count == 0 {
            return Err(OpportunitiesError::Empty);
        }
        if self.last == 0 {
            return Err(OpportunitiesError::NoLength);
        }
        self.entries.shrink_to_fit();
        Ok(Self { repeat, ..self })
    }

    /// Returns the number of opportunities in one period.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the time of the last opportunity, after which they repeat.
    #[must_use]
    pub const fn period(&self) -> Span {
        Span::from_millis(self.last)
    }

    /// Returns true if the opportunities repeat.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        self.repeat
    }

    /// Returns the mean rate of packets of 1500 bytes.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        let bits = (Self::CARRIES - Self::HEADER) * 8 * self.count;
        Rate::from_bps_f64(bits as f64 * 1e3 / self.last.max(1) as f64)
    }

    /// Returns the entry with this index, if there is one.
    pub(crate) fn entry(&self, index: usize) -> Option<Entry> {
        self.entries.get(index).copied()
    }

    /// Returns the memory that the opportunities take.
    #[must_use]
    pub fn held(&self) -> Bytes {
        size_of_slice(&self.entries)
    }
}
