//! Captures that are written, read again.

use etherparse::{LaxSlicedPacket, TcpOptionElement, TransportSlice};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::ControlFlow;
use tightlink_capture::connections::connections;
use tightlink_capture::written::{Flags, Interface, Options, SNAPSHOT, Segment, Writer};
use tightlink_capture::{PacketFilter, read};

const SENDER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000);
const RECEIVER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 80);

fn data(sequence: u32) -> Segment {
    let options = Options { timestamps: Some((7, 9)), ..Options::default() };
    let flags = Flags { ack: true, ..Flags::default() };
    Segment { sequence, acknowledgment: 1, flags, options, payload: 1448, ..Segment::new(SENDER, RECEIVER) }
}

fn file(packets: &[(usize, u64, Segment)]) -> Vec<u8> {
    let interfaces =
        [Interface { name: "near", description: "a" }, Interface { name: "far", description: "b" }];
    let mut writer = Writer::new(Vec::new(), "a test", "of packets", &interfaces).unwrap();
    for (interface, nanos, segment) in packets {
        let mut headers = Vec::new();
        let length = segment.headers(&mut headers);
        writer.packet(*interface, *nanos, &headers, length).unwrap();
    }
    writer.finish(&[0, 3]).unwrap()
}

#[test]
fn a_capture_is_read_with_its_times_in_nanoseconds_and_its_full_lengths() {
    let bytes = file(&[(0, 1_000_000_000_000_000_001, data(1)), (0, 1_000_000_000_000_000_500, data(1449))]);
    let recording = read(bytes.as_slice(), &PacketFilter::default()).unwrap();
    let gaps: Vec<(u64, u16)> = recording.trace.packets().collect();
    assert_eq!(gaps, [(0, 1500), (499, 1500)]);
}

#[test]
fn the_connection_of_a_capture_has_the_options_of_its_handshake() {
    let syn = |answer: bool| {
        let (from, to) = if answer { (RECEIVER, SENDER) } else { (SENDER, RECEIVER) };
        Segment {
            acknowledgment: u32::from(answer),
            window: 65_535,
            flags: Flags { syn: true, ack: answer, ..Flags::default() },
            options: Options {
                largest_segment: Some(1460),
                sack_permitted: true,
                window_scale: Some(8),
                timestamps: Some((1, 0)),
                blocks: Vec::new(),
            },
            ..Segment::new(from, to)
        }
    };
    let ack = Segment {
        sequence: 1,
        acknowledgment: 1449,
        window: 4000,
        flags: Flags { ack: true, ..Flags::default() },
        options: Options {
            timestamps: Some((8, 7)),
            blocks: vec![(2897, 4345), (5793, 7241), (8689, 10_137), (20_000, 30_000)],
            ..Options::default()
        },
        ..Segment::new(RECEIVER, SENDER)
    };
    let packets = [
        (0, 1_000_000_000, syn(false)),
        (0, 1_040_000_000, syn(true)),
        (0, 1_040_000_001, data(1)),
        (0, 1_081_000_000, ack.clone()),
    ];
    let capture = connections(file(&packets).as_slice(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((capture.connections.len(), capture.notes.as_slice()), (1, &[][..]));
    let [forward, _] = &capture.connections[0].directions;
    assert_eq!(forward.statistics.payload.get(), 1448);
    assert_eq!(forward.statistics.round_trip.handshake.map(units::Span::as_nanos), Some(40_000_001));
    let mut headers = Vec::new();
    assert_eq!((ack.headers(&mut headers), headers.len()), (80, 80));
    let sliced = LaxSlicedPacket::from_ip(&headers).unwrap();
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("a segment") };
    let options: Vec<TcpOptionElement> = tcp.options_iterator().map(Result::unwrap).collect();
    let blocks = [Some((5793, 7241)), Some((8689, 10_137)), None];
    assert!(options.contains(&TcpOptionElement::Timestamp(8, 7)), "{options:?}");
    assert!(
        options.contains(&TcpOptionElement::SelectiveAcknowledgement((2897, 4345), blocks)),
        "three blocks fit next to time stamps: {options:?}"
    );
}

#[test]
fn checksums_are_those_of_a_payload_of_zeros() {
    let mut packet = Vec::new();
    let length = data(77).headers(&mut packet) as usize;
    packet.resize(length, 0);
    let sum = |bytes: &[u8]| {
        let words =
            bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum
    };
    assert_eq!(sum(&packet[..20]), 0xffff, "the IP header");
    let mut covered = packet[12..20].to_vec();
    covered.extend([0, 6]);
    covered.extend((length as u16 - 20).to_be_bytes());
    covered.extend(&packet[20..]);
    assert_eq!(sum(&covered), 0xffff, "pseudo-header and segment");
}

#[test]
fn a_longer_packet_is_cut_to_the_snapshot_and_keeps_its_length() {
    let interfaces = [Interface { name: "one", description: "" }];
    let mut writer = Writer::new(Vec::new(), "", "", &interfaces).unwrap();
    let mut headers = Vec::new();
    data(1).headers(&mut headers);
    headers.resize(1500, 0);
    writer.packet(0, 5, &headers, 1500).unwrap();
    let bytes = writer.finish(&[]).unwrap();
    assert!(bytes.len() < 600, "{}", bytes.len());
    const { assert!(SNAPSHOT >= 120, "the longest headers fit") };
    let recording = read(bytes.as_slice(), &PacketFilter::default()).unwrap();
    assert_eq!(recording.trace.bytes().get(), 1500);
}
