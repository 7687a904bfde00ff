//! `[wlan]` and `[[station]]`: what is read, and what is said of what is wrong.

mod common;

use common::{fault, faults, says};
use tightlink_scenario::spec::{
    Access, AccessRule, AfterCollision, Category, CellDirection, CellWay, Limit, Saturated, Sizing,
};
use tightlink_scenario::{Document, Scenario};
use units::{Bytes, Rate, Span};

/// The example of the guide.
const EXAMPLE: &str = r#"title = "Five saturated stations and a download"
duration = "10s"

[wlan]                                   # instead of [link]
phy = "802.11g"                          # 802.11a, 802.11b, 802.11g; a later PHY is a new file
rate = "54Mbit/s"                        # of every station; [[station]] may set its own
control_rate = "24Mbit/s"                # acknowledgements
after_collision = "eifs"                 # or "difs"
header = "30B"                           # MAC header and FCS of a QoS data frame
ac.be = { cw_min = 15, cw_max = 1023, aifsn = 3, txop = "0s", retry_limit = 7 }
queue = { limit = "338 packets" }        # the access point's downlink, per category
backhaul = { rate = "100Mbit/s", delay = "100ms", queue.limit = "1000 packets" }

[[station]]
name = "saturated"
count = 5
saturated = "1500B"

[[station]]
count = 2

[[flow]]
station = "station-1"
direction = "down"
category = "be"
"#;

const CELL: &str = "title = 't'
duration = '60s'
[wlan]
phy = '802.11g'
rate = '54Mbit/s'
backhaul = { rate = '100Mbit/s', queue.limit = '1000 packets' }
";
const REST: &str = "[[station]]\ncount = 3\n[[flow]]\nstation = 'station-1'\n";

fn read(text: &str) -> Scenario {
    Document::parse("x.toml", text)
        .and_then(|document| document.scenario())
        .unwrap_or_else(|fault| panic!("{fault}"))
}

/// The one fault of a sound cell with these further keys of `[wlan]`.
#[track_caller]
fn in_wlan(keys: &str) -> String {
    fault(&format!("{CELL}{keys}\n{REST}"))
}

/// The one fault of a sound cell with these further lines.
#[track_caller]
fn further(lines: &str) -> String {
    fault(&format!("{CELL}{REST}{lines}\n"))
}

#[test]
fn the_example_reads_as_it_says() {
    let scenario = read(EXAMPLE);
    let cell = scenario.wlan.unwrap();
    assert!(scenario.links.is_empty());
    assert_eq!((cell.phy.as_str(), cell.rate), ("802.11g", Rate::from_bps(54_000_000)));
    assert_eq!(cell.control_rate, Some(Rate::from_bps(24_000_000)));
    assert_eq!((cell.access, cell.after_collision), (AccessRule::Edca, AfterCollision::Eifs));
    assert_eq!((cell.header, cell.llc, cell.ack), (Bytes::new(30), Bytes::new(8), Bytes::new(14)));
    let be = Access {
        cw_min: Some(15),
        cw_max: Some(1023),
        aifsn: Some(3),
        txop: Some(Span::ZERO),
        retry_limit: Some(7),
    };
    assert_eq!(cell.ac.of(Category::Be), be);
    assert_eq!(cell.ac.of(Category::Vo), Access::default());
    assert_eq!(cell.queue.queue.limit, Limit::Packets(338));
    let backhaul = cell.backhaul.unwrap();
    assert_eq!((backhaul.rate, backhaul.delay), (Rate::from_bps(100_000_000), Span::from_millis(100)));
    assert_eq!(backhaul.queue.limit, Limit::Packets(1000));
    let names: Vec<&str> =
        cell.stations.iter().flat_map(|station| &station.names).map(String::as_str).collect();
    assert_eq!(names[..2], ["saturated-1", "saturated-2"]);
    assert_eq!(names[4..], ["saturated-5", "station-1", "station-2"]);
    let saturated = Saturated { payload: Bytes::new(1500), category: Category::Be };
    assert_eq!(cell.stations[0].saturated, Some(saturated));
    assert_eq!(cell.stations[1].limit, Limit::Packets(1000));
    let way = CellWay {
        stations: vec!["station-1".into()],
        direction: CellDirection::Down,
        category: Category::Be,
        ack_category: Category::Be,
    };
    assert_eq!(scenario.flows[0].cell, Some(way));
}

#[test]
fn stations_without_a_name_are_numbered_through_the_file() {
    let stations =
        "[[station]]\ncount = 2\n[[station]]\nname = 'a'\n[[station]]\nname = 'b'\ncount = 2\n[[station]]\n";
    let cell = read(&format!("{CELL}{stations}[[flow]]\nstation = 'a'\n")).wlan.unwrap();
    let names: Vec<String> = cell.stations.into_iter().flat_map(|station| station.names).collect();
    assert_eq!(names, ["station-1", "station-2", "a", "b-1", "b-2", "station-3"]);
}

#[test]
fn a_station_with_a_star_is_all_whose_names_begin_so() {
    let text = format!(
        "{CELL}[[station]]\nname = 'up'\ncount = 3\n[[station]]\n[[flow]]\nstation = 'up-*'\ncount = 3\n"
    );
    let way = read(&text).flows[0].cell.clone().unwrap();
    assert_eq!(way.stations, ["up-1", "up-2", "up-3"]);
    says(
        &further("[[flow]]\nstation = 'up-*'"),
        &["flow[1].station: no station is named \"up-*\"", "\"station-1\", \"station-2\", \"station-3\""],
    );
}

#[test]
fn a_cell_of_saturated_stations_needs_neither_flows_nor_a_backhaul() {
    let text = "title = 't'\nduration = '9s'\n[wlan]\nphy = '802.11a'\nrate = '6Mbit/s'\n[[station]]\nsaturated = '1500B'\n";
    let scenario = read(text);
    assert!(scenario.flows.is_empty());
    assert_eq!(scenario.wlan.unwrap().backhaul, None);
}

#[test]
fn dcf_has_no_categories_and_a_header_without_qos() {
    let cell = read(&format!("{CELL}access = 'dcf'\n{REST}")).wlan.unwrap();
    assert_eq!((cell.access, cell.header), (AccessRule::Dcf, Bytes::new(28)));
    says(&in_wlan("access = 'dcf'\nac.vo = { cw_min = 3 }"), &["wlan.ac.vo", "access = \"edca\""]);
    says(
        &fault(&format!("{CELL}access = 'dcf'\n{REST}ack_category = 'vo'\n")),
        &["flow[0].ack_category: category \"vo\" with access = \"dcf\"", "accepted: \"be\""],
    );
}

#[test]
fn best_effort_alone_by_difs_is_dcf_where_nothing_is_written() {
    let of = |keys: &str, rest: &str| {
        let cell = read(&format!("{CELL}{keys}\n{REST}{rest}\n")).wlan.unwrap();
        (cell.access, cell.header.get())
    };
    let (dcf, edca) = ((AccessRule::Dcf, 28), (AccessRule::Edca, 30));
    assert_eq!(of("ac.be = { aifsn = 2 }", ""), dcf);
    assert_eq!(of("ac.be = { cw_min = 15, aifsn = 2, txop = '0ms' }", "category = 'be'"), dcf);
    assert_eq!(of("", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 3 }", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 2 }\naccess = 'edca'", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 2, txop = '3ms' }", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 2 }\naccess_point.ac.be = { txop = '3ms' }", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 2 }\nac.vo = { cw_min = 3 }", ""), edca);
    assert_eq!(of("ac.be = { aifsn = 2 }", "ack_category = 'vo'"), edca);
    assert_eq!(of("ac.be = { aifsn = 2 }", "[[station]]\nsaturated = '1B'\ncategory = 'bk'"), edca);
}

#[test]
fn what_moves_a_limit_has_the_defaults_of_its_source() {
    let sized = |rule: &str| {
        let text = format!(
            "{CELL}queue = {{ limit = '400 packets', sizing = {{ rule = '{rule}', extra = 5 }} }}\n{REST}"
        );
        read(&text).wlan.unwrap().queue.sizing
    };
    assert_eq!(sized("fixed"), None);
    let Some(Sizing::Ebdp(ebdp)) = sized("ebdp") else { panic!("eBDP") };
    assert_eq!((ebdp.target, ebdp.extra, ebdp.weight.get()), (Span::from_millis(200), 5, 0.001));
    let Some(Sizing::Alt(alt)) = sized("alt") else { panic!("ALT") };
    assert_eq!((alt.interval, alt.increase, alt.decrease, alt.fewest), (Span::from_secs(1), 10.0, 1.0, 5));
    assert_eq!(sized("a*"), Some(Sizing::Lesser(ebdp, alt)));
    let text =
        format!("{CELL}queue = {{ limit = '400 packets', airtime_limits = {{ high = '20ms' }} }}\n{REST}");
    let limits = read(&text).wlan.unwrap().queue.airtime_limits.unwrap();
    assert_eq!((limits.low, limits.high, limits.threshold).0, Span::from_millis(5));
    assert_eq!((limits.high, limits.threshold), (Span::from_millis(20), Span::from_millis(24)));
}

#[test]
fn a_limit_needs_no_rate_of_the_cell() {
    let limit = |limit: &str| in_wlan(&format!("queue = {{ limit = '{limit}' }}"));
    says(
        &limit("1 bdp"),
        &[
            "wlan.queue.limit: a share of the bandwidth-delay product: the downlink of a cell has no rate of its own",
            "accepted: packets or a size",
            "rule = \"ebdp\"",
        ],
    );
    says(&limit("40ms"), &["wlan.queue.limit: a time: the downlink of a cell has no rate of its own"]);
    let accepted = "accepted: packets or a size, such as \"338 packets\" or \"512kB\"";
    let quantities = [
        ("5 foo", "unknown unit \"foo\""),
        ("12", "no unit"),
        ("0 bdp", "a buffer of zero"),
        ("x", "'x', not a number"),
    ];
    for (wrong, found) in quantities {
        says(&limit(wrong), &["wlan.queue.limit: ", found, accepted]);
    }
    for wrong in ["0 packets", "7 bpd", "20%", "1.5 packets", "40"] {
        let said = limit(wrong);
        assert!(!said.contains("\"40ms\"") && !said.contains("bdp\""), "{said}");
    }
    let threshold =
        |value: &str| in_wlan(&format!("queue = {{ limit = '9 packets', mark_above = '{value}' }}"));
    says(&threshold("5 foo"), &["wlan.queue.mark_above: unknown unit \"foo\"", accepted]);
    says(&threshold("0.5 bdp"), &["wlan.queue.mark_above: a threshold by time", "a share of the limit"]);
    says(&in_wlan("queue = { limit = '9 packets', mark_above = '5ms' }"), &["wlan.queue.mark_above"]);
    says(
        &in_wlan("queue = { limit = '600kB', sizing = { rule = 'ebdp' } }"),
        &[
            "wlan.queue.sizing: a limit that moves, of a queue whose room is in bytes",
            "write limit = \"400 packets\"",
        ],
    );
    says(
        &fault(&format!("{CELL}[[station]]\nqueue.limit = '1 bdp'\n[[flow]]\nstation = 'station-1'\n")),
        &["station[0].queue.limit", "the uplink of a cell has no rate"],
    );
}

#[test]
fn what_moves_a_limit_is_within_its_ranges() {
    let sizing = |keys: &str| in_wlan(&format!("queue = {{ limit = '40 packets', sizing = {{ {keys} }} }}"));
    says(&sizing("target = '1s'"), &["wlan.queue.sizing.rule: missing", "\"a*\""]);
    says(&sizing("rule = 'edbp'"), &["wlan.queue.sizing.rule: unknown \"edbp\"", "did you mean \"ebdp\"?"]);
    says(&sizing("rule = 'ebdp', target = '0s'"), &["a target of zero"]);
    says(&sizing("rule = 'ebdp', weight = 0"), &["wlan.queue.sizing.weight: a share of zero"]);
    says(&sizing("rule = 'alt', increase = -1"), &["wlan.queue.sizing.increase: -1 packets per second"]);
    says(&sizing("rule = 'alt', fewest = 41"), &["wlan.queue.sizing.fewest: 41 packets at least", "1 to 40"]);
    says(
        &in_wlan("queue = { limit = '40 packets', airtime_limits = { high = '4ms' } }"),
        &["wlan.queue.airtime_limits.high: 4ms, less than low, which is 5ms", "\"5ms\" or more"],
    );
}

#[test]
fn a_contention_window_is_a_power_of_two_less_one() {
    says(
        &in_wlan("ac.be = { cw_min = 16 }"),
        &["wlan.ac.be.cw_min: 16, which is not 2^k - 1", "write 15 or 31"],
    );
    says(&in_wlan("ac.be = { cw_max = 1024 }"), &["wlan.ac.be.cw_max: 1024", "write 1023 or 2047"]);
    says(
        &in_wlan("access_point.ac.be = { cw_min = 5 }"),
        &["wlan.access_point.ac.be.cw_min: 5", "write 3 or 7"],
    );
    says(&in_wlan("ac.be = { aifsn = 0 }"), &["wlan.ac.be.aifsn", "a whole number from 1 to 15"]);
    says(&in_wlan("header = '1MB'"), &["wlan.header: 1MB in a frame", "at most 65.535kB"]);
    says(&further("[[station]]\nsaturated = '70kB'"), &["station[1].saturated: 70kB in a frame"]);
    says(&in_wlan("ac.be = { retry_limit = 0 }"), &["wlan.ac.be.retry_limit", "from 1 to 65535"]);
    says(&in_wlan("ac.xx = {}"), &["wlan.ac.xx: unknown key", "accepted: be, bk, vi, vo"]);
}

#[test]
fn a_cell_takes_the_place_of_links_and_of_traffic() {
    let link = "[link]\nrate = '9Mbit/s'\nqueue.limit = '9 packets'\n";
    says(
        &further(link),
        &["link: a [link] together with a [wlan]", "accepted: one of the two", "wlan.backhaul"],
    );
    says(
        &further("[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'"),
        &["traffic: [[traffic]] in a cell", "write a [[station]] with saturated"],
    );
    says(
        &fault(&format!("title = 't'\nduration = '9s'\n{link}[[station]]\n[[flow]]\n")),
        &["station: stations without a cell", "accepted: a [wlan]"],
    );
    says(
        &fault(&format!("title = 't'\nduration = '9s'\n{link}[[flow]]\nstation = 'a'\n")),
        &["flow[0].station: this key belongs to a flow in a cell", "[wlan]"],
    );
    says(&further("path = ['air']"), &["flow[0].path: a path, in a cell"]);
}

#[test]
fn a_flow_in_a_cell_names_a_station_and_a_way() {
    let flow = |keys: &str| {
        fault(&format!("{CELL}[[station]]\n[[station]]\nname = 'busy'\nsaturated = '9B'\n[[flow]]\n{keys}\n"))
    };
    says(&flow(""), &["flow[0].station: missing", "\"station-1\", \"busy\""]);
    says(
        &flow("station = 'station-2'"),
        &["flow[0].station: no station is named \"station-2\"", "did you mean \"station-1\"?"],
    );
    says(
        &flow("station = 'station-1'\ndirection = 'forward'"),
        &["flow[0].direction: unknown \"forward\"", "\"down\", \"up\""],
    );
    says(&flow("station = 'station-1'\ncategory = 'ac_be'"), &["\"be\", \"bk\", \"vi\", \"vo\""]);
}

#[test]
fn a_cell_is_complete() {
    let missing = faults("title = 't'\nduration = '9s'\n[wlan]\n[[flow]]\n");
    let places: Vec<&str> = missing.iter().map(|fault| fault.complaint.place.as_str()).collect();
    for key in ["wlan.phy", "wlan.rate", "station", "wlan.backhaul", "flow[0].station"] {
        assert!(places.contains(&key), "{key}: {missing}");
    }
    says(&in_wlan("ack = '0B'"), &["wlan.ack: an acknowledgement of nothing"]);
    says(&in_wlan("access = 'dfc'"), &["\"edca\", \"dcf\""]);
    says(&in_wlan("after_collision = 'sifs'"), &["\"eifs\", \"difs\""]);
    says(
        &fault(&format!(
            "{CELL}[[station]]\n[[station]]\nname = 'station-1'\n[[flow]]\nstation = 'station-1'\n"
        )),
        &["station[1].name: a second station is named \"station-1\""],
    );
    says(
        &fault(&format!("{CELL}[[station]]\nname = 'access-point'\n[[flow]]\nstation = 'access-point'\n")),
        &["a second station is named \"access-point\""],
    );
    says(&further("rtt = '5ms'\n[[station]]\ncount = 999"), &["1002 stations", "at most 1000"]);
}

#[test]
fn a_base_rtt_covers_the_backhaul() {
    let text = CELL.replace("queue.limit", "delay = '100ms', queue.limit");
    says(
        &fault(&format!("{text}{REST}rtt = '150ms'\n")),
        &["an RTT of 150ms, less than the backhaul's delay there and back (200ms)", "at least 200ms"],
    );
}

#[test]
fn a_table_of_stations_is_picked_by_name() {
    let mut document =
        Document::parse("x.toml", &format!("{CELL}{REST}[[station]]\nname = 'far'\n")).unwrap();
    document.set("station.far.rate", "6Mbit/s").unwrap();
    document.set("wlan.queue.limit", "70 packets").unwrap();
    document.set("flow.count", "0").unwrap();
    document.set("flow.0.count", "2").unwrap();
    let scenario = document.scenario().unwrap();
    let cell = scenario.wlan.unwrap();
    assert_eq!(cell.stations[1].rate, Some(Rate::from_bps(6_000_000)));
    assert_eq!((cell.stations[0].rate, cell.queue.queue.limit), (None, Limit::Packets(70)));
}

#[test]
fn a_flow_may_be_there_no_times_beside_another() {
    let scenario = read(&format!("{CELL}{REST}[[flow]]\nstation = 'station-2'\ncount = 0\n"));
    assert_eq!((scenario.flows[0].count, scenario.flows[1].count), (1, 0));
    says(
        &fault(&format!("{CELL}{REST}count = 0\n")),
        &["flow[0].count: zero flows", "at least one flow in all"],
    );
}
