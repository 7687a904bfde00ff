//! The results of a sweep as one table, a row per point. There are columns for the swept keys as written and in
//! numbers, and for every metric of the run. Metrics of flows, users and links have columns by their names.

use crate::files::replace;
#[cfg(feature = "parquet")]
use crate::files::replace_by;
use crate::run::metric::{FLOW, LINK, MetricReader, RUN, STATION, TRAFFIC, USERS};
use crate::run::record::{LinkSummary, StationSummary, Summary};
use crate::study::quantities::SweptQuantity;
#[cfg(feature = "parquet")]
use crate::study::store::write_table;
use crate::study::store::{Column, Field};
use crate::study::sweep::PointResult;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use units::one_line;

/// The most flows and populations that have columns of their own: the first that any point has.
const MOST: usize = 32;

/// Writes `NAME.csv` and, with the feature `parquet`, `NAME.parquet` into `folder`, with the same columns. Returns
/// their paths.
///
/// # Errors
/// If the file system refuses; a file of an earlier sweep that could not be replaced is then unchanged.
pub fn tabulate(folder: &Path, name: &str, results: &[PointResult]) -> io::Result<Vec<PathBuf>> {
    let file = |kind| folder.join(format!("{name}.{kind}"));
    let csv = file("csv");
    let fields = fields(results);
    replace(&csv, csv_text(&fields, results.len()).as_bytes())?;
    #[cfg(feature = "parquet")]
    {
        let parquet = file("parquet");
        replace_by(&parquet, |file| write_table(file, &fields))?;
        Ok(vec![csv, parquet])
    }
    #[cfg(not(feature = "parquet"))]
    Ok(vec![csv])
}

fn fields(results: &[PointResult]) -> Vec<Field> {
    let texts = |name: &str, of: &dyn Fn(&PointResult) -> String| {
        Field::new(name, "", Column::Text(results.iter().map(of).collect()))
    };
    let summaries = || results.iter().map(|result| &result.summary);
    let mut fields = Vec::new();
    for (index, (key, _)) in results.first().into_iter().flat_map(|first| first.point.iter().enumerate()) {
        fields.push(texts(key, &|result| result.point[index].1.clone()));
        fields.extend(numbers(
            key,
            &results.iter().map(|result| &result.quantities[index][..]).collect::<Vec<_>>(),
        ));
    }
    fields.push(Field::new(
        "seed",
        "1",
        Column::Whole(summaries().map(|summary| Some(summary.seed)).collect()),
    ));
    fields.extend(metrics("", RUN, &summaries().map(Some).collect::<Vec<_>>()));
    fields.extend(named(("flows", MOST), FLOW, results, |summary| &summary.flows, |flow| flow.name.clone()));
    fields.extend(named(
        ("traffic", MOST),
        TRAFFIC,
        results,
        |summary| &summary.traffic,
        |traffic| traffic.name.clone(),
    ));
    fields.extend(named(
        ("sessions", MOST),
        USERS,
        results,
        |summary| &summary.sessions,
        |users| users.name.clone(),
    ));
    if summaries().any(|summary| !summary.links.is_empty()) {
        fields.push(texts("tight_link", &|result| {
            let tight = result.summary.links.iter().find(|link| link.tight);
            tight.map_or_else(String::new, LinkSummary::key)
        }));
    }
    fields.extend(named(("links", usize::MAX), LINK, results, |summary| &summary.links, LinkSummary::key));
    fields.extend(named(
        ("wlan.stations", MOST),
        STATION,
        results,
        |summary| summary.wlan.as_ref().map_or(&[][..], |wlan| &wlan.stations),
        StationSummary::key,
    ));
    fields.extend(ratios(results));
    fields.push(texts("scenario_hash", &|result| result.summary.scenario_hash.clone()));
    // Each column stands once: a swept key, which comes first, has its values as written.
    let mut names = HashSet::new();
    fields.retain(|field| names.insert(field.name.clone()));
    fields
}

/// Returns a column `ratio.KEY` for each number that any point has a ratio of.
fn ratios(results: &[PointResult]) -> Vec<Field> {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in results.iter().flat_map(|result| &result.ratios) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let column = |key: &str| {
        let of =
            |result: &PointResult| result.ratios.iter().find(|(one, _)| one == key).map(|(_, ratio)| *ratio);
        Field::new(format!("ratio.{key}"), "1", Column::Number(results.iter().map(of).collect()))
    };
    keys.into_iter().map(column).collect()
}

/// Makes the columns of a swept key's values in numbers, a column per unit.
fn numbers(key: &str, rows: &[&[SweptQuantity]]) -> Vec<Field> {
    let mut units: Vec<SweptQuantity> = Vec::new();
    for quantity in rows.iter().copied().flatten() {
        if units.iter().all(|unit| unit.suffix != quantity.suffix) {
            units.push(*quantity);
        }
    }
    let column = |unit: &SweptQuantity| {
        let of =
            |row: &&[SweptQuantity]| row.iter().find(|one| one.suffix == unit.suffix).map(|one| one.value);
        Field::new(format!("{key}{}", unit.suffix), unit.unit, Column::Number(rows.iter().map(of).collect()))
    };
    units.iter().map(column).collect()
}

/// Makes the columns of a list's metrics, counts as integers. Metrics with an older name follow once more, under that
/// name.
fn metrics<T>(place: &str, list: &[MetricReader<T>], rows: &[Option<&T>]) -> Vec<Field> {
    let field = |known: &MetricReader<T>, name: &str| {
        let values = rows.iter().map(|row| row.and_then(known.get));
        let column = if known.metric.whole {
            Column::Whole(values.map(|value| value.map(|value| value as u64)).collect())
        } else {
            Column::Number(values.collect())
        };
        Field::new(format!("{place}{name}"), known.metric.unit.in_files(), column)
    };
    let older = list.iter().filter(|known| known.metric.column != known.metric.key);
    let keys = list.iter().map(|known| field(known, known.metric.key));
    keys.chain(older.map(|known| field(known, known.metric.column))).collect()
}

/// Makes the columns `flows.NAME.…` of the first `most` that have a name, empty where a point does not have it.
fn named<T>(
    (place, most): (&str, usize),
    list: &[MetricReader<T>],
    results: &[PointResult],
    all: impl Fn(&Summary) -> &[T],
    name: impl Fn(&T) -> String,
) -> Vec<Field> {
    let mut names: Vec<String> = Vec::new();
    for found in results.iter().flat_map(|result| all(&result.summary).iter().take(most)).map(&name) {
        if names.len() < most && !names.contains(&found) {
            names.push(found);
        }
    }
    let of = |wanted: &String| {
        let row = |result| all(result).iter().find(|one| name(one) == *wanted);
        let rows: Vec<Option<&T>> = results.iter().map(|result| row(&result.summary)).collect();
        metrics(&format!("{place}.{wanted}."), list, &rows)
    };
    names.iter().flat_map(of).collect()
}

/// Writes the table by RFC 4180, with quotes where a value needs them and an empty cell where a number is missing.
fn csv_text(fields: &[Field], rows: usize) -> String {
    let head: Vec<String> = fields.iter().map(|field| quoted(&field.name)).collect();
    let mut text = head.join(",");
    text.push('\n');
    for row in 0..rows {
        let cells: Vec<String> = fields.iter().map(|field| cell(&field.column, row)).collect();
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

/// Returns the text on one line. A text that a spreadsheet would take for a formula gets an apostrophe, which marks it
/// as text; a number with a sign does not.
fn quoted(value: &str) -> String {
    let line = one_line(value);
    let is_formula = line.starts_with(['=', '+', '-', '@']) && line.parse::<f64>().is_err();
    let text = if is_formula { format!("'{line}") } else { line.into_owned() };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
