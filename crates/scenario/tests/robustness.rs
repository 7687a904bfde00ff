//! No text makes the reader panic, and every fault prints.

use proptest::prelude::*;
use tightlink_scenario::Document;

const SOUND: &str = "title = 't'
seed = 3
duration = '60s'
warmup = '1s'
[[link]]
rate = '10Mbit/s'
delay = '5ms'
queue = { kind = 'drop-tail', limit = '0.25 bdp' }
loss = '1%'
[[flow]]
name = 'target'
count = 2
rtt = ['20ms', '30ms']
start = { uniform = ['0s', '1s'] }
socket_buffer = '400kB'
[[flow]]
rtt = { pareto = { shape = 1.2, mean = '100ms' } }
[[traffic]]
kind = 'on-off'
rate = '1Mbit/s'
peak = '2Mbit/s'
burst = '50ms'
[[traffic]]
kind = 'engset'
users = 9
session = { uniform = ['1 packets', '200 packets'] }
think = { exponential = '2s' }
[[traffic]]
kind = 'replay'
file = 'trace.csv'
[record]
columns = ['rate']
[sweep]
\"link.queue.limit\" = ['1 bdp', '2 bdp']
flow.target.count = [2]
";

/// Reads all there is to read and prints what is wrong with it.
fn read(text: &str) {
    match Document::parse("x.toml", text) {
        Ok(document) => walk(&document),
        Err(faults) => assert!(!faults.to_string().is_empty()),
    }
}

fn walk(document: &Document) {
    match document.scenario() {
        Ok(scenario) => assert_eq!(scenario.hash().len(), 16),
        Err(faults) => assert!(
            faults.as_slice().iter().all(|fault| fault.to_string().contains(&fault.origin.to_string()))
        ),
    }
    match document.sweep() {
        Ok(sweep) => {
            for point in sweep.points().take(3) {
                if let Ok(at) = document.at(&point) {
                    drop(at.scenario());
                }
            }
        }
        Err(faults) => assert!(!faults.to_string().is_empty()),
    }
}

/// Pieces of scenarios, in any order.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[link]\n".to_owned()),
        Just("[[link]]\n".to_owned()),
        Just("[[flow]]\n".to_owned()),
        Just("[[traffic]]\n".to_owned()),
        Just("[sweep]\n".to_owned()),
        Just("[record]\n".to_owned()),
        (key(), value()).prop_map(|(key, value)| format!("{key} = {value}\n")),
        (key(), value()).prop_map(|(key, value)| format!("\"{key}\" = [{value}, {value}]\n")),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let words = [
        "title",
        "duration",
        "warmup",
        "link",
        "flow",
        "traffic",
        "rate",
        "delay",
        "queue",
        "limit",
        "kind",
        "rtt",
        "count",
        "name",
        "size",
        "start",
        "uniform",
        "pareto",
        "shape",
        "mean",
        "exponential",
        "peak",
        "burst",
        "0",
        "1",
        "target",
        "record",
        "every",
        "columns",
        "sweep",
        "socket_buffer",
        "segment",
        "users",
        "session",
        "think",
        "file",
        "shape",
        "loss",
        "seed",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 1..4).prop_map(|words| words.join("."))
}

fn value() -> impl Strategy<Value = String> {
    let words = [
        "'20ms'",
        "'0s'",
        "'10Mbit/s'",
        "'-5kB'",
        "'0.25 bdp'",
        "'250 packets'",
        "'1e9 packets'",
        "'99999999999 bdp'",
        "'cbr'",
        "'on-off'",
        "'engset'",
        "'replay'",
        "'9 packets'",
        "'max'",
        "''",
        "' '",
        "'\u{e9}\u{1F600}ms'",
        "1",
        "0",
        "-1",
        "1.5",
        "nan",
        "-inf",
        "true",
        "1979-05-27",
        "[]",
        "{}",
        "['20ms', '30ms']",
        "{ uniform = ['2s', '1s'] }",
        "18446744073709551615",
        "9999999999999999999999999999999999999999999999999999",
        "'340282366920938463463374607431 packets'",
        "10Mbit/s",
        "\"\\u0000\\n\"",
        "'''\n20\nxs'''",
        "{ pareto = { shape = 1e308, mean = '584y' } }",
        "'18446744073709551615ns'",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,100}") {
        read(&text);
    }

    #[test]
    fn no_pieces_of_scenarios_make_it_panic(pieces in prop::collection::vec(piece(), 0..20)) {
        read(&pieces.concat());
    }

    #[test]
    fn no_damage_to_a_sound_file_makes_it_panic(at in 0..SOUND.len(), length in 0..20usize, text in "[\\PC\n]{0,6}") {
        let end = (at + length).min(SOUND.len());
        let bytes = [&SOUND.as_bytes()[..at], text.as_bytes(), &SOUND.as_bytes()[end..]].concat();
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_override_makes_it_panic(key in prop_oneof![key(), "\\PC{0,20}"], value in prop_oneof![value(), "\\PC{0,20}"]) {
        let mut document = Document::parse("x.toml", SOUND).unwrap();
        match document.set(&key, &value) {
            Ok(()) => walk(&document),
            Err(faults) => prop_assert!(faults.to_string().starts_with("--set: ")),
        }
        drop(document.fault(&key, value, "", None).to_string());
    }

    #[test]
    fn overrides_follow_each_other(sets in prop::collection::vec((key(), value()), 1..6)) {
        let mut document = Document::parse("x.toml", SOUND).unwrap();
        for (key, value) in sets {
            drop(document.set(&key, &value));
        }
        walk(&document);
    }
}

#[test]
fn deep_nesting_is_refused_rather_than_followed() {
    for text in [
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
    ] {
        assert!(Document::parse("x.toml", &text).is_err());
    }
    let mut document = Document::parse("x.toml", SOUND).unwrap();
    assert!(document.set("title", &"[".repeat(100_000)).is_err());
    assert!(document.set(&"a.".repeat(100_000), "1").is_err());
}

#[test]
fn a_large_file_of_rubbish_is_refused_soon() {
    let lines = "this is no scenario at all\n".repeat(20_000);
    let faults = Document::parse("x.toml", &lines).unwrap_err();
    assert!(faults.as_slice().len() <= 100);
    let text = faults.to_string();
    assert!(text.lines().count() <= 24, "more than a screen:\n{text}");
    assert!(text.lines().last().unwrap().starts_with("… and "), "the rest is counted:\n{text}");
}
