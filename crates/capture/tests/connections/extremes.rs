//! Input that is rare or made to do harm: headers that change, more holes than are kept, sizes and times at their ends.

use crate::common::{self, Record, block, interface, section};
use crate::read;
use crate::transfer::{Place, SEGMENT, Transfer, file, has_payload, later};
use std::ops::ControlFlow;
use tightlink_capture::connections::{Statistics, connections};

/// A transfer whose window is twice the path, so that the bottleneck's rate shows.
fn transfer() -> Transfer {
    Transfer {
        rate: 50_000_000,
        delay: 20_000_000,
        pace: None,
        window: 512 << 10,
        scale: 7,
        segments: 3000,
        lost: [].into(),
        first_sequence: 3_000_000_000,
        stamps: false,
        handshake: true,
    }
}

/// Returns the rate that was found as a part of the transfer's.
fn rate(records: &[Record]) -> f64 {
    let capture = read(&file(records));
    let evidence = capture.connections[0].directions[0].evidence.as_ref().unwrap();
    evidence.capacity.unwrap().as_bps_f64() / 5e7
}

/// Removes the options of a record, and shortens its lengths.
fn without_options(record: &Record) -> Record {
    let mut record = record.clone();
    record.2.truncate(40);
    record.2[32] = 0x50;
    record.3 -= 12;
    record.2[2..4].copy_from_slice(&(record.3 as u16).to_be_bytes());
    record
}

/// The header of a TCP packet from host 1 to host 2, and the record of a packet with so much payload behind it.
fn packet(nanos: u64, sequence: u32, payload: u32) -> Record {
    let mut header = common::tcp(0);
    header[4..8].copy_from_slice(&sequence.to_be_bytes());
    let mut frame = common::ipv4(1, 2, 6, &header);
    let length = 40 + payload;
    frame[2..4].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
    ((nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, frame, length)
}

/// A SYN of host 2 that announces a largest segment.
fn announced(largest: u16) -> Record {
    let header = [&[0x9c, 0x40, 0x13, 0x88][..], &common::syn(largest)[4..]].concat();
    let frame = common::ipv4(2, 1, 6, &header);
    let length = frame.len() as u32;
    (0, 0, frame, length)
}

fn statistics(records: &[Record]) -> Statistics {
    read(&file(records)).connections[0]
        .directions
        .iter()
        .find(|one| one.statistics.segments > 0)
        .unwrap()
        .statistics
}

#[test]
fn headers_that_change_leave_the_rate() {
    let mut number = 0;
    let mut records = transfer().records(Place::Sender);
    for record in records.iter_mut().filter(|record| has_payload(record)) {
        number += 1;
        if number / 7 % 2 == 0 {
            *record = without_options(record);
        }
    }
    let found = rate(&records);
    assert!((0.96..1.04).contains(&found), "{found}");
}

#[test]
fn sequence_numbers_that_begin_anew_leave_the_rate() {
    // The path is so short that no pause parts the two.
    let first = Transfer { delay: 100_000, window: 16 << 10, ..transfer() };
    let second = Transfer { first_sequence: 1_000_000, handshake: false, ..first.clone() };
    let mut both = first.records(Place::Sender);
    let end = i64::from(both.last().unwrap().1);
    both.extend(second.records(Place::Sender).iter().map(|record| later(record, end - 200_000)));
    let found = rate(&both);
    assert!((0.96..1.04).contains(&found), "{found}");
}

#[test]
fn holes_beyond_the_limit_count_as_not_seen() {
    // 256 holes of 90 bytes are kept.
    let mut records: Vec<Record> = (0..257).map(|at| packet(at * 1000, 1 + at as u32 * 100, 10)).collect();
    // Data in the middle of the last hole part it, and 20 bytes behind them are given up.
    records.push(packet(50_000_000, 25_541, 30));
    assert_eq!(statistics(&records).unseen.get(), 30);
    // Each further hole takes the place of the oldest.
    records.extend((0..300).map(|at| packet(50_001_000 + at * 1000, 25_701 + at as u32 * 100, 10)));
    let given_up = 30 + 255 * 90 + 30 + 44 * 90;
    assert_eq!(statistics(&records).unseen.get(), given_up);
}

#[test]
fn interfaces_beyond_the_limit_are_damage() {
    let one = interface(false, 101, &[]);
    let most = [section(false), one.repeat(1 << 16)].concat();
    let packet = common::packet(false, 65_535, 1_000_000, &common::ipv4(1, 2, 6, &common::tcp(100)), 140);
    assert_eq!(read(&[&most[..], &packet].concat()).connections.len(), 1);
    let error =
        connections(&*[&most[..], &one, &packet].concat(), |_| ControlFlow::Continue(())).unwrap_err();
    let offset = most.len();
    assert_eq!(
        error.to_string(),
        format!(
            ": packet 1 at byte {offset}: more than 65536 interfaces in a section: the capture is damaged"
        )
    );
    assert_eq!(error.accepted, "a pcapng capture with at most 65536 interfaces in each section");
    // Each section has interfaces of its own.
    let two =
        [&most[..], &section(false), &one, &common::packet(false, 0, 1, &packet[28..168], 140)].concat();
    assert_eq!(read(&two).connections.len(), 1);
}

#[test]
fn a_capture_without_packets_can_be_stopped() {
    let empty = block(false, 5, &[0; 1000]).repeat(4000);
    let long = block(false, 5, &vec![0; 4_000_000]);
    for blocks in [empty, long] {
        let mut calls = 0;
        let stopped = connections(&*[section(false), blocks].concat(), |_| {
            calls += 1;
            if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(stopped.unwrap().stopped);
        assert_eq!(calls, 3);
    }
}

#[test]
fn the_tail_of_a_write_is_no_full_segment() {
    let mut records = vec![announced(1460), packet(1_000_000, 1, 700)];
    for at in 0..300 {
        records.push(packet(2_000_000 + u64::from(at) * 1_000_000, 701 + at * 5840, 5840));
    }
    let capture = read(&file(&records));
    let direction = capture.connections[0].directions.iter().find(|one| one.statistics.segments > 0).unwrap();
    assert_eq!(direction.statistics.segments, 1 + 4 * 300);
    let flow = direction.evidence.as_ref().unwrap();
    assert_eq!(flow.segment.get(), 1460);
}

#[test]
fn packets_of_4_gb_and_times_at_the_end_are_counted() {
    // Each is 4 billion segments of one byte, with a mark of congestion.
    let mut records = vec![announced(1)];
    for at in 0..3u32 {
        let mut record = packet(1_000_000 + u64::from(at), at.wrapping_mul(u32::MAX - 40), u32::MAX - 40);
        record.2[1] = 3;
        records.push(record);
    }
    assert_eq!(statistics(&records).segments, 3 * (u64::from(u32::MAX) - 40));
    let mut capture = [section(false), interface(false, 101, &[(9, &[9])])].concat();
    let records = transfer().records(Place::Middle);
    let at = |record: &Record| u64::from(record.0) * 1_000_000_000 + u64::from(record.1);
    let later = u64::MAX - at(records.last().unwrap());
    for record in &records {
        capture.extend(common::packet(false, 0, at(record) + later, &record.2, record.3));
    }
    assert_eq!(read(&capture).connections.len(), 1);
}

#[test]
fn a_single_time_far_ahead_is_said_and_does_not_count() {
    let mut records = transfer().records(Place::Sender);
    let at = records.len() / 2;
    records[at] = later(&records[at], 3_600_000_000_000);
    let capture = read(&file(&records));
    let evidence = capture.connections[0].directions[0].evidence.as_ref().unwrap();
    assert!(evidence.observed().as_secs_f64() < 2.0, "{:?}", evidence.observed());
    assert_eq!(capture.notes, ["the time of 1 packet is far ahead of those around it, and is not taken"]);
    // Another one after a pause, and then the last packet after a pause.
    let half = records.len() / 2 + 50;
    for record in &mut records[half..] {
        *record = later(record, 5_000_000_000);
    }
    records[half + 1] = later(&records[half + 1], 3_600_000_000_000);
    let capture = read(&file(&records));
    assert_eq!(
        capture.notes,
        ["the times of 2 packets are far ahead of those around them, and are not taken"]
    );
    assert!(capture.connections[0].until.as_secs_f64() < 1007.0);
    let mut records = transfer().records(Place::Sender);
    let last = records.len() - 1;
    records[last] = later(&records[last], 3_000_000_000);
    let capture = read(&file(&records));
    assert!(capture.notes.is_empty(), "{:?}", capture.notes);
    assert!(capture.connections[0].until.as_secs_f64() > 1003.0);
    assert_eq!(capture.connections[0].directions[0].statistics.payload.get(), 3000 * SEGMENT);
}
