//! Files that say how a link changes: opportunities of mahimahi, tables of a value over time, numbers of packets.
//!
//! The kind is recognized by content. [`capacity`] reads opportunities or a table of rates, [`delays`] and [`shares`] a
//! table, [`packet_numbers`] a list. `numbers.rs` reads lists of whole numbers, `columns.rs` tables, and `models.rs`
//! models of netem-trace.

mod columns;
mod models;
mod numbers;

use crate::error::{Place, TraceError};
use crate::input::Input;
use crate::{pcap, pcapng};
use columns::Quantity;
use link::changes::{Opportunities, OpportunitiesError};
use models::Model;
use numbers::numbers;
use std::io::Read;
use units::{Bytes, Fraction, Rate, Span};

/// Values and the times from which they hold. The times begin at zero and rise.
pub type Values<T> = Vec<(Span, T)>;

/// Values over time, as a file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    /// The values.
    pub values: Values<T>,
    /// The time after which they repeat, if the file says so. Models of netem-trace do; CSV does not.
    pub every: Option<Span>,
}

/// A rate over time, as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub enum CapacityFile {
    /// Opportunities to deliver packets: mahimahi's format.
    Opportunities(Opportunities),
    /// Rates and the times from which they hold.
    Rates(Table<Rate>),
}

const NUMBER: &str = "the number of a packet in each line, from 1 on, in rising order";
const TIME: &str = "a time in whole milliseconds, and nothing else in its line";

/// Reads opportunities, or rates over time. Opportunities begin anew at the last one if they `repeat`. More than
/// `most_held` bytes of memory are an error.
///
/// # Errors
/// The first fault of the file.
///
/// ```
/// use tightlink_capture::over_time::{CapacityFile, capacity};
/// use units::{Bytes, Rate, Span};
/// let table = "time_s,rate_mbps\n0,20\n1.5,0\n";
/// let read = capacity(table.as_bytes(), true, Bytes::new(1 << 20))?;
/// let CapacityFile::Rates(rates) = read else { panic!("not a table") };
/// assert_eq!(rates.values[1], (Span::from_millis(1500), Rate::ZERO));
/// # Ok::<(), tightlink_capture::TraceError>(())
/// ```
pub fn capacity(file: impl Read, repeat: bool, most_held: Bytes) -> Result<CapacityFile, TraceError> {
    let mut input = text(file, <Rate as Quantity>::ACCEPTED)?;
    if has_header(&mut input)? {
        return table(&mut input, most_held).map(CapacityFile::Rates);
    }
    let mut all = Opportunities::default();
    numbers(&mut input, TIME, |ms, place| {
        all.push(ms).map_err(|error| unfit(place, ms, error))?;
        held(all.held(), most_held)
    })?;
    all.finish(repeat).map(CapacityFile::Opportunities).map_err(|error| unfit(Place::Whole, 0, error))
}

/// Reads delays over time.
///
/// # Errors
/// The first fault of the file, or more than `most_held` bytes of memory.
pub fn delays(file: impl Read, most_held: Bytes) -> Result<Table<Span>, TraceError> {
    table(&mut text(file, <Span as Quantity>::ACCEPTED)?, most_held)
}

/// Reads the probability of a loss over time.
///
/// # Errors
/// The first fault of the file, or more than `most_held` bytes of memory.
pub fn shares(file: impl Read, most_held: Bytes) -> Result<Table<Fraction>, TraceError> {
    table(&mut text(file, <Fraction as Quantity>::ACCEPTED)?, most_held)
}

/// Reads the numbers of packets.
///
/// # Errors
/// The first fault of the file, or more than `most_held` bytes of memory.
pub fn packet_numbers(file: impl Read, most_held: Bytes) -> Result<Vec<u64>, TraceError> {
    let mut all: Vec<u64> = Vec::new();
    numbers(&mut text(file, NUMBER)?, NUMBER, |number, place| {
        let before = all.last().copied().unwrap_or_default();
        if number <= before {
            let found = if number == 0 { "number 0".to_owned() } else { format!("{number} after {before}") };
            return Err(TraceError::new(place, found, NUMBER));
        }
        all.push(number);
        held(Bytes::new(8 * all.len() as u64), most_held)
    })?;
    Ok(all)
}

/// Reads a table, or a model of netem-trace.
fn table<T: Model + PartialEq>(input: &mut Input<'_>, most_held: Bytes) -> Result<Table<T>, TraceError> {
    match models::begins(input.see(BEGIN)?) {
        true => models::read(input, most_held),
        false => Ok(Table { values: columns::values(input, most_held)?, every: None }),
    }
}

/// Opens a file of text. Binary data, an empty file, and a capture are errors.
fn text<'a>(file: impl Read + 'a, accepted: &str) -> Result<Input<'a>, TraceError> {
    let mut input = Input::new(file)?;
    let first = input.see(BEGIN)?;
    let first = &first[..first.len().min(BEGIN)];
    let error = |found: &str| TraceError::new(Place::Whole, found, accepted);
    if pcap::begins(first) || pcapng::begins(first) {
        let help = "packets that share the link are [[traffic]] of kind = \"replay\"";
        return Err(error("a capture of packets").help(help));
    }
    if first.iter().any(|byte| byte.is_ascii_control() && !b"\t\r\n".contains(byte)) {
        return Err(error("binary data"));
    }
    if first.trim_ascii().is_empty() && first.len() < BEGIN {
        return Err(error("an empty file"));
    }
    Ok(input)
}

/// The bytes of a file that decide about its kind.
const BEGIN: usize = 512;

/// Returns true if the first line with content has a letter or a delimiter of columns.
fn has_header(input: &mut Input<'_>) -> Result<bool, TraceError> {
    let begin = input.see(BEGIN)?;
    let mut lines = begin[..begin.len().min(BEGIN)].split(|byte| *byte == b'\n');
    let first = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default().trim_ascii();
    let of_number = |byte: &u8| byte.is_ascii_digit() || b"+-. ".contains(byte);
    Ok(!first.iter().all(of_number))
}

fn held(held: Bytes, most: Bytes) -> Result<(), TraceError> {
    if held <= most {
        return Ok(());
    }
    let (found, accepted) = (format!("more than {most} in memory"), format!("a trace of up to {most}"));
    Err(TraceError::new(Place::Whole, found, accepted).help("take a part of it: head -n 10000000 IN > OUT"))
}

fn unfit(place: Place, ms: u64, error: OpportunitiesError) -> TraceError {
    match error {
        OpportunitiesError::Descends { before } => {
            let found = format!("{ms} after {before}: the time goes back");
            TraceError::new(place, found, "times that do not fall").help("sort the file: sort -n IN > OUT")
        }
        OpportunitiesError::Distant => {
            TraceError::new(place, format!("a time of {ms} ms, beyond ten years"), TIME)
                .help("the first millisecond of a trace is 0: subtract the time of its start")
        }
        OpportunitiesError::Empty => TraceError::new(place, "no times", <Rate as Quantity>::ACCEPTED),
        OpportunitiesError::NoLength => {
            TraceError::new(place, "all times are 0, so that the trace has no length", "a last time above 0")
        }
    }
}
