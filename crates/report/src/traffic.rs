//! Cross traffic: a table with the delay, jitter and loss of each source.

use super::Case;
use super::table::rows_by_engine;
use lab::run::metric::{MetricReader, TRAFFIC};
use lab::run::record::TrafficSummary;

/// The columns, by the keys of a source.
const COLUMNS: [&str; 8] = [
    "throughput_bps",
    "delay_s.mean",
    "delay_s.p95",
    "delay_s.p99",
    "jitter_s",
    "queueing_delay_s.mean",
    "queueing_delay_s.p95",
    "loss_rate",
];

/// Writes the sources as HTML, without a heading: a row for each under its engine; `None` without cross traffic.
pub(super) fn traffic_table(case: &Case) -> Option<String> {
    let columns = COLUMNS.iter().filter_map(|key| TRAFFIC.iter().find(|known| known.metric.key == *key));
    let columns: Vec<&MetricReader<TrafficSummary>> = columns.collect();
    let runs = case.records.iter().map(|record| &record.summary);
    let rows = runs.map(|run| (run.engine, run.traffic.iter().map(|of| (of.name.clone(), of)).collect()));
    rows_by_engine("traffic", &columns, &rows.collect::<Vec<_>>())
}
