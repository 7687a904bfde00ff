//! Acknowledgements through queues, and traffic both ways.

use crate::common::{link, plan, run};
use link::Limit;
use link::traffic::{Pattern, TrafficConfig};
use proptest::prelude::*;
use tightlink_sim::{FlowPlan, LinkPlan, Plan, Topology, TrafficPlan, Transport};
use units::{Bytes, Fraction, Rate, Span, Time};

fn minute(links: Vec<LinkPlan>) -> Plan {
    Plan {
        topology: Topology::Network { links, tight: 0 },
        end: Some(Time::ZERO + Span::from_secs(60)),
        warmup: Time::ZERO + Span::from_secs(10),
        ..plan(1, 1)
    }
}

/// Over link 0, with acknowledgements over link 1.
fn there_and_back(name: &str, control: &str, rtt_ms: u64) -> FlowPlan {
    FlowPlan {
        route: vec![0],
        return_route: vec![1],
        ..FlowPlan::greedy(name, control, Span::from_millis(rtt_ms))
    }
}

/// A link that carries `kbps`.
fn slow(name: &str, kbps: u64, limit: u64) -> LinkPlan {
    let mut link = link(name, 1, 5, limit);
    link.config.rate = Rate::from_bps(kbps * 1000);
    link
}

/// A way back with nothing on it but acknowledgements that never wait adds their serialization to the RTT, and no more.
#[test]
fn an_idle_way_back_adds_its_serialization() {
    let mut plan = minute(vec![link("there", 10, 5, 1000), link("back", 1, 5, 1000)]);
    plan.flows = vec![FlowPlan { socket_buffer: Bytes::new(20 * 1448), ..there_and_back("f", "fixed", 40) }];
    let outcome = run(plan);
    let rtt = 0.040 + 1500.0 * 8.0 / 10e6 + 52.0 * 8.0 / 1e6;
    let found = outcome.flows[0].rtt.mean().unwrap().as_secs_f64();
    assert!((found - rtt).abs() < 2e-6, "{found}, not {rtt}");
    let goodput = outcome.flows[0].goodput().as_bps_f64();
    assert!((goodput / (20.0 * 1448.0 * 8.0 / rtt) - 1.0).abs() < 1e-3, "{goodput}");
    let [there, back] = &outcome.links[..] else { panic!("two links") };
    assert!(there.forwarded.abs_diff(back.forwarded) <= 20, "an acknowledgement for each segment");
    assert_eq!(back.forwarded_bytes, Bytes::new(52) * back.forwarded);
}

/// Acknowledgements are the clock: goodput is at most what the way back acknowledges.
#[test]
fn a_slow_way_back_limits_goodput_to_what_it_acknowledges() {
    for (kbps, delayed_ack, timestamps) in [(100, 1, true), (100, 2, true), (50, 2, false), (200, 1, true)] {
        let mut plan = minute(vec![link("there", 10, 5, 2000), slow("back", kbps, 2000)]);
        let (payload, header) = if timestamps { (1448, 52) } else { (1460, 40) };
        plan.flows = vec![FlowPlan {
            socket_buffer: Bytes::new(300 * payload),
            payload: Bytes::new(payload),
            header: Bytes::new(header),
            transport: Transport { timestamps, ..Transport::default() },
            delayed_ack,
            ..there_and_back("f", "fixed", 40)
        }];
        let outcome = run(plan);
        let acknowledged = (kbps * 1000) as f64 / header as f64 * (delayed_ack * payload) as f64;
        let goodput = outcome.flows[0].goodput().as_bps_f64();
        assert!((goodput / acknowledged - 1.0).abs() < 0.01, "{kbps} kbit/s: {goodput}, not {acknowledged}");
        assert!(outcome.links[1].utilization > 0.999 && outcome.links[0].utilization < 0.7);
        // The window stands where its clock waits.
        assert!(outcome.links[1].mean_waiting_packets > 100.0 / delayed_ack as f64);
        assert!(outcome.links[0].mean_waiting_packets < 2.0);
    }
}

#[test]
fn a_transfer_completes_though_many_acknowledgements_are_dropped() {
    for (sack, loss, delayed_ack) in
        [(true, 0.0, 1), (true, 0.01, 1), (false, 0.0, 1), (false, 0.01, 2), (true, 0.05, 2)]
    {
        let mut plan = minute(vec![link("there", 10, 5, 60), slow("back", 20, 1)]);
        plan.topology.links_mut()[0].config.loss = Fraction::new(loss).unwrap();
        plan.end = Some(Time::ZERO + Span::from_secs(1000));
        plan.warmup = Time::ZERO;
        let size = Bytes::new(3_000_001);
        let transport = Transport { sack, ..Transport::default() };
        plan.flows =
            vec![FlowPlan { size: Some(size), transport, delayed_ack, ..there_and_back("f", "reno", 40) }];
        let outcome = run(plan);
        let flow = &outcome.flows[0];
        assert!(flow.completion.is_some(), "sack {sack}, loss {loss}: {} delivered", flow.delivered);
        assert_eq!(flow.delivered, size);
        assert!(flow.acknowledgements_dropped > flow.acknowledgements / 10, "sack {sack}, loss {loss}");
        assert_eq!(outcome.links[1].drops(), flow.acknowledgements_dropped);
    }
}

/// Selective acknowledgements that got lost are repeated by later ones: without the blocks a sender would send again
/// what has arrived.
#[test]
fn lost_acknowledgements_make_no_needless_retransmissions() {
    let mut plan = minute(vec![link("there", 10, 5, 50), link("back", 10, 5, 1000)]);
    plan.topology.links_mut()[1].config.loss = Fraction::new(0.3).unwrap();
    plan.flows = vec![there_and_back("f", "reno", 40)];
    let outcome = run(plan);
    let flow = &outcome.flows[0];
    assert!(flow.acknowledgements_dropped > flow.acknowledgements / 4);
    assert!(outcome.link.utilization > 0.9, "{}", outcome.link.utilization);
    // A tail of acknowledgements can be lost whole, which ends in a timeout; otherwise what is sent again was lost.
    assert!(flow.retransmits <= flow.dropped + flow.dropped / 4 + 50, "{flow:?}");
}

/// Zhang, Shenker and Clark (1991): acknowledgements that wait behind data come in bursts, queues fluctuate by more
/// than a window's growth, and links idle that one-way traffic fills; more room in the queue does not help.
#[test]
fn two_way_traffic_leaves_links_idle_that_one_way_traffic_fills() {
    let both = |limit: u64, two_way: bool| {
        let mut plan = minute(vec![link("there", 2, 20, limit), link("back", 2, 20, limit)]);
        plan.end = Some(Time::ZERO + Span::from_secs(400));
        plan.warmup = Time::ZERO + Span::from_secs(100);
        plan.flows = vec![there_and_back("forward", "reno", 42)];
        if two_way {
            let reverse = there_and_back("reverse", "reno", 42);
            let start = Time::ZERO + Span::from_millis(737);
            plan.flows.push(FlowPlan { route: vec![1], return_route: vec![0], start, ..reverse });
        }
        run(plan)
    };
    for limit in [10, 20, 40] {
        let (one_way, two_way) = (both(limit, false), both(limit, true));
        let least = two_way.links[0].utilization.min(two_way.links[1].utilization);
        assert!(one_way.links[0].utilization > 0.98, "{limit}: {}", one_way.links[0].utilization);
        assert!(least < one_way.links[0].utilization - 0.03, "{limit}: {least}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the network: what came to a link has left it, was dropped or is there; and links drop what endpoints
    /// have sent.
    #[test]
    fn no_packet_is_lost_from_the_books(
        rates in prop::collection::vec(1u64..20, 1..5),
        delays in prop::collection::vec(0u64..10, 8),
        limits in prop::collection::vec(1u64..60, 8),
        policies in prop::collection::vec(0usize..link::queue::POLICIES.len(), 8),
        routes in prop::collection::vec((0usize..8, 1usize..4, any::<bool>(), any::<bool>()), 1..6),
        loss in prop_oneof![Just(0.0), 0.0f64..0.05],
        delayed_ack in 1u64..3,
        sack in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let count = rates.len();
        // Link i there is i, back it is count + i.
        let links = (0..2 * count).map(|index| {
            let mut link = link(&format!("{index}"), rates[index % count], delays[index], limits[index]);
            link.config.loss = Fraction::new(loss).unwrap();
            link.queue = link::queue::POLICIES[policies[index]].name.into();
            link
        });
        let mut plan = minute(links.collect());
        plan.end = Some(Time::ZERO + Span::from_secs(15));
        plan.warmup = Time::ZERO;
        plan.seed = seed;
        for (index, (first, length, forward, queued)) in routes.into_iter().enumerate() {
            let first = first % count;
            let there: Vec<usize> = (first..(first + length).min(count)).collect();
            let back: Vec<usize> = there.iter().rev().map(|link| count + link).collect();
            let (route, return_route) = if forward { (there, back) } else { (back, there) };
            if index == 3 {
                let config = TrafficConfig {
                    pattern: Pattern::Poisson,
                    rate: Rate::from_bps(500_000),
                    packet: Bytes::new(400),
                    start: Time::ZERO,
                    stop: Time::NEVER,
                };
                let marking = tightlink_sim::Marking::default();
                plan.traffic.push(TrafficPlan { name: "cross".into(), config, route, marking });
                continue;
            }
            plan.flows.push(FlowPlan {
                route,
                return_route: if queued { return_route } else { Vec::new() },
                size: (index == 1).then_some(Bytes::new(200_001)),
                start: Time::ZERO + Span::from_millis(1 + 31 * index as u64),
                delayed_ack,
                transport: Transport { sack, ..Transport::default() },
                ..FlowPlan::greedy(&format!("flow-{index}"), "reno", Span::from_millis(60 + 7 * index as u64))
            });
        }
        let cross = plan.traffic.len();
        let outcome = run(plan);
        for link in &outcome.links {
            let kept = link.conservation;
            prop_assert_eq!(kept.arrived, kept.forwarded + kept.dropped + kept.held);
        }
        let dropped: u64 = outcome.links.iter().map(|link| link.conservation.dropped).sum();
        let told: u64 = outcome.flows.iter().map(|flow| flow.dropped + flow.acknowledgements_dropped).sum();
        prop_assert!(told <= dropped && (cross > 0 || told == dropped), "{} of {}", told, dropped);
        for flow in &outcome.flows {
            prop_assert!(flow.sent > 0 && flow.dropped <= flow.sent);
            prop_assert!(flow.acknowledgements_dropped <= flow.acknowledgements);
            prop_assert!(flow.acknowledgements <= flow.sent);
            prop_assert!(flow.delivered <= Bytes::new(1448) * (flow.sent - flow.dropped));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_over_a_network() {
    let told = |seed| {
        let mut plan = minute(vec![link("there", 4, 5, 30), link("back", 4, 5, 30)]);
        plan.seed = seed;
        plan.topology.links_mut()[0].config.loss = Fraction::new(0.01).unwrap();
        plan.topology.links_mut()[1].limit = Limit::Bytes(Bytes::new(20_000));
        plan.flows = vec![there_and_back("f", "reno", 40)];
        plan.flows.push(FlowPlan {
            route: vec![1],
            return_route: vec![0],
            ..there_and_back("g", "reno", 50)
        });
        let outcome = run(plan);
        format!("{:?} {:?} {}", outcome.flows, outcome.links, outcome.events)
    };
    assert_eq!(told(3), told(3));
    assert_ne!(told(3), told(4));
}
