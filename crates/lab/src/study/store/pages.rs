//! The pages of a column in a Parquet file. Rows come as runs and are encoded as runs: numbers are copied together, and a
//! text that stands in many rows is looked up once. The library's encoders take each row by itself, which costs several
//! times as much.
//!
//! A data page (version 1) has the definition levels, 1 for a value and 0 for null, and then the values that are not
//! null. These are numbers as they lie in memory, or places of texts in the dictionary. Levels and places have the
//! encoding that the format calls RLE.

use super::sheets::{Kind, RowRange, Sheet};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use snap::raw::Encoder;
use std::collections::HashMap;

/// The rows of a page.
const PAGE: usize = 4096;

/// Encodes a column. Returns its pages and their description.
pub(super) fn encode(
    sheet: &Sheet<'_>,
    column: ColumnDescPtr,
) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = Pages::new(&mut sink);
    let encodings = match sheet.kind {
        Kind::Text => {
            pages.put_texts(&sheet.pieces)?;
            vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY]
        }
        kind => {
            pages.put_numbers(&sheet.pieces, !matches!(kind, Kind::Required))?;
            vec![Encoding::PLAIN, Encoding::RLE]
        }
    };
    let Pages { rows, size, dictionary, .. } = pages;
    let bytes = Bytes::from(sink.into_inner()?);
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::SNAPPY)
        .set_encodings(encodings)
        .set_num_values(rows as i64)
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(size as i64)
        .set_dictionary_page_offset((dictionary > 0).then_some(0))
        .set_data_page_offset(dictionary as i64)
        .build()?;
    let about = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((bytes, about))
}

/// Values that repeat, each with the number of rows in which it stands.
#[derive(Default)]
struct Runs(Vec<(u32, usize)>);

impl Runs {
    fn push(&mut self, value: u32, rows: usize) {
        match self.0.last_mut() {
            Some((last, count)) if *last == value => *count += rows,
            _ if rows > 0 => self.0.push((value, rows)),
            _ => {}
        }
    }

    /// Encodes the runs, and forgets them. A value has `width` bytes.
    fn drain_into(&mut self, width: usize, out: &mut Vec<u8>) {
        for (value, rows) in self.0.drain(..) {
            // The number of rows, seven bits to a byte, after a bit that says that a run follows.
            let mut head = rows << 1;
            while head >= 0x80 {
                out.push(head as u8 | 0x80);
                head >>= 7;
            }
            out.push(head as u8);
            out.extend(&value.to_le_bytes()[..width]);
        }
    }
}

/// The pages of a column that is being encoded.
struct Pages<'a> {
    writer: SerializedPageWriter<'a, Vec<u8>>,
    snappy: Encoder,
    /// The levels of the page under way, its rows and its values.
    levels: Runs,
    filled: usize,
    values: Vec<u8>,
    /// The pages since the last long piece began, and the lengths of their content.
    last: Vec<(Page, usize)>,
    /// The rows of all finished pages.
    rows: usize,
    /// The bytes of all finished pages before compression.
    size: usize,
    /// The bytes of the dictionary's page; 0 without one.
    dictionary: u64,
}

impl<'a> Pages<'a> {
    fn new(sink: &'a mut TrackedWrite<Vec<u8>>) -> Self {
        Self {
            writer: SerializedPageWriter::new(sink),
            snappy: Encoder::new(),
            levels: Runs::default(),
            filled: 0,
            values: Vec::new(),
            last: Vec::new(),
            rows: 0,
            size: 0,
            dictionary: 0,
        }
    }

    /// Encodes numbers. If the column is `nullable`, numbers that are not finite are null.
    fn put_numbers(&mut self, pieces: &[RowRange<'_>], nullable: bool) -> Result<(), ParquetError> {
        let mut before = None;
        for piece in pieces {
            // Flows that are sampled together share their times, and the pages of these.
            let same = piece.place().filter(|place| place.1 >= PAGE);
            if same.is_some() && same == before {
                self.put_again()?;
                continue;
            }
            before = same;
            if same.is_some() {
                self.end_numbers(nullable)?;
                self.last.clear();
            }
            let mut from = 0;
            while from < piece.rows() {
                let rows = from..piece.rows().min(from + PAGE - self.filled);
                self.filled += rows.len();
                from = rows.end;
                match piece {
                    RowRange::Numbers(values, _) if nullable => {
                        let values = &values[rows.start.min(values.len())..rows.end.min(values.len())];
                        self.put_finite(values);
                        self.levels.push(0, rows.len() - values.len());
                    }
                    RowRange::Numbers(values, _) => self.put_all(&values[rows]),
                    RowRange::Each(value, _) => {
                        rows.for_each(|row| self.put(value(row).map(f64::to_le_bytes)));
                    }
                    RowRange::Whole(value, _) => {
                        rows.for_each(|row| self.put(value(row).map(u64::to_le_bytes)));
                    }
                    RowRange::Text(..) => {
                        return Err(ParquetError::General("a column's type is not its schema's".into()));
                    }
                }
                if self.filled == PAGE {
                    self.end_numbers(nullable)?;
                }
            }
            if same.is_some() {
                self.end_numbers(nullable)?;
            }
        }
        self.end_numbers(nullable)
    }

    /// Writes the pages of the last long piece once more.
    fn put_again(&mut self) -> Result<(), ParquetError> {
        let pages = std::mem::take(&mut self.last);
        for (page, length) in &pages {
            self.rows += page.num_values() as usize;
            self.put_page(page.clone(), *length)?;
        }
        self.last = pages;
        Ok(())
    }

    fn put(&mut self, value: Option<[u8; 8]>) {
        self.levels.push(value.is_some().into(), 1);
        self.values.extend(value.into_iter().flatten());
    }

    fn put_finite(&mut self, values: &[f64]) {
        if values.iter().all(|value| value.is_finite()) {
            self.levels.push(1, values.len());
            self.put_all(values);
        } else {
            values.iter().for_each(|value| self.put(value.is_finite().then(|| value.to_le_bytes())));
        }
    }

    fn put_all(&mut self, values: &[f64]) {
        let begin = self.values.len();
        self.values.resize(begin + size_of_val(values), 0);
        for (bytes, value) in self.values[begin..].chunks_exact_mut(8).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Writes the page of numbers, if it has rows.
    fn end_numbers(&mut self, nullable: bool) -> Result<(), ParquetError> {
        let mut content = Vec::with_capacity(self.values.len() + 64);
        if nullable {
            content.extend([0; 4]);
            self.levels.drain_into(1, &mut content);
            let length = content.len() as u32 - 4;
            content[..4].copy_from_slice(&length.to_le_bytes());
        }
        content.append(&mut self.values);
        self.end_page(&content, Encoding::PLAIN)
    }

    /// Encodes texts. The first page has each of them once.
    fn put_texts(&mut self, pieces: &[RowRange<'_>]) -> Result<(), ParquetError> {
        let (mut places, mut texts, mut runs) = (HashMap::new(), Vec::new(), Runs::default());
        for piece in pieces {
            let RowRange::Text(text, rows) = piece else {
                return Err(ParquetError::General("a column's type is not its schema's".into()));
            };
            let new = places.len() as u32;
            let place = *places.entry(*text).or_insert_with(|| {
                texts.extend((text.len() as u32).to_le_bytes());
                texts.extend(text.as_bytes());
                new
            });
            runs.push(place, *rows);
        }
        if runs.0.is_empty() {
            return Ok(());
        }
        let page = Page::DictionaryPage {
            buf: self.compressed(&texts)?,
            num_values: places.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.dictionary = self.put_page(page, texts.len())?;
        let bits = places.len().next_power_of_two().trailing_zeros().max(1) as u8;
        let mut page = Runs::default();
        for (place, mut rows) in runs.0 {
            while rows > 0 {
                let count = rows.min(PAGE - self.filled);
                page.push(place, count);
                self.filled += count;
                rows -= count;
                if self.filled == PAGE {
                    self.end_texts(&mut page, bits)?;
                }
            }
        }
        self.end_texts(&mut page, bits)
    }

    /// Writes the page of texts whose places are `runs`, if it has rows. A place has `bits`.
    fn end_texts(&mut self, runs: &mut Runs, bits: u8) -> Result<(), ParquetError> {
        let mut content = vec![bits];
        runs.drain_into(usize::from(bits).div_ceil(8), &mut content);
        self.end_page(&content, Encoding::RLE_DICTIONARY)
    }

    /// Writes a data page, if it has rows.
    fn end_page(&mut self, content: &[u8], encoding: Encoding) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.filled);
        if rows == 0 {
            return Ok(());
        }
        self.rows += rows;
        let page = Page::DataPage {
            buf: self.compressed(content)?,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.last.push((page.clone(), content.len()));
        self.put_page(page, content.len()).map(drop)
    }

    fn compressed(&mut self, content: &[u8]) -> Result<Bytes, ParquetError> {
        let compressed = self.snappy.compress_vec(content);
        Ok(compressed.map_err(|error| ParquetError::External(error.into()))?.into())
    }

    /// Writes a page whose content had this length before compression. Returns its size in the file.
    fn put_page(&mut self, page: Page, length: usize) -> Result<u64, ParquetError> {
        let written = self.writer.write_page(CompressedPage::new(page, length))?;
        self.size += written.uncompressed_size;
        Ok(written.bytes_written)
    }
}
