//! Tests of the line that a transfer shows.

use super::*;
use units::Bytes;

#[test]
fn the_line_says_rate_rtt_window_phase_and_reason() {
    let snapshot = Snapshot {
        elapsed: Span::from_secs(12),
        entries: 3,
        bytes: 1_310_000_000,
        all_entries: Some(7),
        all_bytes: Some(3_100_000_000),
        rate_bps: 941e6,
        rtt: Some(Span::from_micros(20_340)),
        window: Some(Bytes::new(2_420_000)),
        phase: "hold".into(),
        reason: "the rate is flat".into(),
    };
    let before = "42 %, 1.31 GB of 3.10 GB, 3 of 7 entries, 941 Mbit/s, RTT 20.3 ms, window ";
    let queue = Some(Span::from_micros(340));
    assert_eq!(
        line(&snapshot, queue, false),
        format!("{before}set to 2.42 MB: the queue is 0.34 ms, 16 s left")
    );
    assert_eq!(line(&snapshot, queue, true), format!("{before}2.42 MB (hold: the rate is flat), 16 s left"));
    let asking = Snapshot {
        phase: "asking".into(),
        reason: "waiting for the receiver's user to accept".into(),
        ..snapshot
    };
    assert_eq!(line(&asking, queue, false), "waiting for the receiver's user to accept");
    let small = Snapshot { bytes: 12, entries: 1, ..Snapshot::default() };
    assert_eq!(line(&small, None, false), "12 B, 0 bit/s");
    let stalled =
        Snapshot { bytes: 12, entries: 1, all_bytes: Some(1000), rate_bps: 1e-4, ..Snapshot::default() };
    assert_eq!(line(&stalled, None, false), "1 %, 12 B of 1.00 kB, 0 bit/s");
}

#[test]
fn numbers_have_three_digits() {
    assert_eq!([999, 1000, 999_499, 999_500].map(bytes), ["999 B", "1.00 kB", "999 kB", "1.00 MB"]);
    assert_eq!([5.25e9, 99.96e6].map(rate), ["5.25 Gbit/s", "100 Mbit/s"]);
    assert_eq!([0.5, 100.0, 1e4, 1e6].map(time), ["1 s", "2 min", "3 h", "12 days"]);
}
