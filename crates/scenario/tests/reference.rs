//! The schema and its page say what the readers do.

use std::path::Path;
use tightlink_scenario::reference::{KeyMatch, defaults, look_up, page, reasons_without_default, rows};
use tightlink_scenario::{DefaultValue, Document, Faults};

/// A scenario that has every table.
const TEXT: &str = "title = 't'
duration = '60s'
[link]
rate = '10Mbit/s'
queue = { limit = '90 packets' }
shaper = { rate = '95%' }
[[flow]]
socket_buffer = { sizer = 'drs' }
rtt = { pareto = { shape = 1.2, mean = '40ms' } }
[[traffic]]
kind = 'cbr'
rate = '1Mbit/s'
[live]
[record]
";

/// A cell that has every table.
const CELL: &str = "title = 't'
duration = '60s'
[wlan]
phy = '802.11g'
rate = '54Mbit/s'
queue = { limit = '90 packets', sizing = { rule = 'a*' } }
backhaul = { rate = '100Mbit/s', queue.limit = '90 packets' }
[[station]]
[[flow]]
station = 'station-1'
";

fn with(key: &str, value: &str) -> Result<(), Faults> {
    let cell =
        ["wlan", "station", "flow.category", "flow.ack_category"].iter().any(|start| key.starts_with(start));
    let mut document = Document::parse("x.toml", if cell { CELL } else { TEXT })?;
    document.set(key, value)?;
    document.scenario().map(drop)
}

#[test]
fn the_page_is_made_from_the_schema() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    if std::env::var_os("TIGHTLINK_WRITE").is_some() {
        std::fs::write(&file, page()).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&file).expect("docs/reference/scenario.md");
    assert!(
        written == page(),
        "docs/reference/scenario.md is not that of the schema\n  help: \
         TIGHTLINK_WRITE=1 cargo test -p tightlink-scenario --test reference"
    );
}

#[test]
fn a_type_of_words_names_those_that_the_reader_takes() {
    for row in rows().iter().filter(|row| row.key.kind.starts_with("`\"") && !row.key.kind.contains(" or ")) {
        // A congestion control, a PHY or a queue is known to others, a figure is read on its own.
        if ["assist", "phy"].contains(&row.key.name)
            || row.path == "flow.direction"
            || row.path.starts_with("figure")
        {
            continue;
        }
        let Err(faults) = with(&row.path, "zzz") else { panic!("{} takes any word", row.path) };
        // Other types than words stand behind a semicolon.
        let words = row.key.kind.split(';').next().expect("a first part");
        assert_eq!(
            faults.as_slice()[0].complaint.accepted,
            words.replace('`', "").replace(", in a cell", ""),
            "{}",
            row.path
        );
    }
}

#[test]
fn a_type_of_whole_numbers_has_the_bounds_of_the_reader() {
    let mut checked = 0;
    for row in rows() {
        let Some((least, most)) =
            row.key.kind.strip_prefix("whole number, ").and_then(|range| range.split_once(" to "))
        else {
            continue;
        };
        // A figure and users are not in this scenario, and a queue's bounds are its policy's.
        if row.path.starts_with("figure") || row.path.starts_with("link.queue") || row.key.kinds == "engset" {
            continue;
        }
        let Err(faults) = with(&row.path, "true") else { panic!("{} takes true", row.path) };
        let accepted = format!("a whole number from {least} to {most}");
        assert_eq!(faults.as_slice()[0].complaint.accepted, accepted, "{}", row.path);
        checked += 1;
    }
    assert!(checked >= 8, "{checked}");
}

#[test]
fn a_switch_takes_true_and_false() {
    for row in rows().iter().filter(|row| row.key.kind == "`true`, `false`" && row.key.kinds.is_empty()) {
        let Err(faults) = with(&row.path, "7") else { panic!("{} takes 7", row.path) };
        assert_eq!(faults.as_slice()[0].complaint.accepted, "true or false", "{}", row.path);
    }
}

#[test]
fn a_key_that_must_be_there_is_missed() {
    let document = Document::parse("x.toml", "[link]\n[[flow]]\n[[traffic]]\nkind = 'on-off'").unwrap();
    let Err(faults) = document.scenario() else { panic!("it has no title") };
    for key in ["title", "link.rate", "link.queue", "traffic[0].rate", "traffic[0].peak", "traffic[0].burst"]
    {
        assert!(
            faults.iter().any(|fault| fault.complaint.place == key
                && fault.complaint.found == "missing"
                && !fault.complaint.accepted.is_empty()),
            "{key}: {faults}"
        );
    }
}

#[test]
fn a_kind_of_traffic_has_the_keys_that_name_it() {
    let kinds = ["cbr", "poisson", "on-off", "replay", "engset"];
    for row in rows().iter().filter(|row| row.path.starts_with("traffic.") && row.key.name != "kind") {
        for kind in kinds {
            let text = format!("[[traffic]]\nkind = '{kind}'\n{} = true\n", row.key.name);
            let Err(faults) = Document::parse("x.toml", &text).and_then(|document| document.scenario())
            else {
                panic!("it has no title")
            };
            let misplaced =
                faults.iter().any(|fault| fault.complaint.found.starts_with("this key belongs to kind"));
            // A population of users has the start of a flow: when a user begins to think.
            let has = row.key.kinds.is_empty()
                || row.key.kinds.split(' ').any(|has| has == kind)
                || (kind == "engset" && row.key.name == "start");
            assert_eq!(misplaced, !has, "{} of {kind}", row.path);
        }
    }
}

#[test]
fn every_key_says_what_it_is() {
    for row in rows() {
        let key = row.key;
        assert!(!key.kind.is_empty() && !key.meaning.is_empty(), "{}", row.path);
        assert!(!key.meaning.ends_with('.'), "{}", row.path);
        for engine in key.engines.split(' ').chain(key.refused_by.split_terminator(' ')) {
            assert!(["model", "sim", "live"].contains(&engine), "{}: {engine}", row.path);
        }
        assert!(!matches!(key.default, DefaultValue::Words("")), "{}", row.path);
    }
}

#[test]
fn every_default_has_a_reason_and_a_source() {
    let silent: Vec<String> = defaults()
        .into_iter()
        .filter(|default| default.reason.is_none_or(|(why, from)| why.is_empty() || from.is_empty()))
        .map(|default| default.path)
        .collect();
    assert!(silent.is_empty(), "no `why` and `from` for {}", silent.join(", "));
    let more = reasons_without_default();
    assert!(more.is_empty(), "a `why` without a default: {}", more.join(", "));
}

#[test]
fn a_key_is_found_by_its_path_its_name_or_a_part() {
    for word in ["flow.sack_compression", "sack_compression"] {
        let KeyMatch::Key(row) = look_up(word) else { panic!("{word}") };
        assert_eq!(row.path, "flow.sack_compression");
    }
    // Where a table stands in a second place, its keys are found there, too.
    assert!(matches!(look_up("traffic.think.exponential"), KeyMatch::Key(_)));
    let KeyMatch::Parts(rows) = look_up("rate") else { panic!("several keys have a rate") };
    let paths: Vec<_> = rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.first(), Some(&"link.rate"));
    assert!(
        paths.contains(&"flow.access_rate") && paths.iter().all(|path| path.contains("rate")),
        "{paths:?}"
    );
    let KeyMatch::Nothing(Some(help)) = look_up("delayed_akc") else { panic!("it is misspelt") };
    assert_eq!(help, "did you mean \"delayed_ack\"?");
    assert!(matches!(look_up("colour"), KeyMatch::Nothing(None)));
}
