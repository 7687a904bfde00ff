//! Files of traces, read piece by piece: `parse/csv.rs`, `parse/pcap.rs`. Whatever the bytes are, nothing panics.

mod csv;
mod pcap;

use super::Trace;
use csv::Csv;
use pcap::Pcap;
use std::fmt;

/// Where in a trace the trouble is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line and a column of a text, counted from 1; columns in characters.
    Line(u64, u64),
    /// A packet, counted from 1, and the offset of its record in bytes.
    Packet(u64, u64),
    /// The file as a whole.
    Whole,
}

/// Why a trace could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TraceError {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub found: String,
    /// What would have been accepted.
    pub accepted: String,
    /// What to do, where that can be said.
    pub help: Option<String>,
}

/// After the name of the file: `:17:3: what is wrong`, `: packet 9 at byte 1204: what is wrong`.
impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line, column) => write!(f, ":{line}:{column}: {}", self.found),
            Place::Packet(packet, offset) => write!(f, ": packet {packet} at byte {offset}: {}", self.found),
            Place::Whole => write!(f, ": {}", self.found),
        }
    }
}

fn error(place: Place, found: impl Into<String>, accepted: impl Into<String>) -> TraceError {
    TraceError { place, found: found.into(), accepted: accepted.into(), help: None }
}

/// Packets as a file has them: absolute times.
#[derive(Debug, Default)]
struct Packets {
    trace: Trace,
    /// Nanoseconds.
    last: Option<u64>,
}

impl Packets {
    /// Takes a packet at `nanos`; what is wrong with it otherwise.
    fn push(&mut self, nanos: u64, size: u64) -> Result<(), (String, String)> {
        let before = self.last.unwrap_or(nanos);
        let Some(gap) = nanos.checked_sub(before) else {
            let found =
                format!("time runs backwards, to {} s after {} s", nanos as f64 / 1e9, before as f64 / 1e9);
            return Err((found, "packets in order of time".into()));
        };
        let size = match u16::try_from(size) {
            Ok(0) => return Err(("a packet of zero bytes".into(), SIZES.into())),
            Ok(size) => size,
            Err(_) => return Err((format!("a packet of {size} bytes"), SIZES.into())),
        };
        self.last = Some(nanos);
        self.trace.push(gap, size);
        Ok(())
    }
}

const SIZES: &str = "a size on the wire from 1 to 65535 bytes";

/// Reads a trace from the pieces of its file, in order: classic pcap, known by its first four bytes, or CSV.
///
/// ```
/// # use tightlink_link::traffic::{TraceParser, TraceError};
/// let mut parser = TraceParser::default();
/// parser.feed(b"time_ms,size\n0,1500\n")?;
/// parser.feed(b"2.5,40\n")?;
/// assert_eq!(parser.finish()?.len(), 2);
/// # Ok::<(), TraceError>(())
/// ```
#[derive(Debug)]
pub struct TraceParser(State);

#[derive(Debug)]
enum State {
    /// Fewer than four bytes have come.
    Unknown(Vec<u8>),
    Csv(Csv),
    Pcap(Pcap),
}

impl Default for TraceParser {
    fn default() -> Self {
        Self(State::Unknown(Vec::new()))
    }
}

impl TraceParser {
    /// Takes the next piece of the file.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), TraceError> {
        let State::Unknown(begin) = &mut self.0 else { return self.pass(piece) };
        begin.extend_from_slice(piece);
        let Some(magic) = begin.first_chunk::<4>() else { return Ok(()) };
        let known = match *magic {
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                return Err(TraceError {
                    help: Some("convert it: editcap -F pcap trace.pcapng trace.pcap".into()),
                    ..error(Place::Whole, "a pcapng capture", FILES)
                });
            }
            magic => Pcap::of(magic).map_or_else(|| State::Csv(Csv::default()), State::Pcap),
        };
        let begin = std::mem::take(begin);
        self.0 = known;
        self.pass(&begin)
    }

    fn pass(&mut self, piece: &[u8]) -> Result<(), TraceError> {
        match &mut self.0 {
            State::Unknown(_) => Ok(()),
            State::Csv(csv) => csv.feed(piece),
            State::Pcap(pcap) => pcap.feed(piece),
        }
    }

    /// The trace, once the file has ended.
    ///
    /// # Errors
    /// If it ends too early or has no packet.
    pub fn finish(self) -> Result<Trace, TraceError> {
        let trace = match self.0 {
            State::Unknown(begin) => {
                let mut csv = Csv::default();
                csv.feed(&begin)?;
                csv.finish()?
            }
            State::Csv(csv) => csv.finish()?,
            State::Pcap(pcap) => pcap.finish()?,
        };
        if trace.is_empty() {
            return Err(error(Place::Whole, "a trace without packets", "at least one packet"));
        }
        Ok(trace)
    }
}

const FILES: &str = "CSV with a header such as \"time,size\", or a classic pcap capture";
