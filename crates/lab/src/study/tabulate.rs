//! The results of a sweep as one table, a row per point. There are columns for the swept keys as written and in
//! numbers, and for every metric of the run. Metrics of flows, users and links have columns by their names.

use crate::files::replace;
#[cfg(feature = "parquet")]
use crate::files::replace_by;
use crate::run::metric::{FLOW, LINK, MetricReader, RUN, STATION, TRAFFIC, USERS, described};
use crate::run::record::{LinkSummary, StationSummary, Summary};
use crate::study::quantities::SweptQuantity;
#[cfg(feature = "parquet")]
use crate::study::store::write_table;
use crate::study::sweep::{FailedPoint, PointResult};
use crate::study::table::{Column, Field, Table};
use crate::study::task::Answer;
use scenario::key_words;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// The most flows and populations that have columns of their own: the first that any point has.
const MOST: usize = 32;
/// The key and the column of the seed.
const SEED: &str = "seed";

/// Writes `NAME.csv` and, with the feature `parquet`, `NAME.parquet` into `folder`, with the same columns. Returns
/// their paths.
///
/// # Errors
/// If the file system refuses; a file of an earlier sweep that could not be replaced is then unchanged.
pub fn write_tables(folder: &Path, name: &str, table: &Table) -> io::Result<Vec<PathBuf>> {
    let file = |kind| folder.join(format!("{name}.{kind}"));
    let csv = file("csv");
    replace(&csv, table.to_csv().as_bytes())?;
    #[cfg(feature = "parquet")]
    {
        let parquet = file("parquet");
        replace_by(&parquet, |file| write_table(file, table))?;
        Ok(vec![csv, parquet])
    }
    #[cfg(not(feature = "parquet"))]
    Ok(vec![csv])
}

/// Makes the table of answers, a row per engine and point. The first column has the engine; the others are those of
/// [`tabulate`].
#[must_use]
pub fn tabulate_answers(answers: &[Answer]) -> Table {
    let results = |answer: &Answer| {
        let records = answer.records.iter();
        records.map(|record| PointResult::of(&answer.task, record.clone())).collect::<Vec<_>>()
    };
    let results: Vec<PointResult> = answers.iter().flat_map(results).collect();
    let engines = results.iter().map(|result| result.summary.engine.to_string()).collect();
    let mut table = tabulate(&results);
    table.fields.insert(0, Field::new("engine", "", "engine", Column::Text(engines)));
    table
}

/// Adds the rows of points that failed, each at its place among all points, and a column `failed` with the reasons.
/// Without a failed point the table stays as it is.
#[must_use]
pub fn with_failed(mut table: Table, failed: &[FailedPoint]) -> Table {
    let Some(first) = failed.first() else { return table };
    if table.rows() == 0 {
        // A table without results does not have the swept keys yet, so they are added.
        let text = |key: &String| Field::new(key, "", key_words(key), Column::Text(Vec::new()));
        table.fields = first.point.iter().map(|(key, _)| text(key)).collect();
    }
    let empty = Column::Text(vec![String::new(); table.rows()]);
    table.fields.push(Field::new("failed", "", "reason of the failure", empty));
    for point in failed {
        for field in &mut table.fields {
            let reason = (field.name == "failed").then_some(point.reason.as_str());
            let text =
                point.point.iter().find(|(key, _)| *key == field.name).map(|(_, value)| value.as_str());
            field.column.insert(
                point.number,
                reason.or(text).unwrap_or_default(),
                point.quantity(&field.name),
            );
        }
    }
    table
}

/// Makes the table of a sweep's results, a row per point.
#[must_use]
pub fn tabulate(results: &[PointResult]) -> Table {
    let texts = |name: &str, words: &str, of: &dyn Fn(&PointResult) -> String| {
        Field::new(name, "", words, Column::Text(results.iter().map(of).collect()))
    };
    let summaries = || results.iter().map(|result| &result.summary);
    let mut fields = Vec::new();
    for (index, (key, _)) in results.first().into_iter().flat_map(|first| first.point.iter().enumerate()) {
        // The summary has the seed as a whole number.
        fields.push(match key.as_str() {
            SEED => seeds(results),
            _ => texts(key, &key_words(key), &|result| {
                result.point.get(index).map_or_else(String::new, |(_, value)| value.clone())
            }),
        });
        let quantities = results.iter().map(|result| result.quantities.get(index).map_or(&[][..], |of| of));
        fields.extend(numbers(key, &quantities.collect::<Vec<_>>()));
    }
    fields.push(seeds(results));
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
        fields.push(texts("tight_link", "tight link", &|result| {
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
    fields
        .push(texts("scenario_hash", "hash of the scenario", &|result| result.summary.scenario_hash.clone()));
    // Each column stands once: a swept key, which comes first, has its values as written.
    let mut names = HashSet::new();
    fields.retain(|field| names.insert(field.name.clone()));
    Table { fields }
}

fn seeds(results: &[PointResult]) -> Field {
    let all = results.iter().map(|result| Some(result.summary.seed)).collect();
    Field::new(SEED, "1", SEED, Column::Whole(all))
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
        let words = described(key).map_or("", |(metric, _)| metric.words);
        let words = format!("{words}, ratio to the baseline");
        Field::new(format!("ratio.{key}"), "1", words, Column::Number(results.iter().map(of).collect()))
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
        let name = format!("{key}{}", unit.suffix);
        Field::new(name, unit.unit, key_words(key), Column::Number(rows.iter().map(of).collect()))
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
        Field::new(format!("{place}{name}"), known.metric.unit.in_files(), known.metric.words, column)
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
