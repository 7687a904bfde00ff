//! What holds on every sequence of pushes, in every cell.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tightlink_air::access::{Access, Category, Countdown};
use tightlink_air::config::{AfterCollision, CellConfig, StationConfig};
use tightlink_air::phy::Phy;
use tightlink_air::{Cell, Fate, Frame};
use units::{Bytes, Span, Time};

fn access() -> impl Strategy<Value = Access> {
    let txop = prop_oneof![Just(0u64), 1u64..5_000];
    (1u32..8, 0u32..16, 0u32..64, txop, 1u32..9, any::<bool>()).prop_map(
        |(aifsn, cw_min, more, txop, retry_limit, edca)| Access {
            aifsn,
            cw_min,
            cw_max: cw_min + more,
            txop: Span::from_micros(txop),
            retry_limit,
            countdown: if edca { Countdown::EveryBoundary } else { Countdown::IdleSlots },
        },
    )
}

fn cell() -> impl Strategy<Value = CellConfig> {
    let functions = proptest::sample::subsequence(Category::ALL.to_vec(), 1..=4);
    let station = (functions, proptest::collection::vec(access(), 4), any::<prop::sample::Index>());
    let after = prop_oneof![Just(AfterCollision::Difs), Just(AfterCollision::Eifs)];
    let phy = proptest::sample::select(Phy::ALL);
    (phy, after, any::<bool>(), any::<u64>(), proptest::collection::vec(station, 1..6)).prop_map(
        |(phy, after_collision, timeout, seed, stations)| {
            let mut config = CellConfig::new(phy);
            config.after_collision = after_collision;
            config.ack_timeout = timeout.then(|| phy.ack_timeout());
            config.seed = seed;
            for (index, (functions, access, rate)) in stations.into_iter().enumerate() {
                let name = format!("station-{index}");
                let station = if index == 0 {
                    StationConfig::access_point(name)
                } else {
                    StationConfig::new(name, *rate.get(phy.rates))
                };
                let functions = functions.into_iter().zip(access);
                let station =
                    functions.fold(station, |station, (category, access)| station.function(category, access));
                config.stations.push(station);
            }
            config.stations.push(StationConfig::new("sink", phy.mandatory[0]));
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_frame_ends_once_and_the_time_adds_up(
        config in cell(),
        pushes in proptest::collection::vec((0u64..3_000, any::<prop::sample::Index>(), 1u64..2_000), 1..80),
    ) {
        let mut cell = Cell::new(&config).unwrap();
        let sink = config.stations.len() - 1;
        let functions: Vec<_> = (0..sink)
            .flat_map(|station| Category::ALL.map(|category| (station, category)))
            .filter_map(|(station, category)| cell.function(station, category))
            .collect();
        let (mut now, mut outcomes, mut pushed) = (Time::ZERO, Vec::new(), BTreeMap::new());
        for (id, (wait, function, payload)) in pushes.iter().enumerate() {
            now += Span::from_micros(*wait);
            cell.poll(now, &mut outcomes);
            prop_assert!(cell.wakeup() > now);
            prop_assert_eq!(cell.airtime(now).total(), now.since(Time::ZERO));
            let function = *function.get(&functions);
            cell.push(now, function, Frame { id: id as u64, payload: Bytes::new(*payload), to: sink });
            pushed.insert(id as u64, (function, now));
        }
        // Everybody who always collides reaches the limit, so that it ends.
        let end = now + Span::from_secs(60);
        cell.poll(end, &mut outcomes);
        prop_assert_eq!(cell.wakeup(), Time::NEVER);
        prop_assert_eq!(cell.airtime(end).total(), end.since(Time::ZERO));
        prop_assert!(outcomes.is_sorted_by_key(|outcome| outcome.at));

        let limit = |station: usize, category| {
            let functions = &config.stations[station].functions;
            functions.iter().find(|function| function.category == category).unwrap().access.retry_limit
        };
        let mut tries: BTreeMap<u64, u32> = BTreeMap::new();
        for outcome in &outcomes {
            let (function, since) = pushed[&outcome.frame.id];
            prop_assert_eq!(outcome.function, function);
            let tried = tries.entry(outcome.frame.id).or_default();
            *tried += 1;
            prop_assert_eq!(outcome.attempts, *tried);
            let (station, category) = cell.owner(function);
            match outcome.fate {
                Fate::Retried => prop_assert!(*tried < limit(station, category)),
                Fate::Dropped { service } => {
                    prop_assert_eq!(*tried, limit(station, category));
                    prop_assert!(service <= outcome.at.since(since));
                    pushed.remove(&outcome.frame.id);
                }
                Fate::Delivered { service } => {
                    prop_assert!(*tried <= limit(station, category));
                    prop_assert!(service <= outcome.at.since(since));
                    pushed.remove(&outcome.frame.id);
                }
            }
        }
        prop_assert!(pushed.is_empty(), "never ended: {:?}", pushed);

        let reports: Vec<_> = functions.iter().map(|function| cell.report(*function)).collect();
        let airtime: Span = reports.iter().map(|report| report.airtime).sum();
        prop_assert_eq!(airtime, cell.airtime(end).exchange);
        for report in &reports {
            prop_assert_eq!(report.attempts, report.delivered + report.collisions);
        }
        let ended: u64 = reports.iter().map(|report| report.delivered + report.dropped).sum();
        prop_assert_eq!(ended, pushes.len() as u64);
    }

    #[test]
    fn another_station_does_not_change_what_one_draws(seed in any::<u64>(), config in cell()) {
        let alone = |extra: bool| {
            let mut config = config.clone();
            config.seed = seed;
            if extra {
                config.stations.insert(1, StationConfig::new("extra", config.phy.mandatory[0]));
            }
            let sink = config.stations.len() - 1;
            let mut cell = Cell::new(&config).unwrap();
            let category = config.stations[0].functions[0].category;
            let function = cell.function(0, category).unwrap();
            for id in 0..50 {
                cell.push(Time::ZERO, function, Frame { id, payload: Bytes::new(100), to: sink });
            }
            let mut outcomes = Vec::new();
            cell.poll(Time::ZERO + Span::from_secs(1), &mut outcomes);
            outcomes.iter().map(|outcome| outcome.at).collect::<Vec<_>>()
        };
        prop_assert_eq!(alone(false), alone(true));
    }
}
