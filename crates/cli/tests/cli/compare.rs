//! `tightlink compare`.

use crate::place::{Place, SMALL, SWEEP};
use serde_json::Value;
use std::fs;

/// The data a report page draws.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"report-data\">").expect("the page carries its data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

#[test]
fn the_report_has_every_engine_in_every_case() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let ended =
        place.run(&["compare", "sweep.toml", "--engines", "sim,model", "--report", "page.html"]).well();
    assert_eq!(ended.out.lines().last(), Some("report: page.html"));
    let rows: Vec<&str> = ended.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        rows,
        ["engine", "limit", "model", "sim", "cross", "limit", "model", "sim", "cross", "report:"]
    );

    let page = data(&fs::read_to_string(place.path().join("page.html")).unwrap());
    let cases = page["cases"].as_array().unwrap();
    assert_eq!(
        cases.iter().map(|case| &case["label"]).collect::<Vec<_>>(),
        ["limit = 1 bdp", "limit = 2 bdp"]
    );
    for case in cases {
        let engines: Vec<&Value> =
            case["summaries"].as_array().unwrap().iter().map(|one| &one["engine"]).collect();
        assert_eq!(engines, ["model", "sim"]);
        for kind in ["rate", "rtt", "window", "backlog"] {
            let chart =
                case["charts"].as_array().unwrap().iter().find(|chart| chart["kind"] == kind).expect(kind);
            for engine in ["model", "sim"] {
                let drawn =
                    |trace: &&Value| trace["engine"] == engine && !trace["y"].as_array().unwrap().is_empty();
                assert!(
                    chart["traces"].as_array().unwrap().iter().any(|trace| drawn(&trace)),
                    "{kind} of {engine}"
                );
            }
        }
    }
}

#[test]
fn samples_before_the_first_rtt_are_gaps_in_the_page() {
    let place = Place::small();
    let arguments =
        ["compare", "small.toml", "--engines", "sim", "--report", "page.html", "--set", "flow.start=1s"];
    place.run(&arguments).well();
    let page = data(&fs::read_to_string(place.path().join("page.html")).unwrap());
    let chart =
        page["cases"][0]["charts"].as_array().unwrap().iter().find(|chart| chart["kind"] == "rtt").unwrap();
    let values = chart["traces"][0]["y"].as_array().unwrap();
    assert!(values[0].is_null() && values.last().unwrap().is_number(), "nothing is known at first");
    let range: Vec<f64> =
        chart["range"].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
    assert!(range[0] < range[1], "{range:?}");
}

#[test]
fn json_is_one_object_per_engine_and_point_and_nothing_else() {
    let place = Place::new();
    place.write("sweep.toml", format!("{SMALL}{SWEEP}"));
    let ended = place.run(&["compare", "sweep.toml", "--engines", "model,sim", "--json"]).well();
    let lines = ended.json();
    let engines: Vec<&Value> = lines.iter().map(|line| &line["engine"]).collect();
    assert_eq!(engines, ["model", "sim", "model", "sim"]);
    for (index, line) in lines.iter().enumerate() {
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["engine", "point", "summary"], "{line}");
        let limit = ["1 bdp", "2 bdp"][index / 2];
        assert_eq!(line["point"], serde_json::json!({ "link.queue.limit": limit }));
        assert_eq!(line["engine"], line["summary"]["engine"]);
    }
    assert!(ended.err.contains("report: results/"), "{}", ended.err);
}

/// [`SMALL`] with users in place of the flow, of which no theory can say anything.
fn users_alone() -> String {
    let flow = "[[flow]]\nname = \"target\"\ncontrol = \"reno\"\nsocket_buffer = \"20kB\"\n";
    let users = "[[traffic]]\nkind = \"engset\"\nname = \"people\"\nusers = 3\nsession = \"9 packets\"\n\
                 think = { exponential = \"1s\" }\nrtt = \"20ms\"\n";
    assert!(SMALL.contains(flow));
    format!("{}{SWEEP}", SMALL.replace(flow, users))
}

#[test]
fn an_engine_that_cannot_answer_is_named_once_with_its_reason() {
    let place = Place::new();
    place.write("users.toml", users_alone());
    let ended = place.run(&["compare", "users.toml", "--engines", "model,sim"]).well();
    assert_eq!(ended.err.matches("no answer from model").count(), 1, "{}", ended.err);
    assert!(!ended.out.contains("model"), "{}", ended.out);
}

#[test]
fn what_the_model_assumes_against_the_scenario_is_told_once_in_table_lines_and_page() {
    let place = Place::new();
    place.write("two.toml", format!("{SMALL}{SWEEP}").replace("\"reno\"", "\"cubic\""));
    let broken = "mft: cubic is taken for Reno";
    let ended = place.run(&["compare", "two.toml", "--engines", "model,sim", "--report", "page.html"]).well();
    let rows = ended.out.lines().filter(|line| line.trim_start().starts_with("model* ")).count();
    assert_eq!(rows, 2, "{}", ended.out);
    assert_eq!(ended.out.matches(broken).count(), 1, "{}", ended.out);
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains(broken) && page.contains("under broken assumptions"));
    assert!(!page.contains("furthest from the model"), "nothing is measured against it");
    let lines = place.run(&["run", "two.toml", "--engine", "model", "--json"]).well().summaries();
    assert!(
        lines.iter().all(|line| line["assumptions"][0].as_str().is_some_and(|told| told.starts_with(broken)))
    );
}

#[test]
fn a_scenario_no_engine_can_answer_is_refused_before_anything_is_made() {
    let place = Place::new();
    place.write("sweep.toml", users_alone());
    let ended = place.run(&["compare", "sweep.toml", "--engines", "model,live"]);
    let words = [
        "no engine can answer this scenario",
        "model: users that come and go (engset)",
        "live: users that come and go (engset)",
    ];
    ended.failed(2, &words);
    assert_eq!(ended.err.matches("model: ").count(), 1, "each reason once:\n{}", ended.err);
    assert_eq!(place.files().len(), 1, "nothing but the scenario");
}

#[test]
fn the_default_report_is_named_after_the_result_or_the_scenario() {
    let place = Place::small();
    place.run(&["compare", "small.toml", "--engines", "model"]).well();
    place.run(&["compare", "small.toml", "--engines", "model", "--set", "source=a:b/../c"]).well();
    let pages: Vec<String> = fs::read_dir(place.path().join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".html"))
        .collect();
    assert_eq!(pages.len(), 2, "{pages:?}");
    assert!(pages.contains(&"a-b----c.html".to_owned()), "{pages:?}");
}
