//! A scenario as data is resolved without its text: complaints have the paths of keys, and files may lie in memory.

use scenario::{Document, Scenario};
use tightlink_lab::run::resolve::{InMemory, Resolved, resolve, resolve_document};
use units::Complaint;

fn scenario(more: &str) -> Scenario {
    let text = format!(
        "title = 't'\nduration = '2s'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '50 packets'\n\
         [[flow]]\nrtt = '40ms'\n{more}"
    );
    Document::parse("x.toml", &text).and_then(|document| document.scenario()).expect("a scenario")
}

fn refused(scenario: &Scenario) -> Vec<Complaint> {
    let complaints = resolve(scenario, &InMemory::default()).map(|_| ()).expect_err("a complaint");
    complaints.into_iter().collect()
}

#[test]
fn a_scenario_in_memory_resolves_as_its_text_does() {
    let text = include_str!("../../../scenarios/presets/two-way.toml");
    let document = Document::parse("two-way.toml", text).expect("TOML");
    let by_text = resolve_document(&document).expect("a scenario");
    let by_data = resolve(&document.scenario().expect("a scenario"), &InMemory::default()).expect("the same");
    let shown = |resolved: &Resolved| format!("{resolved:?}");
    assert_eq!(shown(&by_text), shown(&by_data));
}

#[test]
fn complaints_have_the_paths_of_keys() {
    let mut wrong = scenario("[[flow]]\nname = 'other'\nrtt = '40ms'\n");
    wrong.flows[1].control = "vegan".into();
    wrong.links[0].queue.kind = "codle".into();
    let complaints = refused(&wrong);
    let places: Vec<&str> = complaints.iter().map(|complaint| complaint.place.as_str()).collect();
    assert_eq!(places, ["flow[1].control", "link.queue.kind"]);
    assert_eq!(complaints[1].help.as_deref(), Some("did you mean \"codel\"?"));
}

#[test]
fn traces_are_read_from_memory() {
    let replayed = scenario("[[traffic]]\nkind = 'replay'\nfile = 'a.csv'\n");
    let trace = b"time_ms,size\n0,1000\n500,1000\n1000,1000\n";
    let resolved = resolve(&replayed, &InMemory::default().with("a.csv", trace)).expect("a trace");
    assert_eq!(resolved.traffic[0].name, "replay");
    let other = resolve(&replayed, &InMemory::default().with("a.csv", b"time_ms,size\n0,900\n1000,900\n"));
    assert_ne!(other.expect("a trace").hash, resolved.hash, "the content counts, not the name");
    let complaint = &refused(&replayed)[0];
    assert_eq!(complaint.place, "traffic[0].file");
    assert!(complaint.found.contains("a.csv: no such file"), "{complaint}");
}
