//! Airtime queue limits.

use proptest::prelude::*;
use tightlink_air::access::Category;
use tightlink_air::airtime_limits::{AirtimeLimits, PendingAirtime};
use units::Span;

const BE: Category = Category::BestEffort;

const fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

#[test]
fn a_lone_station_may_have_the_high_limit_pending() {
    let mut pending = PendingAirtime::new(AirtimeLimits::default(), 2);
    let mut taken = 0;
    while pending.may_take(0, BE) {
        pending.take(0, BE, ms(1));
        taken += 1;
    }
    assert_eq!(taken, 12);
    assert!(pending.may_take(0, Category::Voice), "each category has its own");
    assert!(pending.may_take(1, BE), "each station has its own");
    pending.give_back(0, BE, ms(1));
    assert!(pending.may_take(0, BE));
}

#[test]
fn above_the_devices_threshold_the_low_limit_counts() {
    let mut pending = PendingAirtime::new(AirtimeLimits::default(), 4);
    for station in 0..2 {
        pending.take(station, BE, ms(12));
    }
    assert_eq!(pending.total(), ms(24));
    pending.take(2, BE, ms(4));
    assert!(pending.may_take(2, BE));
    pending.take(2, BE, ms(1));
    assert!(!pending.may_take(2, BE));
    assert!(pending.may_take(3, BE));
    pending.give_back(0, BE, ms(12));
    assert!(pending.may_take(2, BE), "5 ms of 12, for the device has 17 ms");
}

proptest! {
    #[test]
    fn what_is_pending_is_bounded_and_is_given_back(
        stations in 1usize..20,
        packets in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..4, 1u64..4_000, any::<bool>()), 1..400),
    ) {
        let limits = AirtimeLimits::default();
        let mut pending = PendingAirtime::new(limits, stations);
        let (mut held, mut sums) = (Vec::new(), vec![[Span::ZERO; 4]; stations]);
        for (station, category, airtime, finish) in packets {
            let (station, airtime) = (station.index(stations), Span::from_micros(airtime));
            let total: Span = sums.iter().flatten().copied().sum();
            prop_assert_eq!(pending.total(), total);
            let of = sums[station][category];
            let expected = of < limits.low || (total < limits.threshold && of < limits.high);
            prop_assert_eq!(pending.may_take(station, Category::ALL[category]), expected);
            if expected {
                pending.take(station, Category::ALL[category], airtime);
                sums[station][category] += airtime;
                held.push((station, category, airtime));
                prop_assert!(sums[station][category] < limits.high + airtime);
            }
            if finish && let Some((station, category, airtime)) = held.pop() {
                pending.give_back(station, Category::ALL[category], airtime);
                sums[station][category] -= airtime;
            }
        }
        for (station, category, airtime) in held {
            pending.give_back(station, Category::ALL[category], airtime);
        }
        prop_assert_eq!(pending.total(), Span::ZERO);
    }
}
