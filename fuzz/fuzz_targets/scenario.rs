// libFuzzer: -max_len=1500 -dict=scenario -runs=1/4
//! Scenario files, and the text that a scenario is written to. Input: the text, then a zero byte before each `key=value` of a `--set`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Document, Fault, Faults, Scenario};
use tightlink_fuzz::ready;

const FILE: &str = "x.toml";

fuzz_target!(init: ready(), |input: &[u8]| {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut parts = input.split('\0');
    let text = parts.next().unwrap_or_default();
    let mut document = match Document::parse(FILE, text) {
        Ok(document) => document,
        Err(faults) => return check(&faults, text),
    };
    for (key, value) in parts.filter_map(|change| change.split_once('=')) {
        if let Err(faults) = document.set(key.trim(), value.trim()) {
            check(&faults, text);
        }
    }
    match document.scenario() {
        Ok(scenario) => {
            assert_eq!(scenario.hash().len(), 16);
            let again = Scenario::from_toml(&scenario.to_toml());
            assert_eq!(again.unwrap_or_else(|faults| panic!("{faults}")), scenario);
        }
        Err(faults) => check(&faults, text),
    }
    if let Err(faults) = document.figure() {
        check(&faults, text);
    }
    match document.sweep() {
        Ok(sweep) => {
            assert!((1..=100_000).contains(&sweep.len()));
            for point in sweep.points().take(2) {
                let at = document.at(&point).expect("a point of the sweep");
                if let Err(faults) = at.scenario() {
                    check(&faults, text);
                }
                let _ = document.text_at(&point);
            }
        }
        Err(faults) => check(&faults, text),
    }
});

fn check(faults: &Faults, text: &str) {
    assert!(!faults.as_slice().is_empty());
    for fault in faults {
        lies_in(fault, text);
        assert!(!fault.complaint.found.is_empty());
        let shown = fault.to_string();
        assert!(shown.starts_with(&fault.origin.to_string()));
        assert!(
            !shown.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')),
            "{shown:?}"
        );
    }
    assert!(faults.to_string().lines().count() > 0);
}

/// The text of the fault's place stands there.
fn lies_in(fault: &Fault, text: &str) {
    let origin = &fault.origin;
    if origin.file() != Some(FILE) {
        assert!(origin.file().is_none() && origin.to_string() == "--set");
        return;
    }
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let line = starts.clone().nth(origin.line() - 1).expect("a line of the text");
    let mut places = text[line..].char_indices().map(|(at, _)| at).chain([text.len() - line]);
    let at = line + places.nth(origin.column() - 1).expect("a column of the text");
    assert!(!text[line..at].contains('\n'), "within the line");
    assert!(text[at..].starts_with(origin.text()));
}
