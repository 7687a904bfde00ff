//! Scenarios of a wireless cell: what they resolve to, which engines answer, and what the answers say.

use crate::common::{answered, refused, resolved};
use air::access::{Access, Category, Countdown};
use air::config::AfterCollision;
use air::phy::{IEEE_80211B, IEEE_80211G, Phy};
use link::Limit;
use link::moving_limit::MovingLimitConfig;
use scenario::reference::rows;
use sim::{CellPlan, Direction, UplinkSource};
use tightlink_lab::run::engine::{can_answer, check};
use tightlink_lab::run::record::{Engine, Record, StationSummary};
use units::{Bytes, Rate, Span};

/// P4's cell with its originals' parameters: a download.
const DOWNLOAD: &str = "title = 't'
duration = '20s'
warmup = '8s'
[wlan]
phy = '802.11g'
rate = '54Mbit/s'
control_rate = '6Mbit/s'
ac.be = { cw_min = 31, cw_max = 1023, aifsn = 6, retry_limit = 11 }
ac.vo = { cw_min = 3, cw_max = 7, aifsn = 2, txop = '0s', retry_limit = 11 }
queue.limit = '400 packets'
backhaul = { rate = '100Mbit/s', delay = '100ms', queue.limit = '1000 packets' }
[[station]]
count = 3
[[flow]]
name = 'down'
station = 'station-1'
segment = '1000B'
timestamps = false
ack_category = 'vo'
handshake = false
";

/// Bianchi's cell.
fn saturated(stations: u32) -> String {
    format!(
        "title = 't'\nduration = '20s'\n[wlan]\nphy = '802.11a'\nrate = '54Mbit/s'\n[[station]]\ncount = {stations}\nsaturated = '1500B'\n"
    )
}

fn cell(text: &str) -> CellPlan {
    resolved(text).cell.expect("a cell")
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

#[test]
fn what_is_not_written_is_the_standards_default() {
    let plan = cell(&DOWNLOAD.replace("control_rate = '6Mbit/s'\n", ""));
    assert_eq!((plan.phy, plan.control_rate), (IEEE_80211G, Rate::from_bps(24_000_000)));
    let [data] = &plan.access_point[..] else { panic!("one function: {:?}", plan.access_point) };
    assert_eq!(
        (data.category, data.queue.limit, plan.watched),
        (Category::BestEffort, Limit::Packets(400), 0)
    );
    let be = Access {
        aifsn: 6,
        cw_min: 31,
        cw_max: 1023,
        txop: Span::ZERO,
        retry_limit: 11,
        countdown: Countdown::EveryBoundary,
    };
    assert_eq!(data.access, be);
    assert_eq!(plan.stations.len(), 3);
    let [answers] = &plan.stations[0].functions[..] else { panic!("one function") };
    assert_eq!(answers.category, Category::Voice);
    assert!(matches!(&answers.source, UplinkSource::Queue(queue) if queue.limit == Limit::Packets(1000)));
    assert!(plan.stations[1].functions.is_empty());
    let [to, from] = &plan.backhaul;
    assert_eq!((to.config.clone(), to.limit), (from.config.clone(), from.limit));
    assert_eq!(to.config.delay, Span::from_millis(100));
    let plain = cell(&DOWNLOAD.replace("ac.be", "access_point.ac.be"));
    assert_eq!(plain.access_point[0].access, be);
    assert_eq!(plain.stations[0].functions[0].access.aifsn, 2);
}

#[test]
fn flows_are_dealt_out_to_stations_and_have_the_backhauls_round_trip() {
    let uploads = "[[flow]]\nname = 'up'\nstation = 'station-*'\ncount = 4\ndirection = 'up'\n";
    let resolved = resolved(&format!("{DOWNLOAD}{uploads}"));
    let places: Vec<_> = resolved.flows.iter().map(|flow| flow.place.unwrap()).collect();
    let stations: Vec<usize> = places.iter().map(|place| place.station).collect();
    assert_eq!(stations, [0, 0, 1, 2, 0]);
    assert!(places[1..].iter().all(|place| place.direction == Direction::Up));
    assert!(resolved.flows.iter().all(|flow| flow.base_rtt == Span::from_millis(200)));
    // Acknowledgements of uploads are data of the access point.
    let plan = resolved.cell.unwrap();
    assert_eq!(plan.access_point.len(), 1);
    assert_eq!(plan.stations[0].functions.len(), 2);
}

#[test]
fn the_access_point_has_a_function_for_what_it_sends_and_watches_the_first_downloads() {
    let first = "[[flow]]\nname = 'up'\nstation = 'station-2'\ndirection = 'up'\ncategory = 'vi'\nack_category = 'bk'\n";
    let (top, down) = DOWNLOAD.split_once("[[flow]]").unwrap();
    let plan = cell(&format!("{top}{first}[[flow]]{down}"));
    let categories: Vec<Category> = plan.access_point.iter().map(|function| function.category).collect();
    assert_eq!(categories, [Category::BestEffort, Category::Background]);
    assert_eq!(plan.watched, 0);
}

#[test]
fn a_limit_that_moves_is_within_the_queues_room() {
    let moving = |sizing: &str| {
        let queue = format!("queue = {{ limit = '300 packets', sizing = {{ {sizing} }} }}");
        cell(&DOWNLOAD.replace("queue.limit = '400 packets'", &queue)).access_point[0].moving
    };
    let Some(MovingLimitConfig::Ebdp(ebdp)) = moving("rule = 'ebdp', extra = 5, weight = 0.01") else {
        panic!("eBDP")
    };
    assert_eq!((ebdp.extra, ebdp.weight, ebdp.most), (5, 0.01, 300));
    let Some(MovingLimitConfig::Alt(alt, start)) = moving("rule = 'alt', increase = 20") else {
        panic!("ALT")
    };
    assert_eq!((alt.increase, alt.fewest, alt.most, start), (20.0, 5, 300, 5));
    assert!(matches!(moving("rule = 'a*'"), Some(MovingLimitConfig::Lesser(..))));
    assert_eq!(moving("rule = 'fixed'"), None);
}

#[test]
fn a_phy_has_its_rates_and_windows_their_order() {
    let with = |from: &str, to: &str| refused(&DOWNLOAD.replace(from, to));
    says(
        &with("rate = '54Mbit/s'", "rate = '55Mbit/s'"),
        &["x.toml:6:8: wlan.rate: 802.11g has no rate of 55Mbit/s", "6Mbit/s, 9Mbit/s, 12Mbit/s"],
    );
    says(
        &with("control_rate = '6Mbit/s'", "control_rate = '1Mbit/s'"),
        &["wlan.control_rate: 802.11g has no"],
    );
    says(
        &with("phy = '802.11g'", "eifs_rate = '2Mbit/s'\nphy = '802.11g'"),
        &["wlan.eifs_rate: 802.11g has no rate of 2Mbit/s"],
    );
    says(
        &with("count = 3", "count = 3\nrate = '11Mbit/s'"),
        &["station[0].rate: 802.11g has no rate of 11Mbit/s"],
    );
    says(&with("802.11g", "802.11n"), &["wlan.phy: unknown PHY \"802.11n\"", "802.11a, 802.11b, 802.11g"]);
    says(
        &with("cw_min = 31, cw_max = 1023", "cw_min = 31, cw_max = 15"),
        &["wlan.ac.be.cw_min: 31, above cw_max, which is 15", "0 to 15", "lower cw_min or raise cw_max"],
    );
    says(
        &with("ac.be", "access_point.ac.be = { cw_max = 7 }\nac.be"),
        &["wlan.access_point.ac.be.cw_min: 31"],
    );
    says(&with("phy", "preamble = 'short'\nphy"), &["wlan.preamble: 802.11g has no short preamble"]);
    says(
        &with("queue.limit = '400", "queue.kind = 'rde'\nqueue.limit = '400"),
        &["wlan.queue.kind: unknown queue \"rde\""],
    );
    says(&with("queue.limit = '400 packets'", "queue.limit = '900B'"), &["wlan.queue.limit: room for 900B"]);
}

#[test]
fn the_schema_names_every_phy() {
    let row = rows().into_iter().find(|row| row.path == "wlan.phy").unwrap();
    let names: Vec<String> = Phy::ALL.iter().map(|phy| format!("`\"{}\"`", phy.name)).collect();
    assert_eq!(row.key.kind, names.join(", "));
}

#[test]
fn only_the_simulator_and_where_it_has_a_theory_the_model_answer_of_a_cell() {
    let download = resolved(DOWNLOAD);
    assert!(check(Engine::Sim, &download).is_ok() && check(Engine::Model, &download).is_ok());
    let refusal = check(Engine::Live, &download).unwrap_err();
    if cfg!(feature = "kernel") {
        assert_eq!(refusal.complaint.place, "wlan");
        says(&refusal.to_string(), &["a wireless cell", "--engine sim"]);
    }
    let upload = resolved(&DOWNLOAD.replace("ack_category", "direction = 'up'\nack_category"));
    let refusal = can_answer(Engine::Model, &upload).unwrap_err();
    says(&refusal.to_string(), &["ask the simulator"]);
    assert_eq!(refusal.complaint.accepted, "saturated stations, or downloads alone");
    let sizer =
        resolved(&DOWNLOAD.replace("ack_category", "socket_buffer = { sizer = 'drs' }\nack_category"));
    assert_eq!(check(Engine::Sim, &sizer).unwrap_err().complaint.place, "flow[0].socket_buffer");
}

#[test]
fn saturation_is_answered_by_both_engines_and_they_agree() {
    let with = |keys: &str| saturated(5).replace("phy", &format!("{keys}\nphy"));
    for (text, rule) in [
        (saturated(5), "edca"),
        (with("access = 'dcf'"), "dcf"),
        (with("ac.be = { txop = '3008us' }"), "edca with a TXOP"),
    ] {
        let (model, sim) = (answered(Engine::Model, &text), answered(Engine::Sim, &text));
        assert!(model.summary.is_exact());
        let (theory, found) = (model.summary.wlan.unwrap(), sim.summary.wlan.unwrap());
        let share = found.throughput_bps / theory.throughput_bps - 1.0;
        assert!(share.abs() < 0.015, "{rule}: {share}");
        let collisions = found.collision_probability.unwrap() - theory.collision_probability.unwrap();
        assert!(collisions.abs() < 0.01, "{rule}: {collisions}");
        assert!((found.idle_share - theory.idle_share).abs() < 0.01, "{rule}: {found:?} {theory:?}");
        assert_eq!(theory.stations.len(), 5);
        let sum = |stations: &[StationSummary]| stations.iter().map(|one| one.throughput_bps).sum::<f64>();
        assert!((sum(&theory.stations) / theory.throughput_bps - 1.0).abs() < 1e-9);
        // The access point has a function and sends nothing.
        assert_eq!(found.stations[0].name, "access-point");
        assert_eq!(found.stations[0].throughput_bps, 0.0);
        assert!((sum(&found.stations) / found.throughput_bps - 1.0).abs() < 1e-6);
        let utilization = sim.summary.utilization.unwrap();
        assert!((utilization + found.idle_share - 1.0).abs() < 1e-9, "{utilization}");
    }
}

#[test]
fn eifs_holds_the_acknowledgement_that_did_not_come() {
    let eifs = |text: &str| match cell(text).after_collision {
        AfterCollision::Wait(wait) => wait,
        other => panic!("{other:?}"),
    };
    let b = |rate: &str| saturated(1).replace("802.11a", "802.11b").replace("54Mbit/s", rate);
    let with = |key: &str| saturated(1).replace("phy", &format!("{key}\nphy")).replace("802.11a", "802.11g");
    // SIFS, and 14 bytes at 24, 12, 6, 24, 1, 11 and 1 Mbit/s.
    for (text, micros) in [
        (saturated(1), 16 + 28),
        (saturated(1).replace("54Mbit/s", "18Mbit/s"), 16 + 32),
        (with("control_rate = '6Mbit/s'"), 10 + 50),
        (with(""), 10 + 34),
        (with("eifs_rate = '1Mbit/s'"), 10 + 304),
        (b("11Mbit/s"), 10 + 203),
        (b("1Mbit/s"), 10 + 304),
    ] {
        assert_eq!(eifs(&text), Span::from_micros(micros), "{text}");
    }
}

#[test]
fn two_kinds_of_stations_share_as_the_theory_of_classes_says() {
    let text = format!(
        "{}[[station]]\nname = 'late'\ncount = 3\nsaturated = '1500B'\ncategory = 'bk'\n",
        saturated(3)
    );
    let (model, sim) = (answered(Engine::Model, &text), answered(Engine::Sim, &text));
    assert!(model.summary.is_exact());
    let of = |record: &Record, category: &str| {
        let wlan = record.summary.wlan.as_ref().unwrap();
        let of_it = wlan.stations.iter().filter(|one| one.category == category);
        of_it.map(|one| one.throughput_bps).sum::<f64>() / wlan.throughput_bps
    };
    for category in ["be", "bk"] {
        let apart = of(&model, category) - of(&sim, category);
        assert!(apart.abs() < 0.03, "{category}: {apart}");
    }
    let dcf =
        format!("{}[[station]]\nsaturated = '500B'\n", saturated(3)).replace("phy", "access = 'dcf'\nphy");
    let answer = answered(Engine::Model, &dcf);
    assert_eq!(answer.summary.assumptions.len(), 1, "{:?}", answer.summary.assumptions);
    says(&answer.summary.assumptions[0], &["count down at every slot boundary"]);
}

#[test]
fn a_lone_download_has_the_goodput_of_the_mean_exchange_times() {
    // Data: AIFS 64, 15.5 slots, 1000 + 38 bytes in 182, SIFS, 50. Its acknowledgement: AIFS 28, 1.5 slots, 40 + 38 bytes in 38, 10, 50.
    let by_hand =
        8.0 * 960.0 / ((64.0 + 139.5 + 182.0 + 10.0 + 50.0) + (28.0 + 13.5 + 38.0 + 10.0 + 50.0)) * 1e6;
    let (model, sim) = (answered(Engine::Model, DOWNLOAD), answered(Engine::Sim, DOWNLOAD));
    let goodput = |record: &Record| record.summary.flows[0].goodput_bps;
    assert!((goodput(&model) / by_hand - 1.0).abs() < 1e-9, "{} {by_hand}", goodput(&model));
    assert!((goodput(&sim) / by_hand - 1.0).abs() < 0.01, "{} {by_hand}", goodput(&sim));
    let flow = &sim.summary.flows[0];
    let (least, most) = (flow.rtt_s.unwrap().min, flow.max_smoothed_rtt_s.unwrap());
    assert!(least > 0.2 && most > least && most < 0.6, "{least} {most}");
    let theory = model.summary.wlan.unwrap();
    assert!((theory.stations[0].throughput_bps * 0.96 / by_hand - 1.0).abs() < 1e-9);
    assert_eq!(theory.stations[1].name, "station-1");
}

#[test]
fn theory_of_downloads_says_what_it_leaves_out() {
    let assumed =
        |from: &str, to: &str| answered(Engine::Model, &DOWNLOAD.replace(from, to)).summary.assumptions;
    says(&assumed("ack_category = 'vo'", "ack_category = 'be'")[0], &["without collisions"]);
    says(&assumed("400 packets", "100 packets")[0], &["the queue is taken never to be empty"]);
    says(&assumed("ack_category", "control = 'cubic'\nack_category")[0], &["cubic is taken for Reno"]);
    let ebdp = DOWNLOAD.replace(
        "queue.limit = '400 packets'",
        "queue = { limit = '400 packets', sizing = { rule = 'ebdp' } }",
    );
    let notes: Vec<String> = answered(Engine::Model, &ebdp).notes.iter().map(ToString::to_string).collect();
    // 0.2 s in 585 us, and 40.
    assert!(notes.iter().any(|note| note.contains("eBDP settles at 381 packets")), "{notes:?}");
}

#[test]
fn a_limit_that_moves_and_the_busy_air_are_in_the_series() {
    let text = DOWNLOAD.replace(
        "queue.limit = '400 packets'",
        "queue = { limit = '400 packets', sizing = { rule = 'ebdp', extra = 5 } }",
    );
    let record = answered(Engine::Sim, &text);
    let link = &record.series.link;
    assert_eq!((link.limit_packets.len(), link.busy_share.len()), (link.t_s.len(), link.t_s.len()));
    assert_eq!(link.limit_packets[0], 400);
    let last = *link.limit_packets.last().unwrap();
    assert!((300..=400).contains(&last), "{last}");
    let mean = record.summary.wlan.as_ref().unwrap().mean_limit_packets.unwrap();
    assert!((300.0..=400.0).contains(&mean), "{mean}");
    let shares = link.busy_share.iter().filter(|share| share.is_finite());
    assert!(shares.clone().all(|share| (0.0..=1.001).contains(share)));
    let over = shares.clone().sum::<f64>() / shares.count() as f64;
    assert!(over > 0.3, "{over}");
}

#[test]
fn the_short_preamble_of_802_11b_makes_frames_shorter() {
    let long = cell(&saturated(1).replace("802.11a", "802.11b").replace("54Mbit/s", "11Mbit/s"));
    let short = cell(
        &saturated(1)
            .replace("802.11a", "802.11b")
            .replace("54Mbit/s", "11Mbit/s")
            .replace("phy", "preamble = 'short'\nphy"),
    );
    assert_eq!(long.phy, IEEE_80211B);
    let time = |plan: &CellPlan| plan.phy.frame_time(Bytes::new(1500), Rate::from_bps(11_000_000));
    assert_eq!(time(&long) - time(&short), Span::from_micros(96));
}

#[test]
fn the_limit_of_ebdp_is_near_its_new_mean_thirty_seconds_after_ten_uploads_began() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wlan/fig12.toml");
    let record = answered(Engine::Sim, &std::fs::read_to_string(path).unwrap());
    let link = &record.series.link;
    let between = |from: f64, to: f64| {
        let samples = link.t_s.iter().zip(&link.limit_packets).filter(move |(t, _)| (from..to).contains(*t));
        samples.map(|(_, packets)| *packets as f64)
    };
    let mean = |from: f64, to: f64| between(from, to).sum::<f64>() / between(from, to).count() as f64;
    let (before, after) = (mean(100.0, 200.0), mean(300.0, 400.0));
    assert!((360.0..400.0).contains(&before) && (60.0..85.0).contains(&after), "{before} {after}");
    let settled = mean(230.0, 240.0);
    assert!((settled / after - 1.0).abs() < 0.1, "{settled} at 230 s, {after} in the end");
}

/// A download of a station that would be saturated otherwise.
const ALL_SATURATED_BUT_ONE: &str = r#"title = "t"
duration = "10s"
[wlan]
phy = "802.11g"
rate = "54Mbit/s"
control_rate = "24Mbit/s"
after_collision = "eifs"
header = "30B"
ac.be = { cw_min = 15, cw_max = 1023, aifsn = 3, txop = "0s", retry_limit = 7 }
queue = { limit = "338 packets" }
backhaul = { rate = "100Mbit/s", delay = "100ms", queue.limit = "1000 packets" }

[[station]]
count = 5
saturated = "1500B"

[[flow]]
station = "station-1"
direction = "down"
category = "be"
"#;

#[test]
fn a_saturated_station_that_a_flow_makes_send_is_saturated_no_more() {
    let record = answered(Engine::Sim, ALL_SATURATED_BUT_ONE);
    let wlan = record.summary.wlan.as_ref().unwrap();
    let of = |name: &str| wlan.stations.iter().find(|station| station.name == name).unwrap().throughput_bps;
    // It acknowledges the download and no more; the other four are saturated.
    assert!(of("station-1") < 0.1 * of("access-point"), "{wlan:?}");
    assert!(of("station-1") > 0.0 && of("station-2") > 1e6 && of("station-5") > 1e6, "{wlan:?}");
    assert!(record.summary.flows[0].goodput_bps > 1e5);
    let notes: Vec<String> = record.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.starts_with("station-1: not saturated")), "{notes:?}");
    // In a category of their own the acknowledgements leave the station saturated.
    let apart = resolved(&format!("{ALL_SATURATED_BUT_ONE}ack_category = 'vo'\n"));
    assert!(apart.unsaturated.is_empty());
    assert_eq!(apart.cell.unwrap().stations[0].functions.len(), 2);
}
