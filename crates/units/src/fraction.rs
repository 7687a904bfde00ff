//! [`Fraction`]: a share between nothing and all, typed as "2.5%" or "0.025".

use crate::text::{TextError, split_quantity};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A share in [0, 1]: a loss probability, a utilization.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fraction(f64);

const ACCEPTED: &str = "a share from 0 to 1, such as \"0.5%\" or \"0.005\"";

impl Fraction {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// All.
    pub const ONE: Self = Self(1.0);

    /// The share `value`, or `None` outside [0, 1] and for NaN.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The share as a number in [0, 1].
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Fraction {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let quantity = split_quantity(text, ACCEPTED)?;
        let scale = match quantity.unit {
            "" => 1.0,
            "%" => 0.01,
            _ => return Err(quantity.unknown_unit(ACCEPTED)),
        };
        Self::new(quantity.value() * scale).ok_or_else(|| quantity.out_of_range(ACCEPTED))
    }
}
impl TryFrom<String> for Fraction {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}
impl From<Fraction> for String {
    fn from(fraction: Fraction) -> Self {
        fraction.to_string()
    }
}
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Twelve digits hide the binary rounding of a product such as 0.07 * 100.
        let percent = (self.0 * 100.0 * 1e12).round() / 1e12;
        write!(f, "{percent}%")
    }
}
