//! Plans the tests share.

use cc::Start;
use cc::registry::build;
use link::{Limit, LinkConfig};
use tightlink_sim::{FlowPlan, LinkPlan, Plan, Transport};
use units::{Bytes, Fraction, Rate, Span, Time};

/// A drop-tail link of `rate` bits per second with room for `limit` packets, and no flows yet.
pub fn plan(rate: u64, limit: u64) -> Plan {
    let config = LinkConfig { rate: Rate::from_bps(rate), delay: Span::ZERO, loss: Fraction::ZERO };
    Plan {
        links: vec![LinkPlan {
            name: "link-1".into(),
            config,
            queue: "drop-tail".into(),
            limit: Limit::Packets(limit),
        }],
        tight: 0,
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
        config: LinkConfig { rate, delay, loss: Fraction::ZERO },
        queue: "drop-tail".into(),
        limit: Limit::Packets(limit),
    }
}

/// A greedy flow with 1448-byte segments, acknowledged one by one.
pub fn flow(name: &str, control: &str, base_rtt: Span) -> FlowPlan {
    let segment = Bytes::new(1448);
    let start = Start { segment, window: segment * 10, threshold: Bytes::MAX };
    FlowPlan {
        name: name.into(),
        control: build(control, "standard", start).expect("a registered control"),
        payload: segment,
        header: Bytes::new(52),
        base_rtt,
        route: vec![0],
        return_route: Vec::new(),
        size: None,
        start: Time::ZERO,
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(100),
        socket_buffer: Bytes::MAX,
        sizer: None,
        send_jitter: Span::ZERO,
        transport: Transport::default(),
        access_rate: None,
    }
}

/// Reno that begins in congestion avoidance with a window of `segments`.
pub fn congestion_avoidance(segment: Bytes, segments: u64) -> Box<dyn cc::CongestionControl> {
    let window = segment * segments.max(2);
    build("reno", "standard", Start { segment, window, threshold: window }).expect("a registered control")
}
