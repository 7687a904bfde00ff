//! [`Spread`]: one time for all flows of a table, a list with one for each, or a distribution.

use crate::cursor::{Keys, TypedQuantity, ValueAt};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{self, KEY, OWN};
use crate::table::keys;
use crate::tree::Value;
use crate::values::{Spread, Volume};
use std::fmt;
use units::Span;

keys! {
    /// A distribution.
    pub(crate) table SPREAD from KEY;

    /// uniform between the two
    key uniform => {
        kind: "list of the least and the greatest", default: Words("none"),
    }
    /// a Pareto distribution: a heavy tail
    key pareto => {
        kind: "table with `shape`, `mean`, `draw`", default: Words("none"),
        within: PARETO,
    }
    /// exponential with this mean
    key exponential => {
        kind: "time", default: Words("none"),
    }
}

keys! {
    /// `pareto = { … }`.
    pub(crate) table PARETO from KEY;

    /// tail index; the variance is infinite up to 2
    key shape => {
        kind: "number over 1", default: Required("a number over 1, such as 1.2"),
    }
    /// mean of the distribution
    key mean => {
        kind: "time", default: Required(r#"a mean such as "100ms""#),
    }
    /// way in which the sample is taken; see [spreads](../guide/scenario.md#spreads)
    key draw => {
        kind: r#"`"random"`, `"quantiles"`"#, default: Written(r#""random""#),
        why: "a draw, as in reality", from: OWN,
    }
}

/// A quantity that can be spread over flows, with the words for faults.
pub(crate) trait Spreads: TypedQuantity + Copy + PartialOrd + fmt::Display {
    /// The words for every accepted form.
    const ACCEPTED: &'static str;
    /// An example of the least and the greatest value.
    const ENDS: &'static str;
    /// The words for a mean.
    const MEAN: &'static str;
}

impl Spreads for Span {
    const ACCEPTED: &'static str = "a time such as \"20ms\", a list with one for each flow, \
                                    { uniform = [\"38ms\", \"142ms\"] }, \
                                    { pareto = { shape = 1.2, mean = \"100ms\" } } or { exponential = \"2s\" }";
    const ENDS: &'static str = "[\"38ms\", \"142ms\"]";
    const MEAN: &'static str = "a time such as \"100ms\"";
}

impl Spreads for Volume {
    const ACCEPTED: &'static str = schema::VOLUME;
    const ENDS: &'static str = "[\"1 packets\", \"200 packets\"]";
    const MEAN: &'static str = "an amount of data such as \"100kB\"";
}

/// The way in which a sample is taken from a distribution.
#[derive(Clone, Copy)]
enum Draw {
    Random,
    Quantiles,
}

const DRAWS: &[(&str, Draw)] = &[("random", Draw::Random), ("quantiles", Draw::Quantiles)];

/// Reads values for `count` flows; a list must have `count` items.
pub(crate) fn spread<T: Spreads>(at: &ValueAt<'_>, bare: &str, count: Option<u64>) -> Option<Spread<T>> {
    match &at.node.value {
        Value::List(_) => {
            let items = at.items();
            let values: Vec<Option<T>> = items.iter().map(|item| item.quantity(bare)).collect();
            let length = values.len() as u64;
            if let Some(count) = count.filter(|count| *count != length) {
                let help =
                    if count == 1 && length > 1 { Some(format!("write count = {length}")) } else { None };
                let found = format!("a list of {length} for count = {count}");
                at.fault(found, "a list with one time for each of the count", help);
                return None;
            }
            values.into_iter().collect::<Option<_>>().map(Spread::List)
        }
        Value::Table(_) => distribution(at, bare),
        // Options of `size` take such a range.
        Value::String(text) if text.contains("..") => {
            let has_unit = |end: &str| end.ends_with(|last: char| last.is_ascii_alphabetic());
            let ends = text.split_once("..").filter(|(low, high)| has_unit(low) && has_unit(high));
            let help = ends.map(|(low, high)| format!("write {{ uniform = [\"{low}\", \"{high}\"] }}"));
            at.fault(format!("the range {}", at.node.described()), T::ACCEPTED, help);
            None
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) => at.quantity(bare).map(Spread::All),
        Value::Boolean(_) | Value::Datetime(_) => {
            at.fault(at.node.described(), T::ACCEPTED, None);
            None
        }
    }
}

/// Reads a quantity that is drawn anew each time: one value or a distribution, but not a list.
pub(crate) fn drawn<T: Spreads>(at: &ValueAt<'_>, bare: &str) -> Option<Spread<T>> {
    let refused = match &at.node.value {
        Value::List(_) => at.node.described(),
        _ => match spread(at, bare, None)? {
            Spread::ParetoQuantiles { .. } => {
                "quantiles, which a sample of unknown size does not have".to_owned()
            }
            spread => return Some(spread),
        },
    };
    at.fault(refused, "one value, or a distribution to draw from: uniform, pareto, exponential", None);
    None
}

fn distribution<T: Spreads>(at: &ValueAt<'_>, bare: &str) -> Option<Spread<T>> {
    let keys = at.keys(SPREAD)?;
    let given: Vec<&str> = schema::names(SPREAD).filter(|name| keys.get(name).is_some()).collect();
    match given[..] {
        ["uniform"] => uniform(&keys.get("uniform")?, bare),
        ["pareto"] => pareto(&keys.get("pareto")?.keys(PARETO)?, bare),
        ["exponential"] => keys.get("exponential")?.quantity(bare).map(Spread::Exponential),
        [] => {
            at.fault("a table without a distribution", T::ACCEPTED, None);
            None
        }
        _ => {
            at.fault(format!("{} at once", given.join(" and ")), "one distribution", None);
            None
        }
    }
}

/// Reads a list of the least and the greatest.
pub(crate) fn uniform<T: Spreads>(at: &ValueAt<'_>, bare: &str) -> Option<Spread<T>> {
    let items = at.items();
    let [low, high] = &items[..] else {
        let found = match items.len() {
            0 => at.node.described(),
            length => format!("a list of {length}"),
        };
        at.fault(found, format!("a list of the least and the greatest, such as {}", T::ENDS), None);
        return None;
    };
    let (low, high): (Option<T>, Option<T>) = (low.quantity(bare), high.quantity(bare));
    let (low, high) = (low?, high?);
    if low > high {
        let help = format!("write [\"{high}\", \"{low}\"]");
        at.fault(format!("{low} before {high}"), "the least first, then the greatest", Some(help));
        return None;
    }
    if low.partial_cmp(&high).is_none() {
        let found = format!("{low} and {high}, which do not compare");
        at.fault(found, format!("the least and the greatest in one unit, such as {}", T::ENDS), None);
        return None;
    }
    Some(Spread::Uniform(low, high))
}

fn pareto<T: Spreads>(keys: &Keys<'_>, bare: &str) -> Option<Spread<T>> {
    let shape = keys.read("shape", |at| at.shape("1.2"));
    // The form of a mean depends on the quantity, so the words of the schema do not always fit.
    let mean = keys.get("mean").map(|at| at.quantity(bare)).unwrap_or_else(|| {
        keys.near("mean").fault("missing", T::MEAN, None);
        None
    });
    let draw = keys.read("draw", |at| at.word_among(DRAWS));
    let (shape, mean) = (shape?, mean?);
    Some(match draw? {
        Draw::Random => Spread::Pareto { shape, mean },
        Draw::Quantiles => Spread::ParetoQuantiles { shape, mean },
    })
}
