//! Timelines of a few frames, with contention windows of one value where luck would hide them.

use tightlink_air::access::{Access, Category, Countdown};
use tightlink_air::config::{AfterCollision, CellConfig, StationConfig};
use tightlink_air::phy::IEEE_80211A;
use tightlink_air::{Cell, Fate, Frame, FunctionId, Outcome};
use units::{Bytes, Rate, Span, Time};

const BE: Category = Category::BestEffort;
const VO: Category = Category::Voice;
const SLOT: u64 = 9;
const SIFS: u64 = 16;
/// SIFS and two slots.
const DIFS: u64 = 34;
/// 1500 bytes at 54 Mbit/s, and the exchange with an acknowledgement at 24.
const DATA: u64 = 252;
const EXCHANGE: u64 = 252 + 16 + 28;
/// SIFS and an acknowledgement at 6 Mbit/s.
const EIFS_LESS_DIFS: u64 = 60;

/// DIFS, and a counter that is always 0.
const EAGER: Access = Access {
    aifsn: 2,
    cw_min: 0,
    cw_max: 0,
    txop: Span::ZERO,
    retry_limit: 3,
    countdown: Countdown::EveryBoundary,
};

const fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

const fn frame(id: u64) -> Frame {
    Frame { id, payload: Bytes::new(1500), to: 0 }
}

/// An access point, which is station 0, and stations with these functions.
fn config(stations: &[&[(Category, Access)]]) -> CellConfig {
    let mut config = CellConfig::new(IEEE_80211A);
    config.stations.push(StationConfig::access_point("ap"));
    for (index, functions) in stations.iter().enumerate() {
        let station = StationConfig::new(format!("station-{index}"), Rate::from_bps(54_000_000));
        let station = functions
            .iter()
            .fold(station, |station, (category, access)| station.function(*category, *access));
        config.stations.push(station);
    }
    config
}

fn cell(stations: &[&[(Category, Access)]]) -> Cell {
    Cell::new(&config(stations)).unwrap()
}

fn function(cell: &Cell, station: usize) -> FunctionId {
    cell.function(station, BE).unwrap()
}

fn polled(cell: &mut Cell, micros: u64) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    cell.poll(at(micros), &mut outcomes);
    outcomes
}

/// What happened as (microseconds, frame, delivered).
fn times(outcomes: &[Outcome]) -> Vec<(u64, u64, bool)> {
    let time = |outcome: &Outcome| {
        assert_eq!(outcome.at.as_nanos() % 1000, 0);
        let delivered = matches!(outcome.fate, Fate::Delivered { .. });
        (outcome.at.as_nanos() / 1000, outcome.frame.id, delivered)
    };
    outcomes.iter().map(time).collect()
}

#[test]
fn a_lone_frame_takes_aifs_and_the_exchange() {
    let mut cell = cell(&[&[(BE, EAGER)]]);
    assert_eq!(cell.wakeup(), Time::NEVER);
    let one = function(&cell, 1);
    cell.push(Time::ZERO, one, frame(1));
    cell.push(Time::ZERO, one, frame(2));
    let outcomes = polled(&mut cell, 10_000);
    let first = DIFS + EXCHANGE;
    assert_eq!(times(&outcomes), [(first, 1, true), (2 * first, 2, true)]);
    let service = |outcome: &Outcome| match outcome.fate {
        Fate::Delivered { service } => service,
        _ => panic!("{outcome:?}"),
    };
    assert_eq!(outcomes.iter().map(service).sum::<Span>(), Span::from_micros(2 * first));
    let airtime = cell.airtime(at(10_000));
    assert_eq!(airtime.exchange, Span::from_micros(2 * EXCHANGE));
    assert_eq!(airtime.total(), Span::from_micros(10_000));
}

#[test]
fn a_frame_that_finds_the_medium_idle_goes_at_the_next_slot_boundary_or_by_dcf_at_once() {
    let idle = 1_000;
    let boundary = DIFS + (idle - DIFS).div_ceil(SLOT) * SLOT;
    for (countdown, start) in [(Countdown::EveryBoundary, boundary), (Countdown::IdleSlots, idle)] {
        let mut cell = cell(&[&[(BE, Access { countdown, ..EAGER })]]);
        let one = function(&cell, 1);
        cell.push(at(idle), one, frame(1));
        assert_eq!(times(&polled(&mut cell, 10_000)), [(start + EXCHANGE, 1, true)]);
    }
    let mut cell = cell(&[&[(BE, EAGER)]]);
    let one = function(&cell, 1);
    cell.push(at(DIFS + 3 * SLOT), one, frame(1));
    assert_eq!(
        cell.wakeup(),
        at(DIFS + 3 * SLOT),
        "a frame that comes at a boundary need not wait for the next"
    );
}

#[test]
fn frames_that_collide_are_tried_again_and_dropped_at_the_limit_once() {
    for (after, wait) in [
        (AfterCollision::Difs, 0),
        (AfterCollision::Eifs, EIFS_LESS_DIFS),
        (AfterCollision::Wait(Span::from_micros(7)), 7),
    ] {
        let mut config = config(&[&[(BE, EAGER)], &[(BE, EAGER)]]);
        config.after_collision = after;
        let mut cell = Cell::new(&config).unwrap();
        let (one, two) = (function(&cell, 1), function(&cell, 2));
        cell.push(Time::ZERO, one, frame(1));
        cell.push(Time::ZERO, two, frame(2));
        let outcomes = polled(&mut cell, 10_000);
        let first = DIFS + DATA;
        let ends = [first, 2 * first + wait, 3 * first + 2 * wait];
        let expected: Vec<_> = ends.iter().flat_map(|end| [(*end, 1, false), (*end, 2, false)]).collect();
        assert_eq!(times(&outcomes), expected);
        let dropped = |outcome: &&Outcome| matches!(outcome.fate, Fate::Dropped { .. });
        assert_eq!(outcomes.iter().filter(dropped).count(), 2);
        assert!(outcomes[4..].iter().all(|outcome| dropped(&outcome) && outcome.attempts == 3));
        let report = cell.report(one);
        assert_eq!((report.attempts, report.collisions, report.retries(), report.dropped), (3, 3, 2, 1));
        assert_eq!(cell.airtime(at(10_000)).collision, Span::from_micros(3 * DATA));
        assert_eq!(cell.wakeup(), Time::NEVER);
    }
}

#[test]
fn a_collision_lasts_as_long_as_its_longest_frame() {
    let mut cell = cell(&[&[(BE, EAGER)], &[(BE, EAGER)]]);
    let (one, two) = (function(&cell, 1), function(&cell, 2));
    cell.push(Time::ZERO, one, Frame { payload: Bytes::new(10), ..frame(1) });
    cell.push(Time::ZERO, two, frame(2));
    let outcomes = polled(&mut cell, DIFS + DATA);
    assert_eq!(times(&outcomes), [(DIFS + DATA, 1, false), (DIFS + DATA, 2, false)]);
}

#[test]
fn the_more_urgent_function_of_a_station_wins_and_the_other_backs_off() {
    let mut cell = cell(&[&[(BE, EAGER), (VO, EAGER)]]);
    let (best_effort, voice) = (function(&cell, 1), cell.function(1, VO).unwrap());
    cell.push(Time::ZERO, best_effort, frame(1));
    cell.push(Time::ZERO, voice, frame(2));
    let outcomes = polled(&mut cell, 10_000);
    let first = DIFS + EXCHANGE;
    assert_eq!(times(&outcomes), [(DIFS, 1, false), (first, 2, true), (2 * first, 1, true)]);
    let report = cell.report(best_effort);
    assert_eq!((report.internal_collisions, report.attempts, report.collisions), (1, 1, 0));
    assert_eq!(cell.airtime(at(10_000)).collision, Span::ZERO);
}

#[test]
fn a_shorter_aifs_goes_first() {
    let mut cell = cell(&[&[(BE, Access { aifsn: 3, ..EAGER })], &[(BE, EAGER)]]);
    let (late, early) = (function(&cell, 1), function(&cell, 2));
    cell.push(Time::ZERO, late, frame(1));
    cell.push(Time::ZERO, early, frame(2));
    let first = DIFS + EXCHANGE;
    assert_eq!(times(&polled(&mut cell, 10_000)), [(first, 2, true), (2 * first + SLOT, 1, true)]);
}

/// When the frame of station 2 is delivered that has a counter from a window of 1024, if station 1 sends as often as asked first.
fn delivered_behind(interruptions: u64, countdown: Countdown, seed: u64) -> u64 {
    let patient = Access { cw_min: 1023, cw_max: 1023, countdown, ..EAGER };
    let mut config = config(&[&[(BE, EAGER)], &[(BE, patient)]]);
    config.seed = seed;
    let mut cell = Cell::new(&config).unwrap();
    let (eager, other) = (function(&cell, 1), function(&cell, 2));
    // Sends a frame, so that a backoff is drawn, and then has another.
    cell.push(Time::ZERO, other, frame(1));
    let start = DIFS + EXCHANGE;
    assert_eq!(times(&polled(&mut cell, start)), [(start, 1, true)]);
    for id in 0..interruptions {
        cell.push(at(start), eager, frame(10 + id));
    }
    cell.push(at(start), other, frame(2));
    let outcomes = polled(&mut cell, 1_000_000);
    let (end, ..) = *times(&outcomes).iter().find(|(_, id, _)| *id == 2).unwrap();
    end - start
}

#[test]
fn a_counter_goes_down_once_per_busy_period_by_edca_and_not_by_dcf() {
    for seed in 1..20 {
        let alone = delivered_behind(0, Countdown::EveryBoundary, seed);
        assert_eq!(alone, delivered_behind(0, Countdown::IdleSlots, seed), "alone the two are one");
        let slots = (alone - DIFS - EXCHANGE) / SLOT;
        for interruptions in 1..6 {
            let busy = interruptions * (DIFS + EXCHANGE);
            if slots > interruptions {
                let edca = delivered_behind(interruptions, Countdown::EveryBoundary, seed);
                assert_eq!(edca, alone + busy - interruptions * SLOT);
                let dcf = delivered_behind(interruptions, Countdown::IdleSlots, seed);
                assert_eq!(dcf, alone + busy);
            }
        }
    }
}

#[test]
fn a_frame_that_finds_the_medium_busy_and_no_backoff_left_draws_one() {
    let patient = Access { cw_min: 1023, cw_max: 1023, ..EAGER };
    let delay = |seed| {
        let mut config = config(&[&[(BE, EAGER)], &[(BE, patient)]]);
        config.seed = seed;
        let mut cell = Cell::new(&config).unwrap();
        let (eager, other) = (function(&cell, 1), function(&cell, 2));
        cell.push(Time::ZERO, eager, frame(1));
        polled(&mut cell, DIFS + 100);
        cell.push(at(DIFS + 100), other, frame(2));
        let (end, ..) = times(&polled(&mut cell, 100_000))[1];
        (end - 2 * (DIFS + EXCHANGE)) / SLOT
    };
    let mean = (1..=200).map(|seed| delay(seed) as f64).sum::<f64>() / 200.0;
    // 511.5 with a standard error of 21.
    assert!((420.0..600.0).contains(&mean), "{mean} slots");
}

#[test]
fn a_txop_holds_as_many_exchanges_as_fit_with_sifs_between_them() {
    for (txop, frames) in
        [(0, 1), (100, 1), (EXCHANGE, 1), (2 * EXCHANGE + SIFS - 1, 1), (2 * EXCHANGE + SIFS, 2), (1504, 4)]
    {
        let mut config =
            config(&[&[(BE, Access { txop: Span::from_micros(txop), ..EAGER })], &[(BE, EAGER)]]);
        config.after_collision = AfterCollision::Difs;
        let mut cell = Cell::new(&config).unwrap();
        let one = function(&cell, 1);
        for id in 0..10 {
            cell.push(Time::ZERO, one, frame(id));
        }
        let ends: Vec<_> = times(&polled(&mut cell, 100_000)).iter().map(|(end, ..)| *end).collect();
        let period = DIFS + frames * EXCHANGE + (frames - 1) * SIFS;
        let expected: Vec<_> = (0..10)
            .map(|nth| nth / frames * period + DIFS + EXCHANGE + nth % frames * (EXCHANGE + SIFS))
            .collect();
        assert_eq!(ends, expected, "TXOP limit {txop} us");
        let gaps = 10 - 10u64.div_ceil(frames);
        assert_eq!(cell.airtime(at(100_000)).exchange, Span::from_micros(10 * EXCHANGE + gaps * SIFS));
        assert_eq!(cell.report(one).airtime, cell.airtime(at(100_000)).exchange);
    }
}

#[test]
fn a_frame_that_comes_with_the_acknowledgement_is_in_the_same_txop() {
    let access = Access { txop: Span::from_micros(2 * EXCHANGE + SIFS), ..EAGER };
    let mut cell = cell(&[&[(BE, access)]]);
    let one = function(&cell, 1);
    cell.push(Time::ZERO, one, frame(1));
    let first = DIFS + EXCHANGE;
    assert_eq!(times(&polled(&mut cell, first)), [(first, 1, true)]);
    cell.push(at(first), one, frame(2));
    let second = first + SIFS + EXCHANGE;
    assert_eq!(times(&polled(&mut cell, 100_000)), [(second, 2, true)]);
}

#[test]
fn with_an_ack_timeout_those_who_collided_go_on_by_it() {
    let timeout = IEEE_80211A.ack_timeout().as_nanos() / 1000;
    let mut config = config(&[&[(BE, EAGER)], &[(BE, EAGER)], &[(BE, Access { aifsn: 3, ..EAGER })]]);
    config.ack_timeout = Some(IEEE_80211A.ack_timeout());
    let mut cell = Cell::new(&config).unwrap();
    for station in 1..=3 {
        let id = function(&cell, station);
        cell.push(Time::ZERO, id, frame(station as u64));
    }
    let outcomes = polled(&mut cell, DIFS + DATA);
    assert_eq!(times(&outcomes), [(DIFS + DATA, 1, false), (DIFS + DATA, 2, false)]);
    assert_eq!(cell.wakeup(), at(DIFS + DATA + timeout + DIFS));
}

#[test]
fn the_access_point_sends_at_the_rate_of_the_station() {
    let mut config = CellConfig::new(IEEE_80211A);
    config.stations = vec![
        StationConfig::access_point("ap").function(BE, EAGER),
        StationConfig::new("near", Rate::from_bps(54_000_000)),
        StationConfig::new("far", Rate::from_bps(6_000_000)),
    ];
    let mut cell = Cell::new(&config).unwrap();
    let ap = function(&cell, 0);
    cell.push(Time::ZERO, ap, Frame { to: 1, ..frame(1) });
    cell.push(Time::ZERO, ap, Frame { to: 2, ..frame(2) });
    let near = DIFS + EXCHANGE;
    let far = near + DIFS + 20 + 514 * 4 + SIFS + 44;
    assert_eq!(times(&polled(&mut cell, 100_000)), [(near, 1, true), (far, 2, true)]);
}

#[test]
fn the_receiver_has_a_frame_as_its_data_ends_unless_it_collides() {
    let mut cell = cell(&[&[(BE, EAGER)], &[(BE, EAGER)]]);
    let (first, second) = (function(&cell, 1), function(&cell, 2));
    cell.push(at(0), first, frame(0));
    assert_eq!(cell.receiving(), None);
    let mut outcomes = Vec::new();
    cell.poll(at(DIFS), &mut outcomes);
    assert_eq!(cell.receiving(), Some((first, at(DIFS + DATA))));
    cell.poll(at(DIFS + EXCHANGE), &mut outcomes);
    assert_eq!((outcomes.len(), cell.receiving()), (1, None));
    // Both wait for the end of it, and collide.
    let now = at(DIFS + EXCHANGE);
    cell.push(now, first, frame(1));
    cell.push(now, second, frame(2));
    cell.poll(now + Span::from_micros(DIFS), &mut outcomes);
    assert_eq!(cell.receiving(), None);
}
