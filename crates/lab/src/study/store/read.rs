//! Series that were kept as Parquet, read as tables again.

use crate::run::metric::Unit;
use crate::study::table::{Column, Field, Table};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

/// The kinds of series in the order of [`series`](super::series).
const NAMES: [&str; 6] = ["flows", "spread", "link", "queue", "fairness", "acks"];

/// Reads the series in the folder of a kept run, those that it has. They are equal to those of
/// [`series`](super::series), except that columns have no words.
///
/// # Errors
/// If the folder cannot be read, or a file is not one that this program wrote.
pub fn read_series(folder: &Path) -> io::Result<Vec<(&'static str, Table)>> {
    let mut all = Vec::new();
    for name in NAMES {
        match File::open(folder.join(format!("{name}.parquet"))) {
            Ok(file) => all.push((name, read_table(file).map_err(io::Error::other)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

fn read_table(file: File) -> Result<Table, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let about = reader.metadata().file_metadata();
    let units = about.key_value_metadata().into_iter().flatten().find(|pair| pair.key == "units");
    let units = units.and_then(|pair| serde_json::from_str(pair.value.as_deref()?).ok());
    let units: HashMap<String, String> = units.unwrap_or_default();
    let mut fields = Vec::new();
    for (place, column) in about.schema_descr().columns().iter().enumerate() {
        let name = column.name().to_owned();
        let unit = units.get(&name).map_or("", |unit| known(unit));
        // The writer makes one row group, whatever the number of rows.
        let group = reader.get_row_group(0)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        let values = match read_column(group.get_column_reader(place)?, rows)? {
            Column::Number(values) if column.max_def_level() == 0 => {
                Column::Required(values.into_iter().flatten().collect())
            }
            values => values,
        };
        fields.push(Field::new(name, unit, "", values));
    }
    Ok(Table { fields })
}

/// Returns the unit that files write as `text`; empty for a unit that this program does not know.
fn known(text: &str) -> &'static str {
    const ALL: [Unit; 11] = [
        Unit::BitRate,
        Unit::Delay,
        Unit::Time,
        Unit::Bytes,
        Unit::Data,
        Unit::Packets,
        Unit::PacketRate,
        Unit::Segments,
        Unit::Share,
        Unit::Count,
        Unit::Number,
    ];
    ALL.into_iter().map(Unit::in_files).find(|unit| *unit == text).unwrap_or_default()
}

/// Reads a column of the only row group of a file.
fn read_column(reader: ColumnReader, rows: usize) -> Result<Column, ParquetError> {
    Ok(match reader {
        ColumnReader::DoubleColumnReader(reader) => Column::Number(read_values(reader, rows)?),
        ColumnReader::Int64ColumnReader(reader) => {
            let values = read_values(reader, rows)?.into_iter();
            Column::Whole(values.map(|value| value.map(i64::cast_unsigned)).collect())
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            let texts = read_values(reader, rows)?.into_iter();
            let text = |bytes: Option<parquet::data_type::ByteArray>| {
                Ok(bytes.unwrap_or_default().as_utf8()?.to_owned())
            };
            Column::Text(texts.map(text).collect::<Result<_, ParquetError>>()?)
        }
        _ => {
            return Err(ParquetError::General("a column has a type that this program does not write".into()));
        }
    })
}

/// Reads the values of a column, with `None` where one is missing.
fn read_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        let (read, _, _) = reader.read_records(left, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("a column ends early".into()));
        }
        left -= read;
    }
    if levels.is_empty() {
        // A column that is required has no levels.
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level == 1 { values.next() } else { None }).collect())
}
