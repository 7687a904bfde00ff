//! The traces that the program carries: they are those of their generator, and the presets that use them have sensible
//! answers.

#[path = "../examples/make_traces.rs"]
#[expect(dead_code, reason = "the main function of the program")]
mod make_traces;

use scenario::Document;
use std::fs;
use std::sync::Arc;
use tightlink_lab::run::engine::{UNWATCHED, run};
use tightlink_lab::run::record::{Engine, Summary};
use tightlink_lab::run::resolve::{InMemory, resolve};
use tightlink_lab::study::figures::presets;
use tightlink_lab::study::task::Task;

#[test]
fn carried_traces_are_those_that_the_generator_makes() {
    for (name, content) in make_traces::traces() {
        let kept = fs::read_to_string(testkit::repository().join("traces").join(name)).unwrap();
        assert!(kept == content, "{name}: run cargo run -p tightlink-lab --example make_traces");
        assert!(kept.len() < 200_000, "{name}");
    }
}

/// Returns the results of a preset's points in the simulator, in order.
fn simulated(preset: &str) -> Vec<Summary> {
    let all = presets().unwrap();
    let document = Arc::new(all.into_iter().find(|found| found.id == preset).expect(preset).document);
    let points: Vec<_> = document.sweep().unwrap().points().collect();
    let answer = |point| {
        let task = Task::at(&document, point).unwrap_or_else(|faults| panic!("{faults}"));
        run(Engine::Sim, &task.resolved, UNWATCHED).unwrap_or_else(|error| panic!("{error}")).summary
    };
    points.into_iter().map(answer).collect()
}

fn delay(summary: &Summary) -> f64 {
    summary.queueing_delay_s.unwrap().percentiles.p95.unwrap()
}

#[test]
fn a_deep_queue_fills_the_cellular_link_and_waits_ten_times_as_long_as_codel() {
    let runs = simulated("lte");
    let (deep, codel) = (&runs[0], &runs[1]);
    assert!(deep.utilization.unwrap() > 0.99, "{:?}", deep.utilization);
    assert!(codel.utilization.unwrap() > 0.3 && codel.utilization < deep.utilization);
    assert!(delay(deep) > 10.0 * delay(codel), "{} {}", delay(deep), delay(codel));
    // The mean of the trace: what the link offers in a period.
    let offered = deep.offered_bps.unwrap();
    assert!((offered / 4.68e6 - 1.0).abs() < 0.01, "{offered}");
}

#[test]
fn satellites_and_wifi_carry_most_of_what_they_offer() {
    for preset in ["starlink", "wifi-changing"] {
        for summary in simulated(preset) {
            let utilization = summary.utilization.unwrap();
            assert!((0.5..=1.0).contains(&utilization), "{preset}: {utilization}");
            assert!(summary.self_inflicted_delay_s.is_some(), "{preset}");
        }
    }
}

#[test]
fn a_carried_trace_needs_no_folder_and_an_unknown_one_is_refused_with_the_names() {
    let link = |trace: &str| {
        let text = format!(
            "title = 't'\nduration = '9s'\n[link]\nrate = {{ trace = '{trace}' }}\ndelay = '9ms'\n\
             queue.limit = '9 packets'\n[[flow]]\n"
        );
        let scenario = Document::parse("x.toml", &text).unwrap().scenario().unwrap();
        resolve(&scenario, &InMemory::default()).map_err(|complaints| complaints.to_string())
    };
    assert!(link("tightlink:lte.down").unwrap().changes());
    let refused = link("tightlink:lte.up").unwrap_err();
    for words in ["no such trace", "tightlink:lte.down, tightlink:starlink.csv, tightlink:wifi.csv"] {
        assert!(refused.contains(words), "{refused}");
    }
}
