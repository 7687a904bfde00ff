//! `[record]`: the series a run keeps. `[live]`: what only the live engine reads.

use super::keys::{At, Keys};
use crate::document::Value;
use crate::schema;
use crate::spec::{Column, Live, Record, Stack};
use units::Span;

const COLUMNS: &[(&str, Column)] = &[
    ("rate", Column::Rate),
    ("rtt", Column::Rtt),
    ("window", Column::Window),
    ("backlog", Column::Backlog),
    ("drops", Column::Drops),
    ("measures", Column::Measures),
];
/// Of these the first so many are kept where none are named.
const DEFAULT: usize = 5;
const STACKS: &[(&str, Stack)] = &[("modern", Stack::Modern), ("classic", Stack::Classic)];

/// Reads `[live]`.
pub(super) fn live(root: &Keys<'_>) -> Option<Live> {
    root.or("live", Live { stack: Stack::Modern }, |at| {
        let keys = at.keys(schema::LIVE)?;
        Some(Live { stack: keys.or("stack", Stack::Modern, |at| at.word(STACKS))? })
    })
}

/// Reads `[record]`.
pub(super) fn record(root: &Keys<'_>) -> Option<Record> {
    let every = Span::from_millis(20);
    let all: Vec<Column> = COLUMNS[..DEFAULT].iter().map(|(_, column)| *column).collect();
    root.or("record", Record { every, columns: all.clone() }, |at| {
        let keys = at.keys(schema::RECORD)?;
        let every = keys.or("every", every, |at| at.above_zero("ms", "a sampling interval of zero"));
        let columns = keys.or("columns", all, columns);
        Some(Record { every: every?, columns: columns? })
    })
}

fn columns(at: &At<'_>) -> Option<Vec<Column>> {
    if !matches!(at.node.value, Value::List(_)) {
        let help = Some(at).filter(|at| matches!(at.node.value, Value::String(_)));
        let help = help.map(|at| format!("write [{}]", at.node.described()));
        at.fault(at.node.described(), "a list of rate, rtt, window, backlog, drops, measures", help);
        return None;
    }
    let mut columns = Vec::new();
    let mut sound = true;
    for item in at.items() {
        match item.word(COLUMNS) {
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
