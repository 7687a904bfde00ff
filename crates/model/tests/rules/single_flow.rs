//! One flow: hand values, limits, inverses, and a cycle that is stepped through.

use proptest::prelude::*;
use tightlink_model::rules::single_flow::{
    Growth, Recovery, WindowCycle, backlog_quantile, bbr_buffer_for_least, bbr_buffer_for_mean,
    bbr_least_utilization, bbr_mean_utilization, buffer_for_least, buffer_for_mean, held_utilization,
    least_utilization, mean_backlog, mean_utilization, recovery_rate,
};
use tightlink_model::sawtooth;

const SAWS: [WindowCycle; 4] =
    [WindowCycle::RENO, WindowCycle::CUBIC, WindowCycle::CUBIC_FRIENDLY, WindowCycle::SCALABLE];

/// Utilization, mean backlog and its 95th percentile of a cycle in `STEPS` steps of the window or of the time.
fn stepped(saw: WindowCycle, buffer: f64) -> (f64, f64, f64) {
    const STEPS: u32 = 200_000;
    let (top, low) = (1.0 + buffer, saw.beta * (1.0 + buffer));
    let steps: Vec<(f64, f64)> = (0..STEPS)
        .map(|step| {
            let share = (f64::from(step) + 0.5) / f64::from(STEPS);
            let window = low + share * (top - low);
            match saw.growth {
                Growth::PerRound => (window, window.max(1.0)),
                Growth::Exponential => (window, window.max(1.0) / window),
                Growth::Cubic => (top * (1.0 - (1.0 - saw.beta) * (1.0 - share).powi(3)), 1.0),
            }
        })
        .collect();
    let time: f64 = steps.iter().map(|(_, time)| time).sum();
    let mean = |of: fn(f64) -> f64| steps.iter().map(|(window, time)| of(*window) * time).sum::<f64>() / time;
    let mut left = 0.05 * time;
    let p95 = steps.iter().rev().find(|(_, time)| {
        left -= time;
        left <= 0.0
    });
    (mean(|window| window.min(1.0)), mean(|window| (window - 1.0).max(0.0)), (p95.unwrap().0 - 1.0).max(0.0))
}

#[test]
fn the_least_rate_is_one_from_one_three_sevenths_and_a_quarter_on() {
    assert_eq!(buffer_for_least(WindowCycle::RENO.beta, 1.0).unwrap(), 1.0);
    assert!((buffer_for_least(WindowCycle::CUBIC.beta, 1.0).unwrap() - 3.0 / 7.0).abs() < 1e-12);
    assert!((buffer_for_least(WindowCycle::SCALABLE.beta, 1.0).unwrap() - 1.0 / 7.0).abs() < 1e-12);
    assert_eq!(bbr_buffer_for_least(1.0).unwrap(), 0.25);
    assert!((least_utilization(0.5, 0.1).unwrap() - 0.55).abs() < 1e-12);
    assert_eq!(bbr_least_utilization(0.1).unwrap(), 0.85);
}

#[test]
fn the_mean_of_reno_at_a_tenth_is_far_above_the_least() {
    // 0.75 (1.1)^2 / (1 + 0.1 + 0.01) = 0.8176.
    assert!((mean_utilization(WindowCycle::RENO, 0.1).unwrap() - 0.9075 / 1.11).abs() < 1e-12);
}

#[test]
fn without_a_buffer_the_mean_is_that_of_the_window() {
    // Uniform from beta to 1; cubic: 1 - 0.3/4; Scalable: (1/8) / ln(8/7).
    assert!((mean_utilization(WindowCycle::RENO, 0.0).unwrap() - 0.75).abs() < 1e-12);
    assert!((mean_utilization(WindowCycle::CUBIC_FRIENDLY, 0.0).unwrap() - 0.85).abs() < 1e-12);
    assert!((mean_utilization(WindowCycle::CUBIC, 0.0).unwrap() - 0.925).abs() < 1e-12);
    assert!(
        (mean_utilization(WindowCycle::SCALABLE, 0.0).unwrap() - 0.125 / libm::log(8.0f64 / 7.0)).abs()
            < 1e-12
    );
    assert_eq!(bbr_mean_utilization(0.0).unwrap(), 31.0 / 32.0);
}

#[test]
fn reno_is_the_sawtooth() {
    for buffer in [0.0, 0.05, 0.3, 0.99, 1.0, 4.0] {
        let (rule, cycle) =
            (mean_utilization(WindowCycle::RENO, buffer).unwrap(), sawtooth::utilization(buffer).unwrap());
        assert!((rule - cycle).abs() < 1e-12, "{buffer}: {rule} {cycle}");
    }
}

#[test]
fn a_cycle_in_small_steps_says_the_same() {
    for saw in SAWS {
        for buffer in [0.02, 0.1, 0.3, 0.6, 1.0, 2.5] {
            let (utilization, backlog, p95) = stepped(saw, buffer);
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{saw:?} {buffer}: {a} {b}");
            close(mean_utilization(saw, buffer).unwrap(), utilization);
            close(mean_backlog(saw, buffer).unwrap(), backlog);
            close(backlog_quantile(saw, buffer, 0.95).unwrap(), p95);
        }
    }
}

#[test]
fn proportional_reduction_never_stops_and_needs_the_same_buffer() {
    for beta in SAWS.map(|saw| saw.beta) {
        let enough = buffer_for_least(beta, 1.0).unwrap();
        assert_eq!(recovery_rate(beta, 0.9 * enough, Recovery::Halt).unwrap(), 0.0);
        assert_eq!(recovery_rate(beta, 0.9 * enough, Recovery::Proportional).unwrap(), beta);
        for recovery in [Recovery::Halt, Recovery::Proportional] {
            assert_eq!(recovery_rate(beta, enough, recovery).unwrap(), 1.0);
        }
    }
}

proptest! {
    #[test]
    fn the_mean_lies_between_the_least_and_one_and_rises(
        saw in prop::sample::select(SAWS.to_vec()), buffer in 0.0f64..3.0, more in 0.0f64..1.0
    ) {
        let mean = mean_utilization(saw, buffer).unwrap();
        prop_assert!(least_utilization(saw.beta, buffer).unwrap() <= mean + 1e-12 && mean <= 1.0 + 1e-12);
        prop_assert!(mean_utilization(saw, buffer + more).unwrap() >= mean - 1e-12);
        prop_assert!(mean_backlog(saw, buffer).unwrap() <= buffer + 1e-12);
        prop_assert!(mean_backlog(saw, buffer).unwrap() >= -1e-12);
        prop_assert!(backlog_quantile(saw, buffer, 0.95).unwrap() <= buffer + 1e-12);
    }

    #[test]
    fn the_buffer_for_a_utilization_reaches_it(saw in prop::sample::select(SAWS.to_vec()), wanted in 0.0f64..1.0) {
        let mean = mean_utilization(saw, buffer_for_mean(saw, wanted).unwrap()).unwrap();
        prop_assert!((mean - wanted.max(mean_utilization(saw, 0.0).unwrap())).abs() < 1e-9, "{mean}");
        let least = least_utilization(saw.beta, buffer_for_least(saw.beta, wanted).unwrap()).unwrap();
        prop_assert!((least - wanted.max(saw.beta)).abs() < 1e-12);
        let bbr = bbr_mean_utilization(bbr_buffer_for_mean(wanted).unwrap()).unwrap();
        prop_assert!((bbr - wanted.max(31.0 / 32.0)).abs() < 1e-12);
        let bbr = bbr_least_utilization(bbr_buffer_for_least(wanted).unwrap()).unwrap();
        prop_assert!((bbr - wanted.max(0.75)).abs() < 1e-12);
    }
}

#[test]
fn windows_that_the_queue_holds_have_their_mean_and_from_a_product_on_that_of_the_rest() {
    let of = |held| held_utilization(WindowCycle::RENO, held).unwrap();
    assert!((of(0.4) - 0.3).abs() < 1e-12 && (of(1.0) - 0.75).abs() < 1e-12, "{} {}", of(0.4), of(1.0));
    assert_eq!(of(1.5), mean_utilization(WindowCycle::RENO, 0.5).unwrap());
    assert_eq!(of(2.0), 1.0);
}
