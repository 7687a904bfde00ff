//! The buffer overflow latency against P0's appendix.

use proptest::prelude::*;
use tightlink_model::overflow::{congestion_avoidance_latency, noticed_in_slow_start, slow_start_latency};
use units::{Bytes, Rate, Span};

const GIGABIT: Rate = Rate::from_bps(1_000_000_000);

#[test]
fn half_a_second_of_buffer_gives_a_second_of_slow_start_with_delayed_acks() {
    let buffer = GIGABIT.volume(Span::from_millis(500));
    assert_eq!(slow_start_latency(GIGABIT, buffer, 1), Span::from_millis(500));
    assert_eq!(slow_start_latency(GIGABIT, buffer, 2), Span::from_secs(1));
}

#[test]
fn sobas_notices_in_time_below_a_quarter_of_the_latency() {
    let latency = Span::from_secs(1);
    assert!(noticed_in_slow_start(Span::from_millis(249), latency));
    assert!(!noticed_in_slow_start(Span::from_millis(250), latency));
}

#[test]
fn congestion_avoidance_latency_matches_a_hand_value() {
    // B = 1.25 MB = 10^7 bits, C = 10^9, T0 = 20 ms, L = 12000 bits:
    // (10^14 + 2 * 10^7 * 10^9 * 0.02) / (2 * 12000 * 10^9) = 5 * 10^14 / 2.4 * 10^13 = 20.8333 s.
    let latency = congestion_avoidance_latency(
        GIGABIT,
        Bytes::new(1_250_000),
        Span::from_millis(20),
        Bytes::new(1500),
        1,
    );
    assert!((latency.as_secs_f64() - 125.0 / 6.0).abs() < 1e-6, "{latency}");
}

#[test]
fn without_a_buffer_there_is_no_time() {
    let base = Span::from_millis(20);
    assert_eq!(slow_start_latency(GIGABIT, Bytes::ZERO, 2), Span::ZERO);
    assert_eq!(congestion_avoidance_latency(GIGABIT, Bytes::ZERO, base, Bytes::new(1500), 2), Span::ZERO);
}

#[test]
fn latency_matches_a_window_grown_round_by_round() {
    // 100 Mbit/s, 40 ms, 1000-byte segments, 250 of them in the buffer; a round adds one.
    let capacity = Rate::from_bps(100_000_000);
    let (mut window, mut time) = (500_000.0, 0.0);
    while window < 750_000.0 {
        time += window * 8.0 / 1e8;
        window += 1000.0;
    }
    let latency = congestion_avoidance_latency(
        capacity,
        Bytes::new(250_000),
        Span::from_millis(40),
        Bytes::new(1000),
        1,
    );
    assert!((latency.as_secs_f64() / time - 1.0).abs() < 2e-3, "{latency} against {time}");
}

proptest! {
    #[test]
    fn delayed_acks_double_both(
        mbps in 1u64..10_000, kilobytes in 1u64..100_000, millis in 1u64..500
    ) {
        let capacity = Rate::from_bps(mbps * 1_000_000);
        let (buffer, base) = (Bytes::new(kilobytes * 1000), Span::from_millis(millis));
        let segment = Bytes::new(1500);
        let avoidance =
            |b| congestion_avoidance_latency(capacity, buffer, base, segment, b).as_secs_f64();
        prop_assert!((avoidance(2) / avoidance(1) - 2.0).abs() < 1e-6);
        let start = |b| slow_start_latency(capacity, buffer, b).as_secs_f64();
        prop_assert!((start(2) / start(1) - 2.0).abs() < 1e-3);
    }

    #[test]
    fn congestion_avoidance_takes_longer_than_slow_start(
        mbps in 1u64..10_000, packets in 1u64..100_000, bdp_packets in 1u64..100_000
    ) {
        let capacity = Rate::from_bps(mbps * 1_000_000);
        let segment = Bytes::new(1500);
        let base = capacity.serialization(segment * bdp_packets);
        let buffer = segment * packets;
        prop_assert!(
            congestion_avoidance_latency(capacity, buffer, base, segment, 1)
                >= slow_start_latency(capacity, buffer, 1)
        );
    }
}
