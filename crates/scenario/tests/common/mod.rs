//! What several test files need: sound beginnings of scenarios, and faults in words.
#![expect(dead_code, reason = "each test binary uses a part")]

use tightlink_scenario::{Document, Faults};

pub const TOP: &str = "title = 't'\nduration = '60s'\n";
pub const LINK: &str = "[link]\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\n";
/// A whole scenario, but for further tables.
pub const SCENARIO: &str = "title = 't'
duration = '60s'
[link]
rate = '10Mbit/s'
delay = '5ms'
queue.limit = '9 packets'
[[flow]]
name = 'target'
";

/// What is wrong with a text.
#[track_caller]
pub fn faults(text: &str) -> Faults {
    match Document::parse("x.toml", text).and_then(|document| document.scenario()) {
        Ok(scenario) => panic!("no fault in {scenario:?}"),
        Err(faults) => faults,
    }
}

/// The one fault of a text, rendered.
#[track_caller]
pub fn fault(text: &str) -> String {
    let faults = faults(text);
    assert_eq!(faults.as_slice().len(), 1, "{faults}");
    faults.to_string()
}

/// The one fault of a sound scenario with this flow.
#[track_caller]
pub fn in_flow(keys: &str) -> String {
    fault(&format!("{TOP}{LINK}delay = '10ms'\n[[flow]]\n{keys}\n"))
}

/// The one fault of a sound scenario with these further tables.
#[track_caller]
pub fn further(text: &str) -> String {
    fault(&format!("{TOP}{LINK}[[flow]]\n{text}\n"))
}

#[track_caller]
pub fn says(fault: &str, words: &[&str]) {
    for word in words {
        assert!(fault.contains(word), "{word:?} is not in:\n{fault}");
    }
}
