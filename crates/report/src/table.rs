//! The summary table: rows are cases and within each the engines, columns are numbers, small text beside a number
//! is its distance from the model's.

use super::text::{decimals_for, difference, escape_html, number};
use super::{Case, Report};
use lab::run::record::{Engine, LinkSummary, Summary};

/// One column of the table.
struct Column {
    title: &'static str,
    unit: &'static str,
    value: fn(&Summary) -> Option<f64>,
    /// A count has no decimals.
    count: bool,
}

const COLUMNS: [Column; 7] = [
    Column { title: "goodput", unit: "Mbit/s", value: |s| goodput_bps(s).map(|v| v / 1e6), count: false },
    Column { title: "mean RTT", unit: "ms", value: |s| mean_rtt_s(s).map(|v| v * 1e3), count: false },
    Column { title: "loss rate", unit: "%", value: |s| s.loss_rate.map(|v| v * 100.0), count: false },
    Column { title: "retransmits", unit: "segments", value: retransmits, count: true },
    Column { title: "utilization", unit: "%", value: |s| s.utilization.map(|v| v * 100.0), count: false },
    Column {
        title: "mean backlog",
        unit: "kB",
        value: |s| s.mean_backlog_bytes.map(|v| v / 1e3),
        count: false,
    },
    Column {
        title: "p95 queueing delay",
        unit: "ms",
        value: |s| s.queueing_delay_s.and_then(|d| d.percentiles.p95).map(|v| v * 1e3),
        count: false,
    },
];

/// Sum of the goodputs of flows and users, bits per second.
#[must_use]
pub fn goodput_bps(summary: &Summary) -> Option<f64> {
    let any = !summary.flows.is_empty() || !summary.sessions.is_empty();
    any.then(|| summary.goodput_bps())
}

/// Mean of the flows' mean RTTs, seconds.
#[must_use]
pub fn mean_rtt_s(summary: &Summary) -> Option<f64> {
    let known: Vec<f64> = summary.flows.iter().filter_map(|f| f.rtt_s.map(|r| r.mean)).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn retransmits(summary: &Summary) -> Option<f64> {
    let users = summary.sessions.iter().map(|sessions| sessions.retransmits);
    let known: Vec<u64> = summary.flows.iter().filter_map(|f| f.retransmits).chain(users).collect();
    (!known.is_empty()).then(|| known.iter().sum::<u64>() as f64)
}

/// The table as HTML.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut out = String::from("<table class=\"summary\"><thead><tr><th scope=\"col\">engine</th>");
    for column in &COLUMNS {
        out += &format!("<th scope=\"col\">{} <small>{}</small></th>", column.title, column.unit);
    }
    out += "</tr></thead>";
    for (index, case) in report.cases.iter().enumerate() {
        out += &group(index, case, report.cases.len() > 1);
    }
    out + "</table>"
}

fn group(index: usize, case: &Case, several: bool) -> String {
    let mut out = String::from("<tbody>");
    if several {
        let (n, label) = (index + 1, escape_html(&case.label));
        out += &format!(
            "<tr class=\"case\"><th colspan=\"8\" scope=\"rowgroup\"><a href=\"#case-{n}\"><b>{n}</b> {label}</a></th></tr>"
        );
    }
    let model = case.records.iter().map(|r| &r.summary).find(|s| s.engine == Engine::Model);
    for summary in case.records.iter().map(|r| &r.summary) {
        let engine = summary.engine;
        out += &format!(
            "<tr data-case=\"{index}\" data-engine=\"{engine}\"><th scope=\"row\">{}</th>",
            tag(engine)
        );
        for column in &COLUMNS {
            let reference = model.filter(|_| engine != Engine::Model).and_then(column.value);
            out += &cell((column.value)(summary), reference, decimals(case, column));
        }
        out += "</tr>";
        for link in &summary.links {
            out += &link_row(case, link);
        }
    }
    for absent in &case.absent {
        out += &format!("<tr class=\"absent\"><td colspan=\"8\">{}</td></tr>", escape_html(absent));
    }
    out + "</tbody>"
}

/// One of several links under its engine, in the columns that a link has.
fn link_row(case: &Case, link: &LinkSummary) -> String {
    let back = if link.direction == "reverse" { " reverse" } else { "" };
    let tight = if link.tight { ", the tight link" } else { "" };
    let mut out = format!(
        "<tr class=\"link\"><th scope=\"row\"><small>{}{back}{tight}</small></th>",
        escape_html(&link.name)
    );
    let p95 = link.queueing_delay_s.and_then(|delay| delay.percentiles.p95).map(|v| v * 1e3);
    let (loss, utilization) = (Some(link.loss_rate * 100.0), Some(link.utilization * 100.0));
    let values = [None, None, loss, None, utilization, Some(link.mean_backlog_bytes / 1e3), p95];
    for (column, value) in COLUMNS.iter().zip(values) {
        out += &match value {
            Some(_) => cell(value, None, decimals(case, column)),
            None => "<td></td>".to_owned(),
        };
    }
    out + "</tr>"
}

pub(super) fn cell(value: Option<f64>, reference: Option<f64>, decimals: usize) -> String {
    let raw = value.map(|v| v.to_string()).unwrap_or_default();
    let mut out = format!("<td data-value=\"{raw}\"><span>{}</span>", number(value, decimals));
    if let (Some(value), Some(reference)) = (value, reference)
        && let Some(text) = difference(value, reference)
    {
        let far = if (value / reference - 1.0).abs() > 0.1 { " class=\"far\"" } else { "" };
        out += &format!("<small{far}>{text}</small>");
    }
    out + "</td>"
}

/// The same decimals for all engines of a case, so that digits stand under each other.
fn decimals(case: &Case, column: &Column) -> usize {
    if column.count {
        return 0;
    }
    decimals_of(case.records.iter().filter_map(|r| (column.value)(&r.summary)))
}

/// Three significant digits for the greatest of `values`, two for the least.
pub(super) fn decimals_of(values: impl Iterator<Item = f64>) -> usize {
    let known = values.map(f64::abs).filter(|v| v.is_finite() && *v > 0.0);
    let (most, least) = known.fold((0.0, f64::INFINITY), |(most, least), v| (v.max(most), v.min(least)));
    decimals_for(most, 3).max(decimals_for(least, 2))
}

/// An engine's name behind a sample of its line.
#[must_use]
pub fn tag(engine: Engine) -> String {
    format!("<span class=\"engine {engine}\"><i class=\"line\" aria-hidden=\"true\"></i>{engine}</span>")
}

/// An engine's name behind the sign it has in the overview.
#[must_use]
pub fn mark(engine: Engine) -> String {
    format!("<span class=\"engine {engine}\"><i class=\"mark\" aria-hidden=\"true\"></i>{engine}</span>")
}
