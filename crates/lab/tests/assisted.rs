//! Routers that tell senders, as a scenario names them.

use scenario::Document;
use tightlink_lab::run::engine::{UNWATCHED, check, run};
use tightlink_lab::run::record::Engine;
use tightlink_lab::run::resolve::resolve_document;

const XCP: &str = "
title = 't'
duration = '10s'
warmup = '5s'
[link]
rate = '20Mbit/s'
delay = '10ms'
queue = { limit = '1 bdp' }
assist = 'xcp'
[[flow]]
name = 'a'
control = 'xcp'
count = 2
";

fn refusal(text: &str) -> String {
    let resolved = Document::parse("x.toml", text).and_then(|document| resolve_document(&document));
    resolved.expect_err("refused").to_string()
}

fn refused(right: &str, found: &str, words: &[&str]) {
    let text = XCP.replacen(right, found, 1);
    let said = refusal(&text);
    for word in words {
        assert!(said.contains(word), "{word:?} is not in:\n{said}");
    }
}

#[test]
fn a_control_needs_its_router() {
    let help = "write assist = \"xcp\" in its [link], or choose another control";
    refused("assist = 'xcp'", "", &["flow[0].control", "does not assist it", help]);
    refused("assist = 'xcp'", "assist = 'rcp'", &["flow[0].control", "does not assist it", help]);
}

#[test]
fn a_router_s_part_is_known_and_its_link_the_only_one() {
    refused("assist = 'xcp'", "assist = 'xpc'", &["link.assist: unknown assist \"xpc\"", "xcp, rcp"]);
    let reverse = "assist = 'xcp'\nreverse = { queue = { limit = '1 bdp' } }";
    refused("assist = 'xcp'", reverse, &["link.assist", "one [link] without reverse"]);
}

#[test]
fn a_scenario_with_its_router_runs_without_loss_or_queue() {
    let document = Document::parse("x.toml", XCP).expect("TOML");
    let record = run(Engine::Sim, &resolve_document(&document).expect("right"), UNWATCHED).expect("runs");
    let summary = record.summary;
    assert_eq!(summary.loss_rate, Some(0.0));
    assert!(summary.utilization.expect("known") > 0.95, "{:?}", summary.utilization);
    assert!(summary.jain_index.expect("known") > 0.99, "{:?}", summary.jain_index);
    let misfit =
        check(Engine::Live, &resolve_document(&document).expect("right")).expect_err("refused").to_string();
    let why =
        if cfg!(feature = "kernel") { "this kernel has no control \"xcp\"" } else { "leaves the kernel out" };
    assert!(misfit.contains(why), "{misfit}");
}
