//! Quantities: texts with a unit, which `units` reads. A fault suggests the unit that was probably meant.

use super::ValueAt;
use crate::near;
use crate::tree::Value;
use crate::values::{Limit, Volume};
use units::{Bytes, Fraction, Rate, Span, TextError};

/// A value that is typed as a number with a unit.
pub(crate) trait TypedQuantity: Copy + PartialEq {
    /// The units that a fault can suggest, the commonest first.
    const UNITS: &'static [&'static str];
    /// Zero.
    const ZERO: Self;

    /// Reads the text.
    fn read(text: &str) -> Result<Self, TextError>;

    /// Returns help for a text with a unit that this quantity lacks but whose meaning is clear.
    fn explained(_text: &str) -> Option<String> {
        None
    }

    /// Returns help for a list or a table in place of the quantity.
    fn over_time(_value: &Value) -> Option<String> {
        None
    }
}

impl TypedQuantity for Span {
    const UNITS: &'static [&'static str] = &["ms", "s", "us", "ns", "min", "h"];
    const ZERO: Self = Self::ZERO;
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse()
    }
}

impl TypedQuantity for Bytes {
    const UNITS: &'static [&'static str] = &["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB"];
    const ZERO: Self = Self::ZERO;
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse()
    }
}

impl TypedQuantity for Rate {
    const UNITS: &'static [&'static str] =
        &["Mbit/s", "Gbit/s", "kbit/s", "bit/s", "Tbit/s", "Mbps", "Gbps", "kbps", "Mb/s", "Gb/s", "kb/s"];
    const ZERO: Self = Self::ZERO;
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse()
    }
    fn over_time(value: &Value) -> Option<String> {
        let meant = "only the rate of a link can change; other rates are one for the whole run";
        matches!(value, Value::List(_) | Value::Table(_)).then(|| meant.to_owned())
    }
}

impl TypedQuantity for Volume {
    const UNITS: &'static [&'static str] = &["packets", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB"];
    const ZERO: Self = Self::Packets(0);
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse()
    }
}

impl TypedQuantity for Limit {
    const UNITS: &'static [&'static str] =
        &["packets", "bdp", "kB", "MB", "GB", "B", "KiB", "MiB", "ms", "s", "us"];
    const ZERO: Self = Self::ZERO;
    fn read(text: &str) -> Result<Self, TextError> {
        text.parse()
    }
    fn explained(text: &str) -> Option<String> {
        let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
        Some(format!("a share of the bandwidth-delay product is written \"{} bdp\"", percent / 100.0))
    }
}

impl ValueAt<'_> {
    /// Reads a quantity; `bare` is the unit to suggest for a number that has none.
    pub(crate) fn quantity<T: TypedQuantity>(&self, bare: &str) -> Option<T> {
        let text = match &self.node.value {
            Value::String(text) => text,
            other => {
                let typed = match other {
                    Value::Integer(_) | Value::Float(_) => self.node.typed(),
                    _ => "",
                };
                let readable = Some(format!("{typed}{bare}")).filter(|text| T::read(text).is_ok());
                let accepted = T::read("").err().map_or_else(String::new, |error| error.accepted);
                let help = readable.map(|text| format!("write \"{text}\""));
                self.fault(self.node.described(), accepted, help.or_else(|| T::over_time(other)));
                return None;
            }
        };
        T::read(text).map_err(|error| self.fault_within(text, &error, help::<T>(text, &error, bare))).ok()
    }

    /// Reads a quantity above zero; `zero` says what a zero would mean.
    pub(crate) fn above_zero<T: TypedQuantity>(&self, bare: &str, zero: &str) -> Option<T> {
        let quantity = self.quantity(bare)?;
        if quantity == T::ZERO {
            let accepted = T::read("").err().map_or_else(String::new, |error| error.accepted);
            self.fault(zero, format!("{accepted}, above zero"), None);
            return None;
        }
        Some(quantity)
    }

    /// Reads a share above zero.
    pub(crate) fn share_above_zero(&self) -> Option<Fraction> {
        let share = self.fraction()?;
        if share == Fraction::ZERO {
            self.fault(
                "a share of zero: it would have no effect",
                "a share above 0, at most 1, such as 0.002",
                None,
            );
            return None;
        }
        Some(share)
    }

    /// Reads a size at a key that also accepts a word.
    pub(crate) fn sized(&self, accepted: &str) -> Option<Bytes> {
        match &self.node.value {
            // A text without a digit was probably meant as the word.
            Value::String(text) if !text.contains(|c: char| c.is_ascii_digit()) => {
                self.fault(format!("unknown {}", self.node.described()), accepted, None);
                None
            }
            Value::String(_) | Value::Integer(_) | Value::Float(_) => self.quantity("B"),
            _ => {
                self.fault(self.node.described(), accepted, None);
                None
            }
        }
    }

    /// Reads a share from 0 to 1, as a text or as a number.
    pub(crate) fn fraction(&self) -> Option<Fraction> {
        let accepted = "a share from 0 to 1, such as \"0.5%\" or 0.005";
        match &self.node.value {
            Value::String(text) => text
                .parse()
                .map_err(|error: TextError| self.fault_within(text, &error, error.help.clone()))
                .ok(),
            Value::Integer(_) | Value::Float(_) => {
                let fraction = Fraction::new(self.number()?);
                if fraction.is_none() {
                    self.fault(self.node.described(), accepted, None);
                }
                fraction
            }
            _ => {
                self.fault(self.node.described(), accepted, None);
                None
            }
        }
    }
}

/// Spellings that are too far from the known units for the edit distance, each with the unit that it means.
const SPELLINGS: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("usec", "us"),
    ("minutes", "min"),
    ("pkt", "packets"),
    ("pkts", "packets"),
    ("p", "packets"),
    ("bytes", "B"),
    ("byte", "B"),
    ("bits/s", "bit/s"),
    ("M", "Mbit/s"),
    ("G", "Gbit/s"),
    ("K", "kbit/s"),
    ("k", "kbit/s"),
];

/// Returns help with the number without exponent for a text such as "1e6Mbit/s", whose exponent would be read as a
/// part of the unit.
fn exponent(number: &str, unit: &str) -> Option<String> {
    let rest = unit.strip_prefix(['e', 'E'])?;
    let digits = rest.trim_start_matches(['+', '-']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (power, unit) = rest.split_at(rest.len() - digits.len() + end);
    let value: f64 = format!("{}e{power}", number.trim()).parse().ok()?;
    Some(format!("numbers have no exponent: write \"{value}{unit}\""))
}

/// Returns help, such as `did you mean "97Mbit/s"?` for a text with the nearest unit that makes it readable.
fn help<T: TypedQuantity>(text: &str, error: &TextError, bare: &str) -> Option<String> {
    if let Some(explained) = error.help.clone().or_else(|| T::explained(text)) {
        return Some(explained);
    }
    let at = text.char_indices().nth(error.column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let (number, unit) = (text[..at].trim_start(), text[at..].trim());
    if let Some(exponent) = exponent(number, unit) {
        return Some(exponent);
    }
    if unit.is_empty() {
        let readable = Some(format!("{number}{bare}")).filter(|text| T::read(text).is_ok())?;
        return Some(format!("write \"{readable}\""));
    }
    let spelled = SPELLINGS.iter().find(|(theirs, _)| *theirs == unit).map(|(_, ours)| *ours);
    let candidates = [spelled, near::nearest(unit, T::UNITS.iter().copied())];
    let spellings = candidates.into_iter().flatten().map(|unit| format!("{number}{unit}"));
    spellings.filter(|text| T::read(text).is_ok()).map(|text| format!("did you mean \"{text}\"?")).next()
}
