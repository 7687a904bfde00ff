//! Tables as Parquet: one row per sample or point. Each column has its unit in the file's metadata (`units`, as JSON), and in
//! that of its field (`arrow.rs`).

use super::arrow;
use super::field::{Column, Field};
use crate::run::metric::Unit;
use crate::run::record::{
    FairnessSeries, FlowSeries, LinkSeries, Percentiles, Series, Spread, SpreadSeries, measure_names,
    measure_values,
};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows of a row group: the columns of this many rows are put together at a time.
const GROUP: usize = 65_536;

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

/// `t_s, flow, rate_bps, rtt_s, window_bytes`, and for a live run what became of the socket buffer: one row per flow
/// and sample. A column that was not recorded is null throughout. What controllers measure comes after, a column per
/// name, where it was recorded.
fn write_flows(path: &Path, flows: &[FlowSeries]) -> io::Result<()> {
    /// A column of numbers.
    type Numbers<'a> = Box<dyn Fn(&'a FlowSeries) -> &'a [f64] + 'a>;
    let mut columns: Vec<(&str, Numbers<'_>)> = vec![
        ("rate_bps", Box::new(|flow| &flow.rate_bps)),
        ("rtt_s", Box::new(|flow| &flow.rtt_s)),
        ("window_bytes", Box::new(|flow| &flow.window_bytes)),
        ("requested_buffer_bytes", Box::new(|flow| &flow.socket_buffer.requested)),
        ("granted_buffer_bytes", Box::new(|flow| &flow.socket_buffer.granted)),
        ("observed_window_bytes", Box::new(|flow| &flow.socket_buffer.observed)),
        ("data_bytes", Box::new(|flow| &flow.data_bytes)),
    ];
    for name in measure_names(flows) {
        columns.push((name, Box::new(move |flow| measure_values(flow, name))));
    }
    let kinds = [("t_s", "s", Kind::Required), ("flow", "", Kind::Text)].into_iter();
    let unit = |name: &str| Unit::of_name(name).1.in_files();
    let kinds = kinds.chain(columns.iter().map(|(name, _)| (*name, unit(name), Kind::Number)));
    let mut table = TableWriter::new(File::create(path)?, kinds)?;
    for group in groups(flows) {
        let part = |of: &FlowSeries, rows: &Range<usize>| of.t_s[rows.clone()].to_vec();
        let times = group.iter().flat_map(|(flow, rows)| part(flow, rows)).collect();
        let names = group.iter().map(|(flow, rows)| (flow.name.as_str(), rows.len())).collect();
        let first = [Cells::Required(Cow::Owned(times)), Cells::Texts(names)].into_iter();
        let numbers = columns.iter().map(|(_, of)| {
            let mut numbers = Present::default();
            group.iter().for_each(|(flow, rows)| numbers.extend(of(flow), rows.clone()));
            Cells::Number(numbers)
        });
        table.write(first.chain(numbers))?;
    }
    table.close()
}

/// Flows and which of their samples, a row group at a time.
fn groups(flows: &[FlowSeries]) -> Vec<Vec<(&FlowSeries, Range<usize>)>> {
    let (mut groups, mut group, mut room) = (Vec::new(), Vec::new(), GROUP);
    for flow in flows {
        let mut from = 0;
        while from < flow.t_s.len() {
            let until = flow.t_s.len().min(from + room);
            group.push((flow, from..until));
            room -= until - from;
            from = until;
            if room == 0 {
                groups.push(std::mem::take(&mut group));
                room = GROUP;
            }
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

/// `t_s, flows`, and of each recorded column the mean and the percentiles over all flows: one row per sample.
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
    write_table(File::create(path)?, &columns)
}

/// `t_s, backlog_bytes, drops`: one row per sample. Where a limit moves, `limit_packets`; of a wireless cell, `busy_share`.
fn write_link(path: &Path, link: &LinkSeries) -> io::Result<()> {
    let whole = |counts: &[u64]| -> Vec<f64> { counts.iter().map(|count| *count as f64).collect() };
    let samples = link.t_s.len();
    let number = |values: &[f64]| Column::Number(padded(values, samples));
    let mut columns = vec![
        of_name("t_s", Column::Required(link.t_s.clone())),
        of_name("backlog_bytes", number(&link.backlog_bytes)),
        Field::new("drops", "packets", number(&whole(&link.drops))),
    ];
    if !link.limit_packets.is_empty() {
        columns.push(Field::new("limit_packets", "packets", number(&whole(&link.limit_packets))));
    }
    if !link.busy_share.is_empty() {
        columns.push(Field::new("busy_share", "1", number(&link.busy_share)));
    }
    write_table(File::create(path)?, &columns)
}

/// `t_s, jain_index`: one row per interval, null where fewer than two flows were there throughout.
fn write_fairness(path: &Path, fairness: &FairnessSeries) -> io::Result<()> {
    let index = Column::Number(padded(&fairness.jain_index, fairness.t_s.len()));
    let t_s = Column::Required(fairness.t_s.clone());
    write_table(File::create(path)?, &[of_name("t_s", t_s), of_name("jain_index", index)])
}

/// `packets, time_share, at_least`: for each length of the queue the share of the measured interval it lasted, and the
/// share during which the queue was no shorter.
fn write_queue(path: &Path, shares: &[f64]) -> io::Result<()> {
    // Summed from the end, where the small ones are.
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
        File::create(path)?,
        &[
            Field::new("packets", "packets", Column::Required(packets)),
            of_name("time_share", Column::Required(shares.to_vec())),
            of_name("at_least", Column::Required(at_least)),
        ],
    )
}

/// One value per sample; nothing where there is none.
fn padded(values: &[f64], samples: usize) -> Vec<Option<f64>> {
    (0..samples).map(|index| values.get(index).copied().filter(|value| value.is_finite())).collect()
}

/// A column whose name says its unit at its end.
fn of_name(name: impl Into<String>, column: Column) -> Field {
    let name = name.into();
    let unit = Unit::of_name(&name).1.in_files();
    Field { name, unit, column }
}

/// Writes columns of equal length to an empty file.
///
/// # Errors
/// What the file system says.
pub fn write_table(file: File, fields: &[Field]) -> io::Result<()> {
    let kinds = fields.iter().map(|field| (field.name.as_str(), field.unit, field.column.kind()));
    let mut table = TableWriter::new(file, kinds)?;
    table.write(fields.iter().map(|field| field.column.cells()))?;
    table.close()
}

impl Column {
    fn kind(&self) -> Kind {
        match self {
            Self::Required(_) => Kind::Required,
            Self::Number(_) => Kind::Number,
            Self::Whole(_) => Kind::Whole,
            Self::Text(_) => Kind::Text,
        }
    }

    fn cells(&self) -> Cells<'_> {
        match self {
            Self::Required(values) => Cells::Required(Cow::Borrowed(values)),
            Self::Number(values) => Cells::Number(values.iter().copied().collect()),
            // The logical type says that the bits are those of an unsigned number.
            Self::Whole(values) => {
                Cells::Whole(values.iter().map(|value| value.map(u64::cast_signed)).collect())
            }
            Self::Text(texts) => Cells::Texts(texts.iter().map(|text| (text.as_str(), 1)).collect()),
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Required,
    Number,
    Whole,
    Text,
}

/// A column's rows of one row group.
enum Cells<'a> {
    Required(Cow<'a, [f64]>),
    Number(Present<f64>),
    Whole(Present<i64>),
    /// Texts, and in how many rows each stands.
    Texts(Vec<(&'a str, usize)>),
}

/// The values of a column that may have none in some rows.
#[derive(Default)]
struct Present<T> {
    values: Vec<T>,
    /// One a row: 1 where there is a value, 0 where not.
    levels: Vec<i16>,
}

impl<T> FromIterator<Option<T>> for Present<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(rows: I) -> Self {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for value in rows {
            levels.push(i16::from(value.is_some()));
            values.extend(value);
        }
        Self { values, levels }
    }
}

impl Present<f64> {
    /// Appends some rows of a column, which may have fewer or none.
    fn extend(&mut self, column: &[f64], rows: Range<usize>) {
        let there = column.get(rows.start..rows.end.min(column.len())).unwrap_or_default();
        if there.iter().all(|value| value.is_finite()) {
            self.values.extend_from_slice(there);
            self.levels.resize(self.levels.len() + there.len(), 1);
        } else {
            for value in there {
                self.levels.push(i16::from(value.is_finite()));
                self.values.extend(Some(*value).filter(|value| value.is_finite()));
            }
        }
        self.levels.resize(self.levels.len() + rows.len() - there.len(), 0);
    }
}

/// A Parquet file that is written a row group at a time.
struct TableWriter(SerializedFileWriter<File>);

impl TableWriter {
    /// A table with these columns in an empty file.
    fn new<'a>(file: File, columns: impl Iterator<Item = (&'a str, &'static str, Kind)>) -> io::Result<Self> {
        // Measured numbers hardly repeat: a dictionary of them would cost more than all the rest.
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_dictionary_enabled(false);
        let columns: Vec<(&str, &str, Kind)> = columns.collect();
        let (mut fields, mut units) = (Vec::new(), serde_json::Map::new());
        for &(name, unit, kind) in &columns {
            if !unit.is_empty() {
                units.insert(name.to_owned(), unit.into());
            }
            if matches!(kind, Kind::Text) {
                let path = ColumnPath::from(vec![name.to_owned()]);
                properties = properties.set_column_dictionary_enabled(path, true);
            }
            fields.push(Arc::new(field(name, kind).map_err(io::Error::other)?));
        }
        let units = KeyValue::new("units".to_owned(), serde_json::Value::from(units).to_string());
        let schema = KeyValue::new(arrow::KEY.to_owned(), arrow::schema(&columns));
        let properties = properties.set_key_value_metadata(Some(vec![units, schema]));
        let schema =
            Type::group_type_builder("table").with_fields(fields).build().map_err(io::Error::other)?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()));
        Ok(Self(writer.map_err(io::Error::other)?))
    }

    /// Writes a row group: the columns in the order of the schema, made one after the other.
    fn write<'a>(&mut self, columns: impl Iterator<Item = Cells<'a>>) -> io::Result<()> {
        self.try_write(columns).map_err(io::Error::other)
    }

    fn try_write<'a>(&mut self, columns: impl Iterator<Item = Cells<'a>>) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for cells in columns {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema has".into()));
            };
            match (cells, column.untyped()) {
                (Cells::Required(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                    writer.write_batch(&values, None, None)?;
                }
                (Cells::Number(of), ColumnWriter::DoubleColumnWriter(writer)) => {
                    writer.write_batch(&of.values, Some(&of.levels), None)?;
                }
                (Cells::Whole(of), ColumnWriter::Int64ColumnWriter(writer)) => {
                    writer.write_batch(&of.values, Some(&of.levels), None)?;
                }
                (Cells::Texts(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                    let texts = texts.into_iter();
                    let texts =
                        texts.flat_map(|(text, rows)| std::iter::repeat_n(ByteArray::from(text), rows));
                    writer.write_batch(&texts.collect::<Vec<_>>(), None, None)?;
                }
                _ => return Err(ParquetError::General("a column's type is not its schema's".into())),
            }
            column.close()?;
        }
        group.close().map(drop)
    }

    fn close(self) -> io::Result<()> {
        self.0.into_inner().map_err(io::Error::other)?.sync_all()
    }
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
