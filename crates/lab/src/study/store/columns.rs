//! Tables as Parquet: one row per sample or point. The unit of each column is in the file's metadata (`units`, as
//! JSON), and in that of its field (`arrow.rs`).

use super::arrow;
use super::pages;
use super::sheets::{self, Kind, Sheet};
use crate::files::create;
use crate::run::record::Series;
use crate::study::table::Table;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

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

/// Writes a file of one row group, a column after the other.
fn write(file: File, sheets: &[Sheet<'_>]) -> io::Result<()> {
    try_write(file, sheets).map_err(io::Error::other)?.sync_all()
}

fn try_write(file: File, sheets: &[Sheet<'_>]) -> Result<File, ParquetError> {
    let (mut fields, mut units) = (Vec::new(), serde_json::Map::new());
    for Sheet { name, unit, kind, .. } in sheets {
        let (name, kind) = (name.as_ref(), *kind);
        if !unit.is_empty() {
            units.insert(name.to_owned(), (*unit).into());
        }
        fields.push(Arc::new(field(name, kind)?));
    }
    let units = KeyValue::new("units".to_owned(), serde_json::Value::from(units).to_string());
    let columns = sheets.iter().map(|sheet| (&*sheet.name, sheet.unit, sheet.kind)).collect::<Vec<_>>();
    let schema = KeyValue::new(arrow::KEY.to_owned(), arrow::schema(&columns));
    let properties = WriterProperties::builder()
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![units, schema]))
        .build();
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let mut table = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let columns = table.schema_descr().columns().to_vec();
    let mut group = table.next_row_group()?;
    for (sheet, column) in sheets.iter().zip(columns) {
        let (pages, about) = pages::encode(sheet, column)?;
        group.append_column(&pages, about)?;
    }
    group.close()?;
    table.into_inner()
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
