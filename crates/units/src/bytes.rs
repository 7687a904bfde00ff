//! [`Bytes`]: an amount of data.

use crate::text::{self, TextError, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

/// An amount of data in whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(u64);

const UNITS: &[Unit] = &[
    Unit::new("B", 1),
    Unit::new("kB", 1_000),
    Unit::alias("KB", 1_000),
    Unit::new("MB", 1_000_000),
    Unit::new("GB", 1_000_000_000),
    Unit::new("TB", 1_000_000_000_000),
    Unit::alias("KiB", 1 << 10),
    Unit::alias("MiB", 1 << 20),
    Unit::alias("GiB", 1 << 30),
];
const ACCEPTED: &str =
    "a size such as \"1500B\", \"400kB\" or \"64KiB\" (units: B, kB, MB, GB, TB, KiB, MiB, GiB)";

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);
    /// The largest amount, which means "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// Makes an amount of `count` bytes.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the amount as messages for people show it: `1.31 GB`.
    #[must_use]
    pub fn rounded(self) -> String {
        text::rounded(self.0, UNITS)
    }

    /// Returns the number of bits as formulas need it.
    #[must_use]
    pub fn bits_f64(self) -> f64 {
        self.0 as f64 * 8.0
    }

    /// Returns this amount less `other`; zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this amount times a real factor, rounded to the nearest byte.
    #[must_use]
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(crate::rounded(self.0 as f64 * factor))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Sub for Bytes {
    type Output = Self;
    /// # Panics
    /// In debug builds, if `other` is larger; see [`Bytes::saturating_sub`].
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}
impl Div<u64> for Bytes {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}
/// Division gives the number of whole times that `other` fits.
impl Div for Bytes {
    type Output = u64;
    fn div(self, other: Self) -> u64 {
        self.0 / other.0
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Bytes {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        text::parse(text, UNITS, ACCEPTED).map(Self)
    }
}
impl TryFrom<String> for Bytes {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}
impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.to_string()
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::print(f, self.0, UNITS)
    }
}
