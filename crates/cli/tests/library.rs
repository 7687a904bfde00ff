//! The library as another program calls it.

use std::ops::ControlFlow;
use tightlink::{
    Document, Engine, ErrorKind, Event, Experiment, Flow, InMemory, Run, Scenario, Unwatched, Watch,
};

fn scenario() -> Scenario {
    let path = Scenario::link("10Mbit/s", "5ms").limit("1 bdp").duration("3s");
    path.flow(Flow::reno().rtt("20ms")).build().expect("a scenario")
}

#[test]
fn a_run_in_memory_has_the_numbers_of_the_same_text() {
    let text = scenario().to_toml();
    let document = Document::parse("x.toml", &text).expect("TOML");
    let by_text = Experiment::in_memory(&document).expect("a scenario").engines([Engine::Sim]);
    let by_text = by_text.run(&mut Unwatched).expect("an answer").swap_remove(0).records.swap_remove(0);
    let record = scenario().run(Engine::Sim).expect("an answer");
    assert_eq!(record.summary.flows[0].goodput_bps, by_text.summary.flows[0].goodput_bps);
    assert_eq!(record.summary.scenario_hash, by_text.summary.scenario_hash);
    assert!(!record.series.flows.is_empty());
}

#[test]
fn errors_have_kinds_and_keys() {
    let refused = scenario().with("flow.rtt", "1ms").expect_err("less than the link's delay");
    let error = tightlink::Error::from(refused);
    assert_eq!((error.kind, error.complaints[0].place.as_str()), (ErrorKind::Usage, "flow[0].rtt"));
    assert!(error.to_string().starts_with("flow[0].rtt: ") && error.faults.is_none(), "{error}");

    let unknown = scenario().sweep(Engine::Sim, "link.queue.kind", ["codel", "codle"]).expect_err("a queue");
    assert_eq!(unknown.kind, ErrorKind::Usage);
    assert_eq!(unknown.complaints[0].place, "link.queue.kind");
    assert!(!unknown.to_string().contains(".toml"), "it has no text of its own: {unknown}");

    // Text has places.
    let faults = Scenario::from_toml("title = 't'\n[link]\nrate = '1Mbits'\n").expect_err("much is missing");
    let error = tightlink::Error::from(faults);
    assert!(error.to_string().contains(":3:10: link.rate: unknown unit"), "{error}");
    assert!(error.faults.is_some_and(|faults| faults.as_slice().len() == error.complaints.len()));

    // An engine that is not made for it.
    let network = scenario().with("link.reverse", "{ queue.limit = '9 packets' }").expect("a scenario");
    assert_eq!(network.run(Engine::Live).expect_err("no kernel has it").kind, ErrorKind::Engine);
    let document = Document::parse("x.toml", &network.to_toml()).expect("TOML");
    let experiment = Experiment::in_memory(&document).expect("a scenario").engines([Engine::Live]);
    let error = tightlink::Error::from(experiment.run(&mut Unwatched).expect_err("no kernel has it"));
    assert_eq!(error.kind, ErrorKind::Engine);
    assert!(error.faults.is_some(), "it came from text");
}

#[test]
fn traces_come_from_memory() {
    let path = Scenario::link("10Mbit/s", "5ms").limit("1 bdp").duration("3s").flow(Flow::reno());
    let scenario =
        path.traffic("replay", &[("file", &"cross.csv"), ("repeat", &true)]).build().expect("a scenario");
    let files = InMemory::default().with("cross.csv", "time_ms,size\n0,500\n1,500\n2,500\n");
    let record = scenario.run_with(Engine::Sim, &files).expect("an answer");
    assert!((4e6..7e6).contains(&record.summary.goodput_bps()), "{}", record.summary.goodput_bps());
    let error = scenario.run(Engine::Sim).expect_err("no such file on disk");
    assert_eq!(error.complaints[0].place, "traffic[0].file");
}

/// Stops at once.
struct Impatient;

impl Watch for Impatient {
    fn on_event(&mut self, _event: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_watch_stops_a_sweep_in_memory() {
    let experiment = scenario().experiment(&[("seed", &[1u64, 2, 3])]).expect("an experiment");
    assert_eq!(experiment.tasks().len(), 3);
    let error = tightlink::Error::from(experiment.sweep(Engine::Sim, &mut Impatient).expect_err("stopped"));
    assert_eq!(error.kind, ErrorKind::Stopped);
    assert_eq!(error.to_string(), "stopped when 0 of 3 runs were finished");
}

#[test]
fn the_size_of_a_buffer_is_found_in_memory() {
    let sizing = scenario().size().expect("a limit");
    // A lone Reno flow needs a bandwidth-delay product, 17 packets, at least.
    assert!((17..100).contains(&sizing.recommended.packets), "{}", sizing.recommended.packets);
    assert!(sizing.recommended.utilization > 0.9);
}
