//! Runs with controllers and sizers that no registry has.

use super::Simulation;
use crate::flow::Flow;
use crate::plan::{FlowPlan, LinkPlan, Plan, Topology, TrafficPlan};
use crate::recorder::NoRecorder;
use cc::{Madison, MadisonParameters, Start};
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use sizing::{Action, BufferSizer, Input};
use units::{Bytes, Rate, Span, Time};

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Plans `flows` over one drop-tail link of `mbps`, measured from `warmup` to `end` seconds.
fn plan(mbps: u64, limit: Limit, flows: Vec<FlowPlan>, (warmup, end): (u64, u64)) -> Plan {
    let config = LinkConfig::constant(Rate::from_bps(mbps * 1_000_000), Span::ZERO);
    Plan {
        topology: Topology::OneLink(LinkPlan {
            name: "link-1".into(),
            config,
            queue: "drop-tail".into(),
            limit,
        }),
        flows,
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: Some(seconds(end)),
        warmup: seconds(warmup),
        seed: 1,
    }
}

/// Shows why `p_min` is not the paper's value: with that, a flow that has sent 10/p packets has twice the target of one
/// that has not.
#[test]
fn with_the_printed_least_loss_rate_shares_of_madison_grow_with_age() {
    // The first has sent its 100 000 packets by 20 s, the last by a minute.
    let with = |least_loss: f64| {
        let flow = |name, start| FlowPlan {
            start: seconds(start),
            ..FlowPlan::greedy(name, "madison", Span::from_millis(50))
        };
        let mut plan = plan(100, Limit::Packets(1000), vec![flow("first", 0), flow("second", 20)], (35, 58));
        let config = TrafficConfig {
            pattern: Pattern::Poisson,
            rate: Rate::from_bps(40_000_000),
            packet: Bytes::new(1500),
            start: Time::ZERO,
            stop: Time::NEVER,
        };
        plan.traffic.push(TrafficPlan {
            name: "cross".into(),
            config,
            route: vec![0],
            marking: crate::plan::Marking::default(),
        });
        let mut simulation = Simulation::new(plan.clone(), NoRecorder);
        for ((index, flow), place) in (0..).zip(plan.flows).zip(&mut simulation.course.endpoints.flows) {
            let start = Start { segment: flow.payload, window: flow.payload * 10, threshold: Bytes::MAX };
            let parameters = MadisonParameters { least_loss, ..MadisonParameters::default() };
            *place = Flow::with(index, flow, Box::new(Madison::with(start, parameters)), None, plan.seed);
        }
        let rates: Vec<f64> = simulation.run().flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        rates.iter().map(|rate| (rate / mean - 1.0).abs()).fold(0.0, f64::max)
    };
    let (printed, ours) = (with(2.55e-5), with(1e-4));
    assert!(printed > 0.2 && ours < 0.1, "{printed} {ours}");
}

/// A sizer with a window of 400 kB, and from one second on of 100 kB.
#[derive(Debug, Default)]
struct Shrinks(u32);

impl BufferSizer for Shrinks {
    fn handle(&mut self, _now: Time, _input: Input) {}
    fn poll(&mut self, now: Time) -> Option<Action> {
        let due = if now >= seconds(1) { 2 } else { 1 };
        (self.0 < due).then(|| {
            self.0 += 1;
            Action::Window(Bytes::new(if self.0 == 1 { 400_000 } else { 100_000 }))
        })
    }
    fn wakeup(&self) -> Option<Time> {
        (self.0 < 2).then(|| seconds(1))
    }
}

/// A window of 400 kB in 40 ms gives 80 Mb/s. The promised window is used once more as the window shrinks. The rate is
/// 20 Mb/s a round trip later than with a window that may be taken back.
#[test]
fn a_window_that_shrinks_keeps_what_it_has_promised() {
    let rtt = Span::from_millis(40);
    let limit = Limit::Bytes(Rate::from_bps(97_000_000).volume(rtt).scale(4.0));
    let plan = plan(97, limit, vec![FlowPlan::greedy("target", "reno", rtt)], (1, 2));
    let mut simulation = Simulation::new(plan.clone(), NoRecorder);
    let flow = plan.flows[0].clone();
    let control = flow.control.build();
    let shrinks = Box::new(Shrinks::default());
    simulation.course.endpoints.flows[0] = Flow::with(0, flow, control, Some(shrinks), plan.seed);
    let report = simulation.run().flows.remove(0);
    // 400 kB are promised at 1 s. While they arrive nothing is added except 100 kB at their end; then 100 kB each
    // 40 ms.
    let expected = 400_000.0 + 100_000.0 * 23.5;
    let delivered = report.delivered.get() as f64;
    assert!((delivered / expected - 1.0).abs() < 0.05, "{delivered} of {expected}");
    assert_eq!(report.retransmits, 0);
}
