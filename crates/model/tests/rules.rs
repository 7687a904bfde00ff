//! The rules for buffer sizes; `rules/` has those of one flow and of many.

#[path = "rules/bursts.rs"]
mod bursts;
#[path = "rules/many_flows.rs"]
mod many_flows;
#[path = "rules/single_flow.rs"]
mod single_flow;

use proptest::prelude::*;
use tightlink_model::rules::{bandwidth_delay_product, short_flow_buffer, sqrt_n_buffer, tiny_buffer};
use units::{Bytes, Fraction, Rate, Span};

fn share(value: f64) -> Fraction {
    Fraction::new(value).unwrap()
}

#[test]
fn ten_gigabits_and_a_quarter_second_want_two_and_a_half_gigabits() {
    let bdp = bandwidth_delay_product(Rate::from_bps(10_000_000_000), Span::from_millis(250));
    assert_eq!(bdp, Bytes::new(2_500_000_000 / 8));
}

#[test]
fn ten_thousand_flows_save_ninety_nine_percent() {
    // The headline of the source: 2.5 Gbit/s, 250 ms, 10 000 flows.
    let rate = Rate::from_bps(2_500_000_000);
    let rtt = Span::from_millis(250);
    assert_eq!(sqrt_n_buffer(rate, rtt, 10_000), bandwidth_delay_product(rate, rtt) / 100);
    assert_eq!(sqrt_n_buffer(rate, rtt, 1), bandwidth_delay_product(rate, rtt));
    assert_eq!(sqrt_n_buffer(rate, rtt, 0), bandwidth_delay_product(rate, rtt));
}

#[test]
fn short_flow_buffer_matches_a_hand_value() {
    // Bursts 2, 4, 8: E[X^2]/E[X] = 84/14 = 6; load 0.8: 0.8/0.4 = 2; ln(1/0.025) = 3.68888.
    let packets = short_flow_buffer(share(0.8), &[2, 4, 8], share(0.025)).unwrap();
    assert!((packets - 12.0 * 3.688_879_454).abs() < 1e-6, "{packets}");
    assert_eq!(short_flow_buffer(share(0.8), &[], share(0.025)).unwrap(), 0.0);
    assert!(short_flow_buffer(Fraction::ONE, &[2], share(0.025)).is_err());
}

#[test]
fn tiny_buffer_matches_a_hand_value() {
    // rho = 0.5, W = 8, theta = 0.5: log2(64) = 6.
    assert!((tiny_buffer(share(0.5), 8.0, share(0.5)).unwrap() - 6.0).abs() < 1e-12);
    // Nothing to carry needs no buffer.
    assert_eq!(tiny_buffer(share(0.5), 1.0, Fraction::ZERO).unwrap(), 0.0);
}

proptest! {
    #[test]
    fn more_flows_never_need_more(
        mbps in 1u64..100_000, millis in 1u64..1000, n in 1u32..100_000, more in 0u32..100_000
    ) {
        let (rate, rtt) = (Rate::from_bps(mbps * 1_000_000), Span::from_millis(millis));
        prop_assert!(sqrt_n_buffer(rate, rtt, n + more) <= sqrt_n_buffer(rate, rtt, n));
    }

    #[test]
    fn tiny_buffer_grows_with_the_logarithm_of_the_window(
        load in 0.1f64..0.95, window in 2.0f64..1000.0, carried in 0.5f64..0.99
    ) {
        let at = |w| tiny_buffer(share(load), w, share(carried)).unwrap();
        let doubling = at(2.0 * window) - at(window);
        prop_assert!((doubling - libm::log(4f64) / libm::log(1.0 / load)).abs() < 1e-6);
    }
}
