//! `tightlink sweep --target … --over …`: the smallest or the largest value that meets a target.

use crate::place::Place;
use lab::run::resolve::resolve_document;
use scenario::Document;

/// One flow, nothing drawn: every repetition gives the same. An odd number of packets keeps the link busier than the
/// next even one.
const ONE: &str = r#"title = "one"
duration = "20s"
warmup = "2s"

[link]
rate = "20Mbit/s"
delay = "10ms"
queue = { limit = "0.5 bdp" }

[[flow]]
control = "reno"
"#;

const OVER_LIMIT: [&str; 5] = ["sweep", "one.toml", "--over", "link.queue.limit", "--json"];

fn place() -> Place {
    let place = Place::new();
    place.write("one.toml", ONE);
    place
}

#[test]
fn a_buffer_is_counted_in_packets_and_its_unit_makes_no_difference() {
    let place = place();
    let found = |limit: &str| {
        let set = format!("link.queue.limit={limit}");
        let arguments = [&OVER_LIMIT[..], &["--target", "idle_fraction=1%", "--set", &set]].concat();
        let ended = place.run(&arguments).well();
        assert!(!ended.err.contains("note:"), "{}", ended.err);
        let line = ended.json().remove(0);
        assert_eq!((&line["engine"], &line["point"]), (&"sim".into(), &serde_json::json!({})));
        let found = &line["found"];
        assert!(found["mean"].as_f64().unwrap() <= 0.01 && line["summary"]["idle_fraction"].is_number());
        assert_eq!(found["value"], "27 packets", "from {limit}");
        found["written"].as_str().map(str::to_owned)
    };
    assert_eq!(found("50 packets"), None);
    assert_eq!(found("0.5 bdp").as_deref(), Some("0.81 bdp"));
    assert_eq!(found("5kB").as_deref(), Some("41 kB"));
    let ms = found("10ms").expect("in the unit it was written in");
    assert!(ms.ends_with(" ms"), "{ms}");

    // The metric there is what a run of either spelling gives.
    let idle = |limit: &str| {
        let set = format!("link.queue.limit={limit}");
        let summary = place.run(&["run", "one.toml", "--json", "--set", &set]).well().summaries().remove(0);
        summary["idle_fraction"].as_f64().expect("a number")
    };
    assert_eq!(idle("27 packets"), idle("0.81 bdp"));
    assert!(idle("27 packets") <= 0.01 && idle("26 packets") > 0.01);
}

#[test]
fn a_larger_buffer_that_misses_the_target_is_told() {
    let place = place();
    let arguments = [&OVER_LIMIT[..], &["--target", "idle_fraction=2.5%"]].concat();
    let ended = place.run(&arguments).well();
    let found = &ended.json()[0]["found"];
    assert_eq!((&found["value"], &found["misses_above"][0][0]), (&"21 packets".into(), &"22 packets".into()));
    let note = "21 packets meets idle_fraction <= 0.025, but larger values miss it: 22 packets (0.026";
    assert!(ended.err.contains(note), "{}", ended.err);
}

#[test]
fn where_smaller_values_meet_the_target_the_largest_is_found() {
    let place = place();
    let arguments = [&OVER_LIMIT[..], &["--target", "queueing_delay_s.p95<=10ms"]].concat();
    let found = &place.run(&arguments).well().json()[0]["found"];
    assert_eq!((&found["sought"], &found["at_most"]), (&"largest".into(), &0.01.into()));
    let packets: u64 = found["room"]["packets"].as_u64().expect("a number");
    let p95 = |limit: u64| {
        let set = format!("link.queue.limit={limit} packets");
        let summary = place.run(&["run", "one.toml", "--json", "--set", &set]).well().summaries().remove(0);
        summary["queueing_delay_s"]["p95"].as_f64().expect("a number")
    };
    assert!(p95(packets) <= 0.01 && p95(packets + 1) > 0.01, "{found}");
}

#[test]
fn a_target_from_below_is_the_same_question() {
    let place = place();
    let value = |target: &str| {
        let arguments = [&OVER_LIMIT[..], &["--target", target]].concat();
        place.run(&arguments).well().json()[0]["found"]["value"].clone()
    };
    let idle = value("idle_fraction=1%");
    assert_eq!((value("utilization>=99%"), value("utilization=99%")), (idle.clone(), idle));
}

#[test]
fn the_answer_is_in_every_unit() {
    let place = place();
    let arguments = [&OVER_LIMIT[..4], &["--target", "idle_fraction=1%"]].concat();
    let ended = place.run(&arguments).well();
    let answer = "link.queue.limit = 27 packets = 40.5 kB = 16.2 ms = 0.81 bdp   (idle_fraction = 0.00";
    assert!(ended.out.starts_with(answer), "{}", ended.out);
}

#[test]
fn a_search_follows_the_seed_and_so_does_its_bdp() {
    let place = Place::new();
    let drawn = format!("{}count = 4\nrtt = {{ uniform = ['20ms', '60ms'] }}\n", ONE.replace("20s", "4s"));
    place.write("one.toml", &drawn);
    let found = |seed: &str| {
        let arguments = [&OVER_LIMIT[..], &["--target", "idle_fraction=20%", "--seed", seed]].concat();
        let line = place.run(&arguments).well().json().remove(0);
        let room = &line["found"]["room"];
        // Written as a limit, the same share of the BDP is the same room.
        let mut document = Document::parse("one.toml", &drawn).unwrap();
        document.set("seed", seed).unwrap();
        document.set("link.queue.limit", &format!("{} bdp", room["bdp"])).unwrap();
        let limit = resolve_document(&document).unwrap().limit_bytes().get();
        assert!(limit.abs_diff(room["bytes"].as_u64().unwrap()) <= 1, "{limit} B, {room}");
        (line["summary"]["seed"].clone(), line["found"]["mean"].clone())
    };
    let (first, other) = (found("1"), found("77"));
    assert_eq!((first.0, other.0), (1.into(), 77.into()));
    assert_ne!(first.1, other.1);
}

#[test]
fn a_target_without_an_answer_is_refused() {
    let place = place();
    for (target, key, words) in [
        ("utilization>=1.5", "link.queue.limit", ["no value meets utilization >= 1.5", "link.queue.limit"]),
        ("utilization<=1%", "link.queue.limit", ["no value meets utilization <= 0.01", "link.queue.limit"]),
        ("idle_fraction", "link.queue.limit", ["no target", "accepted: METRIC<=BOUND or METRIC>=BOUND"]),
    ] {
        let shorter = ["--set", "duration=4s"];
        let arguments = [&["sweep", "one.toml", "--target", target, "--over", key][..], &shorter].concat();
        let ended = place.run(&arguments);
        // It tells how far it is, on a slow machine.
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(words.iter().all(|word| ended.err.contains(word)), "{}", ended.err);
    }
}

/// Forty servers send to one client at once (incast): one seed in three loses a last packet and waits for a timeout.
const INCAST: &str = r#"title = "incast"
[link]
rate = "1Gbit/s"
delay = "50us"
queue = { limit = "128 packets" }
[[flow]]
name = "s"
count = 40
size = "64kB"
control = "cubic"
host = "linux"
"#;

#[test]
fn a_value_whose_interval_holds_the_bound_is_undecided_and_called_so() {
    let place = Place::new();
    place.write("incast.toml", INCAST);
    let arguments =
        ["sweep", "incast.toml", "--target", "flows.s-1.completion_s<=50ms", "--over", "link.queue.limit"];
    let found = place.run(&[&arguments[..], &["--json"]].concat()).well().json()[0]["found"].clone();
    let (mean, half) = (found["mean"].as_f64().unwrap(), found["ci95"].as_f64().unwrap());
    assert_eq!(found["decided"], (mean - 0.05).abs() > half, "{found}");
    let told = place.run(&arguments).well();
    assert_eq!(told.out.contains(", undecided "), found["decided"] == false, "{}", told.out);
    if found["decided"] == false {
        assert!(told.err.contains("is undecided: in the mean it meets"), "{}", told.err);
        let sure = &found["sure"];
        let above = sure["mean"].as_f64().unwrap() + sure["ci95"].as_f64().unwrap();
        assert!(
            above <= 0.05 && sure["room"]["packets"].as_u64() > found["room"]["packets"].as_u64(),
            "{found}"
        );
    }
}

#[test]
fn a_run_without_a_value_misses_and_is_counted() {
    let place = Place::new();
    place.write(
        "one.toml",
        format!("{ONE}size = \"3MB\"\n").replace("20s", "2s").replace("warmup = \"2s\"\n", ""),
    );
    let arguments =
        ["sweep", "one.toml", "--target", "flows.flow.completion_s<=2s", "--over", "link.queue.limit"];
    let json = [&arguments[..], &["--json", "--set", "link.queue.limit=1 packets"]].concat();
    let found = place.run(&json).well().json()[0]["found"].clone();
    assert!(found["runs_without_value"].as_u64().unwrap() >= 4, "{found}");
    assert!(found["mean"].as_f64().unwrap() <= 2.0, "{found}");
    // A flow that never ends meets nothing.
    let never = [&arguments[..], &["--set", "flow.size=300MB"]].concat();
    place
        .run(&never)
        .failed(2, &["no value meets flows.flow.completion_s <= 2", "4 of 4 runs have no value"]);
}
