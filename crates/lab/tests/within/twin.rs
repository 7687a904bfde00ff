//! Tests of the smaller path that is simulated in place of a large one.

use super::*;
use crate::study::size::question::Mix;
use units::Rate;

fn question(rate: &str, rtt: &str, flows: u64, mix: &str) -> Question {
    let rate: Rate = rate.parse().unwrap();
    let mix: Mix = mix.parse().unwrap();
    Question { rtt: rtt.parse().unwrap(), flows: Ends::at(flows), mix, ..Question::of(rate) }
}

#[test]
fn what_is_affordable_is_simulated_itself() {
    let twin = Twin::of(&question("10Mbit/s", "20ms", 2, "cubic"), 2, LIMITS);
    assert_eq!((twin.is_whole(), twin.limit(17), twin.assumption()), (true, 17, None));
    let resolved = twin.tasks(Room::Packets(17), "drop-tail", 1).unwrap()[0].resolved.clone();
    assert_eq!((resolved.flows.len(), resolved.limit_bytes()), (2, Bytes::new(17 * 1500)));
}

#[test]
fn a_twin_of_many_flows_keeps_windows_and_the_share_of_the_square_root_rule() {
    let question = question("100Gbit/s", "50ms", 10_000, "reno");
    let twin = Twin::of(&question, 10_000, LIMITS);
    assert!(twin.flows < 10_000 && twin.flows >= LEAST_FLOWS, "{twin:?}");
    assert_eq!((twin.window, twin.stretch), (question.window(10_000), 1.0));
    let resolved = twin.tasks(Room::Packets(4167), "drop-tail", 1).unwrap()[0].resolved.clone();
    // A limit of 4167 packets is BDP/sqrt(n), and the twin's limit is its own BDP/sqrt(n).
    let bdp = resolved.link.rate.as_bps_f64() * 0.05 / 12_000.0;
    let own = bdp / (twin.flows as f64).sqrt();
    assert!((twin.limit(4167) as f64 / own - 1.0).abs() < 0.02, "{} {own}", twin.limit(4167));
}

#[test]
fn a_twin_of_large_windows_keeps_the_cycle_s_shape() {
    for mix in ["reno", "cubic"] {
        let question = question("10Gbit/s", "50ms", 1, mix);
        let twin = Twin::of(&question, 1, LIMITS);
        assert!(twin.flows == 1 && twin.window < 41_667.0 && twin.window >= LEAST_WINDOW, "{twin:?}");
        assert!(twin.packets() < 1.1 * LIMITS.packets, "{}", twin.packets());
        // The shape is the ratio of the round trips between losses to the window.
        let shape = |window: f64, rtt: f64| period(mix, window, rtt) / rtt / window;
        let (large, small) = (shape(question.window(1), 0.05), shape(twin.window, twin.rtt()));
        assert!((large / small - 1.0).abs() < 1e-6, "{mix}: {large} {small}");
        assert!((twin.limit(4167) as f64 / (0.1 * twin.window) - 1.0).abs() < 0.02);
    }
}

#[test]
fn shorter_runs_are_of_the_same_path_and_longer_ones_end_with_the_path_itself() {
    for (rate, rtt, flows) in
        [("1Gbit/s", "20ms..80ms", 300), ("10Gbit/s", "50ms", 1000), ("10Mbit/s", "20ms", 2)]
    {
        let twin = Twin::of(&question(rate, rtt, flows, "cubic"), flows, LIMITS);
        let mut path = twin.shortest();
        while let Some(longer) = twin.longer(&path, 2.0) {
            assert!(path.packets() <= WORTHWHILE * twin.packets(), "{rate}: {path:?}");
            assert!(
                path.measured >= twin.least && twin.least >= LIMITS.least * twin.cycle,
                "{rate}: {path:?}"
            );
            assert_eq!(Twin { measured: twin.measured, ..path }, twin, "only the measured time differs");
            path = longer;
        }
        assert_eq!(path, twin, "{rate}");
    }
    let office = Twin::of(&question("1Gbit/s", "20ms..80ms", 300, "cubic"), 300, LIMITS);
    assert!(office.shortest().packets() < 0.3 * office.packets(), "{office:?}");
}
