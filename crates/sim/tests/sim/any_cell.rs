//! What must hold in any wireless cell.

use crate::cell::{cell, data, flow, plan, queue, run, station};
use air::access::{Access, Category, Countdown};
use air::airtime_limits::AirtimeLimits;
use air::phy::{IEEE_80211B, Phy};
use link::moving_limit::{AltParameters, EbdpParameters, MovingLimitConfig};
use link::queue::POLICIES;
use proptest::prelude::*;
use tightlink_sim::{
    CellPlace, CellPlan, Direction, DownlinkPlan, EcnMode, FlowPlan, Plan, QueuePlan, UplinkPlan,
    UplinkSource,
};
use units::{Bytes, Rate, Span};

fn access() -> impl Strategy<Value = Access> {
    (1u32..8, 0u32..16, 0u32..64, prop_oneof![Just(0), 1u64..5_000], 1u32..8, any::<bool>()).prop_map(
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

fn moving() -> impl Strategy<Value = Option<MovingLimitConfig>> {
    let (ebdp, alt) = (EbdpParameters::default(), AltParameters::default());
    prop_oneof![
        Just(None),
        Just(Some(MovingLimitConfig::Ebdp(ebdp))),
        Just(Some(MovingLimitConfig::Alt(alt, 20))),
        Just(Some(MovingLimitConfig::Lesser(ebdp, alt, 20))),
    ]
}

fn any_queue() -> impl Strategy<Value = QueuePlan> {
    let policies: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
    (proptest::sample::select(policies), 2u64..60).prop_map(|(policy, limit)| queue(policy, limit))
}

fn airtime() -> impl Strategy<Value = Option<AirtimeLimits>> {
    let limits = (1u64..5, 0u64..5, 1u64..10).prop_map(|(low, more, threshold)| AirtimeLimits {
        low: Span::from_millis(low),
        high: Span::from_millis(low + more),
        threshold: Span::from_millis(threshold),
    });
    prop_oneof![Just(None), limits.prop_map(Some)]
}

/// All functions of the access point have the four categories, and the stations have what their flows need, or are saturated.
fn any_cell() -> impl Strategy<Value = CellPlan> {
    let access_point = (prop::collection::vec((access(), any_queue(), moving()), 4), airtime());
    let stations =
        prop::collection::vec((prop::collection::vec((access(), any_queue()), 4), any::<bool>()), 1..5);
    (access_point, stations, any::<bool>(), any::<bool>()).prop_map(
        |((functions, airtime), stations, slow, timeout)| {
            let mut cell = cell(1);
            let phy: Phy = if slow { IEEE_80211B } else { cell.phy };
            (cell.phy, cell.ack_timeout) = (phy, timeout.then(|| phy.ack_timeout()));
            cell.control_rate = phy.mandatory[0];
            let downlink = |(category, (access, queue, moving))| DownlinkPlan {
                category,
                access,
                queue,
                moving,
                airtime,
            };
            cell.access_point = Category::ALL.into_iter().zip(functions).map(downlink).collect();
            for (functions, fast) in stations {
                cell = station(cell);
                let added = cell.stations.last_mut().expect("it was added");
                added.rate = if fast { phy.rates[phy.rates.len() - 1] } else { phy.rates[1] };
                let uplink = |(category, (access, queue))| UplinkPlan {
                    category,
                    access,
                    source: UplinkSource::Queue(queue),
                };
                added.functions = Category::ALL.into_iter().zip(functions).map(uplink).collect();
            }
            // One station of which nothing is known but that it sends.
            cell = station(cell);
            let source = UplinkSource::Saturated(Bytes::new(200));
            let last = cell.stations.last_mut().expect("it was added");
            last.rate = Rate::from_bps(phy.rates[0].as_bps());
            last.functions = vec![UplinkPlan { category: Category::Background, access: data(), source }];
            cell
        },
    )
}

fn place() -> impl Strategy<Value = (prop::sample::Index, bool, Category, Category, bool)> {
    let category = || proptest::sample::select(Category::ALL.to_vec());
    (any::<prop::sample::Index>(), any::<bool>(), category(), category(), any::<bool>())
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (any_cell(), prop::collection::vec(place(), 1..6), any::<u64>()).prop_map(|(cell, places, seed)| {
        let stations = cell.stations.len() - 1;
        let flows = places.into_iter().map(|(station, down, category, ack_category, ecn)| {
            let direction = if down { Direction::Down } else { Direction::Up };
            let station = station.index(stations);
            let place = Some(CellPlace { station, direction, category, ack_category });
            let mut flow = FlowPlan { place, ..flow(station, direction) };
            flow.transport.ecn = if ecn { EcnMode::Classic } else { EcnMode::Off };
            flow
        });
        Plan { seed, ..plan(cell, flows.collect(), (1, 4)) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_and_all_of_the_time_are_accounted_for(plan in any_plan()) {
        let (outcome, report) = run(plan);
        prop_assert_eq!(report.airtime.total(), report.measured);
        for function in &report.functions {
            let (access, Some(queue)) = (function.access, &function.queue) else { continue };
            prop_assert_eq!((access.delivered, access.dropped), (queue.forwarded, queue.random_losses));
            let kept = queue.conservation;
            prop_assert_eq!(kept.arrived, kept.forwarded + kept.dropped + kept.held);
            prop_assert_eq!(queue.queueing_delay.total(), report.measured);
            prop_assert_eq!(queue.queue_length.total(), report.measured);
            // Attempts that had not ended as measuring began or ended.
            prop_assert!((access.attempts - access.collisions).abs_diff(access.delivered) <= 1);
        }
        let busy: f64 = report.functions.iter().map(|function| report.airtime_share(function)).sum();
        prop_assert!(busy <= 1.0 + 1e-2, "{busy}");
        prop_assert!((outcome.link.utilization + report.idle_share() - 1.0).abs() < 1e-9);
    }
}
