//! `draw` within `[sweep]`: the values of some keys are drawn together, one row of values for each number from 0.
//!
//! Each value comes from a stream of its own, named by its key and the row's number. So a larger `count` begins with
//! the rows of a smaller one, and one more key leaves the other keys' values as they are.

use super::MOST;
use crate::document::Document;
use crate::fault::Fault;
use crate::origin::Origin;
use crate::tree::{self, Entry, Node, Table, Value};
use units::random::Stream;
use units::{Bytes, Complaint, Rate, Span, split_quantity};

/// The names of the distributions.
const LAWS: [&str; 3] = ["uniform", "log_uniform", "choice"];
/// The accepted forms of a distribution.
const ACCEPTED: &str =
    "{ uniform = [LOW, HIGH] }, { log_uniform = [LOW, HIGH] } or { choice = [VALUE, ...] }";
/// Keys of `draw` that are not drawn.
const SETTINGS: [&str; 2] = ["count", "seed"];
/// The significant digits of a drawn quantity.
const DIGITS: usize = 4;

/// Values drawn together.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) keys: Vec<String>,
    /// The rows; each has a value for each key.
    pub(super) rows: Vec<Vec<String>>,
}

/// The distribution of one key's values.
pub(super) enum Law<'a> {
    Choice(&'a [Node]),
    Range(Range<'a>),
}

/// Values between two quantities.
pub(super) struct Range<'a> {
    ends: [&'a Node; 2],
    /// The lower end.
    low: f64,
    /// The upper end, in the unit of the lower one.
    high: f64,
    /// True if the logarithm is uniform.
    logarithmic: bool,
    /// True if only whole numbers are drawn.
    whole: bool,
    /// The unit of the lower end, with the space before it.
    unit: String,
}

impl<'a> Law<'a> {
    /// Reads the distribution of `key`.
    pub(super) fn read(key: &str, entry: &'a Entry) -> Result<Self, Fault> {
        let fault = |at: &Node, found: String, accepted: &str| {
            let complaint = Complaint::new("", found).accepted(accepted);
            Fault::new(at.origin.clone(), place(key), complaint)
        };
        let Value::Table(table) = &entry.node.value else {
            return Err(fault(&entry.node, entry.node.described(), ACCEPTED));
        };
        let mut laws = table.iter();
        let (Some(law), None) = (laws.next(), laws.next()) else {
            return Err(fault(&entry.node, "not one distribution".into(), ACCEPTED));
        };
        if !LAWS.contains(&law.key.as_str()) {
            return Err(fault(&law.node, format!("no distribution \"{}\"", law.key), ACCEPTED));
        }
        let Value::List(values) = &law.node.value else {
            return Err(fault(&law.node, law.node.described(), "a list"));
        };
        if law.key == "choice" {
            if values.is_empty() {
                return Err(fault(&law.node, "an empty list".into(), "a list of values"));
            }
            return Ok(Self::Choice(values));
        }
        let [low, high] = values.as_slice() else {
            return Err(fault(&law.node, format!("a list of {}", values.len()), "a lower and an upper end"));
        };
        Range::read(low, high, law.key == "log_uniform")
            .map(Self::Range)
            .map_err(|(at, found, accepted)| fault(at, found, accepted))
    }

    /// Returns the value of the row `index` as a person would type it; a string is without its quotes.
    pub(super) fn typed(&self, key: &str, seed: u64, index: usize) -> String {
        let mut stream = Stream::new(seed, &format!("draw {key} {index}"));
        match self {
            Self::Choice(values) => {
                let at = stream.integer(0, values.len() as u64 - 1) as usize;
                values[at].typed().to_owned()
            }
            Self::Range(range) => range.typed(&mut stream),
        }
    }

    /// Returns the node of a drawn value, which points at the distribution in `entry`, or at the chosen item.
    pub(super) fn node(&self, entry: &Entry, typed: &str) -> Option<Node> {
        match self {
            Self::Choice(values) => values.iter().find(|node| node.typed() == typed).cloned(),
            Self::Range(range) => {
                let value = match range.ends[0].value {
                    Value::String(_) => Value::String(typed.to_owned()),
                    _ if range.whole => Value::Integer(typed.parse().ok()?),
                    _ => Value::Float(typed.parse().ok()?),
                };
                Some(Node { value, origin: entry.node.origin.clone() })
            }
        }
    }

    /// Returns a drawn value as TOML.
    pub(super) fn written(&self, typed: &str) -> String {
        match self {
            Self::Choice(values) => {
                let chosen = values.iter().find(|node| node.typed() == typed);
                chosen.map_or_else(String::new, |node| node.origin.text().to_owned())
            }
            Self::Range(range) if matches!(range.ends[0].value, Value::String(_)) => format!("{typed:?}"),
            Self::Range(_) => typed.to_owned(),
        }
    }
}

/// A wrong end of a range: the node, the description of what was found, and the accepted values.
type RangeFault<'a> = (&'a Node, String, &'static str);

impl<'a> Range<'a> {
    fn read(low: &'a Node, high: &'a Node, logarithmic: bool) -> Result<Self, RangeFault<'a>> {
        const QUANTITY: &str = "a number or a quantity such as \"10Mbit/s\"";
        let number = |node: &'a Node| match node.value {
            Value::String(_) | Value::Integer(_) | Value::Float(_) => {
                split_quantity(node.typed(), QUANTITY).map_err(|_| (node, node.described(), QUANTITY))
            }
            _ => Err((node, node.described(), QUANTITY)),
        };
        let (from, to) = (number(low)?, number(high)?);
        let integers = matches!((&low.value, &high.value), (Value::Integer(_), Value::Integer(_)));
        if matches!(low.value, Value::String(_)) != matches!(high.value, Value::String(_)) {
            return Err((high, high.described(), "an end written as the lower one is"));
        }
        let of_both =
            || (high, format!("\"{}\" after \"{}\"", high.typed(), low.typed()), "two ends of one unit");
        let factor = factor(low.typed(), high.typed(), from.unit, to.unit).ok_or_else(of_both)?;
        let (least, most) = (from.value(), to.value() * factor);
        if !(least < most && most.is_finite()) {
            return Err((high, high.described(), "an upper end above the lower one"));
        }
        if logarithmic && least <= 0.0 {
            return Err((low, low.described(), "a lower end above zero, because logarithms are drawn"));
        }
        let whole = integers || ["packets", "B"].contains(&from.unit);
        let (least, most) = if whole { (least.ceil(), most.floor()) } else { (least, most) };
        if least > most {
            return Err((high, high.described(), "ends with a whole number between them"));
        }
        let space = if low.typed().trim_end_matches(from.unit).ends_with(' ') { " " } else { "" };
        let unit = if from.unit.is_empty() { String::new() } else { format!("{space}{}", from.unit) };
        Ok(Self { ends: [low, high], low: least, high: most, logarithmic, whole, unit })
    }

    fn typed(&self, stream: &mut Stream) -> String {
        let number = match (self.logarithmic, self.whole) {
            (false, true) => stream.integer(self.low as u64, self.high as u64) as f64,
            (false, false) => stream.uniform_in(self.low, self.high),
            (true, whole) => {
                let drawn = libm::exp(stream.uniform_in(libm::log(self.low), libm::log(self.high)));
                if whole { drawn.round() } else { drawn }
            }
        };
        // The rounding of digits or of the logarithm must not leave the range.
        let number = if self.whole { number } else { rounded(number) }.clamp(self.low, self.high);
        format!("{number}{}", self.unit)
    }
}

/// Returns the factor from the second unit to the first; `None` if they are of different kinds.
fn factor(low: &str, high: &str, from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let scale = |unit: &str, parse: &dyn Fn(&str) -> Option<f64>| parse(&format!("1{unit}"));
    let rate = |text: &str| text.parse::<Rate>().ok().map(Rate::as_bps_f64);
    let span = |text: &str| text.parse::<Span>().ok().map(Span::as_secs_f64);
    let bytes = |text: &str| text.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64);
    type Read<'a> = &'a dyn Fn(&str) -> Option<f64>;
    let kinds: [Read<'_>; 3] = [&rate, &span, &bytes];
    let known = |parse: &&dyn Fn(&str) -> Option<f64>| parse(low).is_some() && parse(high).is_some();
    let parse = kinds.into_iter().find(|parse| known(parse))?;
    Some(scale(to, parse)? / scale(from, parse)?)
}

/// Returns the number with [`DIGITS`] significant digits.
fn rounded(number: f64) -> f64 {
    let text = format!("{number:.*e}", DIGITS - 1);
    text.parse().unwrap_or(number)
}

/// Returns the path of a drawn key, for messages.
pub(super) fn place(key: &str) -> String {
    format!("sweep.draw.\"{key}\"")
}

/// Returns the drawn keys with their distributions, in the order of the file.
pub(super) fn entries(draw: &Table) -> Vec<(String, &Entry)> {
    let mut found = Vec::new();
    gather("", draw, &mut found);
    found.sort_by_key(|(_, entry)| entry.origin.rank());
    found
}

fn gather<'a>(prefix: &str, table: &'a Table, into: &mut Vec<(String, &'a Entry)>) {
    for entry in table.iter() {
        let key = tree::path(prefix, &entry.key);
        match &entry.node.value {
            _ if prefix.is_empty() && SETTINGS.contains(&entry.key.as_str()) => {}
            Value::Table(within) if !within.iter().any(|law| is_law(&law.key, &law.node)) => {
                gather(&key, within, into);
            }
            _ => into.push((key, entry)),
        }
    }
}

/// Returns true for a distribution, even if its name is misspelt: no other entry of `draw` is a list.
fn is_law(key: &str, node: &Node) -> bool {
    LAWS.contains(&key) || matches!(node.value, Value::List(_))
}

/// Reads a whole number among the settings of `draw`.
pub(super) fn setting(
    (draw, at): (&Table, &Origin),
    name: &str,
    least: u64,
    absent: Option<u64>,
) -> Result<u64, Fault> {
    let accepted = format!("a whole number from {least}");
    let fault = |origin: &Origin, found: String| {
        let complaint = Complaint::new("", found).accepted(accepted.clone());
        Fault::new(origin.clone(), format!("sweep.draw.{name}"), complaint)
    };
    let Some(node) = draw.get(name) else {
        return absent.ok_or_else(|| fault(at, "no value".into()));
    };
    match node.value {
        Value::Integer(number) => u64::try_from(number).ok().filter(|number| *number >= least),
        _ => None,
    }
    .ok_or_else(|| fault(&node.origin, node.described()))
}

impl Document {
    /// Draws the rows of values that `draw` describes.
    pub(super) fn drawn(&self, faults: &mut Vec<Fault>) -> Option<Rows> {
        let node = self.swept_node("draw")?;
        let Some(table) = self.draw_table() else {
            let accepted = "a table such as { count = 48, \"link.rate\" = { log_uniform = [\"1Mbit/s\", \"200Mbit/s\"] } }";
            let complaint = Complaint::new("", node.described()).accepted(accepted);
            faults.push(Fault::new(node.origin.clone(), "sweep.draw", complaint));
            return None;
        };
        let before = faults.len();
        let mut setting = |name, least, absent| {
            setting((table, &node.origin), name, least, absent).map_err(|fault| faults.push(fault)).ok()
        };
        let (count, seed) = (setting("count", 1, None), setting("seed", 0, Some(1)));
        let mut laws = Vec::new();
        for (key, entry) in entries(table) {
            let law = Law::read(&key, entry);
            match law {
                Ok(law) if self.is_key(&key, &entry.origin, &place(&key), faults) => {
                    laws.push((key, entry, law));
                }
                Ok(_) => {}
                Err(fault) => faults.push(fault),
            }
        }
        if laws.is_empty() && faults.len() == before {
            let complaint = Complaint::new("", "no key to draw")
                .accepted("keys with distributions, such as \"link.rate\" = { log_uniform = [\"1Mbit/s\", \"200Mbit/s\"] }");
            faults.push(Fault::new(node.origin.clone(), "sweep.draw", complaint));
        }
        let (count, seed) = (count?, seed?);
        if count > MOST as u64 {
            let found = format!("{count} rows");
            let complaint = Complaint::new("", found).accepted(format!("at most {MOST} points"));
            faults.push(Fault::new(node.origin.clone(), "sweep.draw.count", complaint));
            return None;
        }
        let row = |index| laws.iter().map(|(key, _, law)| law.typed(key, seed, index)).collect();
        let rows: Vec<Vec<String>> = (0..count as usize).map(row).collect();
        for ((key, entry, law), typed) in laws.iter().zip(&rows[0]) {
            let placed =
                law.node(entry, typed).map(|node| self.without("sweep").place(key, &entry.origin, &node));
            if let Some(Err(complaint)) = placed {
                faults.push(Fault::new(entry.origin.clone(), place(key), complaint));
            }
        }
        Some(Rows { keys: laws.into_iter().map(|(key, ..)| key).collect(), rows })
    }

    /// Returns the distribution of a drawn key, and its entry.
    pub(super) fn law(&self, key: &str) -> Option<(&Entry, Law<'_>)> {
        let (_, entry) = entries(self.draw_table()?).into_iter().find(|(drawn, _)| drawn == key)?;
        Some((entry, Law::read(key, entry).ok()?))
    }

    /// Returns a drawn value as TOML; `None` if the key is not drawn.
    pub(crate) fn drawn_as_written(&self, key: &str, typed: &str) -> Option<String> {
        self.law(key).map(|(_, law)| law.written(typed))
    }

    pub(super) fn draw_table(&self) -> Option<&Table> {
        match &self.swept_node("draw")?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}
