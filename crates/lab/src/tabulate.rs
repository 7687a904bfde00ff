//! A sweep's results as one table: a row per point, a column per swept key and per number of the summary.

use crate::record::Summary;
use crate::store::{Column, replace, replace_by, write_table};
use crate::sweep::PointResult;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// A number of the summary as a column.
type Number = (&'static str, fn(&Summary) -> Option<f64>);

/// The numbers, in the order of the columns; several flows are summed (goodput, retransmits) or averaged (RTT).
const NUMBERS: &[Number] = &[
    ("seed", |s| Some(s.seed as f64)),
    ("measured_s", |s| Some(s.measured_s)),
    ("packets_forwarded", |s| s.packets_forwarded.map(|count| count as f64)),
    ("utilization", |s| s.utilization),
    ("utilization_ci95", |s| s.utilization_ci95),
    ("idle_fraction", |s| s.idle_fraction),
    ("queue_empty_fraction", |s| s.queue_empty_fraction),
    ("loss_rate", |s| s.loss_rate),
    ("loss_rate_ci95", |s| s.loss_rate_ci95),
    ("mean_backlog_bytes", |s| s.mean_backlog_bytes),
    ("mean_occupancy", |s| s.mean_occupancy),
    ("queue_length_packets_mean", |s| s.queue_length_packets.map(|length| length.mean)),
    ("queue_length_packets_p50", |s| s.queue_length_packets.map(|length| length.p50 as f64)),
    ("queue_length_packets_p95", |s| s.queue_length_packets.map(|length| length.p95 as f64)),
    ("queue_length_packets_p99", |s| s.queue_length_packets.map(|length| length.p99 as f64)),
    ("queue_length_packets_max", |s| s.queue_length_packets.map(|length| length.max as f64)),
    ("queueing_delay_mean_s", |s| s.queueing_delay_s.map(|delay| delay.mean)),
    ("queueing_delay_p50_s", |s| s.queueing_delay_s.and_then(|delay| delay.p50)),
    ("queueing_delay_p95_s", |s| s.queueing_delay_s.and_then(|delay| delay.p95)),
    ("queueing_delay_p99_s", |s| s.queueing_delay_s.and_then(|delay| delay.p99)),
    ("queueing_delay_max_s", |s| s.queueing_delay_s.and_then(|delay| delay.max)),
    ("jain_index", |s| s.jain_index),
    ("goodput_bps", |s| Some(s.goodput_bps())),
    ("rtt_mean_s", rtt_mean),
    ("retransmits", |s| s.retransmits().map(|count| count as f64)),
    ("mean_active", |s| s.sessions.first().map(|_| s.sessions.iter().map(|of| of.mean_active).sum())),
];

fn rtt_mean(summary: &Summary) -> Option<f64> {
    let rtts: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.rtt_s.map(|rtt| rtt.mean)).collect();
    (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64)
}

/// Writes `NAME.csv` and `NAME.parquet` into `folder`; returns their paths.
///
/// # Errors
/// What the file system says; a file of an earlier sweep that could not be replaced is then unchanged.
pub fn tabulate(folder: &Path, name: &str, results: &[PointResult]) -> io::Result<[PathBuf; 2]> {
    let [csv, parquet] = ["csv", "parquet"].map(|kind| folder.join(format!("{name}.{kind}")));
    replace(&csv, csv_text(results).as_bytes())?;
    let keys = results.first().map_or(0, |result| result.point.len());
    let texts = |of: &dyn Fn(&PointResult) -> String| results.iter().map(of).collect::<Vec<_>>();
    let mut columns: Vec<(String, Column)> = (0..keys)
        .map(|index| (key_name(results, index), Column::Text(texts(&|result| result.point[index].1.clone()))))
        .collect();
    columns.extend(numbers(results).map(|(name, of)| {
        let values = results.iter().map(|result| of(&result.summary)).collect();
        ((*name).to_owned(), Column::Number(values))
    }));
    columns
        .push(("scenario_hash".into(), Column::Text(texts(&|result| result.summary.scenario_hash.clone()))));
    replace_by(&parquet, |under_way| write_table(under_way, &columns))?;
    Ok([csv, parquet])
}

/// The numbers whose name no swept key has: a column stands once.
fn numbers(results: &[PointResult]) -> impl Iterator<Item = &'static Number> {
    NUMBERS.iter().filter(|(name, _)| {
        results.first().is_none_or(|result| result.point.iter().all(|(key, _)| key != name))
    })
}

fn key_name(results: &[PointResult], index: usize) -> String {
    results.first().map_or_else(String::new, |result| result.point[index].0.clone())
}

/// RFC 4180: quotes where a value needs them, an empty cell where there is no number.
fn csv_text(results: &[PointResult]) -> String {
    let keys = results.first().map_or(0, |result| result.point.len());
    let mut head: Vec<String> = (0..keys).map(|index| quoted(&key_name(results, index))).collect();
    head.extend(numbers(results).map(|(name, _)| (*name).to_owned()));
    head.push("scenario_hash".into());
    let mut text = head.join(",");
    text.push('\n');
    for result in results {
        for (_, value) in &result.point {
            text.push_str(&quoted(value));
            text.push(',');
        }
        for (_, of) in numbers(results) {
            // Writing to a string does not fail.
            let _ = of(&result.summary).map(|value| write!(text, "{value}"));
            text.push(',');
        }
        text.push_str(&result.summary.scenario_hash);
        text.push('\n');
    }
    text
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
