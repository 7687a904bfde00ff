//! `[sweep]`.

mod common;

use common::{SCENARIO, says};
use tightlink_scenario::{Document, Limit, Sweep};
use units::Span;

fn document(sweep: &str) -> Document {
    Document::parse("x.toml", &format!("{SCENARIO}[sweep]\n{sweep}\n")).unwrap()
}

fn sweep(text: &str) -> Sweep {
    document(text).sweep().unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    says(&document(text).sweep().expect_err("a fault").to_string(), words);
}

#[test]
fn the_first_axis_varies_slowest() {
    let sweep = sweep("\"link.queue.limit\" = [\"1 bdp\", \"2 bdp\"]\n\"flow.count\" = [1, 2, 3]");
    let points: Vec<String> = sweep.points().map(|point| format!("{} {}", point[0].1, point[1].1)).collect();
    assert_eq!(points, ["1 bdp 1", "1 bdp 2", "1 bdp 3", "2 bdp 1", "2 bdp 2", "2 bdp 3"]);
    assert_eq!(sweep.len(), 6);
    let keys: Vec<&str> = sweep.axes().iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(keys, ["link.queue.limit", "flow.count"]);
}

#[test]
fn axes_that_are_set_keep_their_order_after_those_of_the_file() {
    let mut document = document("\"flow.target.rtt\" = [\"20ms\", \"30ms\"]");
    for (key, values) in [
        ("sweep.\"link.queue.limit\"", "['1 bdp']"),
        ("sweep.seed", "[1]"),
        ("sweep.\"link.delay\"", "['5ms']"),
    ] {
        document.set(key, values).unwrap();
    }
    let sweep = document.sweep().unwrap();
    let keys: Vec<&str> = sweep.axes().iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(keys, ["flow.target.rtt", "link.queue.limit", "seed", "link.delay"]);
}

#[test]
fn a_document_without_sweep_is_one_point() {
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    let sweep = document.sweep().unwrap();
    assert_eq!((sweep.len(), sweep.points().collect::<Vec<_>>()), (1, vec![vec![]]));
    assert_eq!(document.at(&[]).unwrap().scenario().unwrap(), document.scenario().unwrap());
}

#[test]
fn a_point_puts_its_values_in_place() {
    let document = document(
        "link.delay = ['5ms', '6ms']\nflow.target.rtt = ['20ms', { exponential = '2s' }]\n\"flow.0.count\" = [4]\nlink.queue = [{ limit = '1 bdp' }]",
    );
    let sweep = document.sweep().unwrap();
    let points: Vec<_> = sweep.points().collect();
    assert_eq!(points.len(), 4);
    assert_eq!(points[1][1], ("flow.target.rtt".to_owned(), "{ exponential = '2s' }".to_owned()));
    let at = document.at(&points[2]).unwrap();
    assert_eq!(at.sweep().unwrap().len(), 1, "the sweep is gone");
    let scenario = at.scenario().unwrap();
    assert_eq!(scenario.links[0].delay, Span::from_millis(6).into());
    assert_eq!(scenario.links[0].queue.limit, Limit::Bdp(1.0));
    assert_eq!(scenario.flows[0].count, 4);
}

#[test]
fn points_beyond_the_sweep_are_overrides() {
    let point = [("link.delay".to_owned(), "7ms".to_owned())];
    let scenario = document("").at(&point).unwrap().scenario().unwrap();
    assert_eq!(scenario.links[0].delay, Span::from_millis(7).into());
    assert!(document("").at(&[("flow.x.rtt".to_owned(), "1s".to_owned())]).is_err());
}

#[test]
fn a_fault_at_a_point_shows_the_element_of_the_sweep() {
    let document = document("\"link.queue.limit\" = [\"1 bdp\", \"2 bpd\"]");
    let point = document.sweep().unwrap().points().nth(1).unwrap();
    let faults = document.at(&point).unwrap().scenario().unwrap_err();
    assert_eq!(
        faults.to_string(),
        "x.toml:10:35: link.queue.limit: unknown unit \"bpd\"
  10 | \"link.queue.limit\" = [\"1 bdp\", \"2 bpd\"]
     |                                   ^^^
  accepted: the room for waiting packets, such as \"250 packets\", \"512kB\", \"40ms\" or \"0.25 bdp\"
  help: did you mean \"2 bdp\"?"
    );
}

#[test]
fn swept_keys_exist() {
    refused(
        "\"link.queue.limt\" = ['1 bdp']",
        &[
            "x.toml:10:1: sweep.\"link.queue.limt\": unknown key \"limt\"",
            "accepted: kind, limit",
            "did you mean \"limit\"?",
        ],
    );
    refused("\"bogus\" = [1]", &["unknown key \"bogus\"", "accepted: title, source, seed"]);
    refused("\"link.rate.x\" = [1]", &["unknown key \"x\""]);
    refused("\"sweep\" = [1]", &["unknown key \"sweep\""]);
    refused("\"flow.targt.rtt\" = ['1s']", &["no flow is named \"targt\"", "did you mean \"target\"?"]);
    refused("\"traffic.rate\" = ['1Mbit/s']", &["the scenario has no [[traffic]]"]);
    refused("\"flow..rtt\" = ['1s']", &["an empty step"]);
}

#[test]
fn swept_keys_can_be_set_at_every_point() {
    let text = SCENARIO.replace("[link]", "[link]\nqueue = 'far'").replace("queue.limit", "# queue.limit");
    let text = format!("{text}[sweep]\n\"link.queue.limit\" = ['9 packets']\n");
    let document = Document::parse("x.toml", &text).unwrap();
    says(
        &document.sweep().expect_err("a fault").to_string(),
        &["sweep.\"link.queue.limit\"", "within \"far\""],
    );
    let queue = "\"link.queue\" = ['far', { limit = '9 packets' }]";
    for (inner, outer) in [("link.queue.limit", "link.queue"), ("link.0.queue.kind", "link.queue")] {
        let part = format!("sweep.\"{inner}\": a part of what \"{outer}\" varies");
        refused(&format!("\"{inner}\" = ['9 packets']\n{queue}"), &[&part]);
        refused(&format!("{queue}\n\"{inner}\" = ['9 packets']"), &[&part]);
    }
    refused("\"flow.rtt\" = ['9ms']\n\"flow.0.rtt\" = ['8ms']", &["what \"flow.rtt\" varies", "each once"]);
}

#[test]
fn axes_are_lists_with_something_in_them() {
    refused("\"link.delay\" = []", &["x.toml:10:16: sweep.\"link.delay\": an empty list"]);
    refused("\"link.delay\" = '5ms'", &["sweep.\"link.delay\": \"5ms\"", "help: write [\"5ms\"]"]);
    refused("\"link.delay\" = ['5ms', '6ms', '5ms']", &["\"5ms\" for the second time"]);
    let text = SCENARIO.replace("title = 't'", "title = 't'\nsweep = 3");
    let faults = Document::parse("x.toml", &text).unwrap().sweep().unwrap_err();
    assert!(faults.to_string().contains("sweep: the integer 3"), "{faults}");
}

#[test]
fn a_sweep_of_too_many_points_says_how_many() {
    let values: Vec<String> = (1..=400).map(|value| value.to_string()).collect();
    let list = values.join(", ");
    refused(
        &format!("\"seed\" = [{list}]\n\"flow.count\" = [{list}]"),
        &["x.toml:9:1: sweep: 400 x 400 = 160000 points", "at most 100000 points"],
    );
    let keys = [
        "seed",
        "flow.count",
        "flow.delayed_ack",
        "flow.initial_window",
        "flow.byte_counting",
        "flow.quick_ack",
        "link.loss",
        "link.delay",
    ];
    let axes: Vec<String> = keys.iter().map(|key| format!("\"{key}\" = [{list}]")).collect();
    refused(&axes.join("\n"), &["more points than can be counted"]);
}
