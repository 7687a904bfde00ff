//! Captures that other people's tools made, with the packets and bytes that capinfos and tshark say.
//!
//! `tests/cases/files/trace-*` are of tcpdump 4.99.6 between two namespaces, Linux 6.18 (shared/cases/turn3/README-traces.md).

mod common;

use common::file_of_cases;
use tightlink_capture::{PacketFilter, Place, Recording, TraceError, read};

fn toward(address: &str) -> PacketFilter {
    PacketFilter { toward: Some(address.parse().unwrap()), from: None }
}

fn from(address: &str) -> PacketFilter {
    PacketFilter { toward: None, from: Some(address.parse().unwrap()) }
}

fn taken(name: &str, wanted: &PacketFilter) -> Recording {
    read(&*file_of_cases(name), wanted).unwrap_or_else(|error| panic!("{name}{error}"))
}

fn refused(name: &str) -> TraceError {
    read(&*file_of_cases(name), &PacketFilter::default()).expect_err(name)
}

/// Packets, bytes, and milliseconds from the first to the last.
fn sums(recording: &Recording) -> (usize, u64, f64) {
    let trace = &recording.trace;
    (trace.len(), trace.bytes().get(), trace.duration().as_secs_f64() * 1e3)
}

#[test]
fn superframes_become_the_segments_that_were_on_the_wire() {
    let recording = taken("trace-superframes.pcap", &PacketFilter::default());
    // From tcp.len: 2500000 bytes, 1448 in each segment at most, and 52 of headers; the SYN has eight more (tcp.hdr_len).
    let (segments, bytes, _) = sums(&recording);
    assert_eq!((segments, bytes), (1732, 2_500_000 + 1732 * 52 + 8));
    assert_eq!(recording.trace.largest().get(), 1500);
    assert!(
        recording.notes[0].starts_with("45 of 47 packets are larger than a link carries"),
        "{recording:?}"
    );
    assert!(recording.notes[0].contains("1730 segments of up to 1500 bytes"), "{:?}", recording.notes);
}

#[test]
fn a_capture_of_both_directions_asks_for_one() {
    // tshark -Y 'ip.dst == 198.18.0.2' says 73 frames of 3009722 bytes, 14 of each Ethernet's.
    let error = refused("trace-both-directions.pcap");
    assert_eq!(
        error.found,
        "both directions: 73 packets with 3008700 bytes go from 198.18.0.1 to 198.18.0.2, and 70 packets with 7788 \
         bytes go back"
    );
    let help = error.help.unwrap();
    assert!(help.contains("toward = \"198.18.0.2\"") && help.contains("tcpdump -Q in"), "{help}");
    for (wanted, bytes, most) in [
        (toward("198.18.0.2"), 3_008_700, 1500),
        (toward("198.18.0.2/32"), 3_008_700, 1500),
        (from("198.18.0.1"), 3_008_700, 1500),
        (from("198.18.0.2"), 7788, 1428),
        (toward("198.18.0.0/31"), 7788, 1428),
    ] {
        let recording = taken("trace-both-directions.pcap", &wanted);
        // Each further segment repeats 52 bytes of headers.
        let repeated = 52 * (recording.trace.len() as u64 - if bytes == 7788 { 70 } else { 73 });
        assert_eq!(recording.trace.bytes().get(), bytes + repeated, "{wanted:?}");
        assert_eq!(recording.trace.largest().get(), most, "{wanted:?}");
    }
    let both = PacketFilter { toward: toward("198.18.0.0/15").toward, from: None };
    assert!(
        read(&*file_of_cases("trace-both-directions.pcap"), &both)
            .unwrap_err()
            .found
            .starts_with("both directions")
    );
    let none = read(&*file_of_cases("trace-both-directions.pcap"), &toward("10.0.0.0/8")).unwrap_err();
    assert_eq!(none.found, "no packet fits toward = \"10.0.0.0/8\"");
    assert!(none.accepted.contains("198.18.0.2"), "{}", none.accepted);
}

#[test]
fn what_is_out_of_order_by_microseconds_is_sorted() {
    for name in ["trace-order-5us.pcap", "trace-gzip.pcap.gz"] {
        assert!(refused(name).found.starts_with("both directions: 73 packets"), "{name}");
        let recording = taken(name, &toward("198.18.0.2"));
        assert_eq!(recording.trace.bytes().get() % 2, 0);
        assert!(
            recording.notes.iter().any(|note| note.starts_with("toward = \"198.18.0.2\" takes 73 packets"))
        );
        let sorted =
            recording.notes.iter().any(|note| note.starts_with("1 packet was out of order, by 0.005 ms"));
        assert_eq!(sorted, name.ends_with("pcap"), "{:?}", recording.notes);
    }
    let (unsorted, sorted) = (
        taken("trace-order-5us.pcap", &toward("198.18.0.2")),
        taken("trace-gzip.pcap.gz", &toward("198.18.0.2")),
    );
    assert_eq!(unsorted.trace, sorted.trace);
}

#[test]
fn a_loopback_capture_is_taken_apart() {
    let recording = taken("trace-loopback-65549.pcap", &PacketFilter::default());
    let (segments, bytes, milliseconds) = sums(&recording);
    // 160 frames of 6010576 bytes, 14 of each Ethernet's.
    assert!((milliseconds - 14.808).abs() < 0.01, "{milliseconds}");
    let said = format!("{:?}", recording.notes);
    assert!(said.contains("source and destination are 127.0.0.1"), "{said}");
    let repeated = 52 * (segments as u64 - 160);
    assert_eq!(bytes, 6_010_576 - 160 * 14 + repeated, "{said}");
    assert_eq!(recording.trace.largest().get(), 1500);
}

#[test]
fn a_cut_off_capture_gives_its_whole_packets() {
    let error = refused("trace-cut-off.pcap");
    assert!(error.found.starts_with("both directions: 2 packets with 112 bytes"), "{error}");
    let recording = taken("trace-cut-off.pcap", &toward("198.18.0.2"));
    assert_eq!(sums(&recording).0, 2);
    assert!(
        recording.notes.iter().any(|note| note.contains("inside packet 6, at byte 458")),
        "{:?}",
        recording.notes
    );
}

#[test]
fn commas_in_quotes_are_no_columns() {
    let recording = taken("trace-quoted-comma.csv", &PacketFilter::default());
    assert_eq!(sums(&recording), (3, 4500, 2.0));
    assert!(recording.notes.is_empty(), "{:?}", recording.notes);
    let place = read(&b"time,size\n1,x\n"[..], &PacketFilter::default()).unwrap_err().place;
    assert_eq!(place, Place::Line(2));
}
