//! The bottleneck from end-host measures: the paper's numbers, and its equations put back into each other.

use tightlink_model::bottleneck::{
    Measures, adapted, reno_backlog, shared_rate, starting_rate, target_backlog, utilization,
    utilization_slope,
};

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

/// LEDGER P3.eq1-3: the paper prints 4.33 for the first, and 16 for the second.
#[test]
fn the_target_backlog_is_what_equation_3_gives() {
    close(target_backlog(1e-4), 5.085, 5e-4);
    close(target_backlog(1e-5), 15.95, 5e-3);
    close(target_backlog(2.55e-5), 10.0, 0.05);
}

#[test]
fn equation_2_solves_equation_1() {
    for (ratio, loss) in [(0.0235, 1e-4), (0.1, 1e-3), (0.5, 0.02)] {
        let w = reno_backlog(ratio, loss) / ratio;
        close(32.0 / (7.0 * w * w - 36.0 * w + 32.0), loss, loss * 1e-9);
    }
}

#[test]
fn a_starting_flow_on_an_idle_link_is_held_to_2b_over_1_plus_2b() {
    close(starting_rate(target_backlog(1e-4), 0.0), 0.9105, 1e-4);
    close(starting_rate(10.0, 0.0), 0.9524, 1e-4);
    // With others at a half, the queue of U = 0.5 + x holds b of the flow's packets: x/(2 (1 - U)) = b.
    let x = starting_rate(5.0, 0.5);
    close(x / (2.0 * (1.0 - 0.5 - x)), 5.0, 1e-9);
}

#[test]
fn equal_flows_that_change_together_reach_the_target() {
    for flows in [2.0, 3.0, 10.0] {
        // At equal rates that leave the queue too short, all of the cross traffic adapts.
        let own = 0.8 / flows;
        let measures = Measures::new(2.0, own, 0.0);
        close(measures.utilization, 0.8, 1e-9);
        close(measures.flows, flows, 1e-9);
        let x = shared_rate(5.085, measures.cross, own, measures.flows);
        close(x / (2.0 * (1.0 - flows * x)), 5.085, 1e-6);
    }
}

#[test]
fn the_number_of_flows_that_adapted_is_told_by_the_backlog_they_reached() {
    // Four equal flows at 0.2, two of which go to 0.25 while the others stay.
    let (before, after, cross) = (0.2, 0.25, 0.6);
    let reached = 2.0 * after + 2.0 * before;
    let backlog = after / (2.0 * (1.0 - reached));
    close(adapted(backlog, cross, before, after).unwrap(), 2.0, 1e-9);
    // Without a change of its own: as many as share the link at its rate.
    let backlog = 0.3 / (2.0 * (1.0 - 0.9));
    close(adapted(backlog, 0.6, 0.3, 0.3).unwrap(), 3.0, 1e-9);
    assert_eq!(adapted(0.0, 0.6, 0.3, 0.3), None);
}

#[test]
fn without_a_queue_beyond_the_noise_a_flow_is_alone() {
    let measures = Measures::new(0.3, 0.4, 0.5);
    assert_eq!((measures.flows, measures.utilization, measures.cross), (1.0, 0.4, 0.0));
}

#[test]
fn utilization_and_backlog_are_those_of_an_m_d_1_queue() {
    for u in [0.1f64, 0.5, 0.9, 0.99] {
        // The mean wait, in service times.
        let wait = u / (2.0 * (1.0 - u));
        close(utilization(wait), 2.0 * wait / (2.0 * wait + 1.0), 1e-12);
        close(utilization(wait), u, 1e-12);
    }
}

#[test]
fn the_slope_of_the_utilization_is_its_difference_quotient() {
    for backlog in [0.01, 0.5, 1.0, 5.085, 40.0] {
        let step = 1e-6 * backlog;
        let quotient = (utilization(backlog + step) - utilization(backlog - step)) / (2.0 * step);
        let slope = utilization_slope(backlog);
        assert!((slope / quotient - 1.0).abs() < 1e-5, "{backlog}: {slope} for {quotient}");
    }
}
