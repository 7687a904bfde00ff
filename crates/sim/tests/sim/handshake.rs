//! Connections that begin with a handshake; and sums over flows, whatever the plan.

use crate::common::{link, plan, run, seconds};
use link::traffic::{Pattern, TrafficConfig};
use proptest::prelude::*;
use tightlink_sim::{FlowPlan, FlowReport, Plan, Topology, TrafficPlan};
use units::{Bytes, Fraction, Rate, Span, Time};

/// A connection that is to be set up.
fn connecting(name: &str, control: &str, rtt: Span) -> FlowPlan {
    FlowPlan { handshake: true, ..FlowPlan::greedy(name, control, rtt) }
}

#[test]
fn data_begin_when_the_syn_is_answered_and_completion_counts_from_then() {
    let size = Some(Bytes::new(100_000));
    let report = |handshake| {
        let mut plan = plan(10_000_000, 1000);
        let flow = connecting("file", "reno", Span::from_millis(100));
        plan.flows = vec![FlowPlan { size, handshake, ..flow }];
        run(plan)
    };
    let (with, without) = (report(true), report(false));
    let (flow, bare) = (&with.flows[0], &without.flows[0]);
    // 40 bytes at 10 Mbit/s, and the round trip.
    assert_eq!(flow.handshake, Some(Span::from_micros(100_032)));
    assert_eq!((bare.handshake, flow.completion), (None, bare.completion));
    assert_eq!((flow.active, flow.goodput()), (bare.active, bare.goodput()));
    assert_eq!(flow.sent, bare.sent + 1, "the SYN");
    assert_eq!(with.ended, without.ended + Span::from_micros(100_032));
}

#[test]
fn a_handshake_takes_the_queue_it_meets_and_no_timer_expires_after_it() {
    // Up to three seconds of queue: longer than the first timeout of RFC 6298.
    let mut plan = plan(5_000_000, 1250);
    plan.end = Some(seconds(60));
    let second = connecting("second", "cubic", Span::from_millis(40));
    plan.flows = vec![
        connecting("first", "cubic", Span::from_millis(40)),
        FlowPlan { start: seconds(20), size: Some(Bytes::new(300_000)), ..second },
    ];
    let flow = &run(plan).flows[1];
    let took = flow.handshake.expect("it is established").as_secs_f64();
    // The queue has three seconds at most, and a SYN that found it full was sent again after one.
    assert!((1.0..4.05).contains(&took), "{took}");
    assert_eq!(flow.timeouts, 0);
    assert!(flow.completion.is_some_and(|took| took < Span::from_secs(35)), "{:?}", flow.completion);
}

#[test]
fn a_syn_that_is_lost_is_sent_again_after_one_then_two_then_four_seconds() {
    let syns = |end| {
        let mut plan = plan(10_000_000, 1000);
        let Topology::OneLink(link) = &mut plan.topology else { panic!("one link") };
        link.config.loss = Fraction::new(1.0).expect("a share");
        plan.end = Some(Time::ZERO + Span::from_millis(end));
        plan.flows = vec![connecting("lost", "reno", Span::from_millis(100))];
        let flow: FlowReport = run(plan).flows.remove(0);
        assert_eq!((flow.handshake, flow.active, flow.delivered), (None, Span::ZERO, Bytes::ZERO));
        assert_eq!((flow.dropped, flow.retransmits), (flow.sent, flow.sent - 1));
        assert_eq!((flow.goodput(), flow.first_loss_window), (Rate::ZERO, None));
        flow.sent
    };
    assert_eq!([500, 1001, 2999, 3001, 6999, 7001, 14_999].map(syns), [1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn a_handshake_crosses_both_queues_where_acknowledgements_do() {
    let mut plan = Plan {
        topology: Topology::Network {
            links: vec![link("there", 1, 5, 100), link("back", 1, 5, 100)],
            tight: 0,
        },
        end: Some(seconds(10)),
        ..plan(1, 1)
    };
    let flow = connecting("f", "reno", Span::from_millis(100));
    plan.flows = vec![FlowPlan { return_route: vec![1], size: Some(Bytes::new(20_000)), ..flow }];
    let flow = &run(plan).flows[0];
    // Twice 40 bytes at 1 Mbit/s.
    assert_eq!(flow.handshake, Some(Span::from_micros(100_640)));
    assert!(flow.completion.is_some());
}

#[test]
fn a_flow_that_leaves_before_it_is_established_sends_nothing() {
    let mut plan = plan(10_000_000, 1000);
    plan.end = Some(seconds(5));
    let flow = connecting("f", "reno", Span::from_secs(1));
    plan.flows = vec![FlowPlan { stop: Some(Time::ZERO + Span::from_millis(500)), ..flow }];
    let flow = &run(plan).flows[0];
    assert_eq!((flow.delivered, flow.sent, flow.handshake), (Bytes::ZERO, 1, None));
}

/// A flow of a random plan: control, size in kB if it is a file, start and base RTT in milliseconds, handshake.
type Drawn = (usize, Option<u64>, u64, u64, bool);

fn flows() -> impl Strategy<Value = Vec<Drawn>> {
    let size = prop::option::of(1..400u64);
    prop::collection::vec((0..4usize, size, 0..3000u64, 1..300u64, any::<bool>()), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn sums_hold_whatever_the_plan(
        flows in flows(),
        limit in 1..200u64,
        kbps in 300..20_000u64,
        loss in 0.0..0.05,
        back in any::<bool>(),
        calls in any::<bool>(),
        warmup in 0..2u64,
    ) {
        let mut there = link("there", 1, 1, limit);
        there.config.rate = Rate::from_bps(kbps * 1000);
        there.config.loss = Fraction::new(loss).expect("a share");
        let mut plan = Plan {
            topology: Topology::Network { links: vec![there, link("back", 1, 1, 100)], tight: 0 },
            end: Some(seconds(8)),
            warmup: seconds(warmup),
            ..plan(1, 1)
        };
        let flow = |(index, (control, size, start, rtt, handshake)): (usize, &Drawn)| FlowPlan {
            handshake: *handshake,
            size: size.map(|size| Bytes::new(1000 * size)),
            start: Time::ZERO + Span::from_millis(*start),
            return_route: if back { vec![1] } else { Vec::new() },
            ..FlowPlan::greedy(
                &format!("flow-{index}"),
                ["reno", "cubic", "bbr", "vegas"][*control],
                Span::from_millis(rtt.max(&4).to_owned()),
            )
        };
        plan.flows = flows.iter().enumerate().map(flow).collect();
        if calls {
            plan.traffic = vec![TrafficPlan {
                name: "calls".into(),
                config: TrafficConfig {
                    pattern: Pattern::Cbr,
                    rate: Rate::from_bps(80_000),
                    packet: Bytes::new(200),
                    start: Time::ZERO,
                    stop: Time::NEVER,
                },
                route: vec![0],
                marking: tightlink_sim::Marking::default(),
            }];
        }
        let outcome = run(plan);
        let there = &outcome.links[0];
        let measured = there.measured.as_secs_f64();
        let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered.get()).sum();
        let other: u64 = outcome.traffic.iter().map(|source| source.delivered_bytes.get()).sum();
        // What waited in order at a receiver as measuring began may count as well: at most what was under way.
        let earlier = if warmup == 0 { 0.0 } else { 2e6 };
        let most = kbps as f64 * 1000.0 / 8.0 * measured + earlier;
        prop_assert!((delivered + other) as f64 <= most, "{delivered} and {other} bytes of {most}");
        for (flow, drawn) in outcome.flows.iter().zip(&flows) {
            let goodput = flow.goodput().as_bps_f64();
            prop_assert!(goodput.is_finite());
            if let (Some(size), Some(completion)) = (drawn.1, flow.completion) {
                // A rate is in whole bits per second.
                let exact = 8000.0 * size as f64 / completion.as_secs_f64();
                prop_assert!((goodput - exact).abs() <= 1.0, "{goodput} of {exact}");
            }
            prop_assert!(flow.completion.is_none() || !drawn.4 || flow.handshake.is_some());
            prop_assert!(flow.dropped <= flow.sent && flow.retransmits <= flow.sent);
        }
        for link in &outcome.links {
            let count = link.conservation;
            prop_assert_eq!(count.arrived, count.forwarded + count.dropped + count.held);
        }
        if warmup == 0 {
            let sent: u64 = outcome.flows.iter().map(|flow| flow.sent).sum();
            let packets: u64 = outcome.traffic.iter().map(|source| source.packets).sum();
            prop_assert_eq!(there.conservation.arrived, sent + packets);
        }
        for source in &outcome.traffic {
            // What arrived in the warm-up and waits in the queue as measuring begins is delivered, too.
            let waited = if warmup == 0 { 0 } else { limit + 10 };
            prop_assert!(source.delivered() + source.drops <= source.packets + waited);
            prop_assert!(source.delay.max() >= source.queueing.max());
        }
    }
}
