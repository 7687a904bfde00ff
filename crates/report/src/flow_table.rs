//! The table of a case's flows: a row for each flow under its engine, where a run has several of them.

use super::Case;
use super::chart::MAX_FLOWS;
use super::table::{cell, decimals_of, shown, tag};
use super::text::escape_html;
use lab::run::metric::{FLOW, MetricReader};
use lab::run::record::{FlowSummary, Summary};
use std::fmt::Write as _;

/// The columns, by the keys of a flow. A column without a value for any flow of the case is left out.
const COLUMNS: [&str; 6] =
    ["goodput_bps", "rtt_s.mean", "loss_rate", "retransmits", "backlog_packets", "completion_s"];

/// One column of the table.
struct Column(&'static MetricReader<FlowSummary>);

impl Column {
    /// Returns true for the loss rate: a flow loses so few packets that a percentage would be all zeros.
    fn per_ten_thousand(&self) -> bool {
        self.0.metric.key == "loss_rate"
    }

    fn unit(&self) -> &'static str {
        if self.per_ten_thousand() { "per 10 000" } else { self.0.metric.unit.shown() }
    }

    fn value(&self, flow: &FlowSummary) -> Option<f64> {
        if self.per_ten_thousand() { Some((self.0.get)(flow)? * 1e4) } else { shown(self.0, flow) }
    }
}

/// Writes the table as HTML, without a heading. Returns `None` unless an engine's run has two flows or more, or a lone
/// one of a fixed size.
#[must_use]
pub(super) fn flow_table(case: &Case) -> Option<String> {
    let several = || {
        case.records
            .iter()
            .map(|record| &record.summary)
            .filter(|run| run.flows.len() > 1 || run.flows.iter().any(|flow| flow.completion_s.is_some()))
    };
    let flows = || several().flat_map(|run| &run.flows);
    flows().next()?;
    let known = |column: &Column| flows().any(|flow| column.value(flow).is_some_and(f64::is_finite));
    let listed = COLUMNS.iter().filter_map(|key| FLOW.iter().find(|known| known.metric.key == *key));
    let columns: Vec<(Column, usize)> = (listed.map(Column).filter(known))
        .map(|column| {
            let whole = column.0.metric.whole;
            let decimals = if whole { 0 } else { decimals_of(flows().filter_map(|flow| column.value(flow))) };
            (column, decimals)
        })
        .collect();
    let mut out =
        String::from("<div class=\"scroll\"><table class=\"flows\"><thead><tr><th scope=\"col\">flow</th>");
    for (column, _) in &columns {
        let _ =
            write!(out, "<th scope=\"col\">{} <small>{}</small></th>", column.0.metric.words, column.unit());
    }
    out += "</tr></thead>";
    for run in several() {
        out += &group(run, &columns);
    }
    Some(out + "</table></div>")
}

/// Writes the first flows of a run one by one, as the charts have them, and the mean of the others.
fn group(run: &Summary, columns: &[(Column, usize)]) -> String {
    let mut out = format!(
        "<tbody><tr class=\"case\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>",
        columns.len() + 1,
        tag(run.engine)
    );
    let (first, others) = run.flows.split_at(run.flows.len().min(MAX_FLOWS));
    for flow in first {
        out += &row(&flow.name, columns, |column| column.value(flow));
    }
    if !others.is_empty() {
        let name = format!("mean of the other {}", others.len());
        out += &row(&name, columns, |column| {
            let known: Vec<f64> = others.iter().filter_map(|flow| column.value(flow)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        });
    }
    out + "</tbody>"
}

fn row(name: &str, columns: &[(Column, usize)], value: impl Fn(&Column) -> Option<f64>) -> String {
    let mut out = format!("<tr><th scope=\"row\">{}</th>", escape_html(name));
    for (column, decimals) in columns {
        out += &cell(value(column), None, *decimals);
    }
    out + "</tr>"
}
