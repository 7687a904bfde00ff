//! Files made by hand: frames, classic captures, blocks of pcapng.
#![expect(dead_code, reason = "each test file uses a part")]

use tightlink_capture::{PacketFilter, Recording, TraceError, read};

pub const MICRO: u32 = 0xa1b2_c3d4;
pub const NANO: u32 = 0xa1b2_3c4d;
pub const ETHERNET: u16 = 1;
pub const RAW: u16 = 101;

/// Returns a file of the right answers, `tests/cases/files`.
pub fn file_of_cases(name: &str) -> Vec<u8> {
    let path = testkit::repository().join("tests/cases/files").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a file of `tests/data`.
pub fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A packet of a capture: seconds, fraction, what was captured, how long it was.
pub type Record = (u32, u32, Vec<u8>, u32);

pub fn pcap(magic: u32, big_endian: bool, link_type: u16, records: &[Record]) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = word(magic).to_vec();
    bytes.extend([half(2), half(4)].concat());
    bytes.extend([word(0), word(0), word(262_144), word(link_type.into())].concat());
    for (seconds, fraction, data, original) in records {
        bytes.extend([word(*seconds), word(*fraction), word(data.len() as u32), word(*original)].concat());
        bytes.extend(data);
    }
    bytes
}

/// Frames of a link type, one each millisecond, whole.
pub fn frames(link_type: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let record = |(at, frame): (usize, &Vec<u8>)| {
        (at as u32 / 1000, at as u32 % 1000 * 1000, frame.clone(), frame.len() as u32)
    };
    let records: Vec<Record> = frames.iter().enumerate().map(record).collect();
    pcap(MICRO, false, link_type, &records)
}

/// A block of pcapng, little-endian unless `big_endian`.
pub fn block(big_endian: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let padded = body.len().next_multiple_of(4);
    let length = word(padded as u32 + 12);
    let padding = vec![0; padded - body.len()];
    [&word(kind)[..], &length, body, &padding, &length].concat()
}

pub fn section(big_endian: bool) -> Vec<u8> {
    let mut body = if big_endian { vec![0x1a, 0x2b, 0x3c, 0x4d] } else { vec![0x4d, 0x3c, 0x2b, 0x1a] };
    body.extend(if big_endian { [0, 1, 0, 0] } else { [1, 0, 0, 0] });
    body.extend([0xff; 8]);
    block(big_endian, 0x0a0d_0d0a, &body)
}

/// An interface with options: code and value.
pub fn interface(big_endian: bool, link_type: u16, options: &[(u16, &[u8])]) -> Vec<u8> {
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut body = [half(link_type), half(0)].concat();
    body.extend([0; 4]);
    for (code, value) in options {
        body.extend([half(*code), half(value.len() as u16)].concat());
        body.extend_from_slice(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    block(big_endian, 1, &body)
}

pub fn packet(big_endian: bool, interface: u32, units: u64, data: &[u8], original: u32) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let head = [interface, (units >> 32) as u32, units as u32, data.len() as u32, original];
    let mut body = head.map(word).concat();
    body.extend(data);
    block(big_endian, 6, &body)
}

/// An IPv4 packet of a protocol with this much behind its header.
pub fn ipv4(from: u8, to: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut packet = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 1, 0x40, 0, 64, protocol, 0, 0];
    packet.extend([198, 18, 0, from, 198, 18, 0, to]);
    packet.extend(payload);
    packet
}

/// A TCP header without options, and a payload of zeros.
pub fn tcp(payload: usize) -> Vec<u8> {
    let mut segment = vec![0x13, 0x88, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0];
    segment.resize(20 + payload, 0);
    segment
}

/// A SYN that announces a largest segment.
pub fn syn(largest: u16) -> Vec<u8> {
    let mut segment = vec![0x13, 0x88, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x60, 0x02, 1, 0, 0, 0, 0, 0];
    segment.extend([2, 4, (largest >> 8) as u8, largest as u8]);
    segment
}

pub fn udp(payload: usize) -> Vec<u8> {
    let length = (8 + payload) as u16;
    let mut datagram = vec![0x13, 0x88, 0x9c, 0x40, (length >> 8) as u8, length as u8, 0, 0];
    datagram.resize(8 + payload, 0);
    datagram
}

pub fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u16;
    let mut packet = vec![0x60, 0, 0, 0, (length >> 8) as u8, length as u8, next, 64];
    for host in [1u8, 2] {
        packet.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    packet.extend(payload);
    packet
}

pub fn parse(file: &[u8]) -> Result<Recording, TraceError> {
    read(file, &PacketFilter::default())
}

pub fn error(file: &[u8]) -> TraceError {
    parse(file).expect_err("a fault")
}

/// Milliseconds from the first packet, and sizes.
pub fn packets(recording: &Recording) -> Vec<(f64, u16)> {
    let mut at = 0;
    let timed = recording.trace.packets().map(|(gap, size)| {
        at += gap;
        (at as f64 / 1e6, size)
    });
    timed.collect()
}

pub fn sizes(file: &[u8]) -> Vec<u16> {
    let recording = parse(file).unwrap_or_else(|error| panic!("{error}"));
    recording.trace.packets().map(|(_, size)| size).collect()
}
