//! Simulated hosts beside the kernel's on drawn paths, each of one flow with `host = "linux"`. The kernel's results lie in
//! tests/reference/linux-6.18 (docs/papers/notes/kernel.md).
//!
//! A path has a rate of 2 Mbit/s to 1 Gbit/s, an RTT of 5 to 300 ms and a queue of 0.1 to 10 BDP. On a path of the kind "file"
//! the completion of a file is compared, on one of the kind "delay" the mean queueing delay of the first 15 s. The bands were
//! chosen before any run.

use scenario::{Flow, Scenario};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tightlink_lab::run::engine::{UNWATCHED, run};
use tightlink_lab::run::record::{Engine, Summary};
use tightlink_lab::study::task::Task;

/// Seeds of the simulator, whose median counts.
const SEEDS: u64 = 3;

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

/// Runs a path as it is in the file of results.
fn summary(path: &Value, engine: Engine, seed: u64) -> Summary {
    let size = path["size"].as_u64();
    let mut flow =
        Flow::new(path["control"].as_str().expect("a control")).set("name", "target").set("host", "linux");
    if let Some(size) = size {
        flow = flow.set("size", format!("{size}B"));
    }
    let delay = format!("{:.0}us", number(path, "rtt") / 2.0 * 1e6);
    let document = Scenario::link(format!("{}bit/s", path["rate"]), delay)
        .title("drawn path")
        .limit(format!("{} packets", path["packets"]))
        .duration(if size.is_some() { "120s" } else { "15s" })
        .seed(seed)
        .set("record.columns", Vec::<String>::new())
        .flow(flow)
        .document()
        .expect("a scenario");
    let task = Task::at(&Arc::new(document), Vec::new()).unwrap_or_else(|faults| panic!("{faults}"));
    run(engine, &task.resolved, UNWATCHED).unwrap_or_else(|error| panic!("{path}: {error}")).summary
}

/// Returns how many paths of each kind are within the bands, and how many there are.
fn judged(list: &str) -> [(usize, usize); 2] {
    let file = format!("../../tests/reference/linux-6.18/host-paths-{list}.jsonl");
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("the kernel's results");
    // With this the kernel runs, too, as root.
    let measures = std::env::var_os("TIGHTLINK_LIVE").is_some();
    let mut counts = [(0, 0); 2];
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let (path, kept) = (&line["path"], &line["result"]);
        let is_file = line["kind"] == "file";
        let of = |summary: &Summary| {
            if is_file {
                summary.flows[0].completion_s
            } else {
                summary.queueing_delay_s.map(|delay| delay.mean)
            }
        };
        let kernel = if measures {
            of(&summary(path, Engine::Live, 1))
        } else {
            kept[if is_file { "completion" } else { "wait" }].as_f64()
        };
        let Some(kernel) = kernel else { continue };
        let mut own: Vec<f64> =
            (1..=SEEDS).map(|seed| of(&summary(path, Engine::Sim, seed)).unwrap_or(f64::INFINITY)).collect();
        own.sort_by(f64::total_cmp);
        let own = own[SEEDS as usize / 2];
        let band = if is_file { 0.05 * kernel } else { (0.15 * kernel).max(1e-3) };
        let (held, all) = &mut counts[usize::from(!is_file)];
        *all += 1;
        if (own - kernel).abs() <= band {
            *held += 1;
        } else {
            println!("{list} {} {}: {own:.6} s for {kernel:.6} s, {path}", line["kind"], line["index"]);
        }
    }
    println!("{list}: files {:?}, delays {:?}", counts[0], counts[1]);
    counts
}

#[test]
#[ignore = "minutes without optimization: make soak"]
fn files_complete_and_packets_wait_as_on_the_kernel() {
    let [files, delays] = judged("test");
    assert_eq!((files.1, delays.1), (60, 40));
    // As docs/papers/notes/kernel.md has it.
    assert!(files.0 >= 56 && delays.0 >= 34, "{files:?} {delays:?}");
}
