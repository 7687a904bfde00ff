//! Completion times of transfers: the share of the sized flows that have completed against the time since they could
//! send, and a table of the users.

use super::Case;
use super::chart::{Chart, MAX_POINTS, Trace, finish};
use super::table::rows_by_engine;
use super::text::rounded;
use lab::run::metric::{MetricReader, USERS};
use lab::run::record::SessionsSummary;

/// The least number of completed flows that get a curve; fewer are in the table of flows only.
const LEAST_FLOWS: usize = 5;
/// The columns of the users' table, by the keys of a population.
const COLUMNS: [&str; 8] = [
    "users",
    "mean_active",
    "completed",
    "goodput_bps",
    "completion_s.mean",
    "completion_s.p50",
    "completion_s.p95",
    "completion_s.p99",
];

/// Returns the chart; it has no traces if few flows completed.
pub(super) fn completion_chart(case: &Case) -> Chart {
    let mut traces = Vec::new();
    for run in case.records.iter().map(|record| &record.summary) {
        let mut times: Vec<f64> = run.flows.iter().filter_map(|flow| flow.completion_s).collect();
        if times.len() < LEAST_FLOWS {
            continue;
        }
        times.sort_by(f64::total_cmp);
        let share = |done: usize| rounded(100.0 * done as f64 / times.len() as f64);
        let every = times.len().div_ceil(MAX_POINTS / 2 - 1);
        let (mut x, mut y) = (vec![0.0], vec![0.0]);
        for (done, time) in times.iter().enumerate().filter(|(i, _)| i % every == 0 || i + 1 == times.len()) {
            // Two points make a step: the shares before and after the flow ended.
            x.extend([rounded(*time); 2]);
            y.extend([y.last().copied().unwrap_or_default(), share(done + 1)]);
        }
        traces.push(Trace { engine: run.engine, role: None, name: run.engine.to_string(), x, y, bar_s: 0.0 });
    }
    let end = traces.iter().filter_map(|trace| trace.x.last().copied()).fold(0.0, f64::max);
    let note = "share of the flows with a size that ended within this time after they could send".to_owned();
    let mut chart = finish("completion", "Completion times", "%", note, traces, &[]);
    chart.range = [0.0, 104.0];
    chart.levels.clear();
    chart.end_s = Some(rounded(1.04 * end));
    chart
}

/// Writes the populations of users as HTML, without a heading: a row for each under its engine; `None` without users.
pub(super) fn user_table(case: &Case) -> Option<String> {
    let columns = COLUMNS.iter().filter_map(|key| USERS.iter().find(|known| known.metric.key == *key));
    let columns: Vec<&MetricReader<SessionsSummary>> = columns.collect();
    let runs = case.records.iter().map(|record| &record.summary);
    let rows = runs.map(|run| (run.engine, run.sessions.iter().map(|of| (of.name.clone(), of)).collect()));
    rows_by_engine("users", &columns, &rows.collect::<Vec<_>>())
}
