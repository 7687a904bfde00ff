//! Bursts that meet: the loss of a queue with deterministic service, the lone flow by hand, and what simulation has.

use tightlink_model::response::Protocol;
use tightlink_model::rules::bursts::{Flows, balance, deterministic_loss};
use units::Span;

/// M/D/1 with `places` in the system by its chain at departures.
fn chain(load: f64, places: usize) -> f64 {
    let mut arrivals = vec![libm::exp(-load)];
    for count in 1..=places {
        arrivals.push(arrivals[count - 1] * load / count as f64);
    }
    let mut left = vec![1.0];
    for at in 0..places - 1 {
        let others: f64 = (1..=at).map(|k| left[k] * arrivals[at - k + 1]).sum();
        left.push((left[at] - left[0] * arrivals[at] - others) / arrivals[0]);
    }
    let empty = left[0] / left.iter().sum::<f64>();
    1.0 - 1.0 / (empty + load)
}

#[test]
fn a_queue_of_one_loses_rho_of_one_plus_rho() {
    for load in [0.1, 0.5, 0.9, 1.0, 1.5, 8.0] {
        let found = deterministic_loss(load, 1.0).unwrap();
        assert!((found - load / (1.0 + load)).abs() < 1e-12, "{load}: {found}");
    }
}

#[test]
fn losses_of_a_twentieth_are_those_of_the_chain_within_a_tenth_and_smaller_ones_are_no_less() {
    for load in [0.2, 0.4, 0.6, 0.8, 0.9, 0.99, 1.1, 1.3] {
        for places in [1, 2, 3, 4, 6, 8, 12, 16] {
            let (found, exact) = (deterministic_loss(load, places as f64).unwrap(), chain(load, places));
            if exact > 0.05 {
                assert!((found / exact - 1.0).abs() < 0.1, "{load} {places}: {found} for {exact}");
            } else if exact > 1e-12 {
                assert!(found > exact * 0.98, "{load} {places}: {found} for {exact}");
            }
        }
    }
}

/// Flows of Linux hosts with lines of 10 Gbit/s: they hold packets for 75 us, or for 425 us if receivers sleep.
fn linux(mbps: f64, micros: f64, held: f64, count: u64, protocol: Protocol, together: f64) -> Flows {
    let sent = |micros: f64| mbps * micros / 12_000.0;
    Flows {
        count,
        protocol,
        beta: if protocol == Protocol::Reno { 0.5 } else { 0.7 },
        pipe: sent(micros + held),
        rtt: Span::from_micros((micros + held) as u64),
        together,
        spread: (1.0 - mbps / 1e4).max(0.0),
        gathered: sent(350.0),
        asleep: sent(200.0),
        timeout: Span::from_millis(200),
        probes: true,
    }
}

#[test]
fn a_lone_window_that_comes_back_at_once_is_what_the_buffer_holds_of_it() {
    // 38 packets of room are 65.1 of a window that arrives at 10 Gbit/s and leaves at 4.167. They pass in 188 us, so that the receiver
    // sleeps and gathers them. 85 % of them are under way, of 198.3 on the path and 121.5 that pass while the receiver wakes up.
    let flows = linux(4167.0, 496.0, 75.0, 1, Protocol::Cubic, 43.0);
    let found = balance(&flows, 37).unwrap();
    assert!((found.utilization - 0.85 * 65.15 / 319.8).abs() < 1e-3, "{found:?}");
    // Simulation has 18.1 %. On a link as fast as the line a burst never waits.
    assert_eq!(balance(&Flows { spread: 0.0, ..flows }, 1).unwrap().utilization, 1.0);
    assert_eq!(balance(&flows, 400).unwrap().utilization, 1.0);
}

/// Mbit/s, us, us held, flows, control, packets of a super-packet, limit; utilization simulated: the first of a draw with less
/// than 90 %, two constants of the theory were chosen on these and on others.
type Simulated = (f64, f64, f64, u64, Protocol, f64, u64, f64);
const SIMULATED: [Simulated; 14] = [
    (716.0, 1120.0, 425.0, 261, Protocol::Reno, 11.0, 1, 0.383),
    (2453.0, 572.0, 425.0, 60, Protocol::Cubic, 25.0, 1, 0.153),
    (136.0, 1874.0, 425.0, 83, Protocol::Reno, 5.0, 1, 0.559),
    (1556.0, 422.0, 425.0, 36, Protocol::Reno, 43.0, 2, 0.253),
    (240.0, 9974.0, 425.0, 3, Protocol::Cubic, 6.0, 8, 0.114),
    (67.0, 4026.0, 425.0, 11, Protocol::Reno, 2.0, 2, 0.721),
    (4988.0, 12696.0, 425.0, 6, Protocol::Cubic, 43.0, 2, 0.004),
    (247.0, 730.0, 425.0, 4, Protocol::Reno, 26.0, 1, 0.239),
    (300.0, 2196.0, 425.0, 3, Protocol::Cubic, 10.0, 1, 0.082),
    (5744.0, 2518.0, 425.0, 192, Protocol::Reno, 5.0, 5, 0.487),
    (1420.0, 388.0, 425.0, 3, Protocol::Cubic, 43.0, 1, 0.047),
    (190.0, 10486.0, 425.0, 41, Protocol::Cubic, 2.0, 2, 0.521),
    (4499.0, 13634.0, 425.0, 186, Protocol::Cubic, 2.0, 3, 0.159),
    (2587.0, 712.0, 425.0, 4, Protocol::Reno, 43.0, 16, 0.275),
];

#[test]
fn the_load_is_that_of_simulated_flows() {
    for (mbps, micros, held, count, protocol, together, limit, simulated) in SIMULATED {
        let found = balance(&linux(mbps, micros, held, count, protocol, together), limit).unwrap();
        let apart = found.utilization - simulated;
        assert!((-0.3..0.1).contains(&apart), "{mbps} {micros} {count} {limit}: {found:?} for {simulated}");
    }
}

#[test]
fn a_larger_buffer_leaves_no_less_and_loses_no_more() {
    for protocol in [Protocol::Reno, Protocol::Cubic, Protocol::Bbr] {
        for (mbps, micros, count) in [(100.0, 50_000.0, 10), (2600.0, 1600.0, 4), (642.0, 4594.0, 49)] {
            let flows = linux(mbps, micros, 425.0, count, protocol, 8.0);
            let found: Vec<_> = (0..200).map(|limit| balance(&flows, 4 * limit).unwrap()).collect();
            for two in found.windows(2) {
                assert!(two[0].utilization <= two[1].utilization + 1e-4, "{protocol:?} {count}: {two:?}");
                assert!(two[0].loss + 1e-4 >= two[1].loss, "{protocol:?} {count}: {two:?}");
            }
            // BBR: 5/4 of the link, of which a queue of one loses 5/9.
            assert!(found[0].utilization < 0.56 && found[199].utilization > 0.99, "{protocol:?} {count}");
        }
    }
}

#[test]
fn packets_that_leave_one_by_one_do_not_meet() {
    let flows = linux(642.0, 4594.0, 0.0, 49, Protocol::Cubic, 1.0);
    assert_eq!(balance(&flows, 2).unwrap().utilization, 1.0);
    assert!(balance(&Flows { together: 2.0, ..flows }, 2).unwrap().utilization < 0.5);
}

#[test]
fn probes_of_the_tail_make_timeouts_rare_and_a_shorter_timeout_costs_less() {
    let flows = linux(642.0, 4594.0, 425.0, 49, Protocol::Cubic, 2.0);
    let of = |flows: &Flows| balance(flows, 2).unwrap().utilization;
    let (probed, not) = (of(&flows), of(&Flows { probes: false, ..flows }));
    let short = of(&Flows { probes: false, timeout: Span::from_millis(10), ..flows });
    assert!(not < probed && not < short, "{not} {probed} {short}");
}

#[test]
fn what_is_out_of_range_is_told_with_the_range() {
    let flows = linux(642.0, 4594.0, 425.0, 49, Protocol::Cubic, 2.0);
    for (wrong, accepted) in [
        (Flows { count: 0, ..flows }, "1 or more"),
        (Flows { beta: 1.0, ..flows }, "from 0.001 to 0.999"),
        (Flows { pipe: 0.0, ..flows }, "above 0, and 1e12 at most"),
        (Flows { rtt: Span::ZERO, ..flows }, "above 0"),
        (Flows { together: 0.5, ..flows }, "1 or more"),
        (Flows { spread: 1.5, ..flows }, "from 0 to 1"),
        (Flows { gathered: -1.0, ..flows }, "from 0 to 1e12"),
    ] {
        assert_eq!(balance(&wrong, 10).unwrap_err().accepted, accepted, "{wrong:?}");
    }
    // Numbers whose powers no float holds.
    assert_eq!(deterministic_loss(1.0, f64::MAX).unwrap(), 0.0);
    assert_eq!(deterministic_loss(5e151, 1.3).unwrap(), 1.0);
    assert_eq!(deterministic_loss(0.0, f64::MAX).unwrap(), 0.0);
    assert_eq!(deterministic_loss(-1.0, 2.0).unwrap_err().accepted, "0 or more");
    assert_eq!(deterministic_loss(0.5, 0.5).unwrap_err().accepted, "1 or more");
}
