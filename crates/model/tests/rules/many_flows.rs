//! Many flows: the printed numbers of the source, limits, inverses.

use proptest::prelude::*;
use tightlink_model::rules::many_flows::{buffer_for_least, least_utilization, window_deviation};

const RENO: f64 = 0.5;

#[test]
fn one_window_of_reno_deviates_as_the_source_has_it() {
    assert!((window_deviation(RENO).unwrap() - 1.0 / (3.0 * 3f64.sqrt())).abs() < 1e-15);
}

#[test]
fn the_square_root_rule_keeps_ninety_nine_percent_busy() {
    // 10 000 flows, B = C T/100: erf(1.8371 / 1.01) = erf(1.8189) = 0.98990, by tables.
    let least = least_utilization(RENO, 10_000, 0.01).unwrap();
    assert!((least - 0.9899).abs() < 1e-4, "{least}");
    // Twice that: all but some millionths.
    let twice = least_utilization(RENO, 10_000, 0.02).unwrap();
    assert!((0.9999..1.0).contains(&twice), "{twice}");
}

#[test]
fn without_a_buffer_no_packet_waits() {
    assert_eq!(least_utilization(RENO, 100, 0.0).unwrap(), 0.0);
}

#[test]
fn two_flows_of_reno_reach_no_certainty() {
    // However large the buffer, half of it is sqrt(n)/(2 s) deviations at most: erf(0.5 sqrt(2)/0.19245/sqrt(2)) = 0.99976.
    assert_eq!(buffer_for_least(RENO, 2, 0.9999), Ok(None));
    assert!(buffer_for_least(RENO, 2, 0.99).unwrap().is_some());
}

proptest! {
    #[test]
    fn more_flows_need_less_by_the_square_root(flows in 100u32..1_000_000, wanted in 0.5f64..0.999) {
        // In a buffer that is small beside the product the deviation is 1/sqrt(n) of one window's.
        let least = |flows| buffer_for_least(RENO, flows, wanted).unwrap().unwrap();
        let ratio = least(flows) / least(4 * flows);
        prop_assert!((2.0..2.6).contains(&ratio), "{ratio}");
    }

    #[test]
    fn utilization_is_a_share_that_rises(
        beta in 0.1f64..0.95, flows in 1u32..100_000, buffer in 0.0f64..2.0, more in 0.0f64..1.0
    ) {
        let (here, there) = (least_utilization(beta, flows, buffer).unwrap(), least_utilization(beta, flows, buffer + more).unwrap());
        prop_assert!((0.0..=1.0).contains(&here));
        prop_assert!(there >= here - 1e-12, "{here} {there}");
    }

    #[test]
    fn the_buffer_for_a_utilization_reaches_it(flows in 10u32..100_000, wanted in 0.0f64..0.999) {
        let reached = least_utilization(RENO, flows, buffer_for_least(RENO, flows, wanted).unwrap().unwrap()).unwrap();
        prop_assert!((reached - wanted).abs() < 1e-6, "{reached}");
    }
}
