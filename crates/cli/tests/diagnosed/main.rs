//! Verdicts of `tightlink diagnose` on kernel transfers behind the emulated link, whose limit is known.
//!
//! `tests/diagnosed/` draws the paths and programs, runs them, and labels them by the emulator's own account. Here the
//! evidence of six observers of each run is judged.

mod observe;
mod tally;

use observe::{OBSERVERS, evidence};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tally::Tally;

/// The least share of first causes that must be right, by observer.
const BARS: [f64; OBSERVERS.len()] = [0.95, 0.90, 0.90, 0.85, 0.80, 0.80];
/// The least share of runs whose shares of time must be near the account's.
const SHARES: f64 = 0.9;

/// Runs and labels the cases of the seeds, in `folder`.
fn run(folder: &Path, first: u64, last: u64, seconds: u64) {
    let scripts = testkit::repository().join("tests/diagnosed");
    let python = |script: &str, arguments: &[&str]| {
        let status = Command::new("python3").arg(scripts.join(script)).args(arguments).status();
        assert!(status.is_ok_and(|status| status.success()), "{script} {arguments:?}");
    };
    let place = folder.to_str().expect("a path in UTF-8");
    let [first, last, seconds] = [first, last, seconds].map(|number| number.to_string());
    python("run.py", &[env!("CARGO_BIN_EXE_tightlink"), place, &first, &last, &seconds]);
    python("label.py", &[place]);
}

fn read(place: &Path, file: &str) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(place.join(file)).ok()?).ok()
}

/// Judges all runs in a folder.
fn judge(folder: &Path) -> Vec<Tally> {
    let entries = std::fs::read_dir(folder).expect("a folder of runs").filter_map(Result::ok);
    let mut seeds: Vec<u64> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    seeds.sort_unstable();
    let mut tallies: Vec<Tally> = OBSERVERS.iter().map(|_| Tally::default()).collect();
    for seed in seeds {
        let place = folder.join(seed.to_string());
        let (Some(case), Some(label)) = (read(&place, "case.json"), read(&place, "label.json")) else {
            continue;
        };
        let largest = case["receiver"]["rmem"].as_u64().unwrap_or(32 << 20);
        for ((file, name), tally) in OBSERVERS.iter().zip(&mut tallies) {
            let run = format!("{seed} {} {}, {name}", case["kind"], case["control"]);
            tally.judge(&run, &label, evidence(&place, file, largest).as_ref());
        }
    }
    tallies
}

#[test]
fn every_observer_of_one_run_names_its_limit() {
    let root = nix::unistd::Uid::effective().is_root();
    let tools = ["tcpdump", "python3", "ip"].iter().all(|tool| Command::new(tool).arg("-h").output().is_ok());
    if !testkit::needs(root && tools, "root, tcpdump, python3 and ip") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // A receive window by SO_RCVBUF.
    run(folder.path(), 1, 1, 4);
    for (tally, (_, name)) in judge(folder.path()).iter().zip(OBSERVERS) {
        assert_eq!((tally.causes, tally.paths), (tally.runs, 1), "{name}: {tally:?}");
    }
}

/// `TIGHTLINK_DIAGNOSED` is the folder of the runs. A new one is filled with runs first (`make diagnosed`), of seeds that
/// nobody looked at when the constants were chosen: those were 1 to 209, and 1001 to 1133 later.
#[test]
#[ignore = "half an hour"]
fn verdicts_on_the_labelled_set_are_right() {
    let folder =
        std::env::var_os("TIGHTLINK_DIAGNOSED").expect("TIGHTLINK_DIAGNOSED: the folder of the runs");
    let folder = Path::new(&folder);
    if !folder.exists() {
        run(folder, 3001, 3133, 10);
    }
    let tallies = judge(folder);
    let mut faults = Vec::new();
    println!(
        "| observer | runs | cause | cause and path | shares | high | wrong and high | rate | rate, not full | buffer |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for ((tally, (_, name)), bar) in tallies.iter().zip(OBSERVERS).zip(BARS) {
        let share = |count: u32| format!("{:.1} %", 100.0 * tally.of(count));
        let of = |counts: [u32; 3]| format!("{} of {} ({})", counts[0], counts[1], counts[2]);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            tally.runs,
            share(tally.causes),
            share(tally.paths),
            share(tally.shares),
            share(tally.high),
            tally.wrong_and_high.len(),
            of(tally.rates),
            of(tally.other_rates),
            of(tally.buffers)
        );
        if tally.of(tally.causes) < bar || tally.of(tally.shares) < SHARES || !tally.wrong_and_high.is_empty()
        {
            faults.push(format!("{name}: {:?}", tally.wrong_and_high));
        }
    }
    assert!(tallies[0].runs > 0, "no run in {}", folder.display());
    assert!(faults.is_empty(), "{}", faults.join("; "));
}
