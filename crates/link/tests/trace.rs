//! Traces: what their files may look like, what is said about the others, and their packets one after the other.

use proptest::prelude::*;
use std::sync::Arc;
use tightlink_link::traffic::{Place, Source, Trace, TraceError, TraceParser, TrafficConfig};
use units::random::Stream;
use units::{Bytes, Span, Time};

fn parse(bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut parser = TraceParser::default();
    parser.feed(bytes)?;
    parser.finish()
}

fn error(bytes: &[u8]) -> TraceError {
    parse(bytes).expect_err("a fault")
}

/// Times in milliseconds, and sizes.
fn played(trace: Trace, repeat: bool, packets: usize) -> Vec<(f64, u64)> {
    let config = TrafficConfig::replay(Arc::new(trace), repeat, Time::ZERO + Span::from_secs(1), Time::NEVER);
    let mut source = Source::new(config, Stream::new(1, "none is drawn"));
    std::iter::from_fn(|| {
        let at = source.wakeup()?;
        Some((at.as_secs_f64() * 1e3, source.emit().get()))
    })
    .take(packets)
    .collect()
}

/// A capture of packets at (seconds, fraction) with an original length, of which four bytes were kept.
fn pcap(magic: u32, big_endian: bool, packets: &[(u32, u32, u32)]) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = word(magic).to_vec();
    bytes.extend([0; 20]);
    for (seconds, fraction, length) in packets {
        for value in [*seconds, *fraction, 4, *length, 0xdead_beef] {
            bytes.extend(word(value));
        }
    }
    bytes
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

#[test]
fn a_csv_trace_plays_from_its_start_and_stops() {
    let trace =
        parse(b"# captured in May\nno,Time,\"Length\"\n1,100.5,1500\n2,100.5,40\r\n\n3,110.502,60").unwrap();
    assert_eq!(trace.len(), 3);
    assert_eq!(trace.largest(), Bytes::new(1500));
    assert_eq!(played(trace, false, 9), [(1000.0, 1500), (1000.0, 40), (11_002.0, 60)]);
}

#[test]
fn a_repeated_trace_keeps_its_mean_gap_and_rate() {
    let trace = parse(b"time_ms,size_bytes\n0,100\n2,200\n4,300\n").unwrap();
    assert_eq!(trace.mean_rate().as_bps_f64(), 600.0 * 8.0 / 6e-3);
    let times = [(1000.0, 100), (1002.0, 200), (1004.0, 300), (1006.0, 100), (1008.0, 200)];
    assert_eq!(played(trace, true, 5), times);
}

#[test]
fn units_and_exponents_of_times_are_read() {
    for (header, second) in [
        ("time", "0.0015"),
        ("time_s", "1.5e-3"),
        ("time_ms", "1.5"),
        ("time_us", "1500"),
        ("time_ns", "1500000"),
    ] {
        let text = format!("{header},bytes\n0,40\n{second},40\n");
        assert_eq!(parse(text.as_bytes()).unwrap().duration(), Span::from_micros(1500), "{header}");
    }
}

#[test]
fn captures_of_either_byte_order_and_resolution_are_read() {
    for (magic, fraction) in [(MICRO, 1500), (NANO, 1_500_000)] {
        for big_endian in [false, true] {
            let bytes = pcap(magic, big_endian, &[(7, 0, 1514), (7, fraction, 60), (12, 0, 60)]);
            let trace = parse(&bytes).unwrap();
            assert_eq!(played(trace, false, 9), [(1000.0, 1514), (1001.5, 60), (6000.0, 60)]);
        }
    }
}

#[test]
fn faults_of_text_name_line_and_column() {
    let cases: [(&str, Place, &str); 9] = [
        ("time,size\n1,40\n0.5,40\n", Place::Line(3, 1), "time runs backwards, to 0.5 s after 1 s"),
        ("time,size\n1,40\n2,0\n", Place::Line(3, 3), "a packet of zero bytes"),
        ("time,size\n1, 65536\n", Place::Line(2, 4), "a packet of 65536 bytes"),
        ("time,size\nsoon,40\n", Place::Line(2, 1), "the time \"soon\""),
        ("time,size\n-1,40\n", Place::Line(2, 1), "the time \"-1\""),
        ("time,size\n1,big\n", Place::Line(2, 3), "the size \"big\""),
        ("time,size\n1\n", Place::Line(2, 1), "a line without a size"),
        ("when,size\n1,40\n", Place::Line(1, 1), "a header without a column for the time"),
        ("time,size\n", Place::Whole, "a trace without packets"),
    ];
    for (text, place, found) in cases {
        let error = error(text.as_bytes());
        assert_eq!((error.place, error.found.as_str()), (place, found), "{text}");
    }
    assert_eq!(error(b"").found, "a trace without packets");
    assert_eq!(error(b"time,size\n\xff\xfe,1\n").place, Place::Line(2, 1));
}

#[test]
fn faults_of_captures_name_packet_and_byte() {
    let whole = pcap(MICRO, false, &[(1, 0, 60), (2, 0, 60)]);
    for (cut, packet) in [(whole.len() - 1, 2), (whole.len() - 7, 2), (30, 1), (12, 1)] {
        let error = error(&whole[..cut]);
        assert!(matches!(error.place, Place::Packet(number, _) if number == packet), "{cut}: {error:?}");
        assert!(error.found.contains("ends at byte"), "{error}");
    }
    let backwards = error(&pcap(NANO, true, &[(2, 0, 60), (1, 0, 60)]));
    assert_eq!(backwards.to_string(), ": packet 2 at byte 44: time runs backwards, to 1 s after 2 s");
    assert!(error(&pcap(MICRO, true, &[(2, 1_000_000, 60)])).found.contains("damaged"));
    assert_eq!(error(&pcap(MICRO, true, &[(2, 0, 0)])).found, "a packet of zero bytes");
    assert_eq!(error(&pcap(MICRO, true, &[])).found, "a trace without packets");
    let next = error(&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0]);
    assert_eq!(next.found, "a pcapng capture");
    assert!(next.help.unwrap().contains("editcap -F pcap"));
}

#[test]
fn a_packet_takes_six_bytes() {
    let mut parser = TraceParser::default();
    parser.feed(b"time_us,size\n").unwrap();
    for at in 0..1_000_000u32 {
        parser.feed(format!("{},1500\n", at * 7).as_bytes()).unwrap();
    }
    let trace = parser.finish().unwrap();
    assert_eq!(trace.len(), 1_000_000);
    // A vector's room is up to twice what it holds.
    assert!(trace.held() <= Bytes::new(12_600_000), "{}", trace.held());
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(begin in 0usize..8, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let magics: [&[u8]; 8] = [
            b"", b"time,size\n", b"time_ns,bytes\n0,1\n", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1",
            b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a",
        ];
        let mut whole = magics[begin].to_vec();
        whole.extend(bytes);
        match parse(&whole) {
            Ok(trace) => { let _ = played(trace, true, 300); }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// However a file is cut into pieces, it says the same; also that no text of digits and commas panics.
    #[test]
    fn pieces_do_not_matter_nor_panic(text in "[0-9.e,\n-]{0,80}", cuts in prop::collection::vec(0usize..90, 0..6)) {
        let whole = format!("time,size\n{text}");
        let mut parser = TraceParser::default();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let fed = cuts.windows(2).try_for_each(|cut| parser.feed(&whole.as_bytes()[cut[0]..cut[1]]));
        prop_assert_eq!(fed.and_then(|()| parser.finish()), parse(whole.as_bytes()));
    }
}
