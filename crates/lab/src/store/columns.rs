//! Tables as Parquet: one row per sample or point, units in the column names.

use crate::record::{FairnessSeries, FlowSeries, LinkSeries};
use crate::report::measures::{measure_names, measured};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A column of a table.
#[derive(Clone, Debug)]
pub enum Column {
    /// A number in every row.
    Required(Vec<f64>),
    /// A number, or null where there is none.
    Number(Vec<Option<f64>>),
    /// A whole number to its last digit, or null where there is none.
    Whole(Vec<Option<u64>>),
    /// A text in every row.
    Text(Vec<String>),
}

/// `t_s, flow, rate_bps, rtt_s, window_bytes`, and for a live run what became of the socket buffer: one row per flow
/// and sample. A column that was not recorded is null throughout. What controllers measure comes after, a column per
/// name, where it was recorded.
pub(super) fn write_flows(path: &Path, flows: &[FlowSeries]) -> io::Result<()> {
    let times = flows.iter().flat_map(|flow| flow.t_s.iter().copied()).collect();
    let names = flows.iter().flat_map(|flow| vec![flow.name.clone(); flow.t_s.len()]).collect();
    let numbers = |name: &str, of: fn(&FlowSeries) -> &Vec<f64>| {
        let values = flows.iter().flat_map(|flow| padded(of(flow), flow.t_s.len())).collect();
        (name.to_owned(), Column::Number(values))
    };
    let mut columns = vec![
        ("t_s".into(), Column::Required(times)),
        ("flow".into(), Column::Text(names)),
        numbers("rate_bps", |flow| &flow.rate_bps),
        numbers("rtt_s", |flow| &flow.rtt_s),
        numbers("window_bytes", |flow| &flow.window_bytes),
        numbers("requested_buffer_bytes", |flow| &flow.socket_buffer.requested),
        numbers("granted_buffer_bytes", |flow| &flow.socket_buffer.granted),
        numbers("observed_window_bytes", |flow| &flow.socket_buffer.observed),
        numbers("data_bytes", |flow| &flow.data_bytes),
    ];
    columns.extend(measure_names(flows).into_iter().map(|name| {
        let values = flows.iter().flat_map(|flow| padded(measured(flow, name), flow.t_s.len()));
        (name.to_owned(), Column::Number(values.collect()))
    }));
    write_table(File::create(path)?, &columns)
}

/// `t_s, backlog_bytes, drops`: one row per sample.
pub(super) fn write_link(path: &Path, link: &LinkSeries) -> io::Result<()> {
    let drops: Vec<f64> = link.drops.iter().map(|count| *count as f64).collect();
    let samples = link.t_s.len();
    write_table(
        File::create(path)?,
        &[
            ("t_s".into(), Column::Required(link.t_s.clone())),
            ("backlog_bytes".into(), Column::Number(padded(&link.backlog_bytes, samples))),
            ("drops".into(), Column::Number(padded(&drops, samples))),
        ],
    )
}

/// `t_s, jain_index`: one row per interval, null where fewer than two flows were there throughout.
pub(super) fn write_fairness(path: &Path, fairness: &FairnessSeries) -> io::Result<()> {
    let index = padded(&fairness.jain_index, fairness.t_s.len());
    let t_s = Column::Required(fairness.t_s.clone());
    write_table(File::create(path)?, &[("t_s".into(), t_s), ("jain_index".into(), Column::Number(index))])
}

/// `packets, time_share, at_least`: for each length of the queue the share of the measured interval it lasted, and the
/// share during which the queue was no shorter.
pub(super) fn write_queue(path: &Path, shares: &[f64]) -> io::Result<()> {
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
    write_table(
        File::create(path)?,
        &[
            ("packets".into(), Column::Required((0..shares.len()).map(|packets| packets as f64).collect())),
            ("time_share".into(), Column::Required(shares.to_vec())),
            ("at_least".into(), Column::Required(at_least)),
        ],
    )
}

/// One value per sample; nothing where there is none.
fn padded(values: &[f64], samples: usize) -> Vec<Option<f64>> {
    (0..samples).map(|index| values.get(index).copied().filter(|value| value.is_finite())).collect()
}

/// Writes columns of equal length to an empty file, under their names, which may have dots in them as keys do.
///
/// # Errors
/// What the file system says.
pub fn write_table(file: File, columns: &[(String, Column)]) -> io::Result<()> {
    let write = || -> Result<File, ParquetError> {
        let fields = columns.iter().map(|(name, column)| Ok(Arc::new(field(name, column)?)));
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        let mut file = SerializedFileWriter::new(file, schema, properties)?;
        let mut group = file.next_row_group()?;
        for (_, values) in columns {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema has".into()));
            };
            match (values, column.untyped()) {
                (Column::Required(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                    writer.write_batch(values, None, None)?;
                }
                (Column::Number(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                    write_present::<DoubleType>(writer, values.iter().copied())?;
                }
                (Column::Whole(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                    // The logical type says that the bits are those of an unsigned number.
                    let bits = values.iter().map(|value| value.map(u64::cast_signed));
                    write_present::<Int64Type>(writer, bits)?;
                }
                (Column::Text(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                    let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                    writer.write_batch(&texts, None, None)?;
                }
                _ => return Err(ParquetError::General("a column's type is not its schema's".into())),
            }
            column.close()?;
        }
        group.close()?;
        file.into_inner()
    };
    write().map_err(io::Error::other)?.sync_all()
}

/// Values, null where there is none.
fn write_present<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut levels, mut present) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    writer.write_batch(&present, Some(&levels), None).map(drop)
}

fn field(name: &str, column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match column {
        Column::Required(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Column::Whole(_) => (Physical::INT64, Some(LogicalType::integer(64, false)), Repetition::OPTIONAL),
        Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}
