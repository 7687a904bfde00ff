//! Time as whole nanoseconds: [`Time`] is an instant since the start of a run, [`Span`] a length.

use crate::text::{self, TextError, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

/// An instant: nanoseconds since the start of the run, up to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Time(u64);

/// A length of time in whole nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u64);

const UNITS: &[Unit] = &[
    Unit::new("ns", 1),
    Unit::new("us", 1_000),
    Unit::alias("µs", 1_000),
    Unit::new("ms", 1_000_000),
    Unit::new("s", 1_000_000_000),
    Unit::new("min", 60_000_000_000),
    Unit::new("h", 3_600_000_000_000),
];
const ACCEPTED: &str = "a time such as \"20ms\", \"1.5s\" or \"250us\" (units: ns, us, ms, s, min, h)";

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// An instant after every event: the value of a disarmed timer.
    pub const NEVER: Self = Self(u64::MAX);

    /// Makes the instant `nanos` nanoseconds after the start of the run.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the start of the run.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start of the run, for display and statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns the time passed since `earlier`; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Self = Self(0);
    /// The longest span, 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns true if the span is [`ZERO`](Self::ZERO).
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Makes a span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Makes a span of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Makes a span of `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Makes a span of `secs` whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Makes a span of `secs` seconds, rounded to the nearest nanosecond; negative numbers and NaN become zero.
    #[must_use]
    #[inline]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(crate::rounded(secs * 1e9))
    }

    /// Returns the length in whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the length in seconds, for formulas, display and statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns the length as messages for people show it: `245 ms`.
    #[must_use]
    pub fn rounded(self) -> String {
        text::rounded(self.0, &UNITS[..5])
    }

    /// Returns the length in milliseconds, for display and statistics.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns this span less `other`; zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this span less `other`, or `None` if `other` is longer.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// Returns this span times a real factor, rounded to the nearest nanosecond.
    #[must_use]
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(crate::rounded(self.0 as f64 * factor))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Self;
    /// Subtracts, but stops at the start of the run.
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}
impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Sub for Span {
    type Output = Self;
    /// # Panics
    /// In debug builds, if `other` is longer; see [`Span::saturating_sub`].
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}
impl Div<u64> for Span {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}
impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Span {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        text::parse(text, UNITS, ACCEPTED).map(Self)
    }
}
impl TryFrom<String> for Span {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}
impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Minutes and hours are accepted as input only, because seconds read better in results.
        text::print(f, self.0, &UNITS[..5])
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { Span(self.0).fmt(f) }
    }
}
