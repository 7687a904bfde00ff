//! Scenarios made in code: drafts, defaults, complaints with keys, and the text of a scenario.

use proptest::prelude::*;
use std::fs;
use tightlink_scenario::reference::rows;
use tightlink_scenario::{
    Column, Complaints, Document, Flow, Limit, Link, Queue, Scenario, SocketBuffer, Spread,
};
use units::{Rate, Span};

/// Scenarios that together have every table.
const BASES: [&str; 3] = [
    "title = 't'
duration = '60s'
[link]
rate = '10Mbit/s'
delay = '1us'
queue = { limit = '90 packets' }
shaper = { rate = '5Mbit/s' }
reverse = { queue.limit = '90 packets' }
[[flow]]
[[traffic]]
kind = 'cbr'
rate = '1Mbit/s'
",
    "title = 'several'
duration = '60s'
[[link]]
rate = '10Mbit/s'
queue = { limit = '90 packets' }
[[link]]
name = 'b'
rate = '10Mbit/s'
queue = { limit = '0.25 bdp' }
[[flow]]
count = 2
rtt = { pareto = { shape = 1.2, mean = '40ms' } }
socket_buffer = { sizer = 'drs' }
host = 'linux'
control = 'cubic'
[[flow]]
name = 'other'
rtt = '90ms'
path = ['b']
pause = '1ms'
slow_start = 'limited'
[[flow]]
name = 'scalable'
control = 'prague'
[[traffic]]
kind = 'replay'
file = 'trace.csv'
[[traffic]]
name = 'steady'
kind = 'on-off'
rate = '1Mbit/s'
peak = '2Mbit/s'
burst = '50ms'
[[traffic]]
kind = 'engset'
users = 9
session = { uniform = ['1 packets', '200 packets'] }
think = { exponential = '2s' }
",
    "title = 'a cell'
duration = '60s'
[wlan]
phy = '802.11g'
rate = '54Mbit/s'
queue = { limit = '90 packets', sizing = { rule = 'a*' }, airtime_limits = {} }
backhaul = { rate = '100Mbit/s', queue.limit = '90 packets' }
[[station]]
count = 2
[[station]]
name = 'a'
count = 3
[[station]]
name = 'b'
saturated = '1500B'
[[station]]
[[flow]]
station = 'a-*'
count = 2
",
];

/// Values of every kind, as `--set` takes them.
const VALUES: &[&str] = &[
    "true",
    "false",
    "0",
    "1",
    "2",
    "3",
    "7",
    "15",
    "100",
    "1000",
    "0.5",
    "1.25",
    "1e-9",
    "0.3333333333333333",
    "20",
    "1ns",
    "1us",
    "33.000001ms",
    "2s",
    "1h",
    "1bit/s",
    "11Mbit/s",
    "7.000000001Gbit/s",
    "54Mbit/s",
    "1B",
    "999B",
    "64kB",
    "5MB",
    "1MiB",
    "3 packets",
    "1000000 packets",
    "0.125 bdp",
    "1e3 packets",
    "0.5%",
    "12.345678901234567%",
    "100%",
    "max",
    "autotuned",
    "unlimited",
    "linux",
    "rfc",
    "b",
    "link-1",
    "a-1",
    "b*",
    "a \"quoted\" one",
    "'a \\ and { } # = text'",
    "\"two\\nlines\\u0001\"",
    "ünïcödé",
    "['20ms', '30ms']",
    "['20ms']",
    "[]",
    "{}",
    "{ uniform = ['1ms', '3s'] }",
    "{ pareto = { shape = 1.5, mean = '300ms', draw = 'quantiles' } }",
    "{ exponential = '90ms' }",
    "{ exponential = '7kB' }",
    "{ pareto = { shape = 2, mean = '9 packets' } }",
    "{ sizer = 'sobas', max = '1MB', regret = 0.05 }",
    "['data', 'rate']",
    "['link-1']",
    "['b']",
    "['link-1', 'b']",
    "['a-3', 'b']",
    "{ rule = 'ebdp', target = '10ms' }",
    "{ rule = 'fixed' }",
    "{ rule = 'alt', fewest = 2 }",
    "{ high = '20ms' }",
    "198.18.0.0/15",
];

#[track_caller]
fn read(text: &str) -> Scenario {
    Scenario::from_toml(text).unwrap_or_else(|faults| panic!("{faults}\nin:\n{text}"))
}

#[track_caller]
fn comes_back(scenario: &Scenario) {
    let text = scenario.to_toml();
    let again = read(&text);
    assert_eq!(&again, scenario, "\n{text}");
    assert_eq!(again.hash(), scenario.hash(), "\n{text}");
    assert_eq!(again.to_toml(), text);
}

/// A key of all tables of its name; then of each of the first three.
fn paths(path: &str) -> Vec<Vec<String>> {
    let one = match path.split_once('.') {
        Some((section @ ("flow" | "traffic" | "station"), key)) => {
            (0..3).map(|at| format!("{section}.{at}.{key}")).collect()
        }
        _ => Vec::new(),
    };
    vec![vec![path.to_owned()], one]
}

/// The words that a key's type names.
fn words(kind: &str) -> impl Iterator<Item = String> + '_ {
    kind.split("`\"").skip(1).filter_map(|rest| rest.split_once('"').map(|(word, _)| word.to_owned()))
}

/// Sets all values that there are, and returns how many of them change the scenario; each comes back from its text.
fn values_that_come_back(base: &str, paths: &[String], kind: &str) -> usize {
    let document = Document::parse("x.toml", base).unwrap();
    let before = document.scenario().unwrap();
    let mut changes = 0;
    for path in paths {
        for value in VALUES.iter().map(|value| (*value).to_owned()).chain(words(kind)) {
            let mut document = document.clone();
            let Ok(scenario) = document.set(path, &value).and_then(|()| document.scenario()) else {
                continue;
            };
            comes_back(&scenario);
            changes += usize::from(scenario != before);
        }
    }
    changes
}

#[test]
fn every_value_of_every_key_comes_back_from_its_text() {
    let mut unchanged = Vec::new();
    for row in rows().iter().filter(|row| !row.path.starts_with("figure") && row.path != "sweep") {
        let mut changes = 0;
        for paths in paths(&row.path) {
            // Some values change one table only, or can stand in one only.
            if changes == 0 {
                changes = BASES.iter().map(|base| values_that_come_back(base, &paths, row.key.kind)).sum();
            }
        }
        // A table has no value of its own; the keys within it do.
        if changes == 0 && !row.key.kind.contains("table") {
            unchanged.push(row.path.clone());
        }
    }
    assert_eq!(unchanged, Vec::<String>::new());
}

#[test]
fn every_scenario_of_the_project_comes_back_from_its_text() {
    let found = testkit::files(&testkit::repository().join("scenarios"), "toml");
    assert!(found.len() > 60, "{} files", found.len());
    for file in found {
        let name = file.display().to_string();
        let document = Document::parse(&name, &fs::read_to_string(&file).unwrap()).unwrap();
        let sweep = document.sweep().unwrap();
        let step = sweep.len().div_ceil(20);
        for point in sweep.points().step_by(step) {
            comes_back(&document.at(&point).unwrap().scenario().unwrap_or_else(|faults| panic!("{faults}")));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn values_of_several_keys_come_back_from_their_text(
        base in 0..BASES.len(),
        sets in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..40),
    ) {
        let rows = rows();
        let mut document = Document::parse("x.toml", BASES[base]).unwrap();
        for (row, value) in sets {
            let row = &rows[row.index(rows.len())];
            let mut values: Vec<String> = VALUES.iter().map(|value| (*value).to_owned()).collect();
            values.extend(words(row.key.kind));
            let mut changed = document.clone();
            if changed.set(&row.path, &values[value.index(values.len())]).is_ok() && changed.scenario().is_ok() {
                document = changed;
            }
        }
        comes_back(&document.scenario().unwrap());
    }

    #[test]
    fn numbers_come_back_from_their_text(
        rate in 1u64.., delay in 0..u64::MAX / 2, seed: u64, share in 0.0..1.0f64, bdp in 1e-12..1e12f64,
        title in "\\PC{1,40}", name in "[^\\pC]{1,20}",
    ) {
        prop_assume!(!title.trim().is_empty() && !name.trim().is_empty());
        let mut scenario = read(BASES[0]);
        (scenario.seed, scenario.title) = (seed, title);
        scenario.flows[0].name = name;
        scenario.flows[0].rtt = Some(Spread::All(Span::from_nanos(delay) * 2));
        let link = &mut scenario.links[0];
        (link.rate, link.delay) = (Rate::from_bps(rate).into(), Span::from_nanos(delay).into());
        (link.loss, link.queue.limit) = (units::Fraction::new(share).unwrap().into(), Limit::Bdp(bdp));
        // A title is shown on one line, and only what can be read comes back.
        if let Ok(checked) = scenario.checked() {
            comes_back(&checked);
        }
    }

    #[test]
    fn no_text_makes_a_scenario_that_is_no_toml(text in any::<String>(), number in any::<f64>()) {
        let mut scenario = read(BASES[1]);
        scenario.title = text.clone();
        scenario.source = Some(text.clone());
        scenario.links[0].name = text.clone();
        scenario.links[0].queue.limit = Limit::Bdp(number);
        scenario.flows[0].control = text.clone();
        scenario.flows[0].path = vec![text.clone()];
        scenario.flows[0].socket_buffer =
            SocketBuffer::Sized { sizer: text.clone(), max: units::Bytes::ZERO, regret: None };
        scenario.flows[0].start = Spread::Pareto { shape: number, mean: Span::ZERO };
        drop(scenario.checked());
        let draft = Scenario::link(text.as_str(), number).flow(Flow::new(text.as_str()).set(&text, text.as_str()));
        drop(draft.set(&text, text.as_str()).build());
    }
}

#[test]
fn a_draft_is_the_scenario_of_the_same_text() {
    let draft = Scenario::link("20Mbit/s", Span::from_millis(10))
        .limit("0.5 bdp")
        .queue("codel")
        .of_link("queue.target", "3ms")
        .flow(Flow::cubic().rtt("40ms").set("host", "linux"))
        .flow(Flow::new("bbr").set("path", ["link-1"]).count(2).size("5MB").set("rtt", ["30ms", "50ms"]))
        .traffic("cbr", &[("rate", &"1Mbit/s"), ("start", &Span::from_secs(1))])
        .duration("30s")
        .seed(7)
        .set("record.columns", Vec::<String>::new());
    let text = "title = '20Mbit/s, 10ms'
duration = '30s'
seed = 7
[link]
rate = '20Mbit/s'
delay = '10ms'
queue = { kind = 'codel', limit = '0.5 bdp', target = '3ms' }
[[flow]]
control = 'cubic'
rtt = '40ms'
host = 'linux'
[[flow]]
control = 'bbr'
count = 2
size = '5MB'
rtt = ['30ms', '50ms']
[[traffic]]
kind = 'cbr'
rate = '1Mbit/s'
start = '1s'
[record]
columns = []
";
    assert_eq!(draft.build().unwrap(), read(text));
}

#[test]
fn a_draft_meets_the_checks_of_a_file_and_names_keys() {
    let draft = Scenario::link("20Mbits", "10ms")
        .limit("half a bdp")
        .flow(Flow::cubic().rtt("10ms").set("contrl", "x").set("a..b", 1u64))
        .duration("1s");
    let key = draft.clone().build().unwrap_err();
    assert_eq!(key.as_slice()[0].place, "flow[0].a..b");
    let draft = Scenario::link("20Mbits", "10ms")
        .limit("half a bdp")
        .flow(Flow::cubic().rtt("10ms").set("contrl", "x"))
        .duration("1s");
    let complaints = draft.build().unwrap_err();
    let places: Vec<&str> = complaints.as_slice().iter().map(|complaint| complaint.place.as_str()).collect();
    assert_eq!(places, ["link.rate", "link.queue.limit", "flow[0].rtt", "flow[0].contrl"]);
    let text = complaints.to_string();
    assert!(text.contains("link.rate: unknown unit \"Mbits\"\n  accepted: a rate"), "{text}");
    assert!(text.contains("help: did you mean \"control\"?"), "{text}");
}

#[test]
fn a_scenario_of_plain_data_is_checked_and_gets_its_names_and_paths() {
    let mut link = Link::default();
    (link.rate, link.queue.limit) = (Rate::from_bps(20_000_000).into(), Limit::Packets(9));
    let mut scenario = Scenario::default();
    scenario.title = "in code".to_owned();
    scenario.duration = Some(Span::from_secs(5));
    scenario.links = vec![link];
    scenario.flows = vec![Flow::default(), Flow::default()];
    let checked = scenario.checked().unwrap();
    let names: Vec<&str> = checked.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["flow", "flow-2"]);
    assert_eq!(checked.flows[1].path, ["link-1"]);
    assert_eq!(checked.checked().unwrap(), checked);

    let wider = checked.with("link.queue.limit", "12 packets").unwrap();
    assert_eq!(wider.links[0].queue.limit, Limit::Packets(12));
    let refused = checked.with("flow.flow-3.rtt", "1s").unwrap_err();
    assert!(refused.to_string().contains("no flow is named \"flow-3\""), "{refused}");

    scenario.flows[1].rtt = Some(Spread::All(Span::ZERO));
    scenario.links[0].delay = Span::from_millis(1).into();
    scenario.links[0].rate = Rate::ZERO.into();
    let complaints = scenario.checked().unwrap_err();
    let text = complaints.to_string();
    assert!(text.contains("link.rate: a rate of zero: nothing would pass"), "{text}");
    assert!(text.contains("flow[1].rtt: an RTT of 0ns, less than the links' delay"), "{text}");
    // The same complaints have lines where there is a text.
    let document = Document::of(&scenario);
    let faults = document.faults(complaints.clone());
    assert!(faults.to_string().contains("scenario.toml:5:8: link.rate"), "{faults}");
    assert_eq!(Complaints::from(faults), complaints);
}

#[test]
fn nothing_that_must_be_written_has_a_default_that_passes() {
    let complaints = Scenario::default().checked().unwrap_err();
    let places: Vec<&str> = complaints.as_slice().iter().map(|complaint| complaint.place.as_str()).collect();
    assert_eq!(places, ["link", "flow", "title"]);
    assert_eq!(Queue::default().kind, "drop-tail");
    assert_eq!(Scenario::default().seed, 1);
    assert_eq!(Scenario::default().record.columns.len(), 5);
    assert!(!Scenario::default().record.columns.contains(&Column::Data));
}

#[test]
fn the_text_leaves_out_defaults_and_takes_the_nearer_host() {
    let scenario = read(BASES[1]);
    let text = scenario.to_toml();
    let expected = "title = \"several\"
duration = \"60s\"

[[link]]
rate = \"10Mbit/s\"
queue = { limit = \"90 packets\" }

[[link]]
name = \"b\"
rate = \"10Mbit/s\"
queue = { limit = \"0.25 bdp\" }

[[flow]]
name = \"flow\"
host = \"linux\"
control = \"cubic\"
count = 2
rtt = { pareto = { shape = 1.2, mean = \"40ms\" } }
socket_buffer = { sizer = \"drs\", max = \"6MB\" }

[[flow]]
name = \"other\"
rtt = \"90ms\"
slow_start = \"limited\"
pause = \"1ms\"
path = [\"b\"]
";
    assert!(text.starts_with(expected), "{text}");
}
