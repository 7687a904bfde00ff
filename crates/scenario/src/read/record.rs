//! `[record]`: the series a run keeps. `[model]` and `[live]`: what only one engine reads.

use crate::cursor::{At, Keys};
use crate::spec::{Column, Live, Model, Record};
use crate::tables;
use crate::tree::Value;
use units::Span;

/// Reads `[model]`.
pub(super) fn model(root: &Keys<'_>) -> Option<Model> {
    root.read("model", |at| {
        let keys = at.keys(tables::MODEL)?;
        Some(Model { theory: keys.read("theory", |at| at.word())? })
    })
}

/// Reads `[live]`.
pub(super) fn live(root: &Keys<'_>) -> Option<Live> {
    root.read("live", |at| {
        let keys = at.keys(tables::LIVE)?;
        Some(Live { stack: keys.read("stack", |at| at.word())? })
    })
}

/// Reads `[record]`.
pub(super) fn record(root: &Keys<'_>) -> Option<Record> {
    root.read("record", |at| {
        let keys = at.keys(tables::RECORD)?;
        let every = keys.read("every", |at| at.above_zero("ms", "a sampling interval of zero"));
        let columns = keys.read("columns", columns);
        let flows = keys.read("flows", |at| at.word());
        let fairness = keys.optional("fairness", |at| fairness(at, every?));
        Some(Record { every: every?, columns: columns?, flows: flows?, fairness: fairness? })
    })
}

/// The intervals over which fairness is measured: whole sampling intervals, so that one look serves both.
fn fairness(at: &At<'_>, every: Span) -> Option<Span> {
    let interval: Span = at.above_zero("s", "an interval of zero")?;
    if !interval.as_nanos().is_multiple_of(every.as_nanos()) {
        let found = format!("{interval}, which is no multiple of the sampling interval of {every}");
        at.fault(found, format!("{every}, or a multiple of it"), None);
        return None;
    }
    Some(interval)
}

fn columns(at: &At<'_>) -> Option<Vec<Column>> {
    if !matches!(at.node.value, Value::List(_)) {
        let help = Some(at).filter(|at| matches!(at.node.value, Value::String(_)));
        let help = help.map(|at| format!("write [{}]", at.node.described()));
        at.fault(at.node.described(), "a list of rate, rtt, window, backlog, drops, measures, data", help);
        return None;
    }
    let mut columns = Vec::new();
    let mut sound = true;
    for item in at.items() {
        match item.word() {
            Some(column) if columns.contains(&column) => {
                item.fault(
                    format!("{} for the second time", item.node.described()),
                    "each column once",
                    None,
                );
                sound = false;
            }
            Some(column) => columns.push(column),
            None => sound = false,
        }
    }
    sound.then_some(columns)
}
