//! `tightlink sweep --target … --over …`: the smallest value that meets a target.

use crate::place::Place;

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
fn a_metric_that_rises_with_the_key_is_refused() {
    let place = place();
    for (target, key) in [
        ("utilization=50%", "link.rate"),
        ("idle_fraction=1%", "link.delay"),
        ("utilization=50%", "link.queue.limit"),
    ] {
        let words = ["rises with ", key, "accepted: a metric that falls as the key grows"];
        place.run(&["sweep", "one.toml", "--target", target, "--over", key]).failed(2, &words);
    }
}
