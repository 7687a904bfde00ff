//! Controls that answer the share of congestion marks, behind a queue that marks from a length on.

use crate::common::{link, plan, run};
use cc::RttScaling;
use link::queue::PolicyConfig;
use tightlink_sim::{EcnMode, FlowPlan, NoRecorder, Outcome, Plan, Topology};
use units::{Span, Time};

const MBPS: u64 = 1_000_000;

/// A link that marks from `above` waiting packets on, with `flows` of a control, a feedback and a round-trip time, ms.
fn marking(mbps: u64, above: f64, flows: &[(&str, EcnMode, u64)], seconds: u64) -> Plan {
    let mut plan = plan(mbps * MBPS, 1000);
    plan.topology.links_mut()[0].queue.settings.mark_above = Some(above);
    for (index, (control, ecn, rtt)) in flows.iter().enumerate() {
        let name = format!("{control}-{index}");
        let mut flow = FlowPlan::greedy(&name, control, Span::from_millis(*rtt));
        flow.transport.ecn = *ecn;
        flow.send_jitter = Span::from_micros(20);
        plan.flows.push(flow);
    }
    plan.warmup = Time::ZERO + Span::from_secs(seconds / 3);
    plan.end = Some(Time::ZERO + Span::from_secs(seconds));
    plan
}

fn goodput(outcome: &Outcome<NoRecorder>, flow: usize) -> f64 {
    outcome.flows[flow].goodput().as_bps_f64()
}

/// M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3: a flow behind a step at K packets has a
/// window of W = C RTT + K as the marks begin, alpha of sqrt(2 / W), and a queue that moves between K and
/// `K - W alpha / 2`. Echoes and counters say the same.
#[test]
fn a_dctcp_flow_moves_the_queue_by_half_of_alpha() {
    for ecn in [EcnMode::Classic, EcnMode::Accurate] {
        let outcome = run(marking(100, 40.0, &[("dctcp", ecn, 10)], 30));
        let window = 100e6 * 0.010 / 12_000.0 + 40.0;
        let swing = window * (2.0f64 / window).sqrt() / 2.0;
        let mean = outcome.link.mean_waiting_packets;
        assert!((mean - (41.0 - swing / 2.0)).abs() < 2.0, "{ecn:?}: {mean}, swing {swing}");
        assert!(outcome.link.utilization > 0.9999, "{ecn:?}: {}", outcome.link.utilization);
        assert_eq!(outcome.link.queue_drops, 0);
    }
}

/// RFC 8257, section 3.2: a receiver that acknowledges every second segment acknowledges what waits before the echo
/// changes. So where acknowledgements cross a queue, two may leave for one segment. Counters need no such rule.
#[test]
fn echoes_that_change_cross_the_way_back() {
    for ecn in [EcnMode::Classic, EcnMode::Accurate] {
        let mut plan = marking(10, 20.0, &[("dctcp", ecn, 30)], 30);
        let mut there = link("there", 10, 5, 300);
        there.queue.settings.mark_above = Some(20.0);
        plan.topology = Topology::Network { links: vec![there, link("back", 1, 5, 300)], tight: 0 };
        let flow = &mut plan.flows[0];
        (flow.route, flow.return_route, flow.delayed_ack) = (vec![0], vec![1], 2);
        let outcome = run(plan);
        assert!(outcome.flows[0].marks > 100 && outcome.flows[0].retransmits == 0, "{ecn:?}");
        assert!(outcome.links[0].utilization > 0.999, "{ecn:?}: {}", outcome.links[0].utilization);
        let waiting = outcome.links[0].mean_waiting_packets;
        assert!((8.0..=22.0).contains(&waiting), "{ecn:?}: {waiting}");
    }
}

/// With delayed acknowledgements segments leave in pairs, of which a queue that has just reached the threshold marks the
/// second. A receiver that sends echoes acknowledges both at the second (RFC 8257, section 3.2), so that they stay pairs.
/// By counters the window grows by the unmarked part of an acknowledgement. So both feedbacks have much the same marks
/// and the same queue.
#[test]
fn dctcp_has_the_same_queue_by_echoes_and_by_counters_of_delayed_acknowledgements() {
    for above in [20.0, 65.0] {
        let found = |ecn: EcnMode, every: u64| {
            let mut plan = marking(40, above, &[("dctcp", ecn, 20)], 60);
            plan.flows[0].delayed_ack = every;
            let outcome = run(plan);
            assert!(outcome.link.utilization > 0.9999, "{ecn:?}: {}", outcome.link.utilization);
            (outcome.flows[0].marks as f64, outcome.link.mean_waiting_packets)
        };
        assert_eq!(found(EcnMode::Classic, 1), found(EcnMode::Accurate, 1));
        let (echoes, counters) = (found(EcnMode::Classic, 2), found(EcnMode::Accurate, 2));
        let ratio = echoes.0 / counters.0;
        assert!((0.75..1.25).contains(&ratio), "above {above}: {echoes:?}, {counters:?}");
        assert!((echoes.1 - counters.1).abs() < 1.0, "above {above}: {echoes:?}, {counters:?}");
    }
}

/// Prague keeps the queue at the step, with all of the link used. Flows alike have equal shares.
#[test]
fn prague_flows_share_a_short_queue() {
    let outcome = run(marking(40, 5.0, &[("prague", EcnMode::Accurate, 25); 2], 60));
    assert!(outcome.link.utilization > 0.98, "{}", outcome.link.utilization);
    assert!(outcome.link.mean_waiting_packets < 7.0, "{}", outcome.link.mean_waiting_packets);
    assert_eq!(outcome.link.queue_drops, 0);
    let share = goodput(&outcome, 0) / (goodput(&outcome, 0) + goodput(&outcome, 1));
    assert!((share - 0.5).abs() < 0.1, "{share}");
}

/// Two flows with round trips of 5 and 20 ms behind DualPI2. With RTT scaling both act as if they had 25 ms, and their
/// rates come near each other. Without it they differ by more than the round trips, as behind a step.
#[test]
fn rtt_scaling_gives_flows_with_short_round_trips_one_rate() {
    let ratio = |scaling: Option<RttScaling>| {
        let mut plan =
            marking(40, 0.0, &[("prague", EcnMode::Accurate, 5), ("prague", EcnMode::Accurate, 20)], 90);
        let link = &mut plan.topology.links_mut()[0];
        link.queue = PolicyConfig::from("dualpi2");
        for flow in &mut plan.flows {
            flow.control.tuning.prague_rtt = scaling;
        }
        let outcome = run(plan);
        assert!(outcome.link.utilization > 0.9, "{scaling:?}: {}", outcome.link.utilization);
        goodput(&outcome, 0) / goodput(&outcome, 1)
    };
    let (scaled, by_rtt) = (ratio(Some(RttScaling::default())), ratio(None));
    assert!((0.5..2.6).contains(&scaled), "{scaled}");
    assert!((4.0..16.0).contains(&by_rtt), "{by_rtt}");
    // Before the transition a flow is as one without scaling.
    let late = ratio(Some(RttScaling { transition: u64::MAX, ..RttScaling::default() }));
    assert_eq!(late, by_rtt);
}

/// Behind a queue that never marks, Prague is a paced Reno: a loss leaves half.
#[test]
fn prague_without_marks_is_reno() {
    let with = |control, ecn| {
        let mut plan = plan(20 * MBPS, 40);
        let mut flow = FlowPlan::greedy("target", control, Span::from_millis(40));
        (flow.transport.ecn, flow.transport.pacing) = (ecn, true);
        plan.flows.push(flow);
        (plan.warmup, plan.end) = (Time::ZERO + Span::from_secs(40), Some(Time::ZERO + Span::from_secs(160)));
        run(plan)
    };
    let (prague, reno) = (with("prague", EcnMode::Accurate), with("reno", EcnMode::Off));
    let ratio = goodput(&prague, 0) / goodput(&reno, 0);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    assert!(prague.link.queue_drops > 5 && prague.flows[0].marks == 0, "{}", prague.link.queue_drops);
}
