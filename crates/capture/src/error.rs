//! [`TraceError`]: a fault of a file, and its place.

use std::fmt;

/// The place of a fault in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, counted from 1.
    Line(u64),
    /// A packet, counted from 1, and the offset of its record in bytes, decompressed.
    Packet(u64, u64),
    /// The file as a whole.
    Whole,
}

/// The reason why a trace could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TraceError {
    /// The place of the fault.
    pub place: Place,
    /// The fault at that place.
    pub found: String,
    /// A description of the values that are accepted.
    pub accepted: String,
    /// A remedy, if one is known.
    pub help: Option<String>,
}

/// Writes the text that follows the name of the file: `:17: what is wrong`, `: packet 9 at byte 1204: what is wrong`.
impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(f, ":{line}: {}", self.found),
            Place::Packet(packet, offset) => write!(f, ": packet {packet} at byte {offset}: {}", self.found),
            Place::Whole => write!(f, ": {}", self.found),
        }
    }
}

impl TraceError {
    pub(crate) fn new(place: Place, found: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self { place, found: found.into(), accepted: accepted.into(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// The files that can be read.
pub(crate) const FILES: &str = "a capture (pcap, pcapng), or CSV with a header such as \"time,size\"; as it is, or \
                                compressed with gzip, zstd or lz4";
