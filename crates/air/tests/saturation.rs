//! Saturated cells against the fixed points of room `model`, which share no code with this one.

use model::bianchi::{Channel, Class, Countdown as ModelCountdown, Saturation, by_class, saturation};
use tightlink_air::access::{Access, Category, Countdown};
use tightlink_air::config::{AfterCollision, CellConfig, StationConfig};
use tightlink_air::frame::ExchangeTime;
use tightlink_air::phy::{IEEE_80211A, IEEE_80211B, IEEE_80211G, Phy};
use tightlink_air::{Cell, FunctionReport};
use units::{Bytes, Rate, Span, Time};

const BE: Category = Category::BestEffort;
const PAYLOAD: Bytes = Bytes::new(1500);

const fn megabits(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

/// Stations of one kind.
#[derive(Clone, Copy)]
struct Kind {
    stations: u32,
    access: Access,
    rate: Rate,
    payload: Bytes,
}

fn config(phy: Phy, after_collision: AfterCollision, kinds: &[Kind]) -> CellConfig {
    let mut config = CellConfig { after_collision, ..CellConfig::new(phy) };
    config.stations.push(StationConfig::access_point("ap"));
    for kind in kinds {
        for _ in 0..kind.stations {
            let name = format!("station-{}", config.stations.len());
            let station = StationConfig::new(name, kind.rate);
            config.stations.push(station.saturated(BE, kind.access, kind.payload, 0));
        }
    }
    config
}

/// What each station did in a cell over `seconds`.
fn simulated(config: &CellConfig, seconds: u64) -> Vec<FunctionReport> {
    let mut cell = Cell::new(config).unwrap();
    let end = Time::ZERO + Span::from_secs(seconds);
    let mut outcomes = Vec::new();
    while cell.wakeup() <= end {
        cell.poll(cell.wakeup(), &mut outcomes);
        outcomes.clear();
    }
    assert_eq!(cell.airtime(end).total(), Span::from_secs(seconds));
    (1..config.stations.len()).map(|station| cell.report(cell.function(station, BE).unwrap())).collect()
}

/// Throughput in bit/s and collision probability.
fn summed(reports: &[FunctionReport], seconds: u64) -> (f64, f64) {
    let sum = |of: fn(&FunctionReport) -> u64| reports.iter().map(of).sum::<u64>() as f64;
    let bits = 8.0 * sum(|report| report.payload.get());
    (bits / seconds as f64, sum(|report| report.collisions) / sum(|report| report.attempts))
}

fn channel(phy: &Phy, after: AfterCollision) -> Channel {
    let after_collision = match after {
        AfterCollision::Difs => Span::ZERO,
        AfterCollision::Eifs => phy.eifs_less_difs(Bytes::new(14)),
        AfterCollision::Wait(wait) => wait,
    };
    Channel { slot: phy.slot, sifs: phy.sifs, after_collision }
}

fn class(config: &CellConfig, kind: &Kind) -> Class {
    let time = ExchangeTime::new(&config.phy, &config.sizes, kind.payload, kind.rate, config.control_rate);
    // What an access delivers: the exchanges that fit into the TXOP, SIFS apart.
    let sifs = config.phy.sifs;
    let frames = (kind.access.txop + sifs).as_nanos() / (time.whole + sifs).as_nanos();
    let frames = frames.max(1);
    Class {
        stations: kind.stations,
        aifsn: kind.access.aifsn,
        cw_min: kind.access.cw_min,
        cw_max: kind.access.cw_max,
        attempts: Some(kind.access.retry_limit),
        payload: kind.payload * frames,
        exchange: time.whole * frames + sifs * (frames - 1),
        data: time.data,
    }
}

/// How far simulation and model may be apart: throughput as a share, collision probability as a difference.
struct Bounds {
    throughput: f64,
    collisions: f64,
}

/// The widest differences found.
#[derive(Debug, Default)]
struct Widest {
    throughput: f64,
    collisions: f64,
}

/// Saturated cells of 1 to 50 stations by `access`, against the model.
fn judge(phy: Phy, rate: Rate, access: Access, countdown: ModelCountdown, bounds: &Bounds) {
    let after = AfterCollision::Eifs;
    let seconds = if rate > megabits(20) { 40 } else { 200 };
    let mut widest = Widest::default();
    let mut wrong = Vec::new();
    for stations in 1..=50 {
        let kind = Kind { stations, access, rate, payload: PAYLOAD };
        let config = config(phy, after, &[kind]);
        let (throughput, collisions) = summed(&simulated(&config, seconds), seconds);
        let expected = saturation(&channel(&phy, after), &class(&config, &kind), countdown).unwrap();
        let share = throughput / expected.throughput.as_bps_f64() - 1.0;
        let difference = collisions - expected.collision_probability;
        widest.throughput = widest.throughput.max(share.abs());
        widest.collisions = widest.collisions.max(difference.abs());
        if share.abs() > bounds.throughput || difference.abs() > bounds.collisions {
            wrong.push(format!("{stations}: throughput {share:+.4}, collisions {difference:+.4}"));
        }
    }
    println!("{} {rate} {:?} against {countdown:?}: {widest:?}", phy.name, access.countdown);
    assert!(
        wrong.is_empty(),
        "{} at {rate}, {:?} against {countdown:?}: {wrong:#?}",
        phy.name,
        access.countdown
    );
}

/// EDCA's best effort, and the same by the countdown of DCF.
fn best_effort(phy: &Phy, countdown: Countdown) -> Access {
    Access { countdown, ..Access::default_of(phy, BE) }
}

const SAME_RULE: Bounds = Bounds { throughput: 0.015, collisions: 0.01 };
#[test]
fn saturated_edca_agrees_with_the_model_whose_counters_move_at_every_boundary() {
    let access = best_effort(&IEEE_80211A, Countdown::EveryBoundary);
    for rate in [54, 6] {
        judge(IEEE_80211A, megabits(rate), access, ModelCountdown::EveryBoundary, &SAME_RULE);
    }
}

#[test]
fn saturated_dcf_agrees_with_the_model_with_the_freeze_correction() {
    let access = best_effort(&IEEE_80211A, Countdown::IdleSlots);
    for rate in [54, 6] {
        judge(IEEE_80211A, megabits(rate), access, ModelCountdown::IdleSlots, &SAME_RULE);
    }
}

/// Where 70 to 95 % of attempts collide, those who collided collide again at once.
#[test]
fn crowded_dcf_agrees_with_the_model_too() {
    for (stations, cw_min, cw_max, retry_limit) in
        [(15, 3, 127, 5), (37, 7, 7, 1), (36, 7, 63, 2), (48, 15, 255, 1)]
    {
        let usual = best_effort(&IEEE_80211A, Countdown::IdleSlots);
        let access = Access { cw_min, cw_max, retry_limit, ..usual };
        let kind = Kind { stations, access, rate: megabits(54), payload: PAYLOAD };
        let config = config(IEEE_80211A, AfterCollision::Eifs, &[kind]);
        let (throughput, collisions) = summed(&simulated(&config, 200), 200);
        let channel = channel(&IEEE_80211A, AfterCollision::Eifs);
        let expected = saturation(&channel, &class(&config, &kind), ModelCountdown::IdleSlots).unwrap();
        let share = throughput / expected.throughput.as_bps_f64() - 1.0;
        let difference = collisions - expected.collision_probability;
        println!(
            "{stations} {cw_min} {cw_max} {retry_limit}: {share:+.4} {difference:+.4} of {collisions:.4}"
        );
        assert!(share.abs() < 0.015, "{stations} {cw_min} {cw_max} {retry_limit}: {share:+.4}");
        assert!(difference.abs() < 0.01, "{stations} {cw_min} {cw_max} {retry_limit}: {difference:+.4}");
    }
}

#[test]
fn other_phys_and_both_waits_after_a_collision_agree_with_the_model() {
    for (phy, rate) in [(IEEE_80211B, 11), (IEEE_80211B, 1), (IEEE_80211G, 54), (IEEE_80211G, 12)] {
        for after in [AfterCollision::Difs, AfterCollision::Eifs] {
            for stations in [2, 5, 20] {
                let access = best_effort(&phy, Countdown::EveryBoundary);
                let kind = Kind { stations, access, rate: megabits(rate), payload: PAYLOAD };
                let config = config(phy, after, &[kind]);
                let (throughput, collisions) = summed(&simulated(&config, 120), 120);
                let countdown = ModelCountdown::EveryBoundary;
                let expected = saturation(&channel(&phy, after), &class(&config, &kind), countdown).unwrap();
                let share = throughput / expected.throughput.as_bps_f64() - 1.0;
                let difference = collisions - expected.collision_probability;
                assert!(share.abs() < 0.015, "{} {rate} {after:?} {stations}: {share:+.4}", phy.name);
                assert!(
                    difference.abs() < 0.01,
                    "{} {rate} {after:?} {stations}: {difference:+.4}",
                    phy.name
                );
            }
        }
    }
}

#[test]
fn a_lone_station_has_the_throughput_of_the_hand_calculation() {
    // 802.11a, 54 Mbit/s: AIFS 16 + 3 x 9, 7.5 slots, 252 of data, SIFS, 28 of acknowledgement; at 6 Mbit/s 2076 and 44.
    // 802.11g: SIFS 10, 6 more behind each frame. 802.11b: AIFS 10 + 3 x 20, 15.5 slots, 192 + 1119, SIFS, 192 + 11.
    for (phy, rate, micros) in [
        (IEEE_80211A, 54, 43.0 + 67.5 + 252.0 + 16.0 + 28.0),
        (IEEE_80211A, 6, 43.0 + 67.5 + 2076.0 + 16.0 + 44.0),
        (IEEE_80211G, 54, 37.0 + 67.5 + 258.0 + 10.0 + 34.0),
        (IEEE_80211B, 11, 70.0 + 310.0 + 1311.0 + 10.0 + 203.0),
    ] {
        let access = Access::default_of(&phy, BE);
        let kind = Kind { stations: 1, access, rate: megabits(rate), payload: PAYLOAD };
        let config = config(phy, AfterCollision::Eifs, &[kind]);
        let (throughput, collisions) = summed(&simulated(&config, 300), 300);
        let by_hand = 12_000.0 / (micros * 1e-6);
        assert!((throughput / by_hand - 1.0).abs() < 0.002, "{} {rate}: {throughput} {by_hand}", phy.name);
        assert_eq!(collisions, 0.0);
    }
}

#[test]
fn classes_have_the_throughput_of_the_fixed_point() {
    let phy = IEEE_80211A;
    let normal = Access::default_of(&phy, BE);
    let kind = |stations, access| Kind { stations, access, rate: megabits(54), payload: PAYLOAD };
    let late = Access { aifsn: 6, ..normal };
    let eager = Access { cw_min: 3, cw_max: 7, aifsn: 2, ..normal };
    let of = |category| Access::default_of(&phy, category);
    let background = of(Category::Background);
    let small = |kind: Kind| Kind { payload: Bytes::new(200), ..kind };
    let slow = |kind: Kind| Kind { rate: megabits(6), ..kind };
    let cells: &[&[Kind]] = &[
        &[kind(5, normal), kind(5, late)],
        &[kind(1, normal), kind(10, late)],
        &[kind(10, normal), kind(2, background)],
        &[kind(1, eager), kind(5, late)],
        &[small(kind(1, eager)), kind(10, Access { cw_min: 31, ..late })],
        &[kind(2, eager), kind(5, late)],
        &[kind(3, of(Category::Voice)), kind(3, of(Category::Video)), kind(3, normal)],
        &[kind(1, of(Category::Video)), kind(4, normal)],
        &[kind(4, Access { txop: Span::ZERO, ..of(Category::Voice) }), kind(8, background)],
        &[kind(5, normal), slow(kind(5, normal))],
        &[kind(3, Access { cw_min: 7, ..normal }), kind(3, normal), slow(kind(3, late))],
    ];
    let mut wrong = Vec::new();
    for kinds in cells {
        let config = config(phy, AfterCollision::Eifs, kinds);
        let reports = simulated(&config, 60);
        let classes: Vec<_> = kinds.iter().map(|kind| class(&config, kind)).collect();
        let expected = by_class(&channel(&phy, AfterCollision::Eifs), &classes).unwrap();
        let total = expected.throughput.as_bps_f64();
        let mut first = 0;
        for (index, (kind, model)) in kinds.iter().zip(&expected.classes).enumerate() {
            let (throughput, collisions) = summed(&reports[first..first + kind.stations as usize], 60);
            first += kind.stations as usize;
            let Saturation { throughput: modelled, collision_probability, .. } = *model;
            let difference = (throughput - modelled.as_bps_f64()) / total;
            let of: Vec<_> =
                kinds.iter().map(|kind| (kind.stations, kind.access.aifsn, kind.access.cw_min)).collect();
            println!(
                "{of:?} class {index}: {difference:+.4} of the total, {throughput:.0} bit/s; collisions {collisions:.4}, model {collision_probability:.4}"
            );
            if difference.abs() > 0.03 {
                wrong.push(format!("{of:?} class {index}: {difference:+.4} of the total"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_lone_station_whose_window_is_within_the_gap_of_aifs_lets_nobody_in() {
    // It transmits 0 to 3 slots after its AIFS; the others' AIFS is 4 slots longer.
    let normal = Access::default_of(&IEEE_80211A, BE);
    let kind = |stations, access| Kind { stations, access, rate: megabits(54), payload: PAYLOAD };
    let kinds = [
        kind(1, Access { cw_min: 3, cw_max: 7, aifsn: 2, ..normal }),
        kind(5, Access { aifsn: 6, ..normal }),
    ];
    let reports = simulated(&config(IEEE_80211A, AfterCollision::Eifs, &kinds), 10);
    assert!(reports[0].delivered > 10_000);
    assert!(reports[1..].iter().all(|report| report.attempts == 0), "{reports:?}");
}

#[test]
fn equal_stations_share_equally() {
    for countdown in [Countdown::EveryBoundary, Countdown::IdleSlots] {
        for stations in [2, 5, 10, 20] {
            let access = best_effort(&IEEE_80211A, countdown);
            let kind = Kind { stations, access, rate: megabits(54), payload: PAYLOAD };
            let reports = simulated(&config(IEEE_80211A, AfterCollision::Eifs, &[kind]), 60);
            let shares = || reports.iter().map(|report| report.payload.get() as f64);
            let jain =
                shares().sum::<f64>().powi(2) / (f64::from(stations) * shares().map(|x| x * x).sum::<f64>());
            assert!(jain > 0.99, "{stations} stations, {countdown:?}: {jain}");
        }
    }
}

#[test]
fn the_standards_ack_timeout_changes_throughput_by_little() {
    for stations in [5, 50] {
        let access = best_effort(&IEEE_80211A, Countdown::EveryBoundary);
        let kind = Kind { stations, access, rate: megabits(54), payload: PAYLOAD };
        let together = config(IEEE_80211A, AfterCollision::Eifs, &[kind]);
        let apart = CellConfig { ack_timeout: Some(IEEE_80211A.ack_timeout()), ..together.clone() };
        let (with, without) = (summed(&simulated(&apart, 60), 60), summed(&simulated(&together, 60), 60));
        println!("{stations} stations: {with:?} with the timeout, {without:?} without");
        assert!((with.0 / without.0 - 1.0).abs() < 0.05, "{stations}: {with:?} {without:?}");
    }
}
