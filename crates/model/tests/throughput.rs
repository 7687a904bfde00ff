//! The window over the round-trip time, and its limits.

use proptest::prelude::*;
use tightlink_model::pftk::LossyFlow;
use tightlink_model::throughput::{
    buffer_limited_throughput, congested_throughput, send_window, socket_buffer, square_root_loss,
    square_root_throughput, throughput,
};
use units::{Bytes, Fraction, Rate, Span};

#[test]
fn send_window_is_the_least_of_three() {
    let [small, middle, large] = [Bytes::new(10), Bytes::new(20), Bytes::new(30)];
    assert_eq!(send_window(small, middle, large), small);
    assert_eq!(send_window(large, small, middle), small);
    assert_eq!(send_window(middle, large, small), small);
    assert_eq!(socket_buffer(middle, large), middle);
}

#[test]
fn one_window_per_round_trip_gives_the_rates_of_p0() {
    let rtt = Span::from_millis(40);
    assert_eq!(throughput(Bytes::new(128_000), rtt), Rate::from_bps(25_600_000));
    assert_eq!(throughput(Bytes::new(400_000), rtt), Rate::from_bps(80_000_000));
    // Figure 3: 550 KB in 49 ms, printed as 89.6.
    let raised = throughput(Bytes::new(550_000), Span::from_millis(49));
    assert_eq!(raised, Rate::from_bps(89_795_918));
}

#[test]
fn a_window_above_the_path_gets_the_path() {
    let available = Rate::from_bps(80_000_000);
    let rtt = Span::from_millis(40);
    assert_eq!(buffer_limited_throughput(Bytes::new(550_000), rtt, available), available);
    assert_eq!(buffer_limited_throughput(Bytes::new(128_000), rtt, available), Rate::from_bps(25_600_000));
}

#[test]
fn square_root_law_matches_a_hand_value() {
    // p = 1.5e-2, b = 1: sqrt(3/(2p)) = 10 packets per RTT; 10 * 1000 * 8 / 0.1 s.
    let p = Fraction::new(0.015).unwrap();
    let rate = square_root_throughput(Bytes::new(1000), Span::from_millis(100), p, 1);
    assert_eq!(rate, Rate::from_bps(800_000));
    // Delayed acknowledgements cost a factor sqrt(2).
    let delayed = square_root_throughput(Bytes::new(1000), Span::from_millis(100), p, 2);
    assert_eq!(delayed, Rate::from_bps(565_685));
    assert_eq!(
        square_root_throughput(Bytes::new(1000), Span::from_millis(100), Fraction::ZERO, 1),
        Rate::from_bps(u64::MAX)
    );
}

#[test]
fn congested_throughput_is_the_least_of_window_loss_and_path() {
    let flow = |window: u64, p: f64| LossyFlow {
        payload: Bytes::new(1448),
        rtt: Span::from_millis(78),
        timeout: Span::from_millis(300),
        loss: Fraction::new(p).unwrap(),
        delayed_ack: 2,
        max_window: Bytes::new(window),
    };
    let available = Rate::from_bps(3_000_000);
    // The window: 10 KB in 78 ms.
    assert_eq!(congested_throughput(&flow(10_000, 1e-4), available), Rate::from_bps(1_025_641));
    // The path.
    assert_eq!(congested_throughput(&flow(1_000_000, 1e-4), available), available);
    // Loss: about the square-root law, less the timeouts.
    let lossy = congested_throughput(&flow(1_000_000, 0.01), available);
    let bound =
        square_root_throughput(Bytes::new(1448), Span::from_millis(78), Fraction::new(0.01).unwrap(), 2);
    assert!(lossy < bound && lossy > bound.scale(0.85), "{lossy} against {bound}");
}

proptest! {
    #[test]
    fn square_root_loss_inverts_the_square_root_law(
        p in 1e-8f64..0.5, millis in 1u64..1000, payload in 100u64..9000, b in 1u32..3
    ) {
        let (payload, rtt) = (Bytes::new(payload), Span::from_millis(millis));
        let rate = square_root_throughput(payload, rtt, Fraction::new(p).unwrap(), b);
        let back = square_root_loss(payload, rtt, rate, b).get();
        prop_assert!((back / p - 1.0).abs() < 1e-3, "{} against {}", back, p);
    }

    #[test]
    fn throughput_rises_with_the_window_and_falls_with_the_rtt(
        window in 1u64..1 << 40, more in 0u64..1 << 30, nanos in 1_000u64..1 << 40, longer in 0u64..1 << 40
    ) {
        let (w, t) = (Bytes::new(window), Span::from_nanos(nanos));
        prop_assert!(throughput(w + Bytes::new(more), t) >= throughput(w, t));
        prop_assert!(throughput(w, t + Span::from_nanos(longer)) <= throughput(w, t));
    }
}
