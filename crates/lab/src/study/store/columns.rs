//! Tables as Parquet: one row per sample or point. The unit of each column is in the file's metadata (`units`, as
//! JSON), and in that of its field (`arrow.rs`).

use super::arrow;
use super::field::{Column, Field};
use crate::files::create;
use crate::run::metric::Unit;
use crate::run::record::{
    FairnessSeries, FlowSeries, LinkSeries, Percentiles, Series, Spread, SpreadSeries, measure_names,
    measure_values,
};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The rows of a page. The buffers that its values pass through are small enough for the allocator to keep. With larger
/// ones most of the time went into memory that was given back and fetched again.
const PAGE: usize = 4096;
/// The number of rows that the library gets at a time.
const BATCH: usize = 1024;

/// Writes the series of a run into `folder`, a file for each kind that it has.
pub(super) fn write_series(folder: &Path, series: &Series) -> io::Result<()> {
    write_flows(&folder.join("flows.parquet"), &series.flows)?;
    if !series.spread.is_empty() {
        write_spread(&folder.join("spread.parquet"), &series.spread)?;
    }
    write_link(&folder.join("link.parquet"), &series.link)?;
    write_queue(&folder.join("queue.parquet"), &series.queue_length)?;
    if !series.fairness.t_s.is_empty() {
        write_fairness(&folder.join("fairness.parquet"), &series.fairness)?;
    }
    Ok(())
}

/// Writes `t_s, flow, rate_bps, rtt_s, window_bytes`, and for a live run the requested and the granted socket buffer:
/// one row per flow and sample. A column that was not recorded is null throughout. The measurements of controllers come
/// after, a column per name, where they were recorded.
fn write_flows(path: &Path, flows: &[FlowSeries]) -> io::Result<()> {
    let numbers = |name, of: &dyn Fn(&FlowSeries) -> &[f64]| {
        let pieces = flows.iter().map(|flow| RowRange::Numbers(of(flow), flow.t_s.len()));
        Sheet::of_name(name, Kind::Number, pieces.collect())
    };
    let times = flows.iter().map(|flow| RowRange::Numbers(&flow.t_s, flow.t_s.len()));
    let names = flows.iter().map(|flow| RowRange::Text(&flow.name, flow.t_s.len()));
    let mut sheets = vec![
        Sheet::of_name("t_s", Kind::Required, times.collect()),
        Sheet { name: "flow", unit: "", kind: Kind::Text, pieces: names.collect() },
        numbers("rate_bps", &|flow| &flow.rate_bps),
        numbers("rtt_s", &|flow| &flow.rtt_s),
        numbers("window_bytes", &|flow| &flow.window_bytes),
        numbers("requested_buffer_bytes", &|flow| &flow.socket_buffer.requested),
        numbers("granted_buffer_bytes", &|flow| &flow.socket_buffer.granted),
        numbers("observed_window_bytes", &|flow| &flow.socket_buffer.observed),
        numbers("data_bytes", &|flow| &flow.data_bytes),
    ];
    sheets.extend(
        measure_names(flows).into_iter().map(|name| numbers(name, &move |flow| measure_values(flow, name))),
    );
    write(create(path)?, &sheets)
}

/// Writes `t_s, flows`, and for each recorded column the mean and the percentiles over all flows: one row per sample.
fn write_spread(path: &Path, series: &SpreadSeries) -> io::Result<()> {
    let flows = series.flows.iter().map(|count| Some(*count)).collect();
    let mut columns =
        vec![of_name("t_s", Column::Required(series.t_s.clone())), of_name("flows", Column::Whole(flows))];
    let quantities = [
        ("rate", "bps", &series.rate_bps),
        ("rtt", "s", &series.rtt_s),
        ("window", "bytes", &series.window_bytes),
        ("data", "bytes", &series.data_bytes),
    ];
    for (name, unit, spreads) in quantities.into_iter().filter(|(_, _, spreads)| !spreads.is_empty()) {
        let mut column = |which: &str, of: &dyn Fn(&Spread) -> f64| {
            let values = spreads.iter().map(|spread| Some(of(spread)).filter(|value| value.is_finite()));
            columns.push(of_name(format!("{name}_{which}_{unit}"), Column::Number(values.collect())));
        };
        column("mean", &|spread| spread.mean);
        for (place, percentile) in Percentiles::<f64>::NAMES.iter().enumerate() {
            column(percentile, &|spread| spread.percentiles.values()[place]);
        }
    }
    write_table(create(path)?, &columns)
}

/// Writes `t_s, backlog_bytes, drops`: one row per sample. Where a limit moves, `limit_packets` is added; for a
/// wireless cell, `busy_share`.
fn write_link(path: &Path, link: &LinkSeries) -> io::Result<()> {
    let samples = link.t_s.len();
    let numbers = |values| vec![RowRange::Numbers(values, samples)];
    let mut sheets = vec![
        Sheet::of_name("t_s", Kind::Required, numbers(&link.t_s)),
        Sheet::of_name("backlog_bytes", Kind::Number, numbers(&link.backlog_bytes)),
        Sheet::of_counts("drops", &link.drops, samples),
    ];
    if !link.limit_packets.is_empty() {
        sheets.push(Sheet::of_counts("limit_packets", &link.limit_packets, samples));
    }
    if !link.busy_share.is_empty() {
        let pieces = numbers(&link.busy_share);
        sheets.push(Sheet { name: "busy_share", unit: "1", kind: Kind::Number, pieces });
    }
    write(create(path)?, &sheets)
}

/// Writes `t_s, jain_index`: one row per interval, null where fewer than two flows were active throughout.
fn write_fairness(path: &Path, fairness: &FairnessSeries) -> io::Result<()> {
    let intervals = fairness.t_s.len();
    let sheets = [
        Sheet::of_name("t_s", Kind::Required, vec![RowRange::Numbers(&fairness.t_s, intervals)]),
        Sheet::of_name("jain_index", Kind::Number, vec![RowRange::Numbers(&fairness.jain_index, intervals)]),
    ];
    write(create(path)?, &sheets)
}

/// Writes `packets, time_share, at_least`: for each length of the queue the share of the measured interval it lasted.
/// `at_least` is the share during which the queue was no shorter.
fn write_queue(path: &Path, shares: &[f64]) -> io::Result<()> {
    // The sum begins at the end, where the small shares are.
    let mut at_least: Vec<f64> = shares
        .iter()
        .rev()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    at_least.reverse();
    let packets = (0..shares.len()).map(|packets| packets as f64).collect();
    write_table(
        create(path)?,
        &[
            Field::new("packets", "packets", Column::Required(packets)),
            of_name("time_share", Column::Required(shares.to_vec())),
            of_name("at_least", Column::Required(at_least)),
        ],
    )
}

/// Creates a column whose name has its unit at its end.
fn of_name(name: impl Into<String>, column: Column) -> Field {
    let name = name.into();
    let unit = Unit::of_name(&name).1.in_files();
    Field { name, unit, column }
}

/// Writes columns of equal length to an empty file.
///
/// # Errors
/// If the file system refuses.
pub fn write_table(file: File, fields: &[Field]) -> io::Result<()> {
    let sheets: Vec<Sheet<'_>> = fields.iter().map(Sheet::of).collect();
    write(file, &sheets)
}

/// A column that is being written.
struct Sheet<'a> {
    name: &'a str,
    unit: &'static str,
    kind: Kind,
    pieces: Vec<RowRange<'a>>,
}

/// The kind of a column's values.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Required,
    Number,
    Whole,
    Text,
}

/// Some rows of a column.
enum RowRange<'a> {
    /// These values, one in each row. Values that are not finite are null, and so are rows beyond the values.
    Numbers(&'a [f64], usize),
    /// One value, in this number of rows.
    Each(Box<dyn Fn(usize) -> Option<f64> + 'a>, usize),
    Whole(&'a [Option<u64>]),
    /// One text, in this number of rows.
    Text(&'a str, usize),
}

impl<'a> Sheet<'a> {
    /// Creates a column whose name has its unit at its end.
    fn of_name(name: &'a str, kind: Kind, pieces: Vec<RowRange<'a>>) -> Self {
        Self { name, unit: Unit::of_name(name).1.in_files(), kind, pieces }
    }

    /// Creates the column of packets that were counted in each of `rows` rows.
    fn of_counts(name: &'a str, counts: &'a [u64], rows: usize) -> Self {
        let count = |row: usize| counts.get(row).map(|count| *count as f64);
        Self {
            name,
            unit: "packets",
            kind: Kind::Number,
            pieces: vec![RowRange::Each(Box::new(count), rows)],
        }
    }

    fn of(field: &'a Field) -> Self {
        let (kind, pieces) = match &field.column {
            Column::Required(values) => (Kind::Required, vec![RowRange::Numbers(values, values.len())]),
            Column::Number(values) => {
                (Kind::Number, vec![RowRange::Each(Box::new(|row| values[row]), values.len())])
            }
            Column::Whole(values) => (Kind::Whole, vec![RowRange::Whole(values)]),
            Column::Text(texts) => (Kind::Text, texts.iter().map(|text| RowRange::Text(text, 1)).collect()),
        };
        Self { name: &field.name, unit: field.unit, kind, pieces }
    }
}

/// Writes a file of one row group. Values go directly from their place to the encoders, so that none is held twice.
fn write(file: File, sheets: &[Sheet<'_>]) -> io::Result<()> {
    try_write(file, sheets).map_err(io::Error::other)?.sync_all()
}

fn try_write(file: File, sheets: &[Sheet<'_>]) -> Result<File, ParquetError> {
    // Measured numbers hardly repeat, so a dictionary of them would cost more than all the rest. In a file of one row
    // group, least and largest values do not let a reader skip anything.
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(BATCH);
    let (mut fields, mut units) = (Vec::new(), serde_json::Map::new());
    for &Sheet { name, unit, kind, .. } in sheets {
        if !unit.is_empty() {
            units.insert(name.to_owned(), unit.into());
        }
        if matches!(kind, Kind::Text) {
            let path = ColumnPath::from(vec![name.to_owned()]);
            properties = properties.set_column_dictionary_enabled(path, true);
        }
        fields.push(Arc::new(field(name, kind)?));
    }
    let units = KeyValue::new("units".to_owned(), serde_json::Value::from(units).to_string());
    let columns = sheets.iter().map(|sheet| (sheet.name, sheet.unit, sheet.kind)).collect::<Vec<_>>();
    let schema = KeyValue::new(arrow::KEY.to_owned(), arrow::schema(&columns));
    let properties = properties.set_key_value_metadata(Some(vec![units, schema])).build();
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let mut table = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let mut group = table.next_row_group()?;
    for sheet in sheets {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("more columns than the schema has".into()));
        };
        for piece in &sheet.pieces {
            put(column.untyped(), sheet.kind, piece)?;
        }
        column.close()?;
    }
    group.close()?;
    table.into_inner()
}

/// Passes some rows to the encoder of their column.
fn put(writer: &mut ColumnWriter<'_>, kind: Kind, piece: &RowRange<'_>) -> Result<(), ParquetError> {
    match (piece, writer, kind) {
        (RowRange::Numbers(values, _), ColumnWriter::DoubleColumnWriter(writer), Kind::Required) => {
            writer.write_batch(values, None, None)?;
        }
        (RowRange::Numbers(values, rows), ColumnWriter::DoubleColumnWriter(writer), _) => {
            let values = &values[..values.len().min(*rows)];
            for values in values.chunks(BATCH) {
                if values.iter().all(|value| value.is_finite()) {
                    writer.write_batch(values, Some(&[1; BATCH][..values.len()]), None)?;
                } else {
                    let finite = |row: usize| Some(values[row]).filter(|value| value.is_finite());
                    put_each(writer, values.len(), finite)?;
                }
            }
            for from in (values.len()..*rows).step_by(BATCH) {
                writer.write_batch(&[], Some(&[0; BATCH][..BATCH.min(rows - from)]), None)?;
            }
        }
        (RowRange::Each(value, rows), ColumnWriter::DoubleColumnWriter(writer), _) => {
            put_each(writer, *rows, value)?;
        }
        (RowRange::Whole(values), ColumnWriter::Int64ColumnWriter(writer), _) => {
            // By the logical type the bits are those of an unsigned number.
            put_each(writer, values.len(), |row| values[row].map(u64::cast_signed))?;
        }
        (RowRange::Text(text, rows), ColumnWriter::ByteArrayColumnWriter(writer), _) => {
            let texts = vec![ByteArray::from(*text); BATCH.min(*rows)];
            for from in (0..*rows).step_by(BATCH) {
                writer.write_batch(&texts[..BATCH.min(rows - from)], None, None)?;
            }
        }
        _ => return Err(ParquetError::General("a column's type is not its schema's".into())),
    }
    Ok(())
}

/// Passes `rows` rows to the encoder with the value of each.
fn put_each<T: DataType<T: Copy>>(
    writer: &mut ColumnWriterImpl<'_, T>,
    rows: usize,
    value: impl Fn(usize) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH.min(rows)), Vec::with_capacity(BATCH.min(rows)));
    for row in 0..rows {
        let value = value(row);
        // The level is 1 where there is a value, and 0 otherwise.
        levels.push(i16::from(value.is_some()));
        values.extend(value);
        if levels.len() == BATCH || row + 1 == rows {
            writer.write_batch(&values, Some(&levels), None)?;
            values.clear();
            levels.clear();
        }
    }
    Ok(())
}

fn field(name: &str, kind: Kind) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match kind {
        Kind::Required => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Kind::Number => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Kind::Whole => (Physical::INT64, Some(LogicalType::integer(64, false)), Repetition::OPTIONAL),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}
