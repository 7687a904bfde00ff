//! Traces as text: a header that names the columns, then a packet in each record. Quotes are those of RFC 4180.

use crate::error::{FILES, Place, TraceError};
use crate::input::Input;
use crate::packet::Packet;
use crate::recording::{Frames, Recorder};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::net::IpAddr;

/// The names of the time's column, each with the number of decimals from its unit down to a nanosecond. Names with a
/// dot are tshark's.
const TIMES: &[(&str, u32)] = &[
    ("time", 9),
    ("time_s", 9),
    ("time_ms", 6),
    ("time_us", 3),
    ("time_ns", 0),
    ("frame.time_epoch", 9),
    ("frame.time_relative", 9),
];
/// The names of the size's column.
const SIZES: &[&str] = &["size", "size_bytes", "bytes", "length", "ip.len", "frame.len"];
/// The names of the column of sources, which a trace need not have.
const SOURCES: &[&str] = &["source", "ip.src", "ipv6.src"];
/// The names of the column of destinations, which a trace need not have.
const DESTINATIONS: &[&str] = &["destination", "ip.dst", "ipv6.dst"];
/// The length of the longest record: a longer one has no line ends, or a quote that is never closed.
const LONGEST: usize = 1 << 16;
const MOST_COLUMNS: usize = 1 << 10;
const SIZE: &str = "a whole number of bytes";

/// The places of the columns that are used.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    decimals: u32,
    size: usize,
    ends: Option<(usize, usize)>,
}

/// Records of CSV, of bounded length.
pub(crate) struct Records {
    reader: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

/// A record: its cells, and the line on which it begins.
pub(crate) struct Record<'a> {
    fields: &'a str,
    ends: &'a [usize],
    line: u64,
}

/// Hands the packets of `input` to `recorder`.
pub(crate) fn read(input: &mut Input<'_>, recorder: &mut Recorder<'_>) -> Result<(), TraceError> {
    let mut records = Records::new(input)?;
    let mut columns = None;
    while let Some(record) = records.next(input, FILES)? {
        if record.is_blank() {
            continue;
        }
        match columns {
            None => columns = Some(header(&record)?),
            Some(columns) => packet(&record, columns, recorder)?,
        }
    }
    recorder.ended(input);
    Ok(())
}

/// Returns the delimiter of the first line: a comma, a tab as in tshark's tables, or a semicolon as in those of
/// spreadsheets.
fn delimiter(begin: &[u8]) -> u8 {
    // Spreadsheets begin a file with a byte order mark.
    let begin = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(begin);
    let mut lines = begin.split(|byte| *byte == b'\n');
    let header =
        lines.find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let has = |delimiter: u8| header.contains(&delimiter);
    [b',', b'\t', b';'].into_iter().find(|delimiter| has(*delimiter)).unwrap_or(b',')
}

impl Records {
    /// Reads the delimiter of `input`.
    pub(crate) fn new(input: &mut Input<'_>) -> Result<Self, TraceError> {
        let delimiter = delimiter(input.see(LONGEST)?);
        let reader = ReaderBuilder::new().comment(Some(b'#')).delimiter(delimiter).build();
        Ok(Self { reader, fields: vec![0; LONGEST], ends: vec![0; MOST_COLUMNS] })
    }

    /// Returns the next record, if there is one. An error has the words for `accepted` files.
    pub(crate) fn next(
        &mut self,
        input: &mut Input<'_>,
        accepted: &str,
    ) -> Result<Option<Record<'_>>, TraceError> {
        let (mut length, mut cells, mut last) = (0, 0, 0);
        let result = loop {
            let seen = input.see(1)?;
            let (result, read, written, ended) =
                self.reader.read_record(seen, &mut self.fields[length..], &mut self.ends[cells..]);
            last = seen[..read].last().copied().unwrap_or(last);
            input.take(read);
            (length, cells) = (length + written, cells + ended);
            if result != ReadRecordResult::InputEmpty {
                break result;
            }
        };
        let (begun, ends) = (&self.fields[..length], &self.ends[..cells]);
        // The reader has counted the end of this line, unless the file ends without one.
        let within = begun.iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = (self.reader.line() - u64::from(last == b'\n')).saturating_sub(within).max(1);
        let error = |found: String| Err(TraceError::new(Place::Line(line), found, accepted));
        match result {
            ReadRecordResult::End => Ok(None),
            ReadRecordResult::OutputFull => {
                error(format!("a record of over {LONGEST} bytes: no text, or a quote that is never closed"))
            }
            ReadRecordResult::OutputEndsFull => error(format!("a record of over {MOST_COLUMNS} columns")),
            ReadRecordResult::Record | ReadRecordResult::InputEmpty => match std::str::from_utf8(begun) {
                Ok(fields) => Ok(Some(Record { fields, ends, line })),
                Err(_) => error("not valid UTF-8".into()),
            },
        }
    }
}

impl Record<'_> {
    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|column| self.cell(column).unwrap_or_default())
    }

    /// Returns a cell without the blanks around it, and without quotes inside those blanks.
    fn cell(&self, column: usize) -> Option<&str> {
        let begin = match column.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        // A cell's end lies within a character only if the cell is not valid UTF-8; the cell then counts as missing.
        let cell = self.fields.get(begin..*self.ends.get(column)?)?.trim();
        Some(cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim())
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.ends.len() <= 1 && self.fields.trim().is_empty()
    }

    pub(crate) fn error(&self, found: impl Into<String>, accepted: impl Into<String>) -> TraceError {
        TraceError::new(Place::Line(self.line), found, accepted)
    }

    pub(crate) fn value(&self, column: usize, what: &str) -> Result<&str, TraceError> {
        self.cell(column)
            .ok_or_else(|| self.error(format!("a line without a {what}"), "a value for each column"))
    }
}

fn header(record: &Record<'_>) -> Result<Columns, TraceError> {
    let names: Vec<String> =
        record.cells().map(|name| name.trim_start_matches('\u{feff}').to_ascii_lowercase()).collect();
    let named = |known: &[&str]| names.iter().position(|name| known.contains(&name.as_str()));
    let time = names.iter().enumerate().find_map(|(at, name)| {
        TIMES.iter().find(|(known, _)| known == name).map(|(_, decimals)| (at, *decimals))
    });
    // If several columns match, the one that counts IP alone is taken.
    let size = SIZES.iter().find_map(|name| named(&[name]));
    let ends = named(SOURCES).zip(named(DESTINATIONS));
    if let (Some((time, decimals)), Some(size)) = (time, size) {
        return Ok(Columns { time, decimals, size, ends });
    }
    if names.len() == 1 && names[0].parse::<u64>().is_ok() {
        return Err(delivery_times(record));
    }
    let missing = if time.is_none() { "time" } else { "size" };
    let times: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
    let accepted = format!(
        "a time in seconds or the unit named, {}; a size in bytes, {}",
        times.join(", "),
        SIZES.join(", ")
    );
    let found = format!("a header without a column for the {missing}");
    Err(record.error(found, accepted).help("begin the file with a line such as time,size"))
}

/// Returns the error for a file of numbers, which is one of mahimahi's: it has the rate of a link, and no packets.
fn delivery_times(record: &Record<'_>) -> TraceError {
    let found = "a number and no header, as in mahimahi's files: times at which a link may send 1504 bytes";
    record
        .error(found, "packets that share the link, with a time and a size for each")
        .help("they are a link's rate: [link] rate = { trace = \"FILE\" }")
}

fn packet(record: &Record<'_>, columns: Columns, recorder: &mut Recorder<'_>) -> Result<(), TraceError> {
    let time = record.value(columns.time, "time")?;
    let size = record.value(columns.size, "size")?;
    let Some(nanos) = nanos(time, columns.decimals) else {
        return Err(record.error(format!("the time \"{time}\""), "a number from 0 to 18446744073 seconds"));
    };
    let Ok(bytes) = size.parse::<u64>() else {
        return Err(record.error(format!("the size \"{size}\""), SIZE));
    };
    let end = |column| record.cell(column)?.parse::<IpAddr>().ok();
    let ends = columns.ends.and_then(|(from, to)| Some((end(from)?, end(to)?)));
    let packet = Packet { ends, ..Packet::of_size(u32::try_from(bytes).unwrap_or(u32::MAX)) };
    recorder.packet(nanos, &packet, Place::Line(record.line))
}

/// Reads a time in a unit of 10^`decimals` nanoseconds, exactly unless it has an exponent; fractions of a nanosecond
/// are cut off.
pub(crate) fn nanos(text: &str, decimals: u32) -> Option<u64> {
    if text.contains(['e', 'E']) {
        let value = text.parse::<f64>().ok()? * 10f64.powi(decimals as i32);
        return (0.0..1.8e19).contains(&value).then_some(value as u64);
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let mut below = 0;
    for at in 0..decimals as usize {
        below = below * 10 + part.as_bytes().get(at).map_or(0, |digit| u64::from(digit - b'0'));
    }
    whole.checked_mul(10u64.pow(decimals))?.checked_add(below)
}
