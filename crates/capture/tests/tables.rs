//! Tables: what their files may look like, and what is said of the others.

mod common;

use common::{error, packets, parse};
use proptest::prelude::*;
use tightlink_capture::{PacketFilter, Place, read};
use units::{Bytes, Span};

#[test]
fn a_table_has_comments_empty_lines_and_further_columns() {
    let text = "\u{feff}# captured in May\nno,Time,\"Length\"\n1,100.5,1500\n2,100.5,40\r\n\n3,110.502,60";
    let recording = parse(text.as_bytes()).unwrap();
    assert_eq!(packets(&recording), [(0.0, 1500), (0.0, 40), (10_002.0, 60)]);
    assert_eq!(recording.trace.largest(), Bytes::new(1500));
}

#[test]
fn quotes_are_those_of_rfc_4180() {
    let text = "\"Time\",\"Info\",\"Length\"\r\n\"0.000\",\"a, b, \"\"c\"\"\",\"1500\"\r\n\
                0.001,\"two\r\nlines, 40\",1400\r\n 0.002 ,, \"1300\" \r\n";
    assert_eq!(packets(&parse(text.as_bytes()).unwrap()), [(0.0, 1500), (1.0, 1400), (2.0, 1300)]);
    // Lines are counted within quotes, too.
    let fault = error(b"time,info,size\n0,\"a\n\nb\",40\n1,\"c\nd\",x\n");
    assert_eq!((fault.place, fault.found.as_str()), (Place::Line(5), "the size \"x\""));
    let open = format!("time,size\n0,40\n1,\"{}", "40\n".repeat(40_000));
    assert!(error(open.as_bytes()).found.contains("a quote that is never closed"));
}

#[test]
fn exports_of_wireshark_and_tshark_are_read() {
    let wireshark = "\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\",\"Info\"\n\
        \"1\",\"0.000000\",\"198.18.0.1\",\"198.18.0.2\",\"TCP\",\"74\",\"40000  >  5000 [SYN] Seq=0, Win=1, Len=0\"\n\
        \"2\",\"0.000012\",\"198.18.0.2\",\"198.18.0.1\",\"TCP\",\"60\",\"5000  >  40000\"\n";
    let recording = parse(wireshark.as_bytes()).unwrap();
    assert_eq!(packets(&recording), [(0.0, 74), (0.012, 60)]);
    let note = "both directions: 1 packet with 74 bytes go from 198.18.0.1 to 198.18.0.2, and 1 packet with 60 bytes \
                go back; all are taken. toward = \"198.18.0.2\" takes one direction";
    assert_eq!(recording.notes, [note]);
    let wanted = PacketFilter { toward: None, from: Some("198.18.0.2".parse().unwrap()) };
    assert_eq!(packets(&read(wireshark.as_bytes(), &wanted).unwrap()), [(0.0, 60)]);
    // tshark -T fields -E header=y -e frame.time_epoch -e frame.len -e ip.len
    let tshark =
        "frame.time_epoch\tframe.len\tip.len\n1700000000.000000000\t1514\t1500\n1700000000.5\t66\t52\n";
    assert_eq!(packets(&parse(tshark.as_bytes()).unwrap()), [(0.0, 1500), (500.0, 52)]);
    assert_eq!(packets(&parse(b"time;size\n0;40\n1;50\n").unwrap()), [(0.0, 40), (1000.0, 50)]);
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
        assert_eq!(parse(text.as_bytes()).unwrap().trace.duration(), Span::from_micros(1500), "{header}");
    }
}

#[test]
fn sizes_over_a_link_s_are_cut_as_they_are() {
    let text = format!(
        "time_us,size\n{}",
        (0..100).map(|at| format!("{},64240\n", at * 40_000)).collect::<String>()
    );
    let recording = parse(text.as_bytes()).unwrap();
    let whole = 100 * 64_240;
    assert_eq!((recording.trace.len(), recording.trace.bytes().get()), (4300, whole));
    assert_eq!(recording.trace.largest().get(), 1500);
    assert!(recording.notes[0].starts_with("100 of 100 packets are larger"), "{:?}", recording.notes);
    // Frames that count a header of the link layer, and jumbo frames, are no super-packets.
    for size in [1504, 1514, 1518, 1522, 1600, 9000, 9018] {
        let text = format!("time,size\n0,{size}\n1,{size}\n2,40\n");
        let recording = parse(text.as_bytes()).unwrap();
        assert_eq!(packets(&recording)[0], (0.0, size));
        assert!(recording.notes.is_empty());
    }
}

#[test]
fn faults_name_the_line_and_what_to_do() {
    let cases: [(&str, Place, &str); 10] = [
        (
            "time,size\n5,40\n0.5,40\n",
            Place::Line(3),
            "time runs backwards: it comes 4.5 s before an earlier packet",
        ),
        ("time,size\n1,40\n2,0\n", Place::Line(3), "a packet of zero bytes"),
        ("time,size\n1, 1048577\n", Place::Line(2), "a packet of 1048577 bytes"),
        ("time,size\nsoon,40\n", Place::Line(2), "the time \"soon\""),
        ("time,size\n\n# a\n-1,40\n", Place::Line(4), "the time \"-1\""),
        ("time,size\r\n1,big\r\n", Place::Line(2), "the size \"big\""),
        ("time,size\n1", Place::Line(2), "a line without a size"),
        ("when,size\n1,40\n", Place::Line(1), "a header without a column for the time"),
        ("time,len\n1,40\n", Place::Line(1), "a header without a column for the size"),
        ("time,size\n", Place::Whole, "a trace without packets"),
    ];
    for (text, place, found) in cases {
        let error = error(text.as_bytes());
        assert_eq!((error.place, error.found.as_str()), (place, found), "{text}");
    }
    assert_eq!(error(b"").found, "a trace without packets");
    assert_eq!(error(b"time,size\n\xff\xfe,1\n").place, Place::Line(2));
    let sorted = error(b"time,size\n5,40\n0.5,40\n").help.unwrap();
    assert_eq!(sorted, "sort the lines by their time");
}

#[test]
fn times_of_delivery_are_no_packets() {
    for text in ["0\n5\n10\n10\n", "12\r\n12\r\n24\r\n", "# up\n3\n"] {
        let error = error(text.as_bytes());
        assert!(error.found.contains("mahimahi"), "{error}");
        assert!(error.help.unwrap().contains("rate = { trace = \"FILE\" }"));
    }
}

#[test]
fn a_packet_takes_six_bytes() {
    let mut text = "time_us,size\n".to_owned();
    for at in 0..1_000_000u32 {
        text += &format!("{},1500\n", at * 7);
    }
    let trace = parse(text.as_bytes()).unwrap().trace;
    assert_eq!(trace.len(), 1_000_000);
    // A vector's room is up to twice what it holds.
    assert!(trace.held() <= Bytes::new(12_600_000), "{}", trace.held());
}

/// Hands over a file in pieces.
struct Pieces<'a>(Vec<&'a [u8]>);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.0.first().is_some_and(|piece| piece.is_empty()) {
            self.0.remove(0);
        }
        let Some(piece) = self.0.first_mut() else { return Ok(0) };
        let length = piece.len().min(into.len());
        into[..length].copy_from_slice(&piece[..length]);
        *piece = &piece[length..];
        Ok(length)
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(begin in 0usize..10, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let magics: [&[u8]; 10] = [
            b"", b"time,size\n", b"time_ns,bytes\n0,1\n", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1",
            b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
            b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"\x28\xb5\x2f\xfd",
        ];
        let mut whole = magics[begin].to_vec();
        whole.extend(bytes);
        match parse(&whole) {
            Ok(recording) => prop_assert!(!recording.trace.is_empty()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// However a file is cut into pieces, it says the same; also that no text of digits and commas panics.
    #[test]
    fn pieces_do_not_matter(text in "[0-9.e,\"\r\n-]{0,80}", cuts in prop::collection::vec(0usize..90, 0..6)) {
        let whole = format!("time,size\n{text}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &whole.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(Pieces(pieces), &PacketFilter::default()), parse(whole.as_bytes()));
    }
}
