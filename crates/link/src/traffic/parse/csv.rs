//! Traces as text: a header that names the columns, then a packet on each line.

use super::{FILES, Packets, Place, TraceError, error};
use crate::traffic::Trace;

/// Names of the time's column, and how many decimals of its unit a nanosecond has.
const TIMES: &[(&str, u32)] = &[("time", 9), ("time_s", 9), ("time_ms", 6), ("time_us", 3), ("time_ns", 0)];
/// Names of the size's column.
const SIZES: &[&str] = &["size", "size_bytes", "bytes", "length"];
/// No line is longer: what is has no line ends.
const LONGEST: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Csv {
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    line: u64,
    columns: Option<Columns>,
    packets: Packets,
}

#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    decimals: u32,
    size: usize,
}

impl Csv {
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<(), TraceError> {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            if self.begun.is_empty() {
                self.line(&piece[..end])?;
            } else {
                self.begun.extend_from_slice(&piece[..end]);
                let line = std::mem::take(&mut self.begun);
                self.line(&line)?;
                self.begun = line;
                self.begun.clear();
            }
            piece = &piece[end + 1..];
        }
        self.begun.extend_from_slice(piece);
        if self.begun.len() > LONGEST {
            let found = format!("a line of over {LONGEST} bytes: no text");
            return Err(error(Place::Line(self.line + 1, 1), found, FILES));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Trace, TraceError> {
        let last = std::mem::take(&mut self.begun);
        self.line(&last)?;
        Ok(self.packets.trace)
    }

    fn line(&mut self, line: &[u8]) -> Result<(), TraceError> {
        self.line += 1;
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(error(Place::Line(self.line, 1), "not valid UTF-8", FILES));
        };
        // Spreadsheets begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() || text.starts_with('#') {
            return Ok(());
        }
        match self.columns {
            None => {
                self.columns = Some(self.header(text)?);
                Ok(())
            }
            Some(columns) => self.packet(text, columns),
        }
    }

    fn header(&self, text: &str) -> Result<Columns, TraceError> {
        let names: Vec<String> = text.split(',').map(|cell| bare(cell).to_ascii_lowercase()).collect();
        let time = names.iter().enumerate().find_map(|(at, name)| {
            TIMES.iter().find(|(known, _)| known == name).map(|(_, decimals)| (at, *decimals))
        });
        let size = names.iter().position(|name| SIZES.contains(&name.as_str()));
        let (Some((time, decimals)), Some(size)) = (time, size) else {
            let missing = if time.is_none() { "time" } else { "size" };
            let times: Vec<&str> = TIMES.iter().map(|(name, _)| *name).collect();
            return Err(TraceError {
                help: Some("begin the file with a line such as time,size".into()),
                ..error(
                    Place::Line(self.line, 1),
                    format!("a header without a column for the {missing}"),
                    format!(
                        "a time in seconds or the unit named, {}; a size in bytes, {}",
                        times.join(", "),
                        SIZES.join(", ")
                    ),
                )
            });
        };
        Ok(Columns { time, decimals, size })
    }

    fn packet(&mut self, text: &str, columns: Columns) -> Result<(), TraceError> {
        let time = self.cell(text, columns.time, "time")?;
        let size = self.cell(text, columns.size, "size")?;
        let place = |cell: &str| {
            // Both are parts of one text.
            let at = cell.as_ptr() as usize - text.as_ptr() as usize;
            Place::Line(self.line, text[..at].chars().count() as u64 + 1)
        };
        let Some(nanos) = nanos(time, columns.decimals) else {
            let found = format!("the time \"{time}\"");
            return Err(error(place(time), found, "a number from 0 to 18446744073 seconds"));
        };
        let Ok(size_bytes) = size.parse::<u64>() else {
            return Err(error(place(size), format!("the size \"{size}\""), super::SIZES));
        };
        let pushed = self.packets.push(nanos, size_bytes);
        pushed.map_err(|(found, accepted)| {
            let cell = if accepted == super::SIZES { size } else { time };
            error(place(cell), found, accepted)
        })
    }

    fn cell<'a>(&self, text: &'a str, column: usize, what: &str) -> Result<&'a str, TraceError> {
        text.split(',').nth(column).map(bare).ok_or_else(|| {
            error(Place::Line(self.line, 1), format!("a line without a {what}"), "a value for each column")
        })
    }
}

/// A cell without blanks and quotes.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
}

/// A time in a unit of 10^`decimals` nanoseconds, exactly unless it has an exponent; what is below one is cut off.
fn nanos(text: &str, decimals: u32) -> Option<u64> {
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
