//! Files of tcpdump, dumpcap, mergecap, gzip, zstd and lz4, and compressed data that are hostile.
//!
//! `tests/data/any-*`, `in-*`, `two-*` and `merged-*` are one traffic, captured in five ways at once with tcpdump 4.99.3 and
//! dumpcap 4.0.17 on Linux 6.18; `tshark -Y 'ip.dst == 198.18.0.2' -e ip.len` says 11 packets of 100580 bytes.

mod common;

use common::{error, file, parse};
use std::io::{self, Read, Write};
use tightlink_capture::{MOST_PACKETS, PacketFilter, Recording, read};

fn taken(file: &[u8]) -> Recording {
    let wanted = PacketFilter { toward: Some("198.18.0.2".parse().unwrap()), from: None };
    read(file, &wanted).unwrap_or_else(|error| panic!("{error}"))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn one_traffic_captured_in_five_ways_is_one_answer() {
    let mut all = Vec::new();
    for name in [
        "in-ethernet.pcap",
        "any-sll-68.pcap",
        "any-sll2-nano.pcap",
        "any-sll.pcapng",
        "two-interfaces.pcapng",
    ] {
        let recording = taken(&file(name));
        let repeated = 52 * (recording.trace.len() as u64 - 11);
        assert_eq!(recording.trace.bytes().get(), 100_580 + repeated, "{name}");
        all.push((name, recording));
    }
    let sizes = |recording: &Recording| recording.trace.packets().map(|(_, size)| size).collect::<Vec<_>>();
    for (name, recording) in &all[1..] {
        assert_eq!(sizes(recording), sizes(&all[0].1), "{name}");
        let apart = recording.trace.duration().as_secs_f64() - all[0].1.trace.duration().as_secs_f64();
        // Taps stamp a packet one after the other.
        assert!(apart.abs() < 1e-4, "{name}: {apart}");
    }
    // Two captures of it in one file, of two link types.
    let merged = taken(&file("merged-link-types.pcapng"));
    assert_eq!(merged.trace.len(), 2 * all[0].1.trace.len());
    // Alone, what came in is one direction; the others are both.
    assert!(parse(&file("in-ethernet.pcap")).is_ok());
    assert!(
        error(&file("any-sll.pcapng")).found.starts_with("both directions: 11 packets with 100580 bytes")
    );
}

#[test]
fn compressed_files_are_the_same_trace() {
    let plain = file("any-sll.pcapng");
    let expected = taken(&plain);
    let (one, other) = plain.split_at(1000);
    // pzstd writes a skippable frame in front of each other frame.
    let skippable =
        [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 9, 9, 9, 9][..], &file("any-sll.pcapng.zst")].concat();
    for (name, compressed) in [
        ("gzip", gzip(&plain)),
        ("gzip of two members", [gzip(one), gzip(other)].concat()),
        ("gzip with zeros behind", [gzip(&plain), vec![0; 700]].concat()),
        ("zstd", file("any-sll.pcapng.zst")),
        ("zstd with a skippable frame", skippable),
        ("lz4", file("any-sll.pcapng.lz4")),
    ] {
        assert_eq!(taken(&compressed), expected, "{name}");
    }
    // Frames one behind the other are files one behind the other: two sections.
    for name in ["any-sll.pcapng.zst", "any-sll.pcapng.lz4"] {
        let twice = taken(&[file(name), file(name)].concat());
        assert_eq!(twice.trace.len(), 2 * expected.trace.len(), "{name}");
    }
    assert_eq!(parse(&gzip(b"time,size\n0,40\n")).unwrap().trace.len(), 1);
}

#[test]
fn compressed_data_that_end_too_early_give_what_they_have() {
    let mut table = "time_ms,size\n".to_owned();
    for at in 0..20_000u32 {
        table += &format!("{at},{}\n", 40 + at.wrapping_mul(2_654_435_761) % 1400);
    }
    let whole = gzip(table.as_bytes());
    let wanted = PacketFilter::default();
    // The end falls into a line: what is left of it may still be a line.
    let recording = read(&whole[..whole.len() / 2], &wanted);
    match recording {
        Ok(recording) => {
            assert!((5000..15_000).contains(&recording.trace.len()), "{}", recording.trace.len());
            assert!(recording.notes[0].starts_with("the gzip data are cut off"), "{:?}", recording.notes);
        }
        Err(error) => panic!("{error}"),
    }
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0xff);
    assert!(error(&damaged).found.starts_with("damaged gzip data"), "{}", error(&damaged));
    let mut zstd = file("any-sll.pcapng.zst");
    let last = zstd.len() - 1;
    zstd[last] ^= 1;
    assert!(error(&zstd).found.contains("the checksum does not fit"), "{}", error(&zstd));
}

#[test]
fn other_compressions_name_their_command() {
    for (begin, command) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "xz -dk FILE"),
        (b"BZh91AY&SY", "bzip2 -dk FILE"),
        (b"PK\x03\x04\x14\0", "unzip FILE"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "7z x FILE"),
    ] {
        assert_eq!(error(begin).help, Some(format!("decompress it: {command}")));
    }
}

/// Gzip that never ends: one member of a header and records, again and again.
struct Endless {
    member: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = (&self.member[self.at..]).read(into)?;
        self.at = (self.at + read) % self.member.len();
        Ok(read)
    }
}

#[test]
fn endless_compressed_data_end_at_a_limit() {
    // Packets of half a megabyte: each counts as the segments that it will be taken apart into.
    let mut lines = String::new();
    for _ in 0..50_000 {
        lines += "1,1000000\n";
    }
    let header = gzip(b"time,size\n");
    let endless = Endless { member: gzip(lines.as_bytes()), at: 0 };
    let fault = read((&header[..]).chain(endless), &PacketFilter::default()).unwrap_err();
    assert_eq!(fault.found, format!("more than {} million packets", MOST_PACKETS / 1_000_000));
}
