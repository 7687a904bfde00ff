//! Tables as Parquet: one row per sample or point. The unit of each column is in the file's metadata (`units`, as
//! JSON), and in that of its field (`arrow.rs`).

use super::arrow;
use super::sheets::{self, Kind, RowRange, Sheet};
use crate::files::create;
use crate::run::record::Series;
use crate::study::table::Table;
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
    for (name, sheets) in sheets::all(series) {
        write(create(&folder.join(format!("{name}.parquet")))?, &sheets)?;
    }
    Ok(())
}

/// Writes a table to an empty file.
///
/// # Errors
/// If the file system refuses.
pub fn write_table(file: File, table: &Table) -> io::Result<()> {
    let sheets: Vec<Sheet<'_>> = table.fields.iter().map(Sheet::of).collect();
    write(file, &sheets)
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
    for Sheet { name, unit, kind, .. } in sheets {
        let (name, kind) = (name.as_ref(), *kind);
        if !unit.is_empty() {
            units.insert(name.to_owned(), (*unit).into());
        }
        if matches!(kind, Kind::Text) {
            let path = ColumnPath::from(vec![name.to_owned()]);
            properties = properties.set_column_dictionary_enabled(path, true);
        }
        fields.push(Arc::new(field(name, kind)?));
    }
    let units = KeyValue::new("units".to_owned(), serde_json::Value::from(units).to_string());
    let columns = sheets.iter().map(|sheet| (&*sheet.name, sheet.unit, sheet.kind)).collect::<Vec<_>>();
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
        (RowRange::Whole(value, rows), ColumnWriter::Int64ColumnWriter(writer), _) => {
            // The bits are those of an unsigned number, as the column's logical type says.
            put_each(writer, *rows, |row| value(row).map(u64::cast_signed))?;
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
