//! Packets per CPU second on the scenarios the peers were measured on (docs/guide/performance.md).
//!
//! S1: 10 flows, 100 Mbit/s, 50 ms, 417 packets. S2: the same at 1 Gbit/s, 4167 packets. S3: 1000 flows at
//! 1 Gbit/s, 4167 packets. 1500 B, every segment acknowledged, starts within 1 s, drop-tail.

use cc::{Start, registry::build};
use link::{Limit, LinkConfig};
use tightlink_sim::{FlowPlan, LinkPlan, LossDetection, NoRecorder, Plan, Recovery, Simulation};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

fn scenario(flows: usize, rate: u64, limit: u64, seconds: u64) -> Plan {
    let mut starts = Stream::new(1, "starts");
    let segment = Bytes::new(1448);
    let start = Start { segment, window: segment * 10, threshold: Bytes::MAX };
    let flow = |index| FlowPlan {
        name: format!("flow-{index}"),
        control: build("reno", "standard", start).expect("registered"),
        payload: segment,
        header: Bytes::new(52),
        base_rtt: Span::from_millis(50),
        size: None,
        start: Time::ZERO + Span::from_secs_f64(starts.uniform()),
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(100),
        socket_buffer: Bytes::MAX,
        send_jitter: Span::ZERO,
        min_rto: Span::from_millis(200),
        timestamps: true,
        sack: true,
        recovery: Recovery::Rfc6675,
        loss_detection: LossDetection::DupAck,
        ecn: false,
        pacing: false,
    };
    let config = LinkConfig { rate: Rate::from_bps(rate), delay: Span::ZERO, loss: Fraction::ZERO };
    Plan {
        link: LinkPlan { config, queue: "drop-tail".into(), limit: Limit::Packets(limit) },
        flows: (0..flows).map(flow).collect(),
        traffic: Vec::new(),
        end: Some(Time::ZERO + Span::from_secs(seconds)),
        warmup: Time::ZERO + Span::from_secs(10),
        seed: 1,
    }
}

/// CPU seconds this process has used.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanos: f64 = stat.split_whitespace().next().expect("a number").parse().expect("a number");
    nanos * 1e-9
}

fn main() {
    // A name runs that scenario only, once: for counting instructions.
    let only = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let runs = if only.is_some() { 1 } else { 3 };
    println!("scenario   Mpackets/CPU-s   packets   utilization   loss");
    for (name, flows, rate, limit, seconds) in [
        ("S1", 10, 100_000_000, 417, 100),
        ("S2", 10, 1_000_000_000, 4167, 30),
        ("S3", 1000, 1_000_000_000, 4167, 30),
    ] {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        // The best of three: the machine is shared.
        let best = (0..runs).map(|_| {
            let before = cpu_seconds();
            let outcome = Simulation::new(scenario(flows, rate, limit, seconds), NoRecorder).run();
            let took = cpu_seconds() - before;
            (outcome.link.conservation.forwarded as f64 / took / 1e6, outcome)
        });
        let (speed, outcome) = best.max_by(|a, b| a.0.total_cmp(&b.0)).expect("one run at least");
        println!(
            "{name:8} {speed:14.2} {:12} {:11.4} {:9.5}",
            outcome.link.conservation.forwarded,
            outcome.link.utilization,
            outcome.link.loss_rate()
        );
    }
}
