//! Connections that fail: nobody answers, a window stays closed, an end resets. Each is a computed transfer of 20 segments
//! whose packets are cut off or changed in one way.

use crate::common::Record;
use crate::read;
use crate::transfer::{Place, SEGMENT, Transfer, file, has_payload, later};
use tightlink_capture::connections::{Connection, FailureKind};
use units::Span;

const SECOND: i64 = 1_000_000_000;
/// The places of fields in the records, which begin with an IP header of 20 bytes.
const FLAGS: usize = 33;
const WINDOW: usize = 34;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

fn records() -> Vec<Record> {
    let transfer = Transfer {
        rate: 10_000_000,
        delay: 20_000_000,
        pace: None,
        window: 64 << 10,
        scale: 7,
        segments: 20,
        lost: [].into(),
        first_sequence: 1,
        stamps: true,
        handshake: true,
    };
    transfer.records(Place::Sender)
}

fn one(records: &[Record]) -> Connection {
    let mut connections = read(&file(records)).connections;
    assert_eq!(connections.len(), 1);
    connections.remove(0)
}

/// Returns the kind of failure, and the last byte of the address of the end that failed.
fn failure(records: &[Record]) -> Option<(FailureKind, String)> {
    one(records).failure.map(|failure| (failure.kind, failure.by.to_string()))
}

fn answers(record: &Record) -> bool {
    record.2[20..22] == 5000_u16.to_be_bytes()
}

/// Returns the record with other flags, without its options' meaning.
fn flagged(record: &Record, flags: u8) -> Record {
    let mut record = record.clone();
    record.2[FLAGS] = flags;
    record
}

#[test]
fn a_transfer_that_ends_well_has_no_failure() {
    assert_eq!(failure(&records()), None);
}

#[test]
fn requests_that_nobody_answers_are_counted() {
    let syn = records()[0].clone();
    let tries = [syn.clone(), later(&syn, SECOND), later(&syn, 3 * SECOND)];
    let (kind, by) = failure(&tries).unwrap();
    assert_eq!(kind, FailureKind::NoAnswer { requests: 3, over: Span::from_secs(3) });
    assert!(by.ends_with(":5000"), "{by}");
}

#[test]
fn a_reset_refuses_a_request_and_ends_a_connection() {
    let records = records();
    let refused = [records[0].clone(), flagged(&records[1], RST | ACK)];
    let (kind, by) = failure(&refused).unwrap();
    assert_eq!((kind, by.ends_with(":5000")), (FailureKind::Refused, true));
    let mut reset = records.clone();
    let last = reset.last().unwrap().clone();
    assert!(answers(&last));
    reset.push(flagged(&later(&last, 1000), RST | ACK));
    let (kind, by) = failure(&reset).unwrap();
    assert_eq!((kind, by.ends_with(":5000")), (FailureKind::Reset, true));
}

#[test]
fn an_end_that_stops_answering_is_named_with_the_retransmissions() {
    let mut records = records();
    let half = records.iter().position(|record| answers(record) && record.2[FLAGS] & SYN == 0).unwrap() + 1;
    records.truncate(half);
    let heard = records[half - 1].clone();
    // The sender sends the first segment that is not acknowledged again and again.
    let begins = u32::from_be_bytes(*heard.2[28..].first_chunk().unwrap());
    let mut data = records.iter().rfind(|record| has_payload(record)).unwrap().clone();
    data.2[24..28].copy_from_slice(&begins.to_be_bytes());
    let at = |milliseconds: i64| {
        let (from, to) = (&heard, &data);
        let nanos = |record: &Record| i64::from(record.0) * SECOND + i64::from(record.1);
        later(to, nanos(from) - nanos(to) + milliseconds * 1_000_000)
    };
    let two = [&records[..], &[at(200), at(600)]].concat();
    assert_eq!(failure(&two), None, "an answer may come after the capture's end");
    let three = [&records[..], &[at(200), at(600), at(1400)]].concat();
    let (kind, by) = failure(&three).unwrap();
    assert_eq!(kind, FailureKind::Silent { retransmissions: 3, over: Span::from_millis(1400) });
    assert!(by.ends_with(":5000"), "{by}");
    let mut answered = [&three[..], &[later(&heard, 8 * SECOND)]].concat();
    assert_eq!(failure(&answered), None);
    // An end that is never heard may have been captured in one direction only, unless little but retransmissions is there.
    answered.retain(|record| !answers(record));
    assert_eq!(failure(&answered), None);
    let again = [at(0), at(200), at(600), at(1400)];
    let (kind, _) = failure(&again).unwrap();
    assert_eq!(kind, FailureKind::Silent { retransmissions: 3, over: Span::from_millis(1400) });
}

#[test]
fn a_window_that_stays_closed_is_the_reader_s_failure_and_its_limit() {
    let mut records = records();
    let last = records.iter().rposition(answers).unwrap();
    records.truncate(last + 1);
    records[last].2[WINDOW..WINDOW + 2].fill(0);
    let closed = records[last].clone();
    records.push(later(&closed, 9 * SECOND));
    let connection = one(&records);
    let failure = connection.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::WindowClosed { over: Span::from_secs(9) });
    assert!(failure.by.to_string().ends_with(":5000"));
    assert_eq!(connection.directions[0].statistics.payload.get(), 20 * SEGMENT);
    records.push(later(&closed, 10 * SECOND));
    records[last + 2].2[WINDOW] = 1;
    assert_eq!(one(&records).failure, None, "the window has opened");
}
