//! Users that come and go, and traces, from a scenario's text to the summary.

use scenario::Document;
use std::fs;
use std::path::Path;
use tightlink_lab::run::engine::{self, EngineError};
use tightlink_lab::run::record::Engine;
use tightlink_lab::run::resolve::resolve_document;

const TOP: &str = "title = 't'\nduration = '60s'\nwarmup = '10s'\n[link]\nrate = '16Mbit/s'\n\
                   queue.limit = '40 packets'\n";
const USERS: &str = "[[traffic]]\nkind = 'engset'\nusers = 50\nsession = { uniform = ['1 packets', '200 packets'] }\n\
                     think = { exponential = '2s' }\nsegment = '500B'\nrtt = '100ms'\n";

fn document(folder: &Path, text: &str) -> Document {
    Document::parse(&folder.join("x.toml").display().to_string(), text).unwrap()
}

#[test]
fn users_alone_make_a_scenario_that_only_the_simulator_runs() {
    let resolved = resolve_document(&document(Path::new(""), &format!("{TOP}{USERS}"))).unwrap();
    let summary = engine::run(Engine::Sim, &resolved, engine::UNWATCHED).unwrap().summary;
    let users = &summary.sessions[0];
    assert_eq!((users.name.as_str(), users.users, summary.flows.len()), ("engset", 50, 0));
    assert!(users.completed > 100 && users.mean_active > 1.0 && users.mean_active < 50.0);
    // What users get, the link has sent: 460 of 500 bytes are payload.
    let share = summary.goodput_bps() / 16e6 * 500.0 / 460.0;
    assert!((share / summary.utilization.unwrap() - 1.0).abs() < 0.05, "{share}");
    let kernel = cfg!(feature = "kernel").then_some(Engine::Live);
    for engine in [Engine::Model].into_iter().chain(kernel) {
        let Err(EngineError::CannotAnswer(misfit)) = engine::run(engine, &resolved, engine::UNWATCHED) else {
            panic!("{engine} answered")
        };
        assert_eq!(misfit.complaint.place, "traffic[0].kind");
    }
}

#[test]
fn a_flow_beside_users_shares_the_link_with_them() {
    let with = |users: &str| {
        let text = format!("{TOP}[[flow]]\nrtt = '100ms'\n{users}");
        let resolved = resolve_document(&document(Path::new(""), &text)).unwrap();
        engine::run(Engine::Sim, &resolved, engine::UNWATCHED).unwrap().summary
    };
    let (alone, beside) = (with(""), with(USERS));
    assert!(alone.sessions.is_empty());
    assert!(beside.flows[0].goodput_bps < 0.8 * alone.flows[0].goodput_bps);
    assert!(serde_json::to_value(&alone).unwrap().get("sessions").is_none());
}

#[test]
fn a_trace_is_read_from_beside_the_scenario_and_is_part_of_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        format!("{TOP}[[flow]]\nrtt = '20ms'\n[[traffic]]\nkind = 'replay'\nfile = 't.csv'\nrepeat = true\n");
    let document = document(folder.path(), &text);
    let faults = resolve_document(&document).unwrap_err().to_string();
    assert!(
        faults.contains("x.toml:11:8: traffic[0].file:") && faults.contains("t.csv: No such file"),
        "{faults}"
    );
    // 1000 bytes each millisecond: 8 Mbit/s.
    fs::write(folder.path().join("t.csv"), "time_ms,size\n0,1000\n1,1000\n2,1000\n").unwrap();
    let resolved = resolve_document(&document).unwrap();
    assert_eq!(resolved.unresponsive().as_bps_f64(), 8e6);
    let summary = engine::run(Engine::Sim, &resolved, engine::UNWATCHED).unwrap().summary;
    let goodput = summary.flows[0].goodput_bps;
    assert!((6e6..8e6).contains(&goodput), "{goodput}");
    fs::write(folder.path().join("t.csv"), "time_ms,size\n0,1000\n1,1001\n2,1000\n\n").unwrap();
    assert_ne!(resolve_document(&document).unwrap().hash, resolved.hash);
    fs::write(folder.path().join("t.csv"), "time_ms,size\n0,1000\n-1,1000\n").unwrap();
    let faults = resolve_document(&document).unwrap_err().to_string();
    assert!(faults.contains("t.csv:3: the time \"-1\""), "{faults}");
    fs::write(folder.path().join("t.csv"), "time_ms,size\n5,1000\n5,1000\n").unwrap();
    let faults = resolve_document(&document).unwrap_err().to_string();
    assert!(faults.contains("all packets at one instant") && faults.contains("repeat = false"), "{faults}");
}

#[test]
fn names_in_users_tables_are_looked_up_as_those_of_flows() {
    let text = format!("{TOP}{USERS}control = 'vegan'\n");
    let faults = resolve_document(&document(Path::new(""), &text)).unwrap_err().to_string();
    assert!(faults.contains("traffic[0].control: unknown congestion control \"vegan\""), "{faults}");
}
