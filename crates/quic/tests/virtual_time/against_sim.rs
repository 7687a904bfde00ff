//! Every control on ten paths, over QUIC and in the simulator.

use crate::path::{Course, Run, run};
use cc::Start;
use link::LinkConfig;
use sim::{
    FlowPlan, LinkPlan, LossDetection, NoRecorder, Outcome, Plan, Recovery, Simulation, Topology, Transport,
};
use units::{Fraction, Span, Time};

/// The controls that need no router.
const CONTROLS: [&str; 14] = [
    "reno",
    "newreno",
    "cubic",
    "highspeed",
    "scalable",
    "bic",
    "westwood",
    "africa",
    "lp",
    "vegas",
    "fast",
    "bbr",
    "bbr3",
    "madison",
];

/// Rate in Mbit/s, round trip in milliseconds, queue in bytes.
const PATHS: [(u64, u64, u64); 10] = [
    (100, 40, 50_000),
    (100, 40, 140_000),
    (100, 40, 500_000),
    (10, 100, 125_000),
    (10, 100, 32_000),
    (50, 10, 62_500),
    (50, 10, 16_000),
    (200, 100, 2_500_000),
    (200, 100, 500_000),
    (20, 200, 250_000),
];

/// Runs the simulator's counterpart of `course`.
fn simulate(course: &Course) -> Outcome<NoRecorder> {
    let config =
        LinkConfig { rate: course.rate, delay: course.rtt / 2, loss: course.loss, jitter: Span::ZERO };
    let mut flow = FlowPlan::greedy("flow", &course.flow.control.name, course.rtt);
    flow.transport =
        Transport { loss_detection: LossDetection::Rack, recovery: Recovery::Prr, ..Transport::default() };
    flow.control.start = Start { threshold: course.flow.control.start.threshold, ..flow.control.start };
    flow.delayed_ack = course.flow.delayed_ack;
    flow.handshake = true;
    let link = LinkPlan { name: "link".into(), config, queue: "drop-tail".into(), limit: course.limit };
    let plan = Plan {
        topology: Topology::OneLink(link),
        flows: vec![flow],
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: Some(Time::ZERO + course.length),
        warmup: Time::ZERO,
        seed: 1,
    };
    Simulation::new(plan, NoRecorder).run()
}

fn waiting(link: &link::LinkReport) -> f64 {
    link.queueing_delay.mean().unwrap_or_default().as_secs_f64() * 1e3
}

/// Prints every cell.
#[test]
fn table() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for control in CONTROLS.iter().filter(|control| only.is_empty() || **control == only) {
        for (mbps, rtt, limit) in PATHS {
            let course = Course::new(mbps, rtt, limit, control, 60);
            let ours: Run = run(&course, host::clock::now());
            let twin = simulate(&course);
            let goodput = (ours.goodput.as_bps_f64() / 1e6, twin.flows[0].goodput().as_bps_f64() / 1e6);
            println!(
                "{control:10} {mbps:4} Mb/s {rtt:4} ms {limit:8} B: goodput {:7.2} {:7.2} {:+6.1} %  wait {:7.2} {:7.2} ms drops {:6} {:6} diff {} unknown {} {:?}",
                goodput.0,
                goodput.1,
                (goodput.0 / goodput.1 - 1.0) * 100.0,
                waiting(&ours.link),
                waiting(&twin.link),
                ours.link.queue_drops,
                twin.link.queue_drops,
                ours.counts.differences,
                ours.counts.unknown,
                ours.phase,
            );
        }
    }
    let _ = Fraction::ZERO;
}
