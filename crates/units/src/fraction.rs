//! [`Fraction`]: a share from zero to one, typed as "2.5%" or "0.025".

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
    /// The share zero.
    pub const ZERO: Self = Self(0.0);
    /// The share one.
    pub const ONE: Self = Self(1.0);

    /// Makes the share `value`. Returns `None` outside [0, 1] and for NaN.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the share as a number in [0, 1].
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Fraction {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let quantity = split_quantity(text, ACCEPTED)?;
        let places = match quantity.unit {
            "" => 0,
            "%" => 2,
            _ => return Err(quantity.unknown_unit(ACCEPTED)),
        };
        // "70%" must give the same number as "0.7"; 70 * 0.01 does not.
        let value = quantity.shifted(places);
        Self::new(value).ok_or_else(|| {
            let percent = places == 0 && value <= 100.0;
            let help = percent.then(|| format!("write {}%", text.trim()));
            TextError { help, ..quantity.out_of_range(ACCEPTED) }
        })
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
        // Prints the fewest digits that name this number and no other: d.ddde-x, with the point moved right by two
        // places.
        let scientific = format!("{:e}", self.0);
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let digits = digits.replace('.', "");
        let whole = exponent.parse::<isize>().unwrap_or(0) + 3;
        let percent = match usize::try_from(whole) {
            Ok(0) | Err(_) => format!("0.{}{digits}", "0".repeat(whole.unsigned_abs())),
            Ok(whole) if whole < digits.len() => format!("{}.{}", &digits[..whole], &digits[whole..]),
            Ok(whole) => format!("{digits:0<whole$}"),
        };
        // Zero is written directly, because its exponent form is 0e0.
        f.pad(&format!("{}%", if self.0 == 0.0 { "0" } else { &percent }))
    }
}
