//! [`Spread`]: one time for all flows of a table, a list with one for each, or a distribution.

use super::keys::{At, Keys};
use crate::document::Value;
use crate::schema;
use crate::spec::Spread;
use units::Span;

const ACCEPTED: &str = "a time such as \"20ms\", a list with one for each flow, { uniform = [\"38ms\", \"142ms\"] }, \
                        { pareto = { shape = 1.2, mean = \"100ms\" } } or { exponential = \"2s\" }";

/// How a sample is taken from a distribution.
#[derive(Clone, Copy)]
enum Draw {
    Random,
    Quantiles,
}

const DRAWS: &[(&str, Draw)] = &[("random", Draw::Random), ("quantiles", Draw::Quantiles)];

/// Reads times for `count` flows; a list must have as many.
pub(super) fn spread(at: &At<'_>, bare: &str, count: Option<u64>) -> Option<Spread<Span>> {
    match &at.node.value {
        Value::List(_) => {
            let items = at.items();
            let times: Vec<Option<Span>> = items.iter().map(|item| item.quantity(bare)).collect();
            let length = times.len() as u64;
            if let Some(count) = count.filter(|count| *count != length) {
                let help =
                    if count == 1 && length > 1 { Some(format!("write count = {length}")) } else { None };
                let found = format!("a list of {length} for count = {count}");
                at.fault(found, "a list with one time for each of the count", help);
                return None;
            }
            times.into_iter().collect::<Option<_>>().map(Spread::List)
        }
        Value::Table(_) => distribution(at, bare),
        Value::String(_) | Value::Integer(_) | Value::Float(_) => at.quantity(bare).map(Spread::All),
        Value::Boolean(_) | Value::Datetime(_) => {
            at.fault(at.node.described(), ACCEPTED, None);
            None
        }
    }
}

fn distribution(at: &At<'_>, bare: &str) -> Option<Spread<Span>> {
    let keys = at.keys(schema::SPREAD)?;
    let given: Vec<&str> = schema::names(schema::SPREAD).filter(|name| keys.get(name).is_some()).collect();
    match given[..] {
        ["uniform"] => uniform(&keys.get("uniform")?, bare),
        ["pareto"] => pareto(&keys.get("pareto")?.keys(schema::PARETO)?, bare),
        ["exponential"] => keys.get("exponential")?.quantity(bare).map(Spread::Exponential),
        [] => {
            at.fault("a table without a distribution", ACCEPTED, None);
            None
        }
        _ => {
            at.fault(format!("{} at once", given.join(" and ")), "one distribution", None);
            None
        }
    }
}

fn uniform(at: &At<'_>, bare: &str) -> Option<Spread<Span>> {
    let items = at.items();
    let [low, high] = &items[..] else {
        let found = match items.len() {
            0 => at.node.described(),
            length => format!("a list of {length}"),
        };
        at.fault(found, "a list of the least and the greatest, such as [\"38ms\", \"142ms\"]", None);
        return None;
    };
    let (low, high): (Option<Span>, Option<Span>) = (low.quantity(bare), high.quantity(bare));
    let (low, high) = (low?, high?);
    if low > high {
        let help = format!("write [\"{high}\", \"{low}\"]");
        at.fault(format!("{low} before {high}"), "the least first, then the greatest", Some(help));
        return None;
    }
    Some(Spread::Uniform(low, high))
}

fn pareto(keys: &Keys<'_>, bare: &str) -> Option<Spread<Span>> {
    let shape = keys.required("shape", "a number over 1, such as 1.2", |at| {
        let shape = at.number()?;
        if shape <= 1.0 {
            at.fault(format!("a shape of {shape}, which has no mean"), "a number over 1, such as 1.2", None);
            return None;
        }
        Some(shape)
    });
    let mean = keys.required("mean", "a time such as \"100ms\"", |at| at.quantity(bare));
    let draw = keys.or("draw", Draw::Random, |at| at.word(DRAWS));
    let (shape, mean) = (shape?, mean?);
    Some(match draw? {
        Draw::Random => Spread::Pareto { shape, mean },
        Draw::Quantiles => Spread::ParetoQuantiles { shape, mean },
    })
}
