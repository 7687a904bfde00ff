//! What the two examples about TCP-Madison share: a bottleneck, its flows, its cross traffic.

use cc::{CongestionControl, Start};
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use tightlink_sim::{FlowPlan, LinkPlan, LossDetection, Plan, Recovery, TrafficPlan};
use units::{Bytes, Fraction, Rate, Span, Time};

/// One bottleneck and who shares it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Of the link, Mbit/s.
    pub mbps: u64,
    /// Of the flows, ms.
    pub rtts: Vec<u64>,
    /// Poisson cross traffic, percent of the link.
    pub cross: u64,
    /// Room in the queue, packets.
    pub buffer: u64,
    pub seed: u64,
    /// Seconds from one flow's start to the next one's.
    pub apart: u64,
    /// What is measured: from, to, seconds.
    pub measured: (u64, u64),
    /// The link's random loss, parts per million.
    pub ppm: u64,
}

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

impl Case {
    /// With flows of what `control` makes of their number.
    pub fn plan(&self, control: &dyn Fn(usize, Start) -> Box<dyn CongestionControl>) -> Plan {
        let rate = self.mbps * 1_000_000;
        let loss = Fraction::new(self.ppm as f64 * 1e-6).expect("a part");
        let config = LinkConfig { rate: Rate::from_bps(rate), delay: Span::ZERO, loss };
        let mut traffic = Vec::new();
        if self.cross > 0 {
            let config = TrafficConfig {
                pattern: Pattern::Poisson,
                rate: Rate::from_bps(rate / 100 * self.cross),
                packet: Bytes::new(1500),
                start: Time::ZERO,
                stop: Time::NEVER,
            };
            traffic.push(TrafficPlan { name: "cross".into(), config, route: vec![0] });
        }
        let flows = self.rtts.iter().enumerate();
        Plan {
            links: vec![LinkPlan {
                name: "link-1".into(),
                config,
                queue: "drop-tail".into(),
                limit: Limit::Packets(self.buffer),
            }],
            tight: 0,
            flows: flows.map(|(index, rtt)| self.flow(index, *rtt, control)).collect(),
            traffic,
            sessions: Vec::new(),
            end: Some(seconds(self.measured.1)),
            warmup: seconds(self.measured.0),
            seed: self.seed,
        }
    }

    fn flow(
        &self,
        index: usize,
        rtt: u64,
        control: &dyn Fn(usize, Start) -> Box<dyn CongestionControl>,
    ) -> FlowPlan {
        let segment = Bytes::new(1448);
        let start = Start { segment, window: segment * 10, threshold: Bytes::MAX };
        FlowPlan {
            name: format!("flow-{index}"),
            control: control(index, start),
            payload: segment,
            header: Bytes::new(52),
            base_rtt: Span::from_millis(rtt),
            route: vec![0],
            return_route: Vec::new(),
            size: None,
            start: seconds(self.apart * index as u64) + Span::from_micros(self.seed * 137),
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            socket_buffer: Bytes::MAX,
            sizer: None,
            send_jitter: Span::ZERO,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(1),
            timestamps: true,
            sack: true,
            recovery: Recovery::Rfc6675,
            loss_detection: LossDetection::DupAck,
            ecn: false,
            pacing: false,
        }
    }
}
