//! Plans the tests share.

use cc::Start;
use link::{Limit, LinkConfig};
use tightlink_sim::{ControlPlan, LinkPlan, NoRecorder, Outcome, Plan, Simulation, Topology};
use units::{Bytes, Rate, Span, Time};

/// A drop-tail link of `rate` bits per second with room for `limit` packets, and no flows yet.
pub fn plan(rate: u64, limit: u64) -> Plan {
    let config = LinkConfig::constant(Rate::from_bps(rate), Span::ZERO);
    Plan {
        topology: Topology::OneLink(LinkPlan {
            name: "link-1".into(),
            config,
            queue: "drop-tail".into(),
            limit: Limit::Packets(limit),
        }),
        flows: Vec::new(),
        traffic: Vec::new(),
        sessions: Vec::new(),
        end: None,
        warmup: Time::ZERO,
        seed: 1,
    }
}

/// A drop-tail link of `mbps` megabits per second, `delay_ms` long one way, with room for `limit` packets.
pub fn link(name: &str, mbps: u64, delay_ms: u64, limit: u64) -> LinkPlan {
    let (rate, delay) = (Rate::from_bps(mbps * 1_000_000), Span::from_millis(delay_ms));
    LinkPlan {
        name: name.into(),
        config: LinkConfig::constant(rate, delay),
        queue: "drop-tail".into(),
        limit: Limit::Packets(limit),
    }
}

/// Where a flow with segments of `segment` bytes of payload begins: a window of two, and no threshold.
pub fn two_segments(segment: Bytes) -> Start {
    Start { segment, window: segment * 2, threshold: Bytes::MAX }
}

/// Reno that begins in congestion avoidance with a window of `segments`.
pub fn congestion_avoidance(segment: Bytes, segments: u64) -> ControlPlan {
    let window = segment * segments.max(2);
    ControlPlan { start: Start { segment, window, threshold: window }, ..ControlPlan::new("reno", segment) }
}

/// Runs a plan, and records no series.
pub fn run(plan: Plan) -> Outcome<NoRecorder> {
    Simulation::new(plan, NoRecorder).run()
}

/// Returns the time after `seconds`.
pub fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}
