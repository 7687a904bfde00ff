// libFuzzer: -max_len=600 -dict=traces
//! Files that say how a link changes: opportunities, tables of values, numbers of packets. Input: a length of pieces and
//! a kind, then the file.

#![no_main]

use capture::over_time::{CapacityFile, Table, capacity, delays, packet_numbers, shares};
use capture::{Place, TraceError};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;
use std::io::{self, Read};
use tightlink_fuzz::ready;
use units::{Bytes, Span};

const MOST: Bytes = Bytes::new(1 << 16);

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&first, file)) = input.split_first() else { return };
    let pieces = || Pieces { file, length: usize::from(first >> 2).max(1) };
    match first & 3 {
        0 => {
            let read = capacity(file, first & 4 > 0, MOST);
            assert_eq!(capacity(pieces(), first & 4 > 0, MOST), read, "pieces do not matter");
            match read {
                Ok(CapacityFile::Opportunities(all)) => {
                    assert!(all.count() > 0 && all.period() > Span::ZERO);
                    assert!(!all.repeats() || all.mean_rate().as_bps() > 0);
                }
                Ok(CapacityFile::Rates(rates)) => rising(&rates),
                Err(error) => said(&error),
            }
        }
        1 => table(delays(file, MOST), delays(pieces(), MOST)),
        2 => table(shares(file, MOST), shares(pieces(), MOST)),
        _ => {
            let read = packet_numbers(file, MOST);
            assert_eq!(packet_numbers(pieces(), MOST), read, "pieces do not matter");
            match read {
                Ok(numbers) => assert!(numbers[0] > 0 && numbers.is_sorted_by(|one, other| one < other)),
                Err(error) => said(&error),
            }
        }
    }
});

fn table<T: Debug + PartialEq>(read: Result<Table<T>, TraceError>, in_pieces: Result<Table<T>, TraceError>) {
    assert_eq!(in_pieces, read, "pieces do not matter");
    match read {
        Ok(values) => rising(&values),
        Err(error) => said(&error),
    }
}

fn rising<T>(table: &Table<T>) {
    let values = &table.values;
    assert!(values[0].0 == Span::ZERO && values.is_sorted_by(|one, other| one.0 < other.0));
    assert!(table.every.is_none_or(|every| values.iter().all(|(at, _)| *at < every)));
}

fn said(error: &TraceError) {
    assert!(!error.to_string().is_empty() && !error.accepted.is_empty());
    assert!(!matches!(error.place, Place::Line(0) | Place::Packet(..)));
}

/// A file that comes a few bytes at a time.
struct Pieces<'a> {
    file: &'a [u8],
    length: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.length.min(into.len());
        self.file.read(&mut into[..length])
    }
}
