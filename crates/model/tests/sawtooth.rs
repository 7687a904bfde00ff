//! One Reno flow and its buffer, against the limits and against the cycle stepped round by round.

use proptest::prelude::*;
use testkit::close;
use tightlink_model::sawtooth::{Sawtooth, buffer_in_bdps, sawtooth, utilization};
use units::{Bytes, Rate, Span};

const RATE: Rate = Rate::from_bps(80_000_000);
const BASE: Span = Span::from_millis(100);
const SEGMENT: Bytes = Bytes::new(1000);
/// 80 Mbit/s for 100 ms.
const BDP: f64 = 1e6;

fn cycle(beta: f64, delayed_ack: u32) -> Sawtooth {
    sawtooth(RATE, BASE, Bytes::new((BDP * beta) as u64), SEGMENT, delayed_ack).unwrap()
}

#[test]
fn without_a_buffer_three_quarters_of_the_link_is_used() {
    let cycle = cycle(0.0, 1);
    assert_eq!(cycle.utilization, 0.75);
    assert_eq!(cycle.rtt, BASE);
    assert_eq!(cycle.backlog, Bytes::ZERO);
    assert_eq!(cycle.window, Bytes::new(750_000));
}

#[test]
fn one_bandwidth_delay_product_fills_the_link() {
    close(cycle(1.0, 1).utilization, 1.0, 1e-12);
    assert_eq!(cycle(3.0, 1).utilization, 1.0);
    // 14/9 and 28/9 of the base RTT.
    close(cycle(1.0, 1).rtt.as_secs_f64(), 0.1 * 14.0 / 9.0, 1e-8);
    close(cycle(3.0, 1).rtt.as_secs_f64(), 0.1 * 28.0 / 9.0, 1e-8);
}

#[test]
fn a_tenth_of_the_bandwidth_delay_product_uses_four_fifths() {
    // (3/4) 1.21 / 1.11
    close(utilization(0.1).unwrap(), 0.817_567_567, 1e-8);
}

#[test]
fn loss_is_the_square_root_law_at_the_mean_window() {
    // Without a buffer Wmax = 1000 packets: N = 3/8 b 1000^2.
    close(cycle(0.0, 1).packets_per_cycle, 375_000.0, 1e-12);
    close(cycle(0.0, 2).packets_per_cycle, 750_000.0, 1e-12);
    // The square-root law at that loss and RTT gives the same packets per round: sqrt(3 N / (2b)) = 750.
    close((1.5 * 375_000.0f64).sqrt(), 750.0, 1e-12);
}

#[test]
fn without_a_path_there_is_no_cycle() {
    assert_eq!(sawtooth(Rate::ZERO, BASE, SEGMENT, SEGMENT, 1), None);
    assert_eq!(sawtooth(RATE, Span::ZERO, SEGMENT, SEGMENT, 1), None);
    assert_eq!(sawtooth(RATE, BASE, SEGMENT, Bytes::ZERO, 1), None);
}

/// The same cycle one round at a time: a window, its RTT, one segment more.
fn stepped(beta: f64) -> (f64, f64, f64) {
    let top = BDP * (1.0 + beta);
    let (mut window, mut data, mut time, mut rtt_time) = (top / 2.0, 0.0, 0.0, 0.0);
    while window < top {
        let rtt = 0.1 * (window / BDP).max(1.0);
        data += window;
        time += rtt;
        rtt_time += rtt * rtt;
        window += 1000.0;
    }
    (data / time / (BDP / 0.1), rtt_time / time, time)
}

#[test]
fn closed_form_agrees_with_the_cycle_stepped_round_by_round() {
    for beta in [0.0, 0.05, 0.3, 0.7, 1.0, 1.5, 4.0] {
        let (used, rtt, period) = stepped(beta);
        let cycle = cycle(beta, 1);
        close(cycle.utilization, used, 2e-3);
        close(cycle.rtt.as_secs_f64(), rtt, 2e-3);
        close(cycle.period.as_secs_f64(), period, 3e-3);
    }
}

proptest! {
    #[test]
    fn utilization_rises_with_the_buffer(beta in 0.0f64..3.0, more in 0.0f64..3.0) {
        prop_assert!((0.75..=1.0 + 1e-12).contains(&utilization(beta).unwrap()));
        prop_assert!(utilization(beta + more).unwrap() >= utilization(beta).unwrap() - 1e-12);
    }

    #[test]
    fn buffer_in_bdps_inverts_utilization(beta in 0.0f64..1.0) {
        // Flat near one, so the inverse is only as good as the square root of the rounding.
        prop_assert!((buffer_in_bdps(utilization(beta).unwrap()).unwrap() - beta).abs() < 1e-7);
    }

    #[test]
    fn carried_data_is_packets_over_period(beta in 0.0f64..5.0, b in 1u32..3) {
        let cycle = cycle(beta, b);
        let carried = cycle.packets_per_cycle * 8000.0 / cycle.period.as_secs_f64();
        let expected = cycle.utilization * 8e7;
        // Holds with W0 = Wmax/2: data = b (Wmax^2 - W0^2) / (2L).
        prop_assert!((carried / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn backlog_is_rate_times_queueing_delay(beta in 0.0f64..5.0) {
        let cycle = cycle(beta, 2);
        let expected = 1e7 * (cycle.rtt.as_secs_f64() - 0.1);
        prop_assert!((cycle.backlog.get() as f64 - expected).abs() < 2.0);
    }
}
