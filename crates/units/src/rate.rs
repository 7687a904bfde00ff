//! [`Rate`]: bits per second, and exact conversions between time and bytes.

use crate::text::{self, TextError, Unit};
use crate::{Bytes, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(u64);

const UNITS: &[Unit] = &[
    Unit::new("bit/s", 1),
    Unit::new("kbit/s", 1_000),
    Unit::new("Mbit/s", 1_000_000),
    Unit::new("Gbit/s", 1_000_000_000),
    Unit::new("Tbit/s", 1_000_000_000_000),
    Unit::alias("k", 1_000),
    Unit::alias("K", 1_000),
    Unit::alias("M", 1_000_000),
    Unit::alias("G", 1_000_000_000),
    Unit::alias("T", 1_000_000_000_000),
    Unit::alias("bit", 1),
    Unit::alias("kbit", 1_000),
    Unit::alias("Kbit", 1_000),
    Unit::alias("mbit", 1_000_000),
    Unit::alias("Mbit", 1_000_000),
    Unit::alias("gbit", 1_000_000_000),
    Unit::alias("Gbit", 1_000_000_000),
    Unit::alias("Tbit", 1_000_000_000_000),
    Unit::alias("bps", 1),
    Unit::alias("kbps", 1_000),
    Unit::alias("Mbps", 1_000_000),
    Unit::alias("Gbps", 1_000_000_000),
    Unit::alias("b/s", 1),
    Unit::alias("kb/s", 1_000),
    Unit::alias("Mb/s", 1_000_000),
    Unit::alias("Gb/s", 1_000_000_000),
];
const ACCEPTED: &str = "a rate such as \"100Mbit/s\" or \"1Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s; M, mbit, Mbit, Mbps and Mb/s also read)";

const NANOS_PER_SEC: u128 = 1_000_000_000;

impl Rate {
    /// The rate at which nothing moves.
    pub const ZERO: Self = Self(0);

    /// Makes a rate of `bits` bits per second.
    #[must_use]
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// Makes a rate of `bits` bits per second, rounded; negative numbers and NaN become zero.
    #[must_use]
    #[inline]
    pub fn from_bps_f64(bits: f64) -> Self {
        Self(crate::rounded(bits))
    }

    /// Returns the rate that moves `amount` in `span`; zero if the span is zero.
    #[must_use]
    #[inline]
    pub fn of(amount: Bytes, span: Span) -> Self {
        if span == Span::ZERO {
            return Self::ZERO;
        }
        // Up to 2.3 GB, one division of machine words is enough.
        if let Some(scaled) = amount.get().checked_mul(8 * NANOS_PER_SEC as u64) {
            return Self(scaled / span.as_nanos());
        }
        let bits = u128::from(amount.get()) * 8 * NANOS_PER_SEC / u128::from(span.as_nanos());
        Self(bits.min(u128::from(u64::MAX)) as u64)
    }

    /// Returns the bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the rate as messages for people show it: `20.3 Mbit/s`.
    #[must_use]
    pub fn rounded(self) -> String {
        text::rounded(self.0, UNITS)
    }

    /// Returns the bits per second, for formulas.
    #[must_use]
    pub fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns the time that `amount` takes on the wire at this rate, rounded up to a nanosecond. A serializer that
    /// must stay exact over many packets carries the remainder itself (see the `link` room).
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    #[inline]
    pub fn serialization(self, amount: Bytes) -> Span {
        if let Some(scaled) = amount.get().checked_mul(8 * NANOS_PER_SEC as u64) {
            return Span::from_nanos(scaled.div_ceil(self.0));
        }
        let numerator = u128::from(amount.get()) * 8 * NANOS_PER_SEC;
        Span::from_nanos(numerator.div_ceil(u128::from(self.0)).min(u128::from(u64::MAX)) as u64)
    }

    /// Returns the data that passes at this rate in `span`, in whole bytes, rounded down. If the span is a base RTT,
    /// this is the bandwidth-delay product.
    #[must_use]
    #[inline]
    pub fn volume(self, span: Span) -> Bytes {
        if let Some(scaled) = self.0.checked_mul(span.as_nanos()) {
            return Bytes::new(scaled / (8 * NANOS_PER_SEC as u64));
        }
        let bytes = u128::from(self.0) * u128::from(span.as_nanos()) / (8 * NANOS_PER_SEC);
        Bytes::new(bytes.min(u128::from(u64::MAX)) as u64)
    }

    /// Returns this rate less `other`; zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this rate times a real factor, rounded.
    #[must_use]
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(crate::rounded(self.0 as f64 * factor))
    }
}

impl Add for Rate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl Sub for Rate {
    type Output = Self;
    /// # Panics
    /// In debug builds, if `other` is larger; see [`Rate::saturating_sub`].
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// Explains which rate a size per second stands for: "12MB/s" differs from "12Mb/s" by one letter and is eight times as
/// much.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let bytes: Bytes = text.strip_suffix("/s").or_else(|| text.strip_suffix("ps"))?.parse().ok()?;
    let rate = Rate::from_bps(bytes.get().checked_mul(8)?);
    Some(format!("rates are in bits: {text} is \"{rate}\""))
}

impl FromStr for Rate {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let read = text::parse(text, UNITS, ACCEPTED).map(Self);
        read.map_err(|error| TextError { help: meant(text), ..error })
    }
}
impl TryFrom<String> for Rate {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}
impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::print(f, self.0, UNITS)
    }
}
