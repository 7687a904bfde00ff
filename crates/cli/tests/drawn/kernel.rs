//! Simulator and kernel on the same drawn scenarios, once each: docs/papers/notes/kernel.md has what was found.

use crate::draw::{Reach, drawn};
use crate::resolved;
use lab::run::engine::{UNWATCHED, run};
use lab::run::record::{Engine, Summary};
use std::collections::BTreeMap;

/// Two values agree if they differ by no more than this share of the kernel's.
const SHARE: f64 = 0.1;
/// Below this much a delay is the kernel's own: timers, wake-ups and the emulator's lateness.
const FLOOR_S: f64 = 1e-3;
/// Scenarios of a set.
const COUNT: u64 = 60;

/// Returns each number that both engines have, and whether the simulator's is near the kernel's. A file that is done on one
/// engine alone counts as one that is not.
fn compared(sim: &Summary, live: &Summary) -> Vec<(&'static str, bool)> {
    let near = |one: f64, other: f64, floor: f64| (one - other).abs() <= (SHARE * other).max(floor);
    let delivered = |run: &Summary| run.flows.iter().filter_map(|flow| flow.delivered_bytes).sum::<f64>();
    let mut found = vec![("goodput", near(delivered(sim), delivered(live), 0.0))];
    for (own, kernel) in sim.flows.iter().zip(&live.flows) {
        match (own.completion_s, kernel.completion_s) {
            (None, None) => {}
            (Some(own), Some(kernel)) => found.push(("completion", near(own, kernel, 0.0))),
            _ => found.push(("completion", false)),
        }
    }
    for (own, kernel) in sim.traffic.iter().zip(&live.traffic) {
        if let (Some(own), Some(kernel)) = (own.delay_s, kernel.delay_s) {
            found.push(("delay", near(own.mean, kernel.mean, FLOOR_S)));
        }
    }
    found
}

#[test]
#[ignore = "twelve minutes of the kernel, as root on an idle machine; TIGHTLINK_CASES_SEED names the set"]
fn simulator_and_kernel_agree_on_the_goodput_of_nine_in_ten() {
    let set = std::env::var("TIGHTLINK_CASES_SEED").unwrap_or_else(|_| "dev".into());
    // A scenario agrees in a number if all of its flows or sources do.
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for index in 0..COUNT {
        let drawn = drawn(&set, index, Reach::Live);
        let resolved = resolved(&drawn);
        let of = |engine| run(engine, &resolved, UNWATCHED).map(|record| record.summary);
        let (sim, live) = match (of(Engine::Sim), of(Engine::Live)) {
            (Ok(sim), Ok(live)) => (sim, live),
            (sim, live) => panic!("{}: sim {:?}, live {:?}", drawn.name, sim.err(), live.err()),
        };
        let mut agrees: BTreeMap<&str, bool> = BTreeMap::new();
        for (what, near) in compared(&sim, &live) {
            *agrees.entry(what).or_insert(true) &= near;
        }
        println!("{}: {agrees:?}", drawn.name);
        for (what, near) in agrees {
            let (yes, all) = counts.entry(what).or_default();
            (*yes, *all) = (*yes + u32::from(near), *all + 1);
        }
    }
    println!("{set}: within {SHARE} {counts:?}");
    let (yes, all) = counts["goodput"];
    assert!(10 * yes >= 9 * all, "{counts:?}");
}
