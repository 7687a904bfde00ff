//! Faults of captures: packets are missing, doubled or late, somebody sets the clock, or hosts use ports again. A computed transfer of 2000 segments is changed in one way each.

use crate::common::Record;
use crate::read;
use crate::transfer::{Place, SEGMENT, Transfer, file, has_payload, later};
use estimate::diagnosis::Evidence;
use tightlink_capture::connections::{Connections, Statistics};

fn transfer() -> Transfer {
    Transfer {
        rate: 50_000_000,
        delay: 20_000_000,
        pace: None,
        window: 128 << 10,
        scale: 7,
        segments: 2000,
        lost: [500].into(),
        first_sequence: 1_000_000,
        stamps: true,
        handshake: true,
    }
}

fn one(records: &[Record]) -> (Statistics, Evidence, Connections) {
    let capture = read(&file(records));
    assert_eq!(capture.connections.len(), 1);
    let direction = capture.connections[0].directions[0].clone();
    (direction.statistics, direction.evidence.unwrap(), capture)
}

/// Sets the time stamp of a record without other options, in milliseconds, and the identification.
fn stamped(record: &Record, value: u32, id: u16) -> Record {
    let mut record = record.clone();
    let length = record.2.len();
    record.2[length - 8..length - 4].copy_from_slice(&value.to_be_bytes());
    record.2[4..6].copy_from_slice(&id.to_be_bytes());
    record
}

fn time_stamp(record: &Record) -> u32 {
    let length = record.2.len();
    u32::from_be_bytes(*record.2[length - 8..].first_chunk().unwrap())
}

#[test]
fn packets_that_the_capture_missed_are_no_losses() {
    for place in [Place::Sender, Place::Middle, Place::Receiver] {
        let mut number = 0;
        let mut records = transfer().records(place);
        records.retain(|record| {
            number += u64::from(has_payload(record));
            !has_payload(record) || !number.is_multiple_of(50) || number > 1900
        });
        let missing = 38;
        let (statistics, evidence, _) = one(&records);
        assert_eq!(statistics.unseen.get(), missing * SEGMENT, "{place:?}");
        assert_eq!(statistics.retransmitted.segments, 1, "{place:?}");
        assert_eq!(evidence.delivered().get(), 2000 * SEGMENT, "{place:?}");
    }
}

#[test]
fn packets_that_were_captured_twice_count_once() {
    let records = transfer().records(Place::Sender);
    let double = records.iter().flat_map(|record| [record.clone(), later(record, 3000)]);
    let (statistics, evidence, _) = one(&double.collect::<Vec<_>>());
    assert_eq!((statistics.segments, statistics.duplicates), (2001, 2001));
    assert_eq!((statistics.retransmitted.segments, evidence.timeouts), (1, 0));
}

#[test]
fn a_handshake_that_was_captured_twice_has_its_round_trip() {
    let records = transfer().records(Place::Middle);
    let double = records.iter().flat_map(|record| [record.clone(), later(record, 3000)]);
    let (statistics, ..) = one(&double.collect::<Vec<_>>());
    assert_eq!(statistics.round_trip.handshake, one(&records).0.round_trip.handshake);
    assert!(statistics.round_trip.handshake.is_some());
}

#[test]
fn data_that_were_captured_behind_their_acknowledgement_are_sent_once() {
    let records = transfer().records(Place::Receiver);
    let (before, ..) = one(&records);
    // All data come 30 us later than they did: behind the acknowledgements that they set off.
    let mut mixed: Vec<Record> = records
        .iter()
        .map(|record| if has_payload(record) { later(record, 30_000) } else { record.clone() })
        .collect();
    mixed.sort_by_key(|record| (record.0, record.1));
    let (statistics, evidence, _) = one(&mixed);
    assert_eq!((statistics.segments, statistics.unseen.get()), (before.segments, 0));
    assert_eq!(statistics.retransmitted.segments, before.retransmitted.segments);
    assert_eq!(evidence.delivered().get(), 2000 * SEGMENT);
}

#[test]
fn packets_that_overtook_each_other_are_no_losses() {
    for stamps in [true, false] {
        let mut records = Transfer { stamps, ..transfer() }.records(Place::Receiver);
        let data: Vec<usize> = (0..records.len()).filter(|&at| has_payload(&records[at])).collect();
        for &at in data.iter().skip(700).step_by(100) {
            let other = data[data.binary_search(&at).unwrap() + 1];
            let (one, two) = (records[at].2.clone(), records[other].2.clone());
            (records[at].2, records[other].2) = (two, one);
        }
        let (statistics, evidence, _) = one(&records);
        assert_eq!(statistics.out_of_order, 13, "stamps: {stamps}");
        assert_eq!((statistics.retransmitted.segments, evidence.episodes.len()), (1, 1), "stamps: {stamps}");
    }
}

#[test]
fn a_clock_that_is_set_back_is_said_and_time_goes_on() {
    let records = transfer().records(Place::Sender);
    let half = records.len() / 2;
    let set = records
        .iter()
        .enumerate()
        .map(|(at, record)| if at < half { record.clone() } else { later(record, -60_000_000_000) });
    let (statistics, evidence, capture) = one(&set.collect::<Vec<_>>());
    assert_eq!(capture.notes.len(), 1);
    assert!(capture.notes[0].starts_with("the time stamps go back by 60 s"), "{:?}", capture.notes);
    assert_eq!((statistics.retransmitted.segments, evidence.delivered().get()), (1, 2000 * SEGMENT));
    let (_, whole, _) = one(&records);
    let parts = evidence.observed().as_secs_f64() / whole.observed().as_secs_f64();
    assert!((0.97..1.01).contains(&parts), "{parts}");
}

#[test]
fn packets_a_few_microseconds_out_of_order_in_the_file_are_sorted() {
    let mut records = transfer().records(Place::Sender);
    for at in (100..records.len() - 1).step_by(50) {
        // Packets of the same time keep the order of the file.
        if (records[at].0, records[at].1) != (records[at + 1].0, records[at + 1].1) {
            records.swap(at, at + 1);
        }
    }
    let (statistics, evidence, capture) = one(&records);
    assert_eq!((statistics.out_of_order, statistics.retransmitted.segments), (0, 1));
    assert_eq!((evidence.delivered().get(), capture.notes.len()), (2000 * SEGMENT, 0));
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let first = transfer();
    let second = Transfer { first_sequence: 3_000_000_000, lost: [].into(), ..first.clone() };
    let mut records = first.records(Place::Sender);
    records.extend(second.records(Place::Sender).iter().map(|record| later(record, 20_000_000_000)));
    let capture = read(&file(&records));
    let again: Vec<u64> = capture
        .connections
        .iter()
        .map(|connection| connection.directions[0].statistics.retransmitted.segments)
        .collect();
    assert_eq!(capture.connections.len(), 2);
    assert_eq!(again.iter().sum::<u64>(), 1);
}

#[test]
fn a_timeout_and_a_needless_retransmission_are_named() {
    let records = transfer().records(Place::Sender);
    let data: Vec<&Record> = records.iter().filter(|record| has_payload(record)).collect();
    let (before, acknowledgement) = (&records[records.len() - 2], records.last().unwrap());
    let head = (u32::from_be_bytes(*before.2[28..].first_chunk().unwrap()) - 1_000_001) / SEGMENT as u32;
    let last = data[data.len() - 2000 + head as usize];
    let value = time_stamp(&stamped(last, 0, 0)).max(1);
    // The last segment once more 300 ms later, and its acknowledgement, which the first one never got.
    let mut lost = records[..records.len() - 1].to_vec();
    let again = stamped(&later(acknowledgement, 260_000_000), value, 9);
    let repeated = Record::from((again.0, again.1, stamped(last, value + 5_000_000, 9).2, last.3));
    lost.extend([repeated.clone(), later(&repeated, 40_000_000)]);
    lost.last_mut().unwrap().2 = acknowledgement.2.clone();
    lost.last_mut().unwrap().3 = acknowledgement.3;
    let (statistics, evidence, _) = one(&lost);
    assert_eq!((evidence.timeouts, statistics.retransmitted.by_timeout), (1, 1));
    assert_eq!(statistics.retransmitted.segments, 2);
    // The same after the acknowledgement had come.
    let mut needless = records.clone();
    needless.push(repeated);
    let (statistics, evidence, _) = one(&needless);
    assert_eq!((statistics.retransmitted.needless, evidence.needless), (1, 1));
    assert_eq!(evidence.episodes.iter().map(|episode| episode.segments).sum::<u64>(), 1);
}

#[test]
fn one_direction_alone_has_no_windows_and_no_verdict_on_flights() {
    for forward in [true, false] {
        let records = transfer().records(Place::Middle);
        let half: Vec<Record> = records.into_iter().filter(|record| (record.2[15] == 1) == forward).collect();
        let capture = read(&file(&half));
        let [data, back] = &capture.connections[0].directions;
        if forward {
            let evidence = data.evidence.as_ref().unwrap();
            assert!(
                evidence
                    .intervals
                    .iter()
                    .all(|interval| interval.flight.is_none() && interval.receive_window.is_none())
            );
            assert_eq!(data.statistics.payload.get(), 2001 * SEGMENT - SEGMENT);
        } else {
            assert!(data.evidence.is_none() && back.evidence.is_none());
        }
    }
}
