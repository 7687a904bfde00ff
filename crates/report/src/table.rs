//! The summary table. Its rows are cases and within each the engines, its columns are numbers. Small text next to a
//! number is its distance from the model's.

use super::text::{decimals_for, difference, escape_html, number};
use super::{Case, Report};
use lab::run::metric::{COLUMNS, LINK, MetricReader, of_run};
use lab::run::record::{Engine, LinkSummary, Summary};

/// A number of a run, with the decimals of its column.
type Column = (&'static MetricReader<Summary>, usize);

/// Returns the columns for which at least one run has a number, or all columns if no run has any.
fn columns(report: &Report) -> Vec<&'static str> {
    let runs = || report.cases.iter().flat_map(|case| &case.records);
    let known = |key: &&str| runs().any(|run| shown(of_run(key), &run.summary).is_some());
    let known: Vec<&str> = COLUMNS.into_iter().filter(known).collect();
    if known.is_empty() { COLUMNS.to_vec() } else { known }
}

/// Writes the table as HTML.
#[must_use]
pub fn table(report: &Report) -> String {
    let columns = columns(report);
    let mut out = String::from("<table class=\"summary\"><thead><tr><th scope=\"col\">engine</th>");
    for MetricReader { metric, .. } in columns.iter().map(|key| of_run(key)) {
        out += &format!("<th scope=\"col\">{} <small>{}</small></th>", metric.words, metric.unit.shown());
    }
    out += "</tr></thead>";
    let columns: Vec<Column> =
        columns.into_iter().map(|key| (of_run(key), decimals(report, of_run(key)))).collect();
    for (index, case) in report.cases.iter().enumerate() {
        out += &group(index, case, report.cases.len() > 1, &columns);
    }
    out + "</table>"
}

fn group(index: usize, case: &Case, several: bool, columns: &[Column]) -> String {
    let width = columns.len() + 1;
    let mut out = String::from("<tbody>");
    if several {
        let (n, label) = (index + 1, escape_html(&case.label));
        out += &format!(
            "<tr class=\"case\"><th colspan=\"{width}\" scope=\"rowgroup\"><a href=\"#case-{n}\"><b>{n}</b> {label}</a></th></tr>"
        );
    }
    let model = case.records.iter().map(|r| &r.summary).find(|s| s.engine == Engine::Model && s.is_exact());
    for summary in case.records.iter().map(|r| &r.summary) {
        let engine = summary.engine;
        out += &format!(
            "<tr data-case=\"{index}\" data-engine=\"{engine}\"><th scope=\"row\">{}{}</th>",
            tag(engine),
            if summary.is_exact() { "" } else { " <small>under broken assumptions</small>" }
        );
        for &(column, decimals) in columns {
            let reference = model.filter(|_| engine != Engine::Model).and_then(|model| shown(column, model));
            out += &cell(shown(column, summary), reference, decimals);
        }
        out += "</tr>";
        for link in &summary.links {
            out += &link_row(link, columns);
        }
    }
    for absent in &case.absent {
        out += &format!("<tr class=\"absent\"><td colspan=\"{width}\">{}</td></tr>", escape_html(absent));
    }
    out + "</tbody>"
}

/// Writes the row of one of several links, in the columns that a link has. It stands under its engine.
fn link_row(link: &LinkSummary, columns: &[Column]) -> String {
    let back = if link.direction == "reverse" { " reverse" } else { "" };
    let tight = if link.tight { ", the tight link" } else { "" };
    let mut out = format!(
        "<tr class=\"link\"><th scope=\"row\"><small>{}{back}{tight}</small></th>",
        escape_html(&link.name)
    );
    for (column, decimals) in columns {
        let known = LINK.iter().find(|known| known.metric.key == column.metric.key);
        out += &match known.and_then(|column| shown(column, link)) {
            Some(value) => cell(Some(value), None, *decimals),
            None => "<td></td>".to_owned(),
        };
    }
    out + "</tr>"
}

/// Writes a table of rows under each engine, with `what` over their names. It has those of `columns` that any row
/// knows. Returns `None` without rows.
pub(super) fn rows_by_engine<T>(
    what: &str,
    columns: &[&MetricReader<T>],
    groups: &[(Engine, Vec<(String, &T)>)],
) -> Option<String> {
    let all = || groups.iter().flat_map(|(_, rows)| rows.iter().map(|(_, of)| *of));
    all().next()?;
    let known = |column: &&&MetricReader<T>| all().any(|of| shown(column, of).is_some());
    let decimals = |column: &MetricReader<T>| {
        if column.metric.whole { 0 } else { decimals_of(all().filter_map(|of| shown(column, of))) }
    };
    let columns: Vec<(&MetricReader<T>, usize)> =
        columns.iter().filter(known).map(|column| (*column, decimals(column))).collect();
    let mut out =
        format!("<div class=\"scroll\"><table class=\"flows\"><thead><tr><th scope=\"col\">{what}</th>");
    for (MetricReader { metric, .. }, _) in &columns {
        out += &format!("<th scope=\"col\">{} <small>{}</small></th>", metric.words, metric.unit.shown());
    }
    out += "</tr></thead>";
    for (engine, rows) in groups.iter().filter(|(_, rows)| !rows.is_empty()) {
        let (span, engine) = (columns.len() + 1, tag(*engine));
        out += &format!(
            "<tbody><tr class=\"case\"><th colspan=\"{span}\" scope=\"rowgroup\">{engine}</th></tr>"
        );
        for (name, of) in rows {
            out += &format!("<tr><th scope=\"row\">{}</th>", escape_html(name));
            for (column, decimals) in &columns {
                out += &cell(shown(column, *of), None, *decimals);
            }
            out += "</tr>";
        }
        out += "</tbody>";
    }
    Some(out + "</table></div>")
}

/// Explains the signs in `table`; empty if it has none.
pub(super) fn table_hint(table: &str) -> String {
    let mut out = String::new();
    if table.contains("</span><small") {
        out += "Small figures: distance from the model; bold beyond 10&nbsp;%. ";
    }
    if table.contains("<span>–</span>") {
        out += "An en dash: the engine does not know this number.";
    }
    let hint = if out.is_empty() { out } else { format!("<p class=\"hint\">{}</p>", out.trim_end()) };
    // Seven columns and more are wider than a phone, where the style shows this line.
    let wide = table.matches("<th scope=\"col\">").count() > 6;
    if wide {
        format!("<p class=\"hint swipe\">Swipe the table for its other columns.</p>{hint}")
    } else {
        hint
    }
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

/// Returns a number in the unit that readers see.
pub(super) fn shown<T>(column: &MetricReader<T>, of: &T) -> Option<f64> {
    Some(column.metric.unit.to_shown((column.get)(of)?))
}

/// Returns the decimals of the whole column, so that 72.0 stands over 72.5. A column that would need more than six
/// digits has the decimals of its greatest value.
fn decimals(report: &Report, column: &MetricReader<Summary>) -> usize {
    if column.metric.whole {
        return 0;
    }
    let runs = || report.cases.iter().flat_map(|case| &case.records);
    let values = || runs().filter_map(|run| shown(column, &run.summary));
    let most = values().map(f64::abs).filter(|value| value.is_finite()).fold(0.0, f64::max);
    decimals_of(values()).min(decimals_for(most, 6))
}

/// Returns the decimals for three significant digits of the greatest of `values` and two of the least.
pub(super) fn decimals_of(values: impl Iterator<Item = f64>) -> usize {
    let known = values.map(f64::abs).filter(|v| v.is_finite() && *v > 0.0);
    let (most, least) = known.fold((0.0, f64::INFINITY), |(most, least), v| (v.max(most), v.min(least)));
    decimals_for(most, 3).max(decimals_for(least, 2))
}

/// Writes an engine's name behind a sample of its line.
#[must_use]
pub fn tag(engine: Engine) -> String {
    format!("<span class=\"engine {engine}\"><i class=\"line\" aria-hidden=\"true\"></i>{engine}</span>")
}

/// Writes an engine's name behind its sign in the overview.
#[must_use]
pub fn mark(engine: Engine) -> String {
    format!("<span class=\"engine {engine}\"><i class=\"mark\" aria-hidden=\"true\"></i>{engine}</span>")
}
