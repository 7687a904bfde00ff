//! `tightlink run`.

use crate::place::{Place, SMALL, SWEEP, alone, root};
use lab::run::metric::{FLOW, OVER_ALL, RUN};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use testkit::could_not_judge;

/// The keys of `summary.json`: the metrics, and what is none.
fn summary_keys() -> BTreeSet<&'static str> {
    let metrics = RUN.iter().map(|known| known.metric.key).filter(|key| !OVER_ALL.contains(key));
    let others = ["engine", "flows", "peak_rss_bytes", "scenario_hash", "seed", "wall_s"];
    let all = metrics.map(|key| key.split('.').next().unwrap()).chain(others);
    // Those of a wireless cell, of a shaper, and of a queue with classes.
    all.filter(|key| !["wlan", "shaper", "l4s_delay_s", "classic_delay_s"].contains(key)).collect()
}

/// The keys of a flow there.
fn flow_keys() -> BTreeSet<&'static str> {
    let all = FLOW.iter().map(|known| known.metric.key.split('.').next().unwrap()).chain(["name"]);
    // The one is there only where acknowledgements cross queues, the other only over QUIC.
    all.filter(|key| !["max_smoothed_rtt_s", "departure_late_s"].contains(key)).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The summary has the keys of the design and no others; what every engine knows is a number.
#[track_caller]
fn complete(summary: &Value, engine: &str) {
    // What only some runs have: cross traffic, the hosts of a kernel, a drift.
    let own = keys(summary).into_iter().filter(|key| !["traffic", "hosts", "trend"].contains(key));
    assert_eq!(own.collect::<Vec<_>>(), Vec::from_iter(summary_keys()), "{summary}");
    assert_eq!(summary["hosts"].is_object(), engine == "live", "{summary}");
    assert_eq!(summary["engine"], engine);
    assert_eq!(summary["scenario_hash"].as_str().map(str::len), Some(16));
    for key in ["seed", "measured_s", "wall_s", "peak_rss_bytes", "utilization", "mean_backlog_bytes"] {
        assert!(summary[key].is_number(), "{key} of {summary}");
    }
    assert_eq!(keys(&summary["queueing_delay_s"]), ["max", "mean", "p1", "p5", "p50", "p95", "p99"]);
    let flow = &summary["flows"][0];
    assert_eq!(keys(flow), Vec::from_iter(flow_keys()));
    assert_eq!(keys(&flow["rtt_s"]), ["mean", "min", "p95"]);
    assert!(flow["goodput_bps"].is_number() && flow["rtt_s"]["mean"].is_number(), "{flow}");
}

/// The summary without what no two runs share.
fn repeatable(mut summary: Value) -> String {
    for key in ["wall_s", "peak_rss_bytes"] {
        summary.as_object_mut().expect("an object").remove(key).expect(key);
    }
    summary.to_string()
}

#[test]
fn the_table_goes_to_stdout_and_talk_to_stderr() {
    let ended = Place::small().run(&["run", "small.toml"]).well();
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 4, "a head, a row, one of the cross traffic, and its delay:\n{}", ended.out);
    assert!(lines[0].trim_start().starts_with("engine") && lines[0].contains("goodput Mbit/s"));
    assert!(lines[1].trim_start().starts_with("sim"));
    assert_eq!(lines[0].chars().count(), lines[1].chars().count(), "the columns line up:\n{}", ended.out);
    let folder = ended.err.strip_prefix("results: ").expect("where they are").trim();
    assert!(folder.starts_with("results/") && folder.ends_with("/sim"), "{folder}");
}

#[test]
fn a_simulation_tells_its_queue_by_time_and_how_sure_its_means_are() {
    let place = Place::small();
    let ended = place.run(&["run", "small.toml", "--json", "--set", "flow.target.socket_buffer=max"]).well();
    let summary = &ended.summaries()[0];
    let length = &summary["queue_length_packets"];
    assert_eq!(keys(length), ["max", "mean", "p1", "p5", "p50", "p95", "p99"]);
    let numbers = ["p1", "p5", "p50", "p95", "p99", "max"].map(|key| length[key].as_u64().expect(key));
    assert!(numbers.is_sorted() && numbers[0] < numbers[5], "{length}");
    // The least percentiles tell a queue that is empty at times from one that never is.
    let empty = summary["queue_empty_fraction"].as_f64().unwrap();
    assert_eq!((numbers[0] == 0, numbers[1] == 0), (empty >= 0.01, empty >= 0.05), "{summary}");
    // All packets are of 1500 bytes.
    let backlog = summary["mean_backlog_bytes"].as_f64().unwrap();
    assert!((length["mean"].as_f64().unwrap() * 1500.0 - backlog).abs() < 1e-6 * backlog, "{summary}");
    let half_width = summary["utilization_ci95"].as_f64().unwrap();
    assert!(half_width > 0.0 && half_width < 0.2, "{summary}");
    assert!(summary["loss_rate_ci95"].as_f64().unwrap() > 0.0, "{summary}");
    let table = place.run(&["run", "small.toml"]).well().out;
    assert!(table.contains(" ± "), "{table}");

    // A run that ends with its flows has no batches, and a model no queue to watch.
    let open = ["run", "small.toml", "--json", "--set", "flow.target.size=3MB", "--set", "duration=60s"];
    assert!(place.run(&open).well().summaries()[0]["utilization_ci95"].is_number());
    place.write(
        "open.toml",
        SMALL.replace("duration = \"2s\"\n", "").replace("[[traffic]]", "size = \"3MB\"\n[[traffic]]"),
    );
    let summary = place.run(&["run", "open.toml", "--json"]).well().summaries().remove(0);
    assert!(summary["utilization_ci95"].is_null() && summary["utilization"].is_number(), "{summary}");
    let summary =
        place.run(&["run", "small.toml", "--json", "--engine", "model"]).well().summaries().remove(0);
    assert!(summary["utilization_ci95"].is_null() && summary["queue_length_packets"].is_null(), "{summary}");
}

#[test]
fn a_kept_point_of_a_sweep_runs_again_by_itself() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let summaries = place.run(&["run", "sweep.toml", "--json"]).well().summaries();
    for summary in summaries {
        let kept = format!("results/{}/scenario.toml", summary["scenario_hash"].as_str().unwrap());
        let again = place.run(&["run", &kept, "--json", "--out", "again"]).well().summaries();
        assert_eq!(again.len(), 1);
        assert_eq!(repeatable(again[0].clone()), repeatable(summary));
    }
}

#[test]
fn every_point_of_a_sweep_has_its_row_under_its_values() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let ended = place.run(&["run", "sweep.toml"]).well();
    let words: Vec<&str> =
        ended.out.lines().map(|line| line.split("  ").find(|word| !word.is_empty()).unwrap()).collect();
    assert_eq!(words, ["engine", "limit = 1 bdp", "sim", "cross", "limit = 2 bdp", "sim", "cross"]);
}

#[test]
fn json_is_one_object_per_point_with_the_keys_of_the_design() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    for engine in ["model", "sim"] {
        let ended = place.run(&["run", "sweep.toml", "--engine", engine, "--json"]).well();
        let limits = ended.json().into_iter().map(|line| line["point"]["link.queue.limit"].clone());
        assert_eq!(limits.collect::<Vec<_>>(), ["1 bdp", "2 bdp"]);
        let summaries = ended.summaries();
        summaries.iter().for_each(|summary| complete(summary, engine));
        assert_ne!(summaries[0]["scenario_hash"], summaries[1]["scenario_hash"]);
    }
}

#[test]
fn the_kernel_fills_the_same_keys() {
    let _alone = alone();
    if root() {
        let place = Place::small();
        let ended = place.run(&["run", "small.toml", "--engine", "live", "--json"]).well();
        let summaries = ended.summaries();
        assert_eq!(summaries.len(), 1);
        complete(&summaries[0], "live");
        assert!(summaries[0]["flows"][0]["goodput_bps"].as_f64().unwrap() > 5e6, "{}", ended.out);
    }
}

/// What is idle after the senders have ended is not of the measured interval.
#[test]
fn a_kernel_flow_at_the_links_goodput_leaves_it_no_idle_time() {
    let _alone = alone();
    if !root() {
        return;
    }
    let place = Place::new();
    let text = "title = 't'\nduration = '2s'\nwarmup = '500ms'\n[link]\nrate = '50Mbit/s'\ndelay = '5ms'\n\
                queue.limit = '2 bdp'\n[[flow]]\ncontrol = 'cubic'\n";
    place.write("full.toml", text);
    let ended = place.run(&["run", "full.toml", "--engine", "live", "--json"]).well();
    let summary = &ended.summaries()[0];
    let share = summary["flows"][0]["goodput_bps"].as_f64().unwrap() / (50e6 * 1448.0 / 1500.0);
    if share < 0.99 {
        could_not_judge(format_args!("the flow had {share:.3} of the link's goodput"));
        return;
    }
    assert!(summary["idle_fraction"].as_f64().unwrap() <= 0.01, "{}", ended.out);
}

#[test]
fn the_kernel_runs_flows_of_different_rtts() {
    let _alone = alone();
    if root() {
        let place = Place::small();
        let near = "socket_buffer = \"20kB\"\n";
        let far = format!("{near}\n[[flow]]\nname = \"far\"\ncontrol = \"cubic\"\nrtt = \"50ms\"\n{near}");
        place.write("two.toml", SMALL.replace(near, &far));
        let ended = place.run(&["run", "two.toml", "--engine", "live", "--json"]).well();
        let flows = ended.summaries()[0]["flows"].clone();
        for (flow, base) in [("target", 10.0), ("far", 50.0)] {
            let flow = flows.as_array().unwrap().iter().find(|found| found["name"] == flow).unwrap();
            let least = flow["rtt_s"]["min"].as_f64().unwrap() * 1e3;
            // Queue and machine only add.
            assert!(least > 0.99 * base && least < base + 8.0, "{least} ms of {base}");
        }
    }
}

#[test]
fn the_summary_on_stdout_is_the_one_in_the_folder() {
    let place = Place::small();
    let printed = place.run(&["run", "small.toml", "--json"]).well().summaries().remove(0);
    let file = format!("results/{}/sim/summary.json", printed["scenario_hash"].as_str().unwrap());
    let kept: Value = serde_json::from_slice(&fs::read(place.path().join(file)).unwrap()).unwrap();
    assert_eq!(kept, printed);
}

#[test]
fn results_lie_under_the_hash_with_manifest_scenario_summary_and_series() {
    let place = Place::small();
    let summary =
        place.run(&["run", "small.toml", "--out", "kept/here", "--json"]).well().summaries().remove(0);
    let folder = format!("kept/here/{}", summary["scenario_hash"].as_str().unwrap());
    let expected = [
        "manifest.json",
        "scenario.toml",
        "sim/flows.parquet",
        "sim/link.parquet",
        "sim/notes.txt",
        "sim/queue.parquet",
        "sim/summary.json",
    ];
    let mut expected: BTreeSet<_> = expected.iter().map(|file| format!("{folder}/{file}").into()).collect();
    expected.insert("small.toml".into());
    assert_eq!(place.files(), expected);

    let read = |file: &str| fs::read(place.path().join(&folder).join(file)).unwrap();
    for series in ["sim/flows.parquet", "sim/link.parquet", "sim/queue.parquet"] {
        let bytes = read(series);
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1") && bytes.len() > 500, "{series}");
    }
    assert_eq!(String::from_utf8(read("scenario.toml")).unwrap(), SMALL);
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
    assert_eq!(manifest["title"], "small");
    assert_eq!(manifest["engines"], serde_json::json!(["sim"]));
    assert_eq!(manifest["command"], "tightlink run small.toml --out kept/here --json");
    assert_eq!(manifest["scenario_hash"], summary["scenario_hash"]);
}

#[test]
fn results_of_a_second_engine_join_those_of_the_first() {
    let place = Place::small();
    place.run(&["run", "small.toml"]).well();
    let summary =
        place.run(&["run", "small.toml", "--engine", "model", "--json"]).well().summaries().remove(0);
    let folder = place.path().join("results").join(summary["scenario_hash"].as_str().unwrap());
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["engines"], serde_json::json!(["model", "sim"]));
    let commands = serde_json::json!({
        "model": "tightlink run small.toml --engine model --json",
        "sim": "tightlink run small.toml",
    });
    assert_eq!(manifest["commands"], commands, "each engine's own");
    assert!(folder.join("sim/summary.json").exists() && folder.join("model/summary.json").exists());
}

#[test]
fn what_was_set_is_kept_with_the_results() {
    let place = Place::small();
    let arguments = [
        "run",
        "small.toml",
        "--set",
        "link.rate=20Mbit/s",
        "--set=flow.target.socket_buffer = \"max\"",
        "--seed",
        "9",
        "--json",
    ];
    let summary = place.run(&arguments).well().summaries().remove(0);
    assert_eq!(summary["seed"], 9);
    assert!(summary["flows"][0]["goodput_bps"].as_f64().unwrap() > 10e6, "the link is faster: {summary}");
    let folder = place.path().join("results").join(summary["scenario_hash"].as_str().unwrap());
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let settings =
        serde_json::json!({ "link.rate": "20Mbit/s", "flow.target.socket_buffer": "\"max\"", "seed": "9" });
    assert_eq!(manifest["settings"], settings);
    let text = fs::read_to_string(folder.join("scenario.toml")).unwrap();
    assert!(text.starts_with("# run with\n# link.rate = 20Mbit/s\n") && text.ends_with(SMALL), "{text}");
}

#[test]
fn setting_a_swept_key_runs_that_value_alone() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let swept = place
        .run(&["run", "sweep.toml", "--set", "link.queue.limit=40 packets", "--json"])
        .well()
        .summaries();
    assert_eq!(swept.len(), 1);
    place.write("plain.toml", SMALL.replace("1 bdp", "40 packets"));
    let plain = place.run(&["run", "plain.toml", "--json"]).well().summaries();
    assert_eq!(swept[0]["scenario_hash"], plain[0]["scenario_hash"]);
}

#[test]
fn the_scenario_may_come_from_standard_input() {
    let place = Place::small();
    let ended = crate::place::end(place.shell("$TIGHTLINK run - --json < small.toml")).well();
    assert_eq!(ended.summaries().len(), 1);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = Place::small();
    let summaries: Vec<Value> = ["one", "two"]
        .map(|out| place.run(&["run", "small.toml", "--out", out, "--json"]).well().summaries().remove(0))
        .into();
    assert_eq!(repeatable(summaries[0].clone()), repeatable(summaries[1].clone()));
    let hash = summaries[0]["scenario_hash"].as_str().unwrap();
    for series in ["flows.parquet", "link.parquet", "queue.parquet"] {
        let read = |out: &str| fs::read(place.path().join(out).join(hash).join("sim").join(series)).unwrap();
        assert!(read("one") == read("two"), "{series} differs");
    }
}

#[test]
fn another_seed_gives_other_traffic() {
    let place = Place::small();
    let run = |seed| place.run(&["run", "small.toml", "--seed", seed, "--json"]).well().summaries().remove(0);
    let (one, two) = (run("1"), run("2"));
    assert_ne!(one["scenario_hash"], two["scenario_hash"]);
    assert_ne!(one["mean_backlog_bytes"], two["mean_backlog_bytes"]);
}

#[test]
fn a_flow_that_sends_nothing_while_measured_has_no_numbers_but_zeros_and_nulls() {
    let place = Place::small();
    for late in ["flow.start=10s", "flow.size=20kB"] {
        let ended = place.run(&["run", "small.toml", "--set", late, "--json"]).well();
        let flow = &ended.summaries()[0]["flows"][0];
        // A file that was done in the warm-up has the goodput of its own time.
        let own = flow["completion_s"].as_f64().map_or(0.0, |took| (160e3 / took).round());
        assert_eq!((flow["goodput_bps"].as_f64(), &flow["rtt_s"]), (Some(own), &Value::Null), "{late}");
        assert_eq!(
            ended.summaries()[0]["utilization"].as_f64().map(|share| share < 0.7),
            Some(true),
            "{late}"
        );
        let table = place.run(&["run", "small.toml", "--set", late]).well().out;
        assert!(table.contains("0.00") && table.contains('–') && !table.contains("NaN"), "{table}");
    }
}

#[test]
fn out_none_leaves_nothing() {
    let place = Place::small();
    let before = fs::read_dir(place.path()).unwrap().count();
    let ended = place.run(&["run", "small.toml", "--out", "none"]).well();
    assert!(ended.out.contains("sim") && ended.err.is_empty(), "{}", ended.err);
    place.run(&["compare", "small.toml", "-e", "model,sim", "-o", "none"]).well();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), before);
}

#[test]
fn two_to_twelve_flows_have_rows() {
    let place = Place::small();
    let rows = |count: &str| {
        let set = format!("flow.count={count}");
        let ended = place.run(&["run", "small.toml", "-s", &set]).well();
        ended.out.lines().filter(|line| line.starts_with("    target-")).count()
    };
    assert_eq!(["1", "2", "12", "13"].map(rows), [0, 2, 12, 0]);
}

#[test]
fn the_same_run_many_times_at_once_is_kept_each_time() {
    let place = Place::small();
    for _ in 0..4 {
        let runs: Vec<_> = (0..12)
            .map(|_| {
                let mut command = place.program(&["run", "small.toml", "--engine", "model", "--out", "kept"]);
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for run in runs {
            let ended = run.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
    }
    let folder = fs::read_dir(place.path().join("kept")).unwrap().next().unwrap().unwrap().path();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "model", "scenario.toml"]);
}
