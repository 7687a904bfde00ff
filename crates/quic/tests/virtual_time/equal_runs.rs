//! Equal runs have equal times, lengths and directions of all datagrams, in every process.

use crate::path::{Course, run};
use std::process::Command;
use units::{Fraction, Span};

const SEED: &str = "TIGHTLINK_EQUAL_RUNS";

/// Prints the hashes of runs with the seed that the environment has. Another process plays it.
#[test]
#[ignore = "the part of a process that the next test starts"]
fn prints_its_hash() {
    let seed = std::env::var(SEED).unwrap_or_default().parse().unwrap_or(1);
    let mut hashes = Vec::new();
    for control in ["madison", "cubic", "bbr3"] {
        let mut course = Course::new(50, 30, 60_000, control, 3);
        (course.seed, course.jitter) = (seed, Span::from_micros(300));
        course.loss = Fraction::new(1e-3).unwrap();
        let run = run(&course);
        assert!(run.link.random_losses > 0, "{control} lost nothing");
        hashes.push(run.hash);
    }
    println!("hashes {hashes:x?}");
}

/// Returns the hashes that a process of its own prints for `seed`.
fn hashes(seed: u64) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "equal_runs::prints_its_hash", "--ignored", "--nocapture", "--test-threads", "1"])
        .env(SEED, seed.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.find("hashes ").map(|at| line[at..].to_owned()));
    line.unwrap_or_else(|| panic!("no hash: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn three_processes_have_the_same_datagrams_and_another_seed_of_loss_has_others() {
    let first = hashes(1);
    assert_eq!((&hashes(1), &hashes(1)), (&first, &first));
    assert_ne!(hashes(2), first);
}
