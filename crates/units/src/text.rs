//! Reads and prints quantities: a decimal number, optional spaces, a unit.
//!
//! Numbers are read exactly, without floating point between "1.5ms" and 1 500 000 ns. An error points at the column and
//! says what is accepted.

use std::fmt;

/// One unit of a quantity and its size in the quantity's base unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    name: &'static str,
    scale: u64,
    printed: bool,
}

impl Unit {
    pub(crate) const fn new(name: &'static str, scale: u64) -> Self {
        Self { name, scale, printed: true }
    }
    /// Makes a spelling that is read but never printed.
    pub(crate) const fn alias(name: &'static str, scale: u64) -> Self {
        Self { name, scale, printed: false }
    }
}

/// The reason a quantity could not be read: the text, the column, the finding, the accepted forms and the likely
/// intention.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\", column {column}: {found}; expected {accepted}{}", .help.iter().map(|help| format!("; {help}")).collect::<String>())]
pub struct TextError {
    /// The whole text as given.
    pub text: String,
    /// The column of the fault, counted in characters from 1.
    pub column: usize,
    /// The fault, as a phrase: `unknown unit "Mbits"`.
    pub found: String,
    /// The forms that are accepted.
    pub accepted: String,
    /// The likely intention, if the text shows it: `rates are in bits: 10MB/s is "80Mbit/s"`.
    pub help: Option<String>,
}

/// A number and the unit word after it, separated but not yet interpreted.
#[derive(Clone, Copy, Debug)]
pub struct SplitQuantity<'a> {
    text: &'a str,
    /// Decimal digits without the point.
    mantissa: u128,
    /// The number of digits after the point.
    decimals: u32,
    /// The unit as typed, possibly empty.
    pub unit: &'a str,
    unit_column: usize,
    number_column: usize,
}

impl SplitQuantity<'_> {
    /// Returns the number as a real, without its unit.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.shifted(0)
    }

    /// Returns the real number nearest to this one over 10^`places`.
    pub(crate) fn shifted(&self, places: u32) -> f64 {
        let digits = format!("{}e-{}", self.mantissa, self.decimals + places);
        digits.parse().expect("digits and an exponent are a number")
    }

    /// Returns the error for a unit that does not belong to this quantity.
    #[must_use]
    pub fn unknown_unit(&self, accepted: &str) -> TextError {
        let found =
            if self.unit.is_empty() { "no unit".into() } else { format!("unknown unit \"{}\"", self.unit) };
        error(self.text, self.unit_column, found, accepted)
    }

    /// Returns the error for a number that is too large or too small.
    #[must_use]
    pub fn out_of_range(&self, accepted: &str) -> TextError {
        error(self.text, self.number_column, "a number out of range".into(), accepted)
    }
}

fn error(text: &str, column: usize, found: String, accepted: &str) -> TextError {
    TextError { text: text.into(), column, found, accepted: accepted.into(), help: None }
}

/// Splits "2.5 bdp" into 2.5 and "bdp". `accepted` is quoted in the error.
///
/// # Errors
/// If the text does not begin with a plain non-negative decimal number of at most 30 digits, leading zeros not counted.
pub fn split_quantity<'a>(text: &'a str, accepted: &str) -> Result<SplitQuantity<'a>, TextError> {
    let lead = text.chars().take_while(|c| c.is_whitespace()).count();
    let number_column = lead + 1;
    let body = text.trim();
    if body.is_empty() {
        return Err(error(text, number_column, "nothing".into(), accepted));
    }
    if body.starts_with('-') {
        return Err(error(text, number_column, "a negative number".into(), accepted));
    }
    let (mut mantissa, mut decimals, mut digits, mut number, mut point) = (0u128, 0u32, 0u32, false, false);
    let mut end = body.len();
    for (at, c) in body.char_indices() {
        match c {
            '0' if mantissa == 0 && !point => number = true,
            '0'..='9' if digits < 30 => {
                mantissa = mantissa * 10 + u128::from(c as u32 - '0' as u32);
                digits += 1;
                number = true;
                decimals += u32::from(point);
            }
            '0'..='9' => {
                return Err(error(text, number_column, "a number of over 30 digits".into(), accepted));
            }
            '_' if number => {}
            '.' if !point => point = true,
            _ => {
                end = at;
                break;
            }
        }
    }
    if !number {
        let found = body.chars().next().map_or_else(String::new, |c| format!("'{c}', not a number"));
        return Err(error(text, number_column, found, accepted));
    }
    let unit = body[end..].trim_start();
    let unit_column = lead + body[..body.len() - unit.len()].chars().count() + 1;
    Ok(SplitQuantity { text, mantissa, decimals, unit, unit_column, number_column })
}

/// Reads a quantity as a whole number of base units.
pub(crate) fn parse(text: &str, units: &[Unit], accepted: &str) -> Result<u64, TextError> {
    let quantity = split_quantity(text, accepted)?;
    let unit = units
        .iter()
        .find(|unit| unit.name == quantity.unit)
        .ok_or_else(|| quantity.unknown_unit(accepted))?;
    let scaled = quantity
        .mantissa
        .checked_mul(u128::from(unit.scale))
        .ok_or_else(|| quantity.out_of_range(accepted))?;
    let divisor = 10u128.pow(quantity.decimals);
    if scaled % divisor != 0 && scaled < divisor {
        let found = format!("less than one {}", units[0].name);
        return Err(error(text, quantity.number_column, found, accepted));
    }
    // Digits finer than the base unit are rounded to it, half up.
    let (whole, rest) = (scaled / divisor, scaled % divisor);
    u64::try_from(whole + u128::from(rest >= divisor - rest)).map_err(|_| quantity.out_of_range(accepted))
}

/// Prints a whole number of base units exactly, in the largest unit in which the number is at least one.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let unit = units
        .iter()
        .filter(|unit| unit.printed && unit.scale <= value)
        .max_by_key(|unit| unit.scale)
        .unwrap_or(&units[0]);
    let (whole, rest) = (value / unit.scale, value % unit.scale);
    if rest == 0 {
        return f.pad(&format!("{whole}{}", unit.name));
    }
    // Every printed scale with a remainder is a power of ten.
    let places = unit.scale.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    f.pad(&format!("{whole}.{}{}", fraction.trim_end_matches('0'), unit.name))
}

/// Prints the value for people: at most three significant digits, but all digits before the point, and a space before
/// the unit.
pub(crate) fn rounded(value: u64, units: &[Unit]) -> String {
    let printed = || units.iter().filter(|unit| unit.printed);
    let fits = |unit: &&Unit| unit.scale <= value;
    let mut unit = printed().filter(fits).max_by_key(|unit| unit.scale).unwrap_or(&units[0]);
    let places = |scaled: f64| if scaled >= 99.95 { 0 } else { 1 + usize::from(scaled < 9.995) };
    let of = |unit: &Unit| value as f64 / unit.scale as f64;
    // 999.7 kB rounds to 1 MB.
    let next = printed().filter(|next| next.scale > unit.scale).min_by_key(|next| next.scale);
    if let Some(next) = next
        && (of(unit).round() as u64).saturating_mul(unit.scale) >= next.scale
    {
        unit = next;
    }
    let (scaled, places) = (of(unit), places(of(unit)));
    let text = format!("{scaled:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {}", unit.name)
}
