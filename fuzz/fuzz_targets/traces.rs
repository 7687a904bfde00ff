// libFuzzer: -max_len=600 -dict=traces
//! Files of traces: CSV, pcap, pcapng; compressed or not. Input: a length of pieces and a choice of direction, then the
//! file.

#![no_main]

use capture::{Place, Recording, TraceError, PacketFilter, read};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Read};
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&first, file)) = input.split_first() else { return };
    let (length, direction) = (usize::from(first >> 2).max(1), first & 3);
    let prefix = |text: &str| Some(text.parse().expect("a prefix"));
    let wanted = PacketFilter {
        toward: if direction & 1 > 0 { prefix("198.18.0.2") } else { None },
        from: if direction & 2 > 0 { prefix("128.0.0.0/1") } else { None },
    };
    let whole = read(file, &wanted);
    assert_eq!(read(Pieces { file, length }, &wanted), whole, "pieces do not matter");
    match whole {
        Ok(Recording { trace, notes }) => {
            assert!(!trace.is_empty() && notes.iter().all(|note| !note.is_empty()));
            assert!(trace.largest().get() > 0 && trace.packets().all(|(_, size)| size > 0));
            assert_eq!(trace.packets().map(|(gap, _)| gap).sum::<u64>(), trace.duration().as_nanos());
            assert_eq!(trace.packets().map(|(_, size)| u64::from(size)).sum::<u64>(), trace.bytes().get());
            let _ = (trace.mean_rate(), trace.fingerprint());
        }
        Err(error) => said(&error),
    }
});

fn said(error: &TraceError) {
    assert!(!error.to_string().is_empty() && !error.accepted.is_empty());
    match error.place {
        Place::Line(line) => assert!(line > 0),
        Place::Packet(packet, _) => assert!(packet > 0),
        Place::Whole => {}
    }
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
