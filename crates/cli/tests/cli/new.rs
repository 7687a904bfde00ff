//! `tightlink new`.

use crate::place::Place;
use std::fs;

#[test]
fn what_is_written_runs_and_is_not_overwritten() {
    let place = Place::new();
    let ended = place.run(&["new", "-o", "mine.toml"]).well();
    assert_eq!((ended.out.as_str(), ended.err.contains("mine.toml: written")), ("", true));
    place.run(&["run", "mine.toml", "-s", "duration=12s", "-o", "none"]).well();
    let text = fs::read_to_string(place.path().join("mine.toml")).unwrap();
    assert_eq!(place.run(&["new"]).well().out, text, "to standard output");
    place.run(&["new", "quick", "-o", "mine.toml"]).failed(2, &["mine.toml: a file of this name exists"]);
    assert_eq!(fs::read_to_string(place.path().join("mine.toml")).unwrap(), text);
}

#[test]
fn presets_and_figures_are_found_by_their_names() {
    let place = Place::new();
    assert!(place.run(&["new", "list"]).well().out.contains("who-wins"));
    assert!(place.run(&["new", "sobas:fig1-4"]).well().out.contains("source = \"sobas:fig1-4\""));
    place.run(&["new", "quik"]).failed(2, &["no preset is called \"quik\"", "did you mean \"quick\"?"]);
}

#[test]
fn a_preset_with_a_carried_trace_runs_from_any_folder() {
    let place = Place::new();
    let text = place.run(&["new", "lte"]).well().out;
    assert!(text.contains("trace = \"tightlink:lte.down\""), "{text}");
    place.write("mine.toml", &text);
    let runs =
        place.run(&["run", "mine.toml", "-s", "duration=14s", "-s", "link.queue.kind=codel", "--json"]);
    let summary = runs.well().summaries().remove(0);
    assert!(summary["utilization"].as_f64().unwrap() > 0.3, "{summary}");
}

#[test]
fn a_figure_without_its_paper_is_suggested_with_it() {
    Place::new().run(&["figure", "fig1-4"]).failed(2, &["did you mean \"sobas:fig1-4\"?"]);
}

#[test]
fn rates_of_other_tools_are_read() {
    let place = Place::small();
    let rate = |typed: &str| {
        let set = format!("link.rate={typed}");
        let summary = place.run(&["run", "small.toml", "--json", "-s", &set]).well().summaries().remove(0);
        summary["scenario_hash"].clone()
    };
    let ours = rate("5Mbit/s");
    for theirs in ["5M", "5mbit", "5Mbit", "5Mbps"] {
        assert_eq!(rate(theirs), ours, "{theirs}");
    }
    place
        .run(&["run", "small.toml", "-s", "link.rate=1e6Mbit/s"])
        .failed(2, &["numbers have no exponent: write \"1000000Mbit/s\""]);
}
