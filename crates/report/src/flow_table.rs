//! The table of a case's flows: a row for each flow under its engine, where a run has several of them.

use super::Case;
use super::charts::MAX_FLOWS;
use super::table::{cell, decimals_of, tag};
use super::text::escape_html;
use lab::run::record::{FlowSummary, Summary};
use std::fmt::Write as _;

/// One column of the table. One that is known of no flow of the case is left out.
struct Column {
    title: &'static str,
    unit: &'static str,
    value: fn(&FlowSummary) -> Option<f64>,
    /// A count has no decimals.
    count: bool,
}

const COLUMNS: [Column; 5] = [
    Column { title: "goodput", unit: "Mbit/s", value: |f| Some(f.goodput_bps / 1e6), count: false },
    Column { title: "mean RTT", unit: "ms", value: |f| f.rtt_s.map(|rtt| rtt.mean * 1e3), count: false },
    Column { title: "loss rate", unit: "per 10 000", value: |f| f.loss_rate.map(|v| v * 1e4), count: false },
    Column {
        title: "retransmits",
        unit: "segments",
        value: |f| f.retransmits.map(|count| count as f64),
        count: true,
    },
    Column { title: "mean backlog", unit: "packets", value: |f| f.backlog_packets, count: false },
];

/// The table as HTML, without a heading; nothing if no engine's run has two flows or more.
#[must_use]
pub(super) fn flow_table(case: &Case) -> Option<String> {
    let several = || case.records.iter().map(|record| &record.summary).filter(|run| run.flows.len() > 1);
    let flows = || several().flat_map(|run| &run.flows);
    flows().next()?;
    let known = |column: &&Column| flows().any(|flow| (column.value)(flow).is_some_and(f64::is_finite));
    let columns: Vec<(&Column, usize)> = (COLUMNS.iter().filter(known))
        .map(|column| {
            let decimals = if column.count { 0 } else { decimals_of(flows().filter_map(column.value)) };
            (column, decimals)
        })
        .collect();
    let mut out =
        String::from("<div class=\"scroll\"><table class=\"flows\"><thead><tr><th scope=\"col\">flow</th>");
    for (column, _) in &columns {
        let _ = write!(out, "<th scope=\"col\">{} <small>{}</small></th>", column.title, column.unit);
    }
    out += "</tr></thead>";
    for run in several() {
        out += &group(run, &columns);
    }
    Some(out + "</table></div>")
}

/// The first flows of a run one by one, as the charts have them, and the mean of the others.
fn group(run: &Summary, columns: &[(&Column, usize)]) -> String {
    let mut out = format!(
        "<tbody><tr class=\"case\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
        columns.len() + 1,
        tag(run.engine)
    );
    let (first, others) = run.flows.split_at(run.flows.len().min(MAX_FLOWS));
    for flow in first {
        out += &row(&flow.name, columns, |column| (column.value)(flow));
    }
    if !others.is_empty() {
        let name = format!("mean of the other {}", others.len());
        out += &row(&name, columns, |column| {
            let known: Vec<f64> = others.iter().filter_map(column.value).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        });
    }
    out + "</tbody>"
}

fn row(name: &str, columns: &[(&Column, usize)], value: impl Fn(&Column) -> Option<f64>) -> String {
    let mut out = format!("<tr><th scope=\"row\">{}</th>", escape_html(name));
    for (column, decimals) in columns {
        out += &cell(value(column), None, *decimals);
    }
    out + "</tr>"
}
