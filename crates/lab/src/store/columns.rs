//! Series as Parquet: one row per sample, one column per quantity, units in the column names.

use crate::record::{FlowSeries, LinkSeries};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// `t_s, flow, rate_bps, rtt_s, window_bytes`, and for a live run what became of the socket buffer: one row per flow
/// and sample. A column that was not recorded is null throughout.
pub(super) fn write_flows(path: &Path, flows: &[FlowSeries]) -> io::Result<()> {
    let schema = "message flows { REQUIRED DOUBLE t_s; REQUIRED BYTE_ARRAY flow (UTF8); OPTIONAL DOUBLE rate_bps; \
                  OPTIONAL DOUBLE rtt_s; OPTIONAL DOUBLE window_bytes; OPTIONAL DOUBLE requested_buffer_bytes; \
                  OPTIONAL DOUBLE granted_buffer_bytes; OPTIONAL DOUBLE observed_window_bytes; }";
    let times: Vec<f64> = flows.iter().flat_map(|flow| flow.t_s.iter().copied()).collect();
    let names: Vec<ByteArray> =
        flows.iter().flat_map(|flow| vec![ByteArray::from(flow.name.as_str()); flow.t_s.len()]).collect();
    let column = |of: fn(&FlowSeries) -> &Vec<f64>| -> Vec<Option<f64>> {
        flows.iter().flat_map(|flow| padded(of(flow), flow.t_s.len())).collect()
    };
    write(
        path,
        schema,
        &[
            Values::Required(times),
            Values::Names(names),
            Values::Optional(column(|flow| &flow.rate_bps)),
            Values::Optional(column(|flow| &flow.rtt_s)),
            Values::Optional(column(|flow| &flow.window_bytes)),
            Values::Optional(column(|flow| &flow.socket_buffer.requested)),
            Values::Optional(column(|flow| &flow.socket_buffer.granted)),
            Values::Optional(column(|flow| &flow.socket_buffer.observed)),
        ],
    )
}

/// `t_s, backlog_bytes, drops`: one row per sample.
pub(super) fn write_link(path: &Path, link: &LinkSeries) -> io::Result<()> {
    let schema =
        "message link { REQUIRED DOUBLE t_s; OPTIONAL DOUBLE backlog_bytes; OPTIONAL DOUBLE drops; }";
    let drops: Vec<f64> = link.drops.iter().map(|count| *count as f64).collect();
    write(
        path,
        schema,
        &[
            Values::Required(link.t_s.clone()),
            Values::Optional(padded(&link.backlog_bytes, link.t_s.len())),
            Values::Optional(padded(&drops, link.t_s.len())),
        ],
    )
}

enum Values {
    Required(Vec<f64>),
    Optional(Vec<Option<f64>>),
    Names(Vec<ByteArray>),
}

/// One value per sample; nothing where there is none.
fn padded(values: &[f64], samples: usize) -> Vec<Option<f64>> {
    (0..samples).map(|index| values.get(index).copied().filter(|value| value.is_finite())).collect()
}

fn write(path: &Path, schema: &str, columns: &[Values]) -> io::Result<()> {
    let write = || -> Result<File, ParquetError> {
        let schema = Arc::new(parse_message_type(schema)?);
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        let mut file = SerializedFileWriter::new(File::create(path)?, schema, properties)?;
        let mut group = file.next_row_group()?;
        for values in columns {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema has".into()));
            };
            match (values, column.untyped()) {
                (Values::Required(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                    writer.write_batch(values, None, None)?;
                }
                (Values::Optional(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                    let present: Vec<f64> = values.iter().flatten().copied().collect();
                    writer.write_batch(&present, Some(&levels), None)?;
                }
                (Values::Names(names), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                    writer.write_batch(names, None, None)?;
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
