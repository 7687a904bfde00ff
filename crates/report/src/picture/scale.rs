//! Scales of axes: the place of a value, and the values that get a tick.

use crate::text::number;

/// The multiples of a power of ten that ticks may have.
const NICE: [f64; 3] = [1.0, 2.0, 5.0];
/// Numbers outside this range are written as powers of ten.
const PLAIN: std::ops::Range<f64> = 1e-4..1e6;

/// The ends of a logarithmic axis at most; a linear one has no greater end.
const SMALLEST: f64 = 1e-200;
const LARGEST: f64 = 1e200;

/// A scale from values to the unit interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) log: bool,
}

/// A tick: its value and its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

impl Scale {
    /// Creates a linear scale. One without a width gets a width of 1.
    pub(super) fn linear([least, most]: [f64; 2]) -> Self {
        let [least, most] = [least, most].map(|end| end.clamp(-LARGEST, LARGEST));
        let most = if most - least > 1e-12 * least.abs() { most } else { least + least.abs().max(1.0) };
        Self { least, most, log: false }
    }

    /// Creates a logarithmic scale over positive values.
    pub(super) fn log([least, most]: [f64; 2]) -> Self {
        let [least, most] = [least, most].map(|end| end.clamp(SMALLEST, LARGEST));
        let most = if most > least { most } else { least * 10.0 };
        Self { least, most, log: true }
    }

    /// Returns the place of a value: 0 at the least value, 1 at the greatest.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.log {
            let log = libm::log10;
            (log(value) - log(self.least)) / (log(self.most) - log(self.least))
        } else {
            (value - self.least) / (self.most - self.least)
        }
    }

    /// Returns candidates for the ticks, the densest first. The axis takes the first whose labels do not touch.
    pub(super) fn candidates(&self) -> Vec<Vec<Tick>> {
        let mut sets = if self.log { self.powers() } else { Vec::new() };
        if !self.log || self.most / self.least < 10.0 {
            sets.extend(self.steps());
        }
        sets
    }

    /// Returns ticks at multiples of round steps, for each step that gives 2 to 12 of them.
    fn steps(&self) -> Vec<Vec<Tick>> {
        let length = self.most - self.least;
        let magnitude = libm::floor(libm::log10(length)) as i32;
        let mut sets = Vec::new();
        for power in magnitude - 2..=magnitude {
            for nice in NICE {
                let step = nice * power_of_ten(power);
                let (first, last) = ((self.least / step - 1e-9).ceil(), (self.most / step + 1e-9).floor());
                let count = last - first;
                if !(1.0..12.0).contains(&count) {
                    continue;
                }
                let decimals = (-power).clamp(0, 12) as usize;
                let ticks = (0..=count as u32).map(|index| {
                    let value = (first + f64::from(index)) * step;
                    Tick { value, label: labelled(value, decimals) }
                });
                sets.push(ticks.collect());
            }
        }
        sets
    }

    /// Returns ticks of a logarithmic axis: 1, 2 and 5 of each decade, then decades, then every second one and so on.
    fn powers(&self) -> Vec<Vec<Tick>> {
        let (first, last) =
            (libm::floor(libm::log10(self.least)) as i32, libm::ceil(libm::log10(self.most)) as i32);
        let within = |value: &f64| *value >= self.least * 0.999 && *value <= self.most * 1.001;
        let decades =
            |every: i32| (first..=last).filter(move |power| power.rem_euclid(every) == 0).map(power_of_ten);
        let multiples = |factors: &'static [f64]| -> Vec<Tick> {
            let values = decades(1).flat_map(|decade| factors.iter().map(move |nice| nice * decade));
            ticks(&values.filter(within).collect::<Vec<f64>>())
        };
        let mut sets = vec![multiples(&NICE), multiples(&[1.0, 3.0])];
        for every in [1, 2, 3, 5, 10] {
            sets.push(ticks(&decades(every).filter(within).collect::<Vec<f64>>()));
        }
        sets.retain(|set| set.len() > 1);
        sets
    }
}

/// Returns ticks at these values, with labels of the same form.
pub(super) fn ticks(values: &[f64]) -> Vec<Tick> {
    let is_plain = |value: &f64| *value == 0.0 || PLAIN.contains(&value.abs());
    let bare = values.iter().all(is_plain);
    let label = |value: f64| if bare || value == 0.0 { plain(value) } else { scientific(value) };
    values.iter().map(|value| Tick { value: *value, label: label(*value) }).collect()
}

/// Returns a power of ten, the nearest number to its decimal form.
fn power_of_ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// Writes a tick's value with these decimals, or as a multiple of a power of ten if it is very large or small.
fn labelled(value: f64, decimals: usize) -> String {
    let size = value.abs();
    if size < power_of_ten(-13) || (PLAIN.contains(&size) && decimals < 6) {
        number(Some(value), decimals)
    } else {
        plain(value)
    }
}

/// Writes a value with the decimals that it needs, at most six digits: "0.25", "20 000", "2×10⁷".
pub(super) fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(Some(value), 0);
    }
    let size = value.abs();
    if PLAIN.contains(&size) {
        let text = format!("{:.5e}", size);
        let rounded: f64 = text.parse().unwrap_or(size);
        let decimals = format!("{rounded}").split_once('.').map_or(0, |(_, fraction)| fraction.len());
        return number(Some(value), decimals);
    }
    scientific(value)
}

/// Writes a value other than 0 as a multiple of a power of ten: "2×10⁷".
fn scientific(value: f64) -> String {
    let text = format!("{:.3e}", value.abs());
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let sign = if value < 0.0 { "−" } else { "" };
    let power: String = power.chars().filter_map(raised).collect();
    if digits == "1" { format!("{sign}10{power}") } else { format!("{sign}{digits}×10{power}") }
}

/// Returns the letter of an exponent as a superscript.
fn raised(letter: char) -> Option<char> {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match letter {
        '-' => Some('⁻'),
        digit => DIGITS.get(digit.to_digit(10)? as usize).copied(),
    }
}
