//! TCP connections of a capture: for each direction the sums, and the evidence of its limit.
//!
//! The entry point is [`connections`]. `segment.rs` reads a frame, `clock.rs` sorts by time, `table.rs` keeps the
//! connections, `flow.rs` and its folder follow one direction, `statistics.rs` has the sums, and `failure.rs` the ways to
//! fail. The file is read once.
//! Memory is bounded: a small state for each connection, more for those that carry much, and never all packets.

mod clock;
mod failure;
mod flow;
mod segment;
mod statistics;
mod table;

pub use failure::{Failure, FailureKind};
pub use statistics::{Overshoot, Retransmissions, RoundTrips, Statistics};

use crate::error::{FILES, Place, TraceError};
use crate::input::Input;
use crate::link_layer::LinkType;
use crate::recording::{Frame, Frames, without_ip};
use crate::{pcap, pcapng};
use clock::Clock;
use estimate::diagnosis::{Direction, Evidence};
use segment::Found;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::ControlFlow;
use table::Table;
use units::{Bytes, Time};

/// The number of bytes, decompressed, after which the progress is reported.
const BYTES_APART: u64 = 1 << 19;

/// One direction of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionReport {
    /// The sums.
    pub statistics: Statistics,
    /// The evidence; `None` if the direction carried too little to be limited by anything.
    pub evidence: Option<Evidence>,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The direction from the end that opened the connection. If that was not seen, either.
    pub forward: Direction,
    /// True if the capture has its begin, so that `forward` is certain.
    pub opened: bool,
    /// The interface at which it was captured. A connection that two interfaces saw is listed twice.
    pub interface: u32,
    /// The time of its first packet.
    pub from: Time,
    /// The time of its last packet.
    pub until: Time,
    /// The way in which it failed, if it did.
    pub failure: Option<Failure>,
    /// Its directions: `forward`, then the way back.
    pub directions: [DirectionReport; 2],
}

impl Connection {
    /// Returns the number of its packets.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.directions[0].statistics.packets + self.directions[1].statistics.packets
    }
}

/// Connections that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Their number.
    pub connections: u64,
    /// Their payload.
    pub payload: Bytes,
}

/// The connections of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Connections {
    /// Those with most payload, the largest first.
    pub connections: Vec<Connection>,
    /// The others, which are too many to be listed.
    pub others: Others,
    /// The number of frames.
    pub frames: u64,
    /// True if the caller stopped the reading, so that only the first part of the capture counts.
    pub stopped: bool,
    /// Remarks that a reader must know.
    pub notes: Vec<String>,
}

/// Reads the TCP connections of a capture in pcap or pcapng, which may be compressed with gzip, zstd or lz4. `progress`
/// gets the number of bytes of the file that have been read, and may stop the reading.
///
/// A capture that is damaged or ends too early counts up to there, with a note.
///
/// # Errors
/// If the file is not a capture, or no frame of it could be read.
pub fn connections(
    file: impl Read,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Connections, TraceError> {
    let read = Cell::new(0);
    let mut input = Input::new(Counted { file, read: &read })?;
    let mut reader = Reader::new(&read, &mut progress);
    let first = input.see(4)?;
    let result = if pcapng::begins(first) {
        pcapng::read(&mut input, &mut reader)
    } else if pcap::begins(first) {
        pcap::read(&mut input, &mut reader)
    } else {
        let accepted = "a capture (pcap, pcapng); as it is, or compressed with gzip, zstd or lz4";
        return Err(TraceError::new(Place::Whole, "not a capture", accepted)
            .help("capture with tcpdump -w FILE, dumpcap or Wireshark"));
    };
    if let Err(error) = result {
        if reader.frames == 0 && !reader.stopped {
            return Err(error);
        }
        if !reader.stopped {
            let text = error.to_string();
            reader
                .notes
                .push(format!("the capture cannot be read further{text}; the packets before that are taken"));
        }
    }
    reader.finish()
}

/// A file whose bytes are counted as they are read.
struct Counted<'a, R> {
    file: R,
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(into)?;
        self.read.set(self.read.get() + length as u64);
        Ok(length)
    }
}

/// A reader of frames, which hands their TCP packets to the table.
struct Reader<'a, P> {
    read: &'a Cell<u64>,
    progress: &'a mut P,
    /// The offset in the decompressed file at which the progress is reported next.
    report_at: u64,
    clock: Clock,
    table: Table,
    frames: u64,
    segments: u64,
    without_ip: u64,
    other_ip: u64,
    cut: u64,
    strange: BTreeSet<LinkType>,
    stopped: bool,
    notes: Vec<String>,
}

impl<'a, P: FnMut(u64) -> ControlFlow<()>> Reader<'a, P> {
    fn new(read: &'a Cell<u64>, progress: &'a mut P) -> Self {
        Self {
            read,
            progress,
            report_at: BYTES_APART,
            clock: Clock::default(),
            table: Table::new(),
            frames: 0,
            segments: 0,
            without_ip: 0,
            other_ip: 0,
            cut: 0,
            strange: BTreeSet::new(),
            stopped: false,
            notes: Vec::new(),
        }
    }

    fn finish(mut self) -> Result<Connections, TraceError> {
        let table = &mut self.table;
        self.clock.finish(|segment| table.take(segment));
        if self.segments == 0 && !self.stopped {
            return Err(self.without_tcp());
        }
        let mut notes = self.notes;
        let frames = self.frames;
        if self.cut > 0 {
            let cut = self.cut;
            notes.push(format!(
                "{cut} of {frames} packets were captured without their whole TCP header (snaplen) and are left out"
            ));
        }
        if self.clock.steps > 0 {
            let (steps, largest) = (self.clock.steps, self.clock.largest_step as f64 / 1e9);
            let times = if steps == 1 { String::new() } else { format!(" {steps} times, at most") };
            notes.push(format!(
                "the time stamps go back{times} by {largest} s; time goes on from the packet before"
            ));
        }
        if self.clock.wrong > 0 {
            let wrong = self.clock.wrong;
            let text = match wrong {
                1 => "the time of 1 packet is far ahead of those around it, and is not taken".to_owned(),
                _ => format!(
                    "the times of {wrong} packets are far ahead of those around them, and are not taken"
                ),
            };
            notes.push(text);
        }
        if self.table.beyond > 0 {
            notes.push(format!(
                "{} packets belong to further connections, which are not listed",
                self.table.beyond
            ));
        }
        let (connections, others) = self.table.finish();
        Ok(Connections { connections, others, frames, stopped: self.stopped, notes })
    }

    /// Returns the error for a capture without a TCP packet.
    fn without_tcp(&self) -> TraceError {
        let types: Vec<LinkType> = self.strange.iter().copied().collect();
        if !types.is_empty() && self.without_ip == self.frames {
            return without_ip(&types);
        }
        let found = match self.frames {
            0 => "a capture without packets".to_owned(),
            frames if self.cut > 0 => format!("{frames} frames, all cut before the end of a TCP header"),
            frames if self.other_ip > 0 => format!("{frames} frames, and none carries TCP"),
            frames => format!("{frames} frames, and none carries IP"),
        };
        TraceError::new(Place::Whole, found, "at least one packet of TCP")
            .help("capture TCP: tcpdump -s 128 -w FILE tcp")
    }
}

impl<P: FnMut(u64) -> ControlFlow<()>> Frames for Reader<'_, P> {
    fn frames(&self) -> u64 {
        self.frames
    }

    fn frame(&mut self, frame: &Frame<'_>, _: Place) -> Result<(), TraceError> {
        self.frames += 1;
        if !frame.link_type.carries_ip() {
            self.strange.insert(frame.link_type);
        }
        match segment::find(frame) {
            Found::Segment(segment) => {
                self.segments += 1;
                let table = &mut self.table;
                self.clock.push(segment, |segment| table.take(segment));
            }
            Found::OtherIp => self.other_ip += 1,
            Found::CutHeader => self.cut += 1,
            Found::NoIp => self.without_ip += 1,
        }
        Ok(())
    }

    fn passed(&mut self, offset: u64) -> Result<(), TraceError> {
        if offset < self.report_at {
            return Ok(());
        }
        self.report_at = offset + BYTES_APART;
        if (self.progress)(self.read.get()).is_break() {
            self.stopped = true;
            return Err(TraceError::new(Place::Whole, "stopped", FILES));
        }
        Ok(())
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }
}
