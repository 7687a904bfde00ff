//! SOBAS in the simulator: it is to fill a path without a standing queue and without losses.

use crate::common::{link, plan};
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use tightlink_sim::{
    FlowPlan, FlowReport, LossDetection, NoRecorder, Plan, Recovery, Simulation, SizerPlan, Topology,
    TrafficPlan, Transport,
};
use units::{Bytes, Fraction, Rate, Span, Time};

const RTT: Span = Span::from_millis(40);
const RATE: u64 = 97_000_000;
/// Of 1500 bytes 1448 are payload.
const FULL: f64 = RATE as f64 * 1448.0 / 1500.0;

fn sized(name: &str, rtt: Span, can_pace: bool) -> FlowPlan {
    sized_with(name, "reno", rtt, can_pace)
}

fn sized_with(name: &str, control: &str, rtt: Span, can_pace: bool) -> FlowPlan {
    let target = FlowPlan::greedy("target", control, rtt);
    let sizer = Some(SizerPlan { name: name.into(), can_pace, regret: None });
    FlowPlan { sizer, socket_buffer: Bytes::new(64_000_000), ..target }
}

/// `target` for 30 s on 97 Mb/s and a buffer of `buffer` times the bandwidth-delay product.
fn path(target: FlowPlan, buffer: f64) -> Plan {
    let limit = Rate::from_bps(RATE).volume(target.base_rtt).scale(buffer);
    let mut plan = plan(RATE, 0);
    plan.topology.links_mut()[0].limit = Limit::Bytes(limit);
    plan.end = Some(Time::ZERO + Span::from_secs(30));
    plan.flows = vec![target];
    plan
}

fn run(plan: Plan) -> FlowReport {
    Simulation::new(plan, NoRecorder).run().flows.remove(0)
}

fn last(report: &FlowReport) -> String {
    format!("{:?}", report.sizing.last())
}

/// Share of the path's payload rate, mean RTT over base RTT.
fn shares(report: &FlowReport, rtt: Span) -> (f64, f64) {
    let mean = report.rtt.mean().expect("samples").as_secs_f64();
    (report.goodput().as_bps_f64() / FULL, mean / rtt.as_secs_f64())
}

#[test]
fn it_fills_a_path_without_a_queue_and_loses_nothing() {
    for buffer in [0.25, 0.5, 1.0] {
        for can_pace in [false, true] {
            let report = run(path(sized("sobas", RTT, can_pace), buffer));
            let (goodput, rtt) = shares(&report, RTT);
            let why = last(&report);
            assert!(goodput > 0.97 && rtt < 1.1, "{buffer} BDP: {goodput:.3} of C, {rtt:.3} of T: {why}");
            assert_eq!(report.retransmits, 0, "{buffer} BDP: {why}");
        }
    }
}

#[test]
fn on_a_slow_path_no_more_packets_wait_than_are_aimed_at() {
    for (rate, rtt) in [(5_000_000, 30), (13_316_000, 22), (20_000_000, 60)] {
        let mut path = path(sized_with("sobas", "cubic", Span::from_millis(rtt), true), 1.0);
        path.topology.links_mut()[0].config.rate = Rate::from_bps(rate);
        path.topology.links_mut()[0].limit = Limit::Packets(50);
        let report = run(path);
        let share = report.goodput().as_bps_f64() / (rate as f64 * 1448.0 / 1500.0);
        let waits = report.rtt.mean().expect("samples").saturating_sub(Span::from_millis(rtt));
        let packets = waits.as_secs_f64() * rate as f64 / 12_000.0;
        assert!(share > 0.96 && packets < 3.5, "{rate}: {share:.3} of C, {packets:.1}: {}", last(&report));
    }
}

#[test]
fn it_beats_the_maximum_window_where_the_buffer_is_small() {
    for (buffer, at_least) in [(0.05, 1.15), (0.1, 1.15), (0.25, 1.08)] {
        let maximum = run(path(FlowPlan::greedy("target", "reno", RTT), buffer));
        let sobas = run(path(sized("sobas", RTT, true), buffer));
        let gain = sobas.goodput().as_bps_f64() / maximum.goodput().as_bps_f64();
        assert!(gain > at_least, "{buffer} BDP: {gain:.3}: {}", last(&sobas));
        assert!(sobas.retransmits < maximum.retransmits, "{buffer} BDP: {}", sobas.retransmits);
    }
}

#[test]
fn a_sender_that_finds_its_own_rate_is_let_go() {
    for buffer in [0.05, 0.25, 1.0] {
        let sobas = run(path(sized_with("sobas", "bbr", RTT, true), buffer));
        let maximum = run(path(FlowPlan::greedy("target", "bbr", RTT), buffer));
        let ratio = sobas.goodput().as_bps_f64() / maximum.goodput().as_bps_f64();
        assert!(ratio > 0.95, "{buffer} BDP: {ratio:.3} of the maximum: {}", last(&sobas));
        assert!(last(&sobas).contains("open"), "{buffer} BDP: {}", last(&sobas));
    }
}

#[test]
fn wad_takes_capacity_for_available_bandwidth() {
    let alone = run(path(sized("wad", RTT, false), 1.0));
    let (goodput, rtt) = shares(&alone, RTT);
    assert!(goodput > 0.97 && rtt < 1.02, "{goodput:.3}, {rtt:.3}");
    // With half of the path in use, C T is twice too much and stands in the queue.
    let mut shared = path(sized("wad", RTT, false), 2.0);
    shared.traffic = vec![cross(48_500_000, Pattern::Cbr)];
    let (_, rtt) = shares(&run(shared), RTT);
    assert!(rtt > 1.5, "{rtt:.3}");
}

fn cross(rate: u64, pattern: Pattern) -> TrafficPlan {
    let config = TrafficConfig {
        pattern,
        rate: Rate::from_bps(rate),
        packet: Bytes::new(1500),
        start: Time::ZERO,
        stop: Time::NEVER,
    };
    TrafficPlan { name: "cross".into(), config, route: vec![0], marking: tightlink_sim::Marking::default() }
}

#[test]
fn it_takes_what_unresponsive_traffic_leaves() {
    // Poisson traffic gives and takes by chance, and once in a few transfers that looks like giving way: the mean of five.
    for (pattern, seeds) in [(Pattern::Cbr, 1), (Pattern::Poisson, 5)] {
        let runs: Vec<_> = (1..=seeds)
            .map(|seed| {
                let mut plan = path(sized("sobas", RTT, true), 0.5);
                plan.traffic = vec![cross(40_000_000, pattern.clone())];
                run(Plan { seed, ..plan })
            })
            .collect();
        let available = (RATE - 40_000_000) as f64 * 1448.0 / 1500.0;
        let mean = |of: &dyn Fn(&FlowReport) -> f64| runs.iter().map(of).sum::<f64>() / seeds as f64;
        let goodput = mean(&|report| report.goodput().as_bps_f64() / available);
        let rtt = mean(&|report| shares(report, RTT).1);
        let told: Vec<_> = runs.iter().map(last).collect();
        assert!(goodput > 0.95 && rtt < 1.12, "{pattern:?}: {goodput:.3} of A, {rtt:.3} of T: {told:?}");
    }
}

/// Round trips of 10 ms: the window has outgrown its samples, of 50 ms each, by the time of the first loss.
#[test]
fn a_loss_soon_after_the_start_is_judged_by_the_last_round_trip() {
    let (rate, rtt) = (400_000_000, Span::from_millis(10));
    for buffer in [0.1, 0.25, 0.5] {
        let mut shared = path(sized("sobas", rtt, true), buffer);
        shared.topology.links_mut()[0].config.rate = Rate::from_bps(rate);
        shared.topology.links_mut()[0].limit = Limit::Bytes(Rate::from_bps(rate).volume(rtt).scale(buffer));
        shared.traffic = vec![cross(rate / 2, Pattern::Cbr)];
        shared.end = Some(Time::ZERO + Span::from_secs(6));
        let report = run(shared);
        let taken = report.goodput().as_bps_f64() / (rate as f64 / 2.0 * 1448.0 / 1500.0);
        assert!(taken > 0.9, "{buffer} BDP: {taken:.3} of what is left: {}", last(&report));
    }
}

#[test]
fn a_path_with_random_loss_gets_the_maximum_within_five_seconds() {
    for loss in [0.001, 0.003, 0.01] {
        for seed in 1..=3 {
            let mut plan = path(sized("sobas", RTT, true), 0.5);
            plan.topology.links_mut()[0].config.loss = Fraction::new(loss).expect("a share");
            plan.seed = seed;
            let report = run(plan);
            let opened = report.sizing.iter().find(|change| change.state.phase == "open");
            let opened = opened.unwrap_or_else(|| panic!("{loss}: {:?}", report.sizing));
            assert!(opened.at < Time::ZERO + Span::from_secs(5), "{loss}: {opened:?}");
            assert_eq!(report.sizing.last().map(|change| change.state.phase), Some("open"), "{loss}");
        }
    }
}

#[test]
fn so_does_one_whose_buffer_is_a_few_packets() {
    // No train comes whole, and every loss may be that of a burst that the buffer did not hold.
    for seed in 1..=50 {
        let target = FlowPlan {
            transport: Transport {
                recovery: Recovery::Prr,
                loss_detection: LossDetection::Rack,
                ..Transport::default()
            },
            ..sized("sobas", RTT, true)
        };
        let mut plan = path(target, 0.25);
        let slow = Rate::from_bps(10_000_000);
        plan.topology.links_mut()[0].config = LinkConfig {
            rate: slow,
            loss: Fraction::new(0.01).expect("a share"),
            ..plan.topology.links()[0].config.clone()
        };
        plan.topology.links_mut()[0].limit = Limit::Bytes(slow.volume(RTT).scale(0.25));
        plan.end = Some(Time::ZERO + Span::from_secs(6));
        plan.seed = seed;
        let report = run(plan);
        let opened = report.sizing.iter().find(|change| matches!(change.state.phase, "open" | "contend"));
        let opened = opened.unwrap_or_else(|| panic!("{seed}: {:?}", report.sizing));
        assert!(opened.at < Time::ZERO + Span::from_secs(5), "{seed}: {opened:?}");
    }
}

#[test]
fn both_ways_to_carry_packets_give_the_same() {
    let outcome = |simulation: Simulation<NoRecorder>| {
        let outcome = simulation.run();
        let flow = &outcome.flows[0];
        (flow.delivered, flow.sent, flow.retransmits, flow.sizing.clone())
    };
    let plan = || {
        let target = sized("sobas", RTT, true);
        let mut plan = path(FlowPlan { size: Some(Bytes::new(40_000_000)), ..target }, 0.2);
        plan.topology.links_mut()[0].config =
            LinkConfig { delay: Span::from_millis(20), ..plan.topology.links()[0].config.clone() };
        plan.end = None;
        plan
    };
    let fast = outcome(Simulation::new(plan(), NoRecorder));
    assert_eq!(fast, outcome(Simulation::with_link_events(plan(), NoRecorder)));
    let mut network = plan();
    network.topology = network.topology.into_network();
    assert_eq!(fast, outcome(Simulation::new(network, NoRecorder)));
    assert!(fast.3.iter().any(|change| change.state.phase == "hold"), "{:?}", fast.3);
}

#[test]
fn over_several_links_the_tight_one_is_filled() {
    let mut plan = path(sized("sobas", RTT, true), 0.5);
    let links = vec![link("wide", 622, 5, 1000), link("tight", 97, 5, 162), link("far", 300, 5, 1000)];
    plan.topology = Topology::Network { links, tight: 1 };
    plan.flows[0].route = vec![0, 1, 2];
    let report = run(plan);
    let (goodput, rtt) = shares(&report, RTT);
    assert!(
        goodput > 0.97 && rtt < 1.1 && report.retransmits == 0,
        "{goodput:.3}, {rtt:.3}: {}",
        last(&report)
    );
}
