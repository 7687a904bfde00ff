//! Models of netem-trace as JSON, which rattan reads, too: those whose values a file has in full.
//!
//! netem-trace also has models that draw random numbers. The numbers depend on the version of its random generator, so
//! those are refused.

use super::columns::Quantity;
use super::{Table, Values, held};
use crate::error::{Place, TraceError};
use crate::input::Input;
use serde_json::{Map, Value};
use units::{Bytes, Foreign, Fraction, Rate, Span};

/// A quantity that netem-trace has models of.
pub(super) trait Model: Quantity {
    /// Its part of a model's name, such as "Bw" of "StaticBwConfig".
    const KIND: &'static str;
    /// The key of its value.
    const KEY: &'static str;

    /// Reads a value, such as `"12Mbps"` or `{ "gbps": 0, "bps": 12000000 }`.
    fn value(value: &Value) -> Option<Self>;
}

impl Model for Rate {
    const KIND: &'static str = "Bw";
    const KEY: &'static str = "bw";
    fn value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => {
                parts(text).try_fold(Self::ZERO, |sum, rate| Some(sum + rate.parse().ok()?))
            }
            Value::Object(table) => {
                let whole = |key: &str| table.get(key)?.as_u64();
                whole("gbps")?.checked_mul(1_000_000_000)?.checked_add(whole("bps")?).map(Self::from_bps)
            }
            _ => None,
        }
    }
}

impl Model for Span {
    const KIND: &'static str = "Delay";
    const KEY: &'static str = "delay";
    fn value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => {
                parts(text).try_fold(Self::ZERO, |sum, span| Some(sum + span.parse().ok()?))
            }
            Value::Object(table) => {
                let whole = |key: &str| table.get(key)?.as_u64();
                whole("secs")?.checked_mul(1_000_000_000)?.checked_add(whole("nanos")?).map(Self::from_nanos)
            }
            _ => None,
        }
    }
}

impl Model for Fraction {
    const KIND: &'static str = "Loss";
    const KEY: &'static str = "loss";
    /// Reads a list of one probability. In a longer list the probability depends on the losses before.
    fn value(value: &Value) -> Option<Self> {
        match &value.as_array()?[..] {
            [one] => one.as_f64().and_then(Self::new),
            _ => None,
        }
    }
}

/// Returns the parts of a text such as "1s 500ms".
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// The most bytes of a file, decompressed.
const MOST_BYTES: usize = 64 << 20;
/// The most steps that a model may stand for.
const MOST_STEPS: usize = 1_000_000;

/// Returns true if the first byte with content begins an object of JSON.
pub(super) fn begins(begin: &[u8]) -> bool {
    begin.trim_ascii_start().first() == Some(&b'{')
}

/// Reads a model, of up to `most_held` bytes of memory.
pub(super) fn read<T: Model + PartialEq>(
    input: &mut Input<'_>,
    most_held: Bytes,
) -> Result<Table<T>, TraceError> {
    let mut text = Vec::new();
    loop {
        let seen = input.see(1)?;
        if seen.is_empty() {
            break;
        }
        text.extend_from_slice(seen);
        let length = seen.len();
        input.take(length);
        if text.len() > MOST_BYTES {
            let found = format!("more than {} MiB of JSON", MOST_BYTES >> 20);
            return Err(TraceError::new(Place::Whole, found, T::ACCEPTED).help("write it as CSV"));
        }
    }
    let model: Value = serde_json::from_slice(&text).map_err(|error| {
        TraceError::new(Place::Line(error.line().max(1) as u64), format!("not JSON: {error}"), T::ACCEPTED)
    })?;
    let mut steps = Steps { values: Values::new(), at: Span::ZERO, count: 0, most_held };
    let is_endless = steps.add(&model)?;
    if steps.values.is_empty() {
        return Err(fault::<T>("a model without values".to_owned()));
    }
    let every = (is_endless && steps.values.len() > 1).then_some(steps.at);
    Ok(Table { values: steps.values, every })
}

struct Steps<T> {
    values: Values<T>,
    /// The end of the last value.
    at: Span,
    count: usize,
    most_held: Bytes,
}

impl<T: Model + PartialEq> Steps<T> {
    /// Adds the values of a model; returns true if they repeat for ever.
    fn add(&mut self, model: &Value) -> Result<bool, TraceError> {
        let (name, keys) = named::<T>(model)?;
        let missing =
            |key: &str| fault::<T>(format!("{name} without {key}, or with one that cannot be read"));
        match name.strip_suffix("Config").and_then(|name| name.strip_suffix("Pattern").or(Some(name))) {
            Some(kind) if kind == format!("Static{}", T::KIND) => {
                let value = keys.get(T::KEY).and_then(T::value).ok_or_else(|| missing(T::KEY))?;
                let duration =
                    keys.get("duration").and_then(Span::value).ok_or_else(|| missing("duration"))?;
                self.push(value, duration)?;
                Ok(false)
            }
            Some(kind) if kind == format!("Repeated{}", T::KIND) => {
                let count = keys.get("count").and_then(Value::as_u64).ok_or_else(|| missing("count"))?;
                let pattern =
                    keys.get("pattern").and_then(Value::as_array).ok_or_else(|| missing("pattern"))?;
                for _ in 0..count.max(1) {
                    let before = self.count;
                    for inner in pattern {
                        if self.add(inner)? {
                            return Err(fault::<T>("an endless pattern within another".to_owned()));
                        }
                    }
                    if self.count == before {
                        break;
                    }
                }
                Ok(count == 0)
            }
            Some("TraceBw") if T::KIND == "Bw" => {
                let pattern =
                    keys.get("pattern").and_then(Value::as_array).ok_or_else(|| missing("pattern"))?;
                for pair in pattern {
                    let pair = pair.as_array().filter(|pair| pair.len() == 2);
                    let [duration, values] = &pair.ok_or_else(|| missing("pattern"))?[..] else {
                        return Err(missing("pattern"));
                    };
                    let duration = Span::value(duration).ok_or_else(|| missing("pattern"))?;
                    for value in values.as_array().ok_or_else(|| missing("pattern"))? {
                        self.push(T::value(value).ok_or_else(|| missing("pattern"))?, duration)?;
                    }
                }
                Ok(false)
            }
            _ => Err(fault::<T>(format!("the model {:#}", Foreign::new(name)))),
        }
    }

    fn push(&mut self, value: T, duration: Span) -> Result<(), TraceError> {
        self.count += 1;
        if self.count > MOST_STEPS {
            return Err(fault::<T>(format!("a model of more than {MOST_STEPS} steps")));
        }
        if duration > Span::ZERO && self.values.last().is_none_or(|(_, last)| *last != value) {
            self.values.push((self.at, value));
        }
        self.at += duration;
        held(Bytes::new(size_of_val(&self.values[..]) as u64), self.most_held)
    }
}

/// Returns the name and the keys of a model.
fn named<T: Model>(model: &Value) -> Result<(&str, &Map<String, Value>), TraceError> {
    let only = model.as_object().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
    match only {
        Some((name, Value::Object(keys))) => Ok((name, keys)),
        _ => Err(fault::<T>("JSON that is not a model of netem-trace".to_owned())),
    }
}

fn fault<T: Model>(found: String) -> TraceError {
    let kind = T::KIND;
    let trace = if kind == "Bw" { ", TraceBwConfig" } else { "" };
    let accepted = format!(
        "a model of netem-trace without random numbers: Static{kind}Config, Repeated{kind}PatternConfig{trace}"
    );
    TraceError::new(Place::Whole, found, accepted).help("write the values as CSV")
}
