//! The top level, `[model]`, `[live]` and `[record]`.

use super::figure::FIGURE;
use super::flow::{FLOW, Flow};
use super::link::{LINK, Link};
use super::traffic::{Replay, Sessions, TRAFFIC, Traffic};
use super::wlan::{STATION, WLAN, Wlan};
use crate::cursor::ValueAt;
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN, is_default};
use crate::table::table;
use crate::tree::Value;
use crate::values::{Column, FlowChoice, RecordedFlows, Stack, Theory};
use serde::Serialize;
use units::Span;

table! {
    /// A whole scenario file.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Scenario {
        /// The links in path order; the tight link is the one with the least available bandwidth. Empty in a cell.
        pub links: Vec<Link>,
        /// A wireless cell, instead of links.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub wlan: Option<Wlan>,
        /// The transfers under study.
        pub flows: Vec<Flow>,
        /// Cross traffic that does not respond to congestion.
        pub traffic: Vec<Traffic>,
        /// Traces that are played back as cross traffic.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub replays: Vec<Replay>,
        /// Populations of users that come and go.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub sessions: Vec<Sessions>,
        /// The settings that only the model reads. The hash leaves them out if all have their defaults.
        #[serde(skip_serializing_if = "is_default")]
        pub model: Model,
        /// The settings that only the live engine reads.
        pub live: Live,
        /// The series to record, and their interval.
        pub record: Record,
    }
    read ScenarioRead |at, read, _context: ()|;
    keys ROOT = [TOP];

    /// The keys of the file.
    group TOP from KEY;

    /// heading of a report
    pub title: String = at.line() => {
        kind: "text", default: Required("a text that reports are headed with"),
    }
    /// id of the published result this reproduces, such as `"sobas:fig1-4"`; names the report, and selects
    /// the claims
    opt source: String = at.line() => {
        kind: "text", default: Words("none"),
    }
    /// seeds every random stream. `--seed` on the command line overrides it
    pub seed: u64 = at.integer(0..=u64::MAX) => {
        kind: "whole number, 0 to 18446744073709551615", default: Written("1"),
        engines: "sim live",
        why: "the same file gives the same numbers", from: OWN,
    }
    /// end of the run; without it the run ends when every sized flow has ended. A greedy flow needs it
    opt duration: Span = at.above_zero("s", "a duration of zero") => {
        kind: "time above zero", default: Words("none"),
    }
    /// metrics leave out what happens before this
    pub warmup: Span = at.quantity("s") => {
        kind: "time below `duration`", default: Written(r#""0s""#),
        why: "nothing is left out unless asked for", from: OWN,
    }
    /// the tight link, or [several](../guide/scenario.md#several-links)
    key link => {
        kind: "table, or a list of tables in path order",
        default: Words("required, unless there is a `[wlan]`"),
        within: LINK,
    }
    /// a [wireless cell](../guide/scenario.md#wlan) in the place of links
    key wlan => {
        kind: "table", default: Words("none"),
        engines: "model sim", refused_by: "live", within: WLAN,
    }
    /// the stations of the cell
    key station => {
        kind: "list of tables", default: Words("required with `[wlan]`"),
        engines: "model sim", refused_by: "live", within: STATION,
    }
    /// the transfers. The first is the target: `model` predicts it, and claims are about it
    key flow => {
        kind: "list of tables", default: Words("required, unless there are users"),
        within: FLOW,
    }
    /// cross traffic and users
    key traffic => {
        kind: "list of tables", default: Words("none"),
        within: TRAFFIC,
    }
    /// settings that only the model reads
    key model => {
        kind: "table", default: Written("{}"),
        engines: "model", within: MODEL,
    }
    /// settings that only the kernel engine reads
    key live => {
        kind: "table", default: Written("{}"),
        engines: "live", within: LIVE,
    }
    /// series that are kept
    key record => {
        kind: "table", default: Written("{}"),
        within: RECORD,
    }
    /// every combination is run; `draw` draws values of several keys together, and `baseline` is what numbers are
    /// divided by: see [sweep](../guide/scenario.md#sweep)
    key sweep => {
        kind: "lists of values by key path, `draw`, `baseline`", default: Words("none"),
    }
    /// figure over the points of the sweep; see [figure](../guide/scenario.md#figure)
    key figure => {
        kind: "table", default: Words("none"),
        within: FIGURE,
    }
}

table! {
    /// `[model]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub struct Model {}
    read ModelRead |at, read, _context: ()|;
    keys MODEL = [THEORIES];

    group THEORIES from KEY;

    /// [theory](commands.md#assumptions) that answers: the one that the scenario fits best, or this one.
    /// `"fluid"` follows windows and the queue against time and answers only if this key names it
    pub theory: Theory = at.word() => {
        kind: r#"`"nearest"`, `"slow start"`, `"mft"`, `"fixed point"`, `"fluid"`"#,
        default: Written(r#""nearest""#),
        engines: "model",
        why: "the theory whose assumptions hold says most", from: OWN,
    }
}

table! {
    /// `[live]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub struct Live {}
    read LiveRead |at, read, _context: ()|;
    keys LIVE = [KERNEL];

    group KERNEL from KEY;

    /// the kernel's loss recovery: with its defaults, or with SACK, DSACK, RACK, tail loss probes and F-RTO
    /// off
    pub stack: Stack = at.word() => {
        kind: r#"`"modern"`, `"classic"`"#, default: Written(r#""modern""#),
        engines: "live",
        why: "the kernel as it comes", from: OWN,
    }
}

table! {
    /// `[record]`.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub struct Record {}
    read RecordRead |at, read, _context: ()|;
    keys RECORD = [SERIES];

    group SERIES from KEY;

    /// sampling interval of the series; of `model` those of the theory `"fluid"`. `live`: 100 us or longer.
    /// Series are held in memory. If they would have more than 30 million numbers, the default interval grows
    /// and a note says so; a written interval is refused
    pub every: Span = at.above_zero("ms", "a sampling interval of zero") => {
        kind: "time above zero", default: Written(r#""20ms""#),
        why: "several samples in an RTT of 100 ms; a minute is 3000 points", from: OWN,
    }
    /// columns that are kept. `data`: payload received since the flow's start, only from `sim`. The report
    /// draws it for each flow from its own start, with the available bandwidth times the time
    pub columns: Vec<Column> = columns(at) => {
        kind: r#"list of `"rate"`, `"rtt"`, `"window"`, `"backlog"`, `"drops"`, `"measures"`, `"data"`"#,
        default: Written(r#"["rate", "rtt", "window", "backlog", "drops"]"#),
        why: "the columns that the report draws", from: OWN,
    }
    /// flows that have series of their own. `"sample"`: all flows, or of more than 32 as many, with the first of
    /// each `[[flow]]` table. Mean and percentiles over all flows (`sim`) are in `spread.parquet` and in the
    /// report. A list has names of flows and of `[[flow]]` tables, and indices of flows from 0
    pub flows: RecordedFlows [serde(skip_serializing_if = "is_default")] = recorded_flows(at) => {
        kind: r#"`"sample"`, `"all"`, or a list of names and indices"#, default: Written(r#""sample""#),
        engines: "model sim",
        why: "more than 32 curves cannot be told apart", from: OWN,
    }
    /// a row for each acknowledgement that reaches a sender, in
    /// [`acks.parquet`](../guide/packets.md#acknowledgements): of all flows, or of those that a list in `flows` names
    pub acks: bool [serde(skip_serializing_if = "is_default")] = at.boolean() => {
        kind: "`true`, `false`", default: Written("false"),
        engines: "sim", refused_by: "live",
        why: "a row for each of a million packets takes 100 MB of memory", from: OWN,
    }
    /// length of the intervals over which [fairness and convergence](../guide/scenario.md#fairness) are
    /// measured
    opt fairness: Span [serde(skip_serializing_if = "Option::is_none")] = fairness(at, read.every?) => {
        kind: "time, a multiple of `every`", default: Words("none"),
        engines: "sim",
    }
}

/// Reads the interval over which fairness is measured: a multiple of the sampling interval, so that the same samples
/// serve both.
fn fairness(at: &ValueAt<'_>, every: Span) -> Option<Span> {
    let interval: Span = at.above_zero("s", "an interval of zero")?;
    if !interval.as_nanos().is_multiple_of(every.as_nanos()) {
        let found = format!("{interval}, which is not a multiple of the sampling interval of {every}");
        at.fault(found, format!("{every}, or a multiple of it"), None);
        return None;
    }
    Some(interval)
}

/// Reads the flows with series: a word, or a list of names and indices.
fn recorded_flows(at: &ValueAt<'_>) -> Option<RecordedFlows> {
    if !matches!(at.node.value, Value::List(_)) {
        let all = at.word_among(&[("sample", false), ("all", true)])?;
        return Some(if all { RecordedFlows::All } else { RecordedFlows::Sample });
    }
    let items = at.items();
    if items.is_empty() {
        at.fault("an empty list", "at least one name or index of a flow", None);
        return None;
    }
    let choice = |item: &ValueAt<'_>| match item.node.value {
        Value::Integer(_) => Some(FlowChoice::Index(item.integer(0..=u64::MAX)?)),
        _ => Some(FlowChoice::Name(item.text()?)),
    };
    let choices: Vec<_> = items.iter().map(choice).collect();
    choices.into_iter().collect::<Option<_>>().map(RecordedFlows::These)
}

fn columns(at: &ValueAt<'_>) -> Option<Vec<Column>> {
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
