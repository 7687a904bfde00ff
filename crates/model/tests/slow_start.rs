//! Slow start: Theorem 1 by hand values, limits and its inverse; transfers by hand, and against the theorem.

use proptest::prelude::*;
use tightlink_model::slow_start::{
    Connection, Growth, MOST_SEGMENTS, Path, Repair, Transfer, buffer_for, burst_buffer, detection_window,
    next_threshold, overflow_window, transfer,
};
use units::{Bytes, Rate, Span};

const SEGMENT: u64 = 1000;

/// A path that carries 1000 segments per second.
fn path(rtt_ms: u64, buffer: u64) -> Path {
    Path {
        capacity: Rate::from_bps(8_000_000),
        segment: Bytes::new(SEGMENT),
        rtt: Span::from_millis(rtt_ms),
        buffer: Bytes::new(SEGMENT * buffer),
    }
}

fn acks(d: u64) -> Growth {
    Growth::per_acknowledgement(d)
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, not {expected}");
}

#[test]
fn theorem_1_has_its_hand_values() {
    // 2^5 < 20 x 2 <= 2^6.
    close(overflow_window(&path(73, 20), acks(1)).unwrap(), 52.0);
    // 2^7 < 140 <= 2^8, and the path holds less.
    close(overflow_window(&path(73, 70), acks(1)).unwrap(), 143.0);
    // 1.5^10 = 57.67 < 60 <= 86.5.
    close(overflow_window(&path(73, 20), acks(2)).unwrap(), 20.0 + 1.5f64.powi(10));
    // (4/3)^15 = 74.8 < 80 <= 99.8: more than the path.
    close(overflow_window(&path(73, 20), acks(3)).unwrap(), 93.0);
    // At the step itself the burst that just fills the buffer counts: 2^4 < 32 <= 2^5.
    close(overflow_window(&path(73, 16), acks(1)).unwrap(), 32.0);
}

#[test]
fn a_sender_that_counts_bytes_makes_d_one_again() {
    let counts_bytes = Growth { delayed_ack: 2, byte_counting: 2 };
    assert_eq!((counts_bytes.slow_start(), counts_bytes.avoidance()), (1.0, 1.0));
    assert_eq!((acks(2).slow_start(), acks(2).avoidance()), (2.0, 2.0));
    // L of 1 leaves slow start as it is: RFC 3465 without its option.
    let carefully = Growth { delayed_ack: 2, byte_counting: 1 };
    assert_eq!((carefully.slow_start(), carefully.avoidance()), (2.0, 1.0));
    for buffer in [5, 20, 70, 200] {
        let path = path(73, buffer);
        assert_eq!(overflow_window(&path, counts_bytes).unwrap(), overflow_window(&path, acks(1)).unwrap());
    }
}

#[test]
fn below_the_burst_buffer_the_window_knows_nothing_of_the_path() {
    let growth = acks(1);
    close(burst_buffer(&path(73, 20), growth).unwrap(), 73.0);
    close(burst_buffer(&path(73, 20), acks(2)).unwrap(), 36.5);
    // Half of it and less: alpha^(nB-1) < 2 B <= mu T whatever mu T is.
    let window = |rtt| overflow_window(&path(rtt, 20), growth).unwrap();
    assert_eq!(window(40), window(4000));
    // From it on the path is full before the burst matters: alpha^(nB-1) >= B (d+1)/alpha = B d >= mu T.
    for buffer in [73, 74, 100, 1000] {
        for d in [1, 2, 3] {
            close(overflow_window(&path(73, buffer), acks(d)).unwrap(), 73.0 + buffer as f64);
        }
    }
}

#[test]
fn the_loss_is_seen_a_round_trip_later_and_three_halvings_remain() {
    close(detection_window(52.0, f64::INFINITY, acks(1)).unwrap(), 104.0);
    close(detection_window(52.0, f64::INFINITY, acks(2)).unwrap(), 78.0);
    // Slow start ends in between.
    close(detection_window(52.0, 60.0, acks(1)).unwrap(), 60.0);
    close(next_threshold(104.0).unwrap(), 13.0);
}

#[test]
fn what_is_out_of_range_is_said_with_the_range() {
    let found = |path: Path, growth| overflow_window(&path, growth).unwrap_err();
    let good = path(73, 20);
    let none = found(Path { capacity: Rate::ZERO, ..good }, acks(1));
    assert_eq!((none.what, none.accepted), ("capacity", "above 0"));
    assert_eq!(found(Path { segment: Bytes::ZERO, ..good }, acks(1)).what, "segment");
    let short = found(Path { rtt: Span::from_micros(500), ..good }, acks(1));
    assert_eq!((short.what, short.accepted), ("rtt", "the service time of a segment, or more"));
    let small = found(Path { buffer: Bytes::new(999), ..good }, acks(1));
    assert_eq!((small.what, small.accepted), ("buffer", "one segment, or more"));
    let large = found(path(1, 2_000_000), acks(1));
    assert_eq!((large.found.as_str(), large.accepted), ("2000001", "1000000 segments, or fewer"));
    assert_eq!(found(good, acks(0)).accepted, "from 1 to 100");
    assert_eq!(found(good, acks(101)).accepted, "from 1 to 100");
    for window in [0.0, -1.0, f64::NAN, f64::INFINITY, 2.0 * MOST_SEGMENTS] {
        assert_eq!(buffer_for(&good, acks(1), window).unwrap_err().what, "window");
    }
    let with = |change: fn(&mut Connection)| {
        let mut connection = Connection::new(10, acks(1), Repair::Reno);
        change(&mut connection);
        transfer(&good, &connection).unwrap_err().what
    };
    assert_eq!(with(|connection| connection.segments = 0), "segments");
    assert_eq!(with(|connection| connection.initial_window = 0), "initial_window");
    assert_eq!(with(|connection| connection.threshold = f64::NAN), "threshold");
    assert_eq!(with(|connection| connection.threshold = 0.5), "threshold");
}

fn sent(path: &Path, connection: Connection) -> Transfer {
    transfer(path, &connection).unwrap()
}

fn seconds(path: &Path, connection: Connection) -> f64 {
    sent(path, connection).completion.as_secs_f64()
}

#[test]
fn a_file_without_loss_takes_its_round_trips() {
    let path = path(100, 50);
    // 1, 2 and 4 segments, the last of them three services after the first.
    close(seconds(&path, Connection::new(7, acks(1), Repair::Reno)), 0.303);
    close(seconds(&path, Connection::new(1, acks(1), Repair::Reno)), 0.1);
    // The eighth begins the next round trip.
    close(seconds(&path, Connection::new(8, acks(1), Repair::Reno)), 0.4);
    let wide = Connection { initial_window: 10, ..Connection::new(10, acks(1), Repair::Reno) };
    close(seconds(&path, wide), 0.109);
}

#[test]
fn delayed_acknowledgements_wait_for_a_second_segment_or_their_timer() {
    let path = path(300, 50);
    // One alone waits for 100 ms; the two that follow do not.
    close(seconds(&path, Connection::new(1, acks(2), Repair::Reno)), 0.4);
    close(seconds(&path, Connection::new(3, acks(2), Repair::Reno)), 0.701);
    // Then three leave: the third waits for the timer, 2 ms after the first.
    close(seconds(&path, Connection::new(6, acks(2), Repair::Reno)), 1.103);
}

/// From its threshold on the window grows by one segment per round trip: 1, 2, 4, 5, 6.
#[test]
fn above_the_threshold_the_window_grows_by_one_segment_per_round_trip() {
    let path = path(100, 50);
    let connection =
        |segments| Connection { threshold: 4.0, ..Connection::new(segments, acks(1), Repair::Reno) };
    close(seconds(&path, connection(18)), 0.505);
    close(seconds(&path, connection(12)), 0.404);
    assert_eq!(sent(&path, connection(18)).threshold, 4.0);
    assert_eq!(sent(&path, connection(18)).first_loss, None);
}

#[test]
fn a_long_file_gets_the_rate_of_the_sawtooth() {
    // A buffer of one bandwidth-delay product: the link is never idle after the start.
    let path = path(100, 100);
    for repair in [Repair::Reno, Repair::NewReno, Repair::Sack, Repair::Sack1] {
        let long = sent(&path, Connection::new(10_000_000, acks(1), repair));
        let rate = 1e7 / long.completion.as_secs_f64();
        assert!((995.0..=1000.0).contains(&rate), "{repair:?}: {rate} segments/s");
        // Slow start loses 200, and then a cycle from 100 to 200 segments is one loss in 15000.
        let later = long.lost as f64 - 200.0;
        assert!((later / (1e7 / 15_000.0) - 1.0).abs() < 0.05, "{repair:?}: {} losses", long.lost);
    }
}

proptest! {
    #[test]
    fn the_buffer_for_a_window_has_that_window(
        rtt in 1u64..2000, d in 1u64..=100, window in 1.0f64..5000.0
    ) {
        let path = path(rtt, 1);
        let buffer = buffer_for(&path, acks(d), window).unwrap();
        let reached = overflow_window(&Path { buffer, ..path }, acks(d)).unwrap();
        prop_assert!(reached >= window - 1e-9, "{reached} at {buffer}");
        // Two bytes less do not.
        if buffer > Bytes::new(SEGMENT + 2) {
            let less = Path { buffer: buffer.saturating_sub(Bytes::new(2)), ..path };
            prop_assert!(overflow_window(&less, acks(d)).unwrap() < window);
        }
    }

    #[test]
    fn the_window_rises_with_the_buffer_up_to_path_and_buffer(
        rtt in 1u64..2000, d in 1u64..=20, buffer in 1u64..5000
    ) {
        let window = |buffer| overflow_window(&path(rtt, buffer), acks(d)).unwrap();
        prop_assert!(window(buffer) < window(buffer + 1));
        prop_assert!(window(buffer) <= (rtt + buffer) as f64 + 1e-9);
    }

    /// The recursion over segments knows nothing of the theorem. With every segment acknowledged they agree within two
    /// segments, and one of buffer at a step of it.
    #[test]
    fn the_clock_of_acknowledgements_overflows_where_theorem_1_says(
        rtt in 2u64..1000, buffer in 2u64..1000
    ) {
        let path = path(rtt, buffer);
        let found = sent(&path, Connection::new(100_000, acks(1), Repair::Sack)).first_loss.unwrap();
        let expected = |buffer: u64| {
            let buffer = Bytes::new(SEGMENT * buffer);
            overflow_window(&Path { buffer, ..path }, acks(1)).unwrap()
        };
        let window = found.overflow_window;
        prop_assert!(window >= expected(buffer - 1) - 2.0, "{window}, not {}", expected(buffer));
        prop_assert!(window <= expected(buffer + 1) + 2.0, "{window}, not {}", expected(buffer));
        let seen = found.detection_window.unwrap();
        prop_assert!((seen - 2.0 * window).abs() <= 4.0, "{seen} after {window}");
    }

    #[test]
    fn every_transfer_ends_no_earlier_than_the_link_allows(
        rtt in 1u64..500,
        buffer in 1u64..300,
        segments in 1u64..20_000,
        (delayed_ack, byte_counting) in (1u64..=10, 0u64..=10),
        initial_window in 1u64..50,
        threshold in prop_oneof![Just(f64::INFINITY), 1.0f64..2000.0],
        repair in prop_oneof![Just(Repair::Reno), Just(Repair::NewReno), Just(Repair::Sack), Just(Repair::Sack1)],
        timestamps: bool,
    ) {
        let path = path(rtt, buffer);
        let growth = Growth { delayed_ack, byte_counting };
        let connection = Connection {
            initial_window, threshold, timestamps, ..Connection::new(segments, growth, repair)
        };
        let found = sent(&path, connection);
        let seconds = found.completion.as_secs_f64();
        // The link sends each segment once at least, and the last acknowledgement takes the way back.
        let least = (segments - 1) as f64 * 1e-3 + rtt as f64 * 1e-3;
        prop_assert!(seconds >= least * (1.0 - 1e-9), "{found:?} in less than {least}");
        prop_assert!(seconds < 1e6);
        prop_assert!(found.threshold >= 1.0);
        prop_assert!(found.lost >= u64::from(found.first_loss.is_some()));
        prop_assert!(found.resent >= found.lost);
    }
}
