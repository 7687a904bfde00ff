//! Bianchi's fixed point: hand values, its printed equation, limits, and the same by classes.

use proptest::prelude::*;
use tightlink_model::bianchi::{Channel, Class, Countdown, Saturation, by_class, saturation};
use units::{Bytes, Span};

const BOTH: [Countdown; 2] = [Countdown::EveryBoundary, Countdown::IdleSlots];

/// 802.11a with EIFS.
const CHANNEL: Channel = Channel {
    slot: Span::from_micros(9),
    sifs: Span::from_micros(16),
    after_collision: Span::from_micros(60),
};

/// 1500 bytes at 54 Mbit/s, acknowledged at 24.
const fn class(stations: u32) -> Class {
    Class {
        stations,
        aifsn: 2,
        cw_min: 15,
        cw_max: 1023,
        attempts: None,
        payload: Bytes::new(1500),
        exchange: Span::from_micros(296),
        data: Span::from_micros(252),
    }
}

fn of(class: &Class, countdown: Countdown) -> Saturation {
    saturation(&CHANNEL, class, countdown).unwrap()
}

#[test]
fn a_lone_station_sends_one_frame_per_exchange_and_mean_backoff() {
    let by_hand = 12_000.0 / (34e-6 + 7.5 * 9e-6 + 296e-6);
    for countdown in BOTH {
        let lone = of(&class(1), countdown);
        assert!((lone.throughput.as_bps_f64() / by_hand - 1.0).abs() < 1e-6, "{lone:?}");
        assert_eq!(lone.collision_probability, 0.0);
    }
}

#[test]
fn the_attempt_probability_is_that_of_equation_7() {
    // tau = 2 (1-2p) / ((1-2p)(W+1) + p W (1-(2p)^m)), W = 16, m = 6, without a retry limit [bianchi2000:eq7].
    for stations in [2, 5, 10, 20, 50] {
        let Saturation { attempt_probability: tau, collision_probability: p, .. } =
            of(&class(stations), Countdown::EveryBoundary);
        let (half, window) = (1.0 - 2.0 * p, 16.0);
        let printed = 2.0 * half / (half * (window + 1.0) + p * window * (1.0 - (2.0 * p).powi(6)));
        assert!((tau / printed - 1.0).abs() < 1e-9, "{stations}: {tau} {printed}");
        let met = 1.0 - (1.0 - tau).powi(stations as i32 - 1);
        assert!((p - met).abs() < 1e-12, "{stations}: {p} {met}");
    }
}

#[test]
fn without_doubling_the_attempt_probability_is_that_of_the_mean_counter() {
    // W_i = W: tau = 2/(W+1), whatever p [bianchi2000].
    for attempts in [None, Some(1), Some(7)] {
        let constant = Class { cw_max: 15, attempts, ..class(8) };
        let tau = of(&constant, Countdown::EveryBoundary).attempt_probability;
        assert!((tau - 2.0 / 17.0).abs() < 1e-12, "{attempts:?}: {tau}");
    }
}

#[test]
fn a_retry_limit_of_two_is_the_sum_by_hand() {
    let limited = of(&Class { attempts: Some(2), ..class(10) }, Countdown::EveryBoundary);
    let (p, tau) = (limited.collision_probability, limited.attempt_probability);
    let by_hand = (1.0 + p) / (8.5 + p * 16.5);
    assert!((tau - by_hand).abs() < 1e-12, "{tau} {by_hand}");
    assert!((limited.drop_probability - p * p).abs() < 1e-15);
}

#[test]
fn a_high_retry_limit_is_none() {
    for countdown in BOTH {
        for stations in [1, 2, 10] {
            let (none, high) = (
                of(&class(stations), countdown),
                of(&Class { attempts: Some(255), ..class(stations) }, countdown),
            );
            let share = high.throughput.as_bps_f64() / none.throughput.as_bps_f64();
            assert!((share - 1.0).abs() < 1e-6, "{stations}: {share}");
        }
    }
}

#[test]
fn the_freeze_correction_is_small() {
    for stations in 1..=50 {
        let [plain, corrected] =
            BOTH.map(|countdown| of(&class(stations), countdown).throughput.as_bps_f64());
        assert!((corrected / plain - 1.0).abs() < 0.03, "{stations}: {}", corrected / plain);
    }
}

#[test]
fn one_class_by_classes_is_within_a_percent_of_one_class() {
    for stations in [1, 2, 3, 7, 20, 50] {
        for attempts in [None, Some(7)] {
            let class = Class { attempts, ..class(stations) };
            let one = of(&class, Countdown::EveryBoundary);
            let by_class = by_class(&CHANNEL, &[class]).unwrap();
            let share = by_class.throughput.as_bps_f64() / one.throughput.as_bps_f64();
            println!("{stations} {attempts:?} {share} {:?} {one:?}", by_class.classes);
            assert!((share - 1.0).abs() < 0.01, "{stations}: {share}");
            let difference = by_class.classes[0].collision_probability - one.collision_probability;
            assert!(difference.abs() < 0.01, "{stations}: {difference}");
        }
    }
}

#[test]
fn two_stations_with_a_constant_window_of_two_are_the_chain_by_hand() {
    // Counters 0 or 1. A busy period with counters (0, 0) is a collision, with (0, 1) or (1, 0) a success after which the other has 0;
    // with (1, 1) a collision one slot later. By G(0) = g of each, independent: Q(0) = 1-g, f(0) = 1, f(1) = 1 + g, so that
    // g = (1+g)/(2+g): g = (sqrt(5)-1)/2.
    let class = Class { cw_min: 1, cw_max: 1, ..class(2) };
    let by_class = by_class(&CHANNEL, &[class]).unwrap();
    let g = (5.0f64.sqrt() - 1.0) / 2.0;
    let (success, collision) = (2.0 * g * (1.0 - g), g * g + (1.0 - g) * (1.0 - g));
    let mean = success * 330e-6 + collision * 346e-6 + (1.0 - g) * (1.0 - g) * 9e-6;
    let throughput = by_class.throughput.as_bps_f64();
    assert!((throughput / (success * 12_000.0 / mean) - 1.0).abs() < 1e-6, "{by_class:?}");
    let collides = by_class.classes[0].collision_probability;
    assert!((collides - 2.0 * collision / (2.0 * collision + success)).abs() < 1e-9, "{by_class:?}");
}

#[test]
fn who_is_left_no_slot_gets_nothing() {
    let eager = Class { cw_min: 3, cw_max: 7, ..class(1) };
    let both = by_class(&CHANNEL, &[eager, Class { aifsn: 6, ..class(5) }]).unwrap();
    let alone = of(&eager, Countdown::EveryBoundary).throughput.as_bps_f64();
    assert!((both.classes[0].throughput.as_bps_f64() / alone - 1.0).abs() < 1e-6, "{both:?}");
    assert_eq!((both.classes[1].throughput.as_bps(), both.classes[1].attempt_probability), (0, 0.0));
}

#[test]
fn equal_classes_are_one_class_split() {
    let whole = by_class(&CHANNEL, &[class(12)]).unwrap().throughput.as_bps_f64();
    let split = by_class(&CHANNEL, &[class(5), class(7)]).unwrap();
    assert!((split.throughput.as_bps_f64() / whole - 1.0).abs() < 1e-6);
    let [five, seven] = &split.classes[..] else { panic!("{split:?}") };
    assert!((five.throughput.as_bps_f64() / seven.throughput.as_bps_f64() - 5.0 / 7.0).abs() < 1e-6);
}

#[test]
fn a_longer_aifs_and_a_larger_window_get_less() {
    for other in [Class { aifsn: 4, ..class(5) }, Class { cw_min: 31, ..class(5) }] {
        let both = by_class(&CHANNEL, &[class(5), other]).unwrap();
        assert!(both.classes[0].throughput > both.classes[1].throughput, "{both:?}");
    }
    // Hardly anything is left behind a wide gap.
    let starved = by_class(&CHANNEL, &[class(20), Class { aifsn: 40, ..class(1) }]).unwrap();
    assert!(starved.classes[1].throughput.as_bps_f64() < 1e-3 * starved.classes[0].throughput.as_bps_f64());
}

#[test]
fn what_is_out_of_range_is_said_with_the_range() {
    let told = |class: Class| saturation(&CHANNEL, &class, Countdown::EveryBoundary).unwrap_err().to_string();
    assert_eq!(told(class(0)), "stations: 0\n  accepted: 1 to 100000");
    assert_eq!(told(Class { cw_min: 31, cw_max: 15, ..class(1) }), "cw_min: 31\n  accepted: 0 to 15");
    assert_eq!(told(Class { attempts: Some(0), ..class(1) }), "attempts: 0\n  accepted: 1 to 255");
    assert_eq!(told(Class { payload: Bytes::ZERO, ..class(1) }), "payload: 0B\n  accepted: more than zero");
    let short = told(Class { exchange: Span::from_micros(5), ..class(1) });
    assert!(short.starts_with("exchange: 5us, shorter than its data frame of 252us"), "{short}");
    let forever = saturation(&CHANNEL, &Class { cw_min: 0, ..class(2) }, Countdown::IdleSlots).unwrap_err();
    assert_eq!(forever.place, "cw_min");
    assert_eq!(by_class(&CHANNEL, &[]).unwrap_err().place, "classes");
    let second = by_class(&CHANNEL, &[class(1), class(0)]).unwrap_err();
    assert_eq!(second.place, "class 1: stations");
}

fn any_class() -> impl Strategy<Value = Class> {
    let attempts = prop_oneof![Just(None), (1u32..=255).prop_map(Some)];
    (1u32..2_000, 1u32..20, 1u32..2_000, 0u32..10_000, attempts, 1u64..5_000, 1u64..5_000_000).prop_map(
        |(stations, aifsn, cw_min, more, attempts, payload, data)| Class {
            stations,
            aifsn,
            cw_min,
            cw_max: cw_min + more,
            attempts,
            payload: Bytes::new(payload),
            exchange: Span::from_nanos(data + 44_000),
            data: Span::from_nanos(data),
        },
    )
}

fn sound(saturation: &Saturation) -> Result<(), TestCaseError> {
    for share in
        [saturation.collision_probability, saturation.drop_probability, saturation.attempt_probability]
    {
        prop_assert!((0.0..=1.0).contains(&share), "{saturation:?}");
    }
    prop_assert!(saturation.residual < 1e-9, "{saturation:?}");
    Ok(())
}

proptest! {
    #[test]
    fn within_the_ranges_there_is_a_number(class in any_class()) {
        for countdown in BOTH {
            sound(&of(&class, countdown))?;
        }
    }

    #[test]
    fn within_the_ranges_there_is_a_number_for_classes(classes in proptest::collection::vec(any_class(), 1..4)) {
        let classes: Vec<_> = classes.into_iter().map(|class| Class {
            cw_min: class.cw_min % 200,
            cw_max: class.cw_max % 800 + 200,
            ..class
        }).collect();
        match by_class(&CHANNEL, &classes) {
            Ok(all) => {
                for class in &all.classes {
                    sound(class)?;
                }
            }
            Err(complaint) => prop_assert!(complaint.found.contains("no fixed point"), "{complaint}"),
        }
    }

    #[test]
    fn more_stations_collide_more(class in any_class()) {
        let class = Class { stations: class.stations.min(1_000), ..class };
        for countdown in BOTH {
            let more = Class { stations: class.stations + 1, ..class };
            let [few, many] = [class, more].map(|class| of(&class, countdown).collision_probability);
            prop_assert!(many >= few - 1e-12, "{few} {many}");
        }
    }
}
