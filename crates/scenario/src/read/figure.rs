//! `[figure]`: a figure over the points of a sweep.

use crate::cursor::{Keys, Sink, ValueAt};
use crate::fault::Faults;
use crate::near;
use crate::schema::{self, Keys as Known};
use crate::tables;
use crate::tables::figure::{FigureNumbers, FigureReference, FigureSpec, MOST_REPEATS, Smallest};
use crate::tree::{Node, Value};
use crate::values::FigureEngine;
use units::{Fraction, Span};

/// The value of `x` that stands for the same number of the point's baseline.
const BASELINE: &str = "baseline";

/// Reads the table, given the swept keys and the sweep's baseline.
pub(crate) fn figure(
    root: &Node,
    known: Known,
    swept: &[String],
    baseline: &[(String, String)],
) -> Result<Option<FigureSpec>, Faults> {
    let sink = Sink::new(tables::ROOT);
    let Some(at) = ValueAt::root(root, &sink).child("figure") else { return Ok(None) };
    let spec = at.keys(known).and_then(|keys| read(&keys, swept, baseline));
    sink.result(spec).map(Some)
}

fn read(keys: &Keys<'_>, swept: &[String], baseline: &[(String, String)]) -> Option<FigureSpec> {
    let x = keys.read("x", |at| horizontal(at, swept, baseline));
    let of_results = x.as_ref().is_some_and(|x| !swept.contains(x));
    let baseline = if x.as_deref() == Some(BASELINE) { baseline } else { &[] };
    // A curve of points and their baselines goes along a key that differs between them.
    let of_baseline = |key: &&String| baseline.iter().any(|(of, _)| of == *key);
    let others: Vec<String> = swept.iter().filter(|key| !of_baseline(key)).cloned().collect();
    let along = along(keys, &others, x.as_deref().filter(|_| of_results));
    let rows = keys.optional("rows", |at| {
        let rows = swept_key(at, swept)?;
        if x.as_ref() == Some(&rows) {
            at.fault(format!("\"{rows}\", which is x already"), "another swept key", None);
            return None;
        }
        Some(rows)
    });
    let published = keys.optional("published", ValueAt::line);
    let reference = keys.optional("reference", reference);
    let y = match (keys.get("y"), keys.get("smallest")) {
        (Some(y), None) => {
            texts(&y, "keys of the summary such as [\"idle_fraction\"]").map(FigureNumbers::Numbers)
        }
        (None, Some(smallest)) => {
            smallest_of(&smallest.keys(tables::SMALLEST)?, swept).map(FigureNumbers::Smallest)
        }
        (found, _) => {
            let found = if found.is_some() { "y and smallest at once" } else { "nothing to draw" };
            keys.near("y").fault(
                found,
                "y = [\"idle_fraction\"] or smallest = { over, metric, at_most }",
                None,
            );
            None
        }
    };
    let engines = keys.read("engines", engines);
    let repeat = keys.read("repeat", |at| at.integer(1..=MOST_REPEATS));
    if let (true, Some(at)) = (of_results, keys.get("x")) {
        for key in ["smallest", "rows", "reference"] {
            if keys.get(key).is_some() {
                let of = if baseline.is_empty() { "a number of the summary" } else { "the baseline" };
                let found = format!("{of} together with {key}");
                at.fault(found, format!("a swept key: {}", swept.join(", ")), None);
                return None;
            }
        }
    }
    if let (Some(Some(_)), Some(at)) = (&rows, keys.get("reference")) {
        at.fault("reference together with rows", "curves, which x and y alone draw", None);
        return None;
    }
    if let Some(FigureNumbers::Smallest(_)) = &y {
        // These keys do not go with a search, which repeats each simulation as often as necessary and draws a curve per
        // target.
        for key in ["engines", "repeat", "rows", "reference"] {
            if let Some(at) = keys.get(key) {
                let help = Some(match key {
                    "rows" => "remove rows: a heat map draws numbers of the summary".to_owned(),
                    "reference" => "remove reference: its table has numbers of the summary".to_owned(),
                    _ => format!("remove {key}: a search simulates, and repeats as often as it must"),
                });
                at.fault(format!("{key} together with smallest"), "y = [\"idle_fraction\"] with it", help);
                return None;
            }
        }
    }
    Some(FigureSpec {
        x: x?,
        along: along?,
        baseline: baseline.to_vec(),
        rows: rows?,
        y: y?,
        engines: engines?,
        repeat: repeat?,
        published: published?,
        reference: reference?,
    })
}

fn reference(at: &ValueAt<'_>) -> Option<FigureReference> {
    let keys = at.keys(tables::REFERENCE)?;
    let (name, file) = (keys.read("name", ValueAt::name), keys.read("file", ValueAt::text));
    Some(FigureReference { name: name?, file: file? })
}

/// Reads `x`: a swept key, the baseline, or a number of the summary if the name is not a key of a scenario.
fn horizontal(at: &ValueAt<'_>, swept: &[String], baseline: &[(String, String)]) -> Option<String> {
    let key = at.text()?;
    if key == BASELINE {
        if baseline.is_empty() || baseline.len() == swept.len() {
            let found = "\"baseline\", but [sweep] has no baseline, or sweeps no other key";
            let help =
                "write baseline = { KEY = VALUE } in [sweep]: VALUE is one of the values of the swept KEY";
            at.fault(found, format!("a swept key: {}", swept.join(", ")), Some(help.to_owned()));
            return None;
        }
        return Some(key);
    }
    let table = key.split('.').next().unwrap_or_default();
    let of_scenario = schema::names(tables::ROOT).any(|name| name == table);
    if of_scenario || swept.is_empty() { swept_key(at, swept) } else { Some(key) }
}

/// Reads `along`: the swept key along which a curve goes if `x` is the number `result`; by default the last one.
fn along(keys: &Keys<'_>, swept: &[String], result: Option<&str>) -> Option<Option<String>> {
    let written = keys.optional("along", |at| {
        let key = swept_key(at, swept)?;
        if result.is_none() {
            let found = format!("\"{key}\" together with an x that is a swept key");
            at.fault(found, "along only where x is a number of the summary", Some("remove along".to_owned()));
            return None;
        }
        Some(key)
    })?;
    Some(result.and_then(|_| written.or_else(|| swept.last().cloned())))
}

/// Reads a key that the sweep varies.
fn swept_key(at: &ValueAt<'_>, swept: &[String]) -> Option<String> {
    let key = at.text()?;
    if !swept.contains(&key) {
        let help = near::did_you_mean(&key, swept.iter().map(String::as_str));
        let found = format!("\"{key}\", which [sweep] does not vary");
        at.fault(found, format!("a swept key: {}", swept.join(", ")), help);
        return None;
    }
    Some(key)
}

/// Reads a list of engines, or one.
fn engines(at: &ValueAt<'_>) -> Option<Vec<FigureEngine>> {
    let items = if matches!(at.node.value, Value::String(_)) { vec![at.clone()] } else { at.items() };
    if items.is_empty() {
        at.fault(at.node.described(), "engines such as [\"sim\", \"live\"]", None);
        return None;
    }
    let mut engines = Vec::new();
    for item in &items {
        let engine = item.word()?;
        if engines.contains(&engine) {
            item.fault(format!("{} for the second time", item.node.described()), "each engine once", None);
            return None;
        }
        engines.push(engine);
    }
    Some(engines)
}

fn smallest_of(keys: &Keys<'_>, swept: &[String]) -> Option<Smallest> {
    let over = keys.read("over", |at| {
        let over = at.text()?;
        if swept.contains(&over) {
            at.fault(format!("\"{over}\", which [sweep] varies already"), "a key that is not swept", None);
            return None;
        }
        Some(over)
    });
    let metric = keys.read("metric", ValueAt::text);
    let at_most = keys.read("at_most", |at| {
        let items = at.items();
        if items.is_empty() {
            at.fault(at.node.described(), "a list of targets such as [\"1%\", \"5%\"]", None);
        }
        let bounds: Vec<_> = items.iter().map(bound).collect();
        bounds.into_iter().collect::<Option<Vec<_>>>().filter(|bounds| !bounds.is_empty())
    });
    Some(Smallest { over: over?, metric: metric?, at_most: at_most? })
}

/// Reads a share, a time or a number: its text and its value.
fn bound(at: &ValueAt<'_>) -> Option<(String, f64)> {
    let typed = at.node.typed();
    let number = typed.parse::<f64>().ok();
    let share = || typed.parse::<Fraction>().ok().map(Fraction::get);
    let time = || typed.parse::<Span>().ok().map(Span::as_secs_f64);
    let Some(value) = number.or_else(share).or_else(time).filter(|value| value.is_finite()) else {
        at.fault(at.node.described(), "a target such as \"1%\", \"20ms\" or 0.01", None);
        return None;
    };
    Some((typed.to_owned(), value))
}

fn texts(at: &ValueAt<'_>, accepted: &str) -> Option<Vec<String>> {
    let items = at.items();
    if items.is_empty() {
        at.fault(at.node.described(), format!("a list of {accepted}"), None);
        return None;
    }
    let texts: Vec<_> = items.iter().map(ValueAt::text).collect();
    texts.into_iter().collect()
}
