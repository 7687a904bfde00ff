// libFuzzer: -max_len=400 -dict=traces
//! Files of traces: CSV and pcap. Input: a length of pieces, then the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use link::traffic::{Place, Trace, TraceError, TraceParser};
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&length, file)) = input.split_first() else { return };
    let whole = parsed(file, file.len().max(1));
    assert_eq!(parsed(file, usize::from(length).max(1)), whole, "pieces do not matter");
    match whole {
        Ok(trace) => {
            assert!(!trace.is_empty() && trace.len() <= file.len());
            assert!(trace.largest().get() > 0);
            let _ = (trace.mean_rate(), trace.duration(), trace.fingerprint());
        }
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.accepted.is_empty());
            match error.place {
                Place::Line(line, column) => {
                    let lines = file.split(|&byte| byte == b'\n').count() as u64;
                    assert!((1..=lines).contains(&line) && (1..=file.len() as u64 + 1).contains(&column));
                }
                Place::Packet(packet, offset) => assert!(packet > 0 && offset <= file.len() as u64),
                Place::Whole => {}
            }
        }
    }
});

fn parsed(file: &[u8], length: usize) -> Result<Trace, TraceError> {
    let mut parser = TraceParser::default();
    for piece in file.chunks(length) {
        parser.feed(piece)?;
    }
    parser.finish()
}
