//! Whether a packet's departure is computed on arrival or is an event makes no difference, packet for packet; nor does
//! it whether a link's propagation is lumped with the flows' or real.
//!
//! Why: a packet meets the queue as it is sent in all three, a departure at an instant precedes an arrival at that
//! instant, and what has left the queue returns a base RTT later, in the order in which it left.

use crate::common::plan;
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkState};
use proptest::prelude::*;
use std::ops::ControlFlow;
use tightlink_sim::{FlowPlan, FlowView, Outcome, Plan, Recorder, Simulation, TrafficPlan, Transport};
use units::{Bytes, Fraction, Rate, Span, Time};

/// Everything a recorder can see, every 10 ms.
#[derive(Default, PartialEq, Debug)]
struct Everything(Vec<(u64, u64, u64)>);

impl Recorder for Everything {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(10))
    }
    fn link(&mut self, at: Time, state: &LinkState) {
        self.0.push((at.as_nanos(), state.backlog.bytes.get(), state.drops));
    }
    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        self.0.push((at.as_nanos() + index as u64, view.delivered.get(), view.window.get()));
    }
}

fn busy(
    flows: usize,
    limit: Limit,
    loss: f64,
    jitter_us: u64,
    delayed_ack: u64,
    sack: bool,
    seed: u64,
) -> Plan {
    let mut plan = plan(20_000_000, 0);
    plan.topology.links_mut()[0].limit = limit;
    plan.topology.links_mut()[0].config.loss = Fraction::new(loss).unwrap();
    plan.seed = seed;
    plan.end = Some(Time::ZERO + Span::from_secs(12));
    plan.warmup = Time::ZERO + Span::from_secs(3);
    plan.flows = (0..flows)
        .map(|i| FlowPlan {
            send_jitter: Span::from_micros(jitter_us),
            delayed_ack,
            transport: Transport { sack, ..Transport::default() },
            start: Time::ZERO + Span::from_millis(37 * i as u64),
            size: (i == 1).then_some(Bytes::new(3_000_001)),
            ..FlowPlan::greedy(&format!("flow-{i}"), "reno", Span::from_millis(10 + 13 * (i as u64 / 2)))
        })
        .collect();
    plan.traffic = vec![TrafficPlan {
        name: "cross".into(),
        route: vec![0],
        marking: tightlink_sim::Marking::default(),
        config: TrafficConfig {
            pattern: Pattern::Poisson,
            rate: Rate::from_bps(4_000_000),
            packet: Bytes::new(400),
            start: Time::ZERO,
            stop: Time::NEVER,
        },
    }];
    plan
}

fn told(outcome: &Outcome<Everything>) -> String {
    let link = &outcome.link;
    let flows = outcome.flows.iter().map(|flow| {
        let counts = (flow.sent, flow.dropped, flow.retransmits);
        format!("{} {} {counts:?} {:?} {:?}", flow.name, flow.delivered, flow.rtt.mean(), flow.completion)
    });
    format!(
        "{:?} {:?} {} {} {} {} {:?} {}",
        outcome.losses,
        link.conservation,
        link.arrivals,
        link.queue_drops,
        link.random_losses,
        link.forwarded_bytes,
        link.queueing_delay.mean(),
        flows.collect::<Vec<_>>().join("; ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn neither_link_events_nor_real_propagation_change_anything(
        flows in 1usize..6,
        packets in 1u64..120,
        in_bytes in any::<bool>(),
        loss in prop_oneof![Just(0.0), 0.0f64..0.05],
        jitter_us in prop_oneof![Just(0u64), 1u64..500],
        delayed_ack in 1u64..3,
        sack in any::<bool>(),
        // At most the least base RTT.
        delay_us in prop_oneof![Just(0u64), Just(10_000u64), 0u64..=10_000],
        seed in any::<u64>(),
    ) {
        let limit = if in_bytes { Limit::Bytes(Bytes::new(1500 * packets)) } else { Limit::Packets(packets) };
        let plan = || busy(flows, limit, loss, jitter_us, delayed_ack, sack, seed);
        let direct = Simulation::new(plan(), Everything::default()).run();
        let events = Simulation::with_link_events(plan(), Everything::default()).run();
        let mut propagating = plan();
        propagating.topology = propagating.topology.into_network();
        propagating.topology.links_mut()[0].config.delay = Span::from_micros(delay_us);
        let hop_by_hop = Simulation::new(propagating, Everything::default()).run();
        for other in [&events, &hop_by_hop] {
            prop_assert_eq!(told(&direct), told(other));
            prop_assert_eq!(&direct.recorder, &other.recorder);
            prop_assert!((direct.link.mean_waiting_bytes - other.link.mean_waiting_bytes).abs() < 1e-6);
            prop_assert!((direct.link.utilization - other.link.utilization).abs() < 1e-9);
        }
        prop_assert!(direct.link.conservation.arrived > 10_000 / flows as u64);
    }
}

#[test]
fn every_queue_of_the_registry_carries_tcp() {
    for policy in link::queue::POLICIES {
        let mut plan = busy(3, Limit::Packets(100), 0.0, 0, 1, true, 1);
        plan.topology.links_mut()[0].queue = policy.name.into();
        plan.end = Some(Time::ZERO + Span::from_secs(30));
        let outcome = Simulation::new(plan, Everything::default()).run();
        let kept = outcome.link.conservation;
        assert_eq!(kept.arrived, kept.forwarded + kept.dropped + kept.held, "{}", policy.name);
        assert!(outcome.link.utilization > 0.85, "{}: {}", policy.name, outcome.link.utilization);
        assert!(outcome.link.loss_rate() > 0.0, "{}", policy.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let run = |seed| {
        let plan = busy(3, Limit::Packets(50), 0.01, 100, 2, true, seed);
        let outcome = Simulation::new(plan, Everything::default()).run();
        (told(&outcome), outcome.recorder)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}

/// [`Everything`], with a pulse.
#[derive(Default)]
struct Watched(Everything, Vec<Time>, Option<Time>);

impl Recorder for Watched {
    fn interval(&self) -> Option<Span> {
        self.0.interval()
    }
    fn link(&mut self, at: Time, state: &LinkState) {
        self.0.link(at, state);
    }
    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        self.0.flow(at, index, view);
    }
    fn pulse(&self) -> Option<Span> {
        Some(Span::from_millis(7))
    }
    fn reached(&mut self, at: Time) -> ControlFlow<()> {
        self.1.push(at);
        if Some(at) == self.2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_run_whose_progress_is_told_is_the_same_run() {
    for end in [Some(Time::ZERO + Span::from_secs(12)), None] {
        let plan = || {
            let mut plan = busy(4, Limit::Packets(40), 0.001, 3, 2, true, 5);
            plan.end = end;
            if end.is_none() {
                plan.flows.iter_mut().for_each(|flow| flow.size = Some(Bytes::new(2_000_000)));
            }
            plan
        };
        let plain = Simulation::new(plan(), Everything::default()).run();
        let watched = Simulation::new(plan(), Watched::default()).run();
        let Watched(seen, pulses, _) = watched.recorder;
        assert_eq!(plain.recorder, seen);
        assert_eq!((plain.ended, plain.events), (watched.ended, watched.events));
        assert_eq!(
            format!("{:?} {:?}", plain.flows, plain.links),
            format!("{:?} {:?}", watched.flows, watched.links)
        );
        let every = Span::from_millis(7);
        assert_eq!(pulses.len() as u64, watched.ended.as_nanos() / every.as_nanos());
        assert!(pulses.windows(2).all(|pair| pair[1] == pair[0] + every));
    }
}

#[test]
fn a_run_that_its_recorder_ends_is_over_at_that_moment() {
    let stop = Time::ZERO + Span::from_millis(7 * 300);
    let mut plan = busy(4, Limit::Packets(40), 0.001, 3, 2, true, 5);
    plan.end = Some(Time::ZERO + Span::from_secs(12));
    let outcome = Simulation::new(plan, Watched(Everything::default(), Vec::new(), Some(stop))).run();
    assert_eq!((outcome.ended, outcome.recorder.1.len()), (stop, 300));
}

/// Has memory for a while.
struct Small(u32);

impl Recorder for Small {
    fn interval(&self) -> Option<Span> {
        None
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
    fn is_too_large(&mut self) -> bool {
        self.0 += 1;
        self.0 == 3
    }
}

#[test]
fn a_run_that_takes_too_much_memory_is_over_at_that_moment() {
    let mut plan = busy(4, Limit::Packets(40), 0.001, 3, 2, true, 5);
    let end = Time::ZERO + Span::from_secs(120);
    plan.end = Some(end);
    let Err(ended) = Simulation::new(plan.clone(), Small(0)).try_run() else { panic!("it comes to its end") };
    assert!(ended.recorder.0 == 3 && ended.at < end);
    let whole = Simulation::new(plan, Everything::default()).try_run().map(|outcome| outcome.events);
    assert!(whole.is_ok_and(|events| events > 3 * 16_384));
}
