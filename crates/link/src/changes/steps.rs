//! A quantity that changes in steps, and may repeat.

use super::size_of_slice;
use serde::Serialize;
use std::sync::Arc;
use units::{Bytes, Span, Time};

/// The values of a quantity that changes in steps. Each value holds from its time until the next value's, the last one
/// until the end of the period or for ever.
///
/// ```
/// use tightlink_link::changes::Steps;
/// use units::{Rate, Span};
/// let secs = Span::from_secs;
/// let rates = Steps::new(vec![(secs(0), 20), (secs(10), 5)], Some(secs(20))).unwrap();
/// assert_eq!(rates.mean(|rate| f64::from(*rate)), 12.5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps<T> {
    values: Box<[(Span, T)]>,
    period: Option<Span>,
}

/// The reason why a list is not a list of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsError {
    /// The list has no values.
    Empty,
    /// The first value has a time after zero.
    LateStart,
    /// The time of the value with this index is not after the one before.
    NotRising(usize),
    /// The period ends before the value with this index begins.
    BeyondPeriod(usize),
}

impl<T: Copy> Steps<T> {
    /// Creates the steps, which repeat after `period` if there is one.
    ///
    /// # Errors
    /// If the list is empty, does not begin at zero, does not rise, or goes beyond the period.
    pub fn new(values: Vec<(Span, T)>, period: Option<Span>) -> Result<Self, StepsError> {
        let Some((first, _)) = values.first() else { return Err(StepsError::Empty) };
        if *first > Span::ZERO {
            return Err(StepsError::LateStart);
        }
        if let Some(place) = values.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            return Err(StepsError::NotRising(place + 1));
        }
        if let Some(period) = period
            && let Some(place) = values.iter().position(|(at, _)| *at >= period)
        {
            return Err(StepsError::BeyondPeriod(place));
        }
        Ok(Self { values: values.into(), period })
    }

    /// Returns the time after which the values repeat, if they do.
    #[must_use]
    pub const fn period(&self) -> Option<Span> {
        self.period
    }

    /// Returns the values in order.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.values.iter().map(|(_, value)| *value)
    }

    /// Returns the time from which the last value holds.
    #[must_use]
    pub fn last_begins(&self) -> Span {
        self.values.last().map_or(Span::ZERO, |(at, _)| *at)
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns false: there is at least one value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the mean over time of `number` of the values: over the period, or over the time up to the last value. A
    /// single value that does not repeat is its own mean.
    pub fn mean(&self, number: impl Fn(&T) -> f64) -> f64 {
        self.mean_until(None, number)
    }

    /// Returns the same mean, but over the time up to `end` for values that do not repeat, if the end is known.
    pub fn mean_until(&self, end: Option<Span>, number: impl Fn(&T) -> f64) -> f64 {
        let end = self.period.or(end).unwrap_or(self.last_begins());
        if end == Span::ZERO {
            return self.values.first().map_or(0.0, |(_, value)| number(value));
        }
        let ends = self.values.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let held = |at: Span, until: Span| until.min(end).saturating_sub(at).as_secs_f64();
        let weighted =
            self.values.iter().zip(ends).map(|((at, value), until)| number(value) * held(*at, until));
        weighted.sum::<f64>() / end.as_secs_f64()
    }

    /// Returns the same steps with each value changed by `change`.
    #[must_use]
    pub fn map<U: Copy>(&self, change: impl Fn(T) -> U) -> Steps<U> {
        let values = self.values.iter().map(|(at, value)| (*at, change(*value))).collect();
        Steps { values, period: self.period }
    }

    /// Returns the memory that the values take.
    #[must_use]
    pub fn held(&self) -> Bytes {
        size_of_slice(&self.values)
    }
}

/// A place in steps, which only moves on.
#[derive(Clone, Debug)]
pub(crate) struct Walk<T> {
    steps: Arc<Steps<T>>,
    base: Time,
    index: usize,
    ends: Time,
}

impl<T: Copy> Walk<T> {
    /// Creates the place at the beginning of the steps, which count from `origin`.
    pub(crate) fn new(steps: Arc<Steps<T>>, origin: Time) -> Self {
        let ends = end_of(&steps, origin, 0);
        Self { steps, base: origin, index: 0, ends }
    }

    /// Returns the value at `now`, which must not be earlier than that of the last call.
    pub(crate) fn at(&mut self, now: Time) -> T {
        while self.ends <= now && self.ends != Time::NEVER {
            self.advance();
        }
        self.value()
    }

    /// Returns the value at hand.
    pub(crate) fn value(&self) -> T {
        self.steps.values[self.index].1
    }

    /// Returns the time at which the value at hand ends.
    pub(crate) const fn ends(&self) -> Time {
        self.ends
    }

    /// Moves on to the next value, if there is one.
    pub(crate) fn advance(&mut self) {
        if self.ends == Time::NEVER {
            return;
        }
        self.index += 1;
        if self.index == self.steps.len() {
            (self.base, self.index) = (self.ends, 0);
        }
        self.ends = end_of(&self.steps, self.base, self.index);
    }
}

/// Returns the end of the value with this index in the period that begins at `base`.
fn end_of<T>(steps: &Steps<T>, base: Time, index: usize) -> Time {
    match (steps.values.get(index + 1), steps.period) {
        (Some((next, _)), _) => base + *next,
        (None, Some(period)) => base + period,
        (None, None) => Time::NEVER,
    }
}
