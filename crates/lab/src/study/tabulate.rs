//! A sweep's results as one table: a row per point, a column per swept key, per number of the summary, and per number of
//! each link where there are several.

use crate::files::{replace, replace_by};
use crate::run::record::{LinkSummary, Percentiles, Summary};
use crate::study::store::{Column, write_table};
use crate::study::sweep::PointResult;
use std::io;
use std::path::{Path, PathBuf};

/// A number of the summary as a column.
type Number = (&'static str, Of);

enum Of {
    Real(fn(&Summary) -> Option<f64>),
    /// To its last digit: a seed may have more of them than a real number holds.
    Whole(fn(&Summary) -> Option<u64>),
    /// A column for each percentile, whose name takes the place of `{}`.
    Lengths(fn(&Summary) -> Option<Percentiles<u64>>),
    /// The same of a time.
    Delays(fn(&Summary) -> Option<Percentiles<Option<f64>>>),
}
use Of::{Delays, Lengths, Real, Whole};

/// The numbers, in the order of the columns; several flows are summed (goodput, retransmits) or averaged (RTT).
const NUMBERS: &[Number] = &[
    ("seed", Whole(|s| Some(s.seed))),
    ("measured_s", Real(|s| Some(s.measured_s))),
    ("packets_forwarded", Whole(|s| s.packets_forwarded)),
    ("packets_dropped", Whole(|s| s.packets_dropped)),
    ("utilization", Real(|s| s.utilization)),
    ("utilization_ci95", Real(|s| s.utilization_ci95)),
    ("idle_fraction", Real(|s| s.idle_fraction)),
    ("queue_empty_fraction", Real(|s| s.queue_empty_fraction)),
    ("loss_rate", Real(|s| s.loss_rate)),
    ("loss_rate_ci95", Real(|s| s.loss_rate_ci95)),
    ("loss_episodes", Whole(|s| s.loss_episodes)),
    ("synchronized_loss_share", Real(|s| s.synchronized_loss_share)),
    ("mean_backlog_bytes", Real(|s| s.mean_backlog_bytes)),
    ("mean_occupancy", Real(|s| s.mean_occupancy)),
    ("queue_length_packets_mean", Real(|s| s.queue_length_packets.map(|length| length.mean))),
    ("queue_length_packets_{}", Lengths(|s| s.queue_length_packets.map(|length| length.percentiles))),
    ("queue_length_packets_max", Whole(|s| s.queue_length_packets.map(|length| length.max))),
    ("queueing_delay_mean_s", Real(|s| s.queueing_delay_s.map(|delay| delay.mean))),
    ("queueing_delay_{}_s", Delays(|s| s.queueing_delay_s.map(|delay| delay.percentiles))),
    ("queueing_delay_max_s", Real(|s| s.queueing_delay_s.and_then(|delay| delay.max))),
    ("jain_index", Real(|s| s.jain_index)),
    ("jain_index_mean", Real(|s| s.jain_index_mean)),
    ("convergence_s", Real(|s| s.convergence_s)),
    ("backlog_packets", Real(|s| s.flows.iter().map(|flow| flow.backlog_packets).sum())),
    ("goodput_bps", Real(|s| Some(s.goodput_bps()))),
    ("rtt_mean_s", Real(rtt_mean)),
    ("retransmits", Whole(Summary::retransmits)),
    ("mean_active", Real(|s| s.sessions.first().map(|_| s.sessions.iter().map(|of| of.mean_active).sum()))),
];

/// Numbers with their names.
type Named = Vec<(String, Option<f64>)>;

/// The numbers of each of several links.
fn link_numbers(link: &LinkSummary) -> Named {
    let delay = link.queueing_delay_s;
    let mut numbers: Named = vec![
        ("utilization".into(), Some(link.utilization)),
        ("idle_fraction".into(), Some(link.idle_fraction)),
        ("loss_rate".into(), Some(link.loss_rate)),
        ("mean_backlog_bytes".into(), Some(link.mean_backlog_bytes)),
        ("mean_occupancy".into(), Some(link.mean_occupancy)),
        ("queueing_delay_mean_s".into(), delay.map(|delay| delay.mean)),
    ];
    numbers.extend(
        each_percentile("queueing_delay_{}_s")
            .enumerate()
            .map(|(place, name)| (name, delay.and_then(|delay| delay.percentiles.values()[place]))),
    );
    numbers.push(("queueing_delay_max_s".into(), delay.and_then(|delay| delay.max)));
    numbers
}

/// A column's name for each percentile, in the order of their values.
fn each_percentile(pattern: &str) -> impl Iterator<Item = String> {
    Percentiles::<f64>::NAMES.iter().map(move |percentile| pattern.replace("{}", percentile))
}

fn rtt_mean(summary: &Summary) -> Option<f64> {
    let rtts: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.rtt_s.map(|rtt| rtt.mean)).collect();
    (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64)
}

/// Writes `NAME.csv` and `NAME.parquet` into `folder`, with the same columns; returns their paths.
///
/// # Errors
/// What the file system says; a file of an earlier sweep that could not be replaced is then unchanged.
pub fn tabulate(folder: &Path, name: &str, results: &[PointResult]) -> io::Result<[PathBuf; 2]> {
    let [csv, parquet] = ["csv", "parquet"].map(|kind| folder.join(format!("{name}.{kind}")));
    let columns = columns(results);
    replace(&csv, csv_text(&columns, results.len()).as_bytes())?;
    replace_by(&parquet, |file| write_table(file, &columns))?;
    Ok([csv, parquet])
}

/// The swept keys, the numbers, those of each link where there are several, and the scenario's hash.
fn columns(results: &[PointResult]) -> Vec<(String, Column)> {
    let Some(first) = results.first() else { return Vec::new() };
    let texts = |of: &dyn Fn(&PointResult) -> String| Column::Text(results.iter().map(of).collect());
    let mut columns: Vec<(String, Column)> = (first.point.iter().enumerate())
        .map(|(index, (key, _))| (key.clone(), texts(&|result| result.point[index].1.clone())))
        .collect();
    // A column stands once: a swept key has the values as typed.
    let numbers = NUMBERS.iter().filter(|(name, _)| first.point.iter().all(|(key, _)| key != name));
    let summaries = || results.iter().map(|result| &result.summary);
    for (name, of) in numbers {
        let each = each_percentile(name).enumerate();
        match of {
            Real(of) => columns.push(((*name).into(), Column::Number(summaries().map(of).collect()))),
            Whole(of) => columns.push(((*name).into(), Column::Whole(summaries().map(of).collect()))),
            Lengths(of) => columns.extend(each.map(|(place, name)| {
                let values = summaries().map(|summary| Some(of(summary)?.values()[place]));
                (name, Column::Whole(values.collect()))
            })),
            Delays(of) => columns.extend(each.map(|(place, name)| {
                let values = summaries().map(|summary| of(summary)?.values()[place]);
                (name, Column::Number(values.collect()))
            })),
        }
    }
    columns.extend(links(results));
    columns.push(("scenario_hash".into(), texts(&|result| result.summary.scenario_hash.clone())));
    columns
}

/// What the tight link is called, and `links.NAME.…` of every link of any point, empty where a point does not have it.
fn links(results: &[PointResult]) -> Vec<(String, Column)> {
    let all = || results.iter().flat_map(|result| &result.summary.links);
    let mut names: Vec<String> = Vec::new();
    for name in all().map(link_name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let tight = |result: &PointResult| {
        result.summary.links.iter().find(|link| link.tight).map_or_else(String::new, link_name)
    };
    let mut columns = vec![("tight_link".to_owned(), Column::Text(results.iter().map(tight).collect()))];
    for name in &names {
        let rows: Vec<Option<Named>> = results
            .iter()
            .map(|result| result.summary.links.iter().find(|link| link_name(link) == *name).map(link_numbers))
            .collect();
        let known = rows.iter().flatten().next().into_iter().flatten();
        columns.extend(known.enumerate().map(|(place, (number, _))| {
            let values = rows.iter().map(|row| row.as_ref().and_then(|row| row[place].1));
            (format!("links.{name}.{number}"), Column::Number(values.collect()))
        }));
    }
    columns
}

/// The link's name; the way back has `.reverse` behind it, as in a scenario's keys.
fn link_name(link: &LinkSummary) -> String {
    if link.direction == "reverse" { format!("{}.reverse", link.name) } else { link.name.clone() }
}

/// RFC 4180: quotes where a value needs them, an empty cell where there is no number.
fn csv_text(columns: &[(String, Column)], rows: usize) -> String {
    let head: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let mut text = head.join(",");
    text.push('\n');
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|(_, column)| cell(column, row)).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Required(values) => values[row].to_string(),
        Column::Number(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Column::Whole(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Column::Text(values) => quoted(&values[row]),
    }
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
