//! The list of metrics: each number of a summary is in it once, and is read as the summary has it.

use scenario::Document;
use serde_json::Value;
use std::collections::BTreeSet;
use tightlink_lab::run::engine;
use tightlink_lab::run::metric::{
    FLOW, GROUP, LINK, Metric, OVER_ALL, RUN, STATION, TRAFFIC, USERS, Unit, all, described, numbers, value,
};
use tightlink_lab::run::record::{Departures, Engine, Summary};
use tightlink_lab::study::task::tasks;

/// What a run cost, which no two runs agree on; the seed, which is a name; and other runs.
const NO_METRIC: [&str; 4] = ["wall_s", "peak_rss_bytes", "seed", "repeats"];

/// A network, users, a sized flow: every kind of number.
const SCENARIO: &str = "title = 't'
duration = '8s'
warmup = '1s'
record.fairness = '1s'
[[link]]
name = 'a'
rate = '20Mbit/s'
delay = '5ms'
queue.limit = '0.3 bdp'
reverse = { rate = '2Mbit/s', queue.limit = '1 bdp' }
[[link]]
name = 'b'
rate = '16Mbit/s'
delay = '10ms'
queue.limit = '0.3 bdp'
[[flow]]
name = 'first'
rtt = '60ms'
[[flow]]
name = 'second'
rtt = '60ms'
size = '1MB'
[[traffic]]
name = 'web'
kind = 'engset'
users = 5
rtt = '60ms'
session = '20kB'
think = { exponential = '500ms' }
[[traffic]]
name = 'calls'
kind = 'cbr'
rate = '80kbit/s'
packet = '200B'
";

/// A link with a shaper.
const SHAPED: &str = "title = 't'
duration = '4s'
[link]
rate = '10Mbit/s'
queue.limit = '500 packets'
shaper = { rate = '95%' }
[[flow]]
name = 'one'
rtt = '40ms'
[[flow]]
name = 'other'
rtt = '40ms'
size = '100kB'
[[flow]]
name = 'third'
rtt = '40ms'
";

/// A wireless cell whose limit moves.
const CELL: &str = "title = 't'
duration = '4s'
[wlan]
phy = '802.11g'
rate = '54Mbit/s'
queue = { limit = '99 packets', sizing = { rule = 'ebdp' } }
backhaul = { rate = '100Mbit/s', queue.limit = '99 packets' }
[[station]]
[[flow]]
station = 'station-1'
";

fn summary(scenario: &str) -> Summary {
    let document = Document::parse("t.toml", scenario).unwrap();
    let task = tasks(&document).unwrap().remove(0);
    let mut summary = engine::run(Engine::Sim, &task.resolved, engine::UNWATCHED).unwrap().summary;
    // Only programs on real packets are late.
    let late = Some(Departures { mean: 2e-6, p99: 3e-5 });
    summary.flows.iter_mut().for_each(|flow| flow.departure_late_s = late);
    // Only DualPI2 has classes.
    (summary.l4s_delay_s, summary.classic_delay_s) = (summary.queueing_delay_s, summary.queueing_delay_s);
    summary
}

/// The paths of what may be a number in JSON, and what it is; of a list each entry by its name.
fn leaves(path: &str, json: &Value, found: &mut Vec<(String, Option<f64>)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match json {
        Value::Number(number) => found.push((path.to_owned(), number.as_f64())),
        Value::Null => found.push((path.to_owned(), None)),
        Value::Object(entries) => entries.iter().for_each(|(key, inner)| leaves(&below(key), inner, found)),
        Value::Array(items) => {
            for item in items {
                let behind = match (item["direction"].as_str(), item["category"].as_str()) {
                    (Some("reverse"), _) => ".reverse".to_owned(),
                    (_, Some(category)) => format!(".{category}"),
                    _ => String::new(),
                };
                leaves(&below(&format!("{}{behind}", item["name"].as_str().unwrap())), item, found);
            }
        }
        Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn each_number_of_a_summary_is_a_metric_and_is_read_as_it_stands_there() {
    let mut all_found = Vec::new();
    for scenario in [SCENARIO, CELL, SHAPED] {
        let summary = summary(scenario);
        let mut found = Vec::new();
        leaves("", &serde_json::to_value(&summary).unwrap(), &mut found);
        found.retain(|(path, _)| !NO_METRIC.contains(&path.split('.').next().unwrap()));
        assert!(found.len() > 40, "{found:?}");
        for (path, number) in &found {
            assert!(described(path).is_some(), "{path} is in no list of metric.rs");
            assert_eq!(value(&summary, path), *number, "{path}");
        }
        for key in numbers(&summary) {
            assert!(value(&summary, &key).is_some(), "{key}");
        }
        all_found.extend(found);
    }
    let found = all_found;
    let in_json: BTreeSet<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    let of_run = RUN.iter().map(|known| known.metric.key).filter(|key| !OVER_ALL.contains(key));
    let of = |list: &str, keys: Vec<&str>| keys.iter().map(|key| format!("{list}.{key}")).collect::<Vec<_>>();
    let named = [
        of("flows.first", FLOW.iter().map(|known| known.metric.key).collect()),
        of("traffic.calls", TRAFFIC.iter().map(|known| known.metric.key).collect()),
        of("links.a.reverse", LINK.iter().map(|known| known.metric.key).collect()),
        of("sessions.web", USERS.iter().map(|known| known.metric.key).collect()),
        of("wlan.stations.station-1.be", STATION.iter().map(|known| known.metric.key).collect()),
    ];
    for key in of_run.map(str::to_owned).chain(named.concat()) {
        assert!(in_json.contains(key.as_str()), "{key} is not in a summary");
    }
}

#[test]
fn names_stand_once_and_say_their_unit() {
    fn once<'a>(metrics: impl Iterator<Item = &'a Metric>) {
        let mut names = BTreeSet::new();
        for metric in metrics {
            assert!(names.insert(metric.key), "{} stands twice", metric.key);
            assert!(metric.column == metric.key || names.insert(metric.column), "{}", metric.column);
            let said = metric.key.split('.').find_map(|part| match Unit::of_name(part) {
                (_, Unit::Number) => None,
                (_, unit) => Some(unit),
            });
            let said = said.map_or("1", Unit::in_files);
            let counts = metric.whole && !metric.key.contains("_packets.");
            assert!(counts || said == metric.unit.in_files(), "{}: {said}", metric.key);
        }
    }
    once(RUN.iter().map(|known| &known.metric));
    once(FLOW.iter().map(|known| &known.metric));
    once(GROUP.iter().map(|known| &known.metric));
    once(TRAFFIC.iter().map(|known| &known.metric));
    once(LINK.iter().map(|known| &known.metric));
    once(USERS.iter().map(|known| &known.metric));
    once(STATION.iter().map(|known| &known.metric));
}

/// The list as the reference has it.
fn table() -> String {
    let mut text = "| key | unit | better | older column | meaning |\n|---|---|---|---|---|\n".to_owned();
    for (key, metric) in all() {
        let (unit, shown) = (metric.unit.in_files(), metric.unit.shown());
        let unit =
            if shown.is_empty() || shown == unit { unit.to_owned() } else { format!("{unit} ({shown})") };
        // Columns of flows and users came with their keys.
        let new = ["flows.", "sessions.", "traffic."].iter().any(|list| key.starts_with(list));
        let older = metric.column != metric.key && !new;
        let older =
            if older { format!("`{}`", key.replace(metric.key, metric.column)) } else { String::new() };
        text += &format!("| `{key}` | {unit} | {} | {older} | {} |\n", metric.better, metric.words);
    }
    text
}

#[test]
fn the_reference_has_the_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/metrics.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let (before, rest) = guide.split_once("<!-- metrics -->\n").expect("the mark before the list");
    let (listed, after) = rest.split_once("<!-- end of metrics").expect("the mark after the list");
    if std::env::var_os("TIGHTLINK_WRITE").is_some() {
        let updated = format!("{before}<!-- metrics -->\n{}<!-- end of metrics{after}", table());
        std::fs::write(path, updated).unwrap();
    } else {
        assert_eq!(
            listed,
            table(),
            "TIGHTLINK_WRITE=1 cargo test -p tightlink-lab --test metrics writes it anew"
        );
    }
}
