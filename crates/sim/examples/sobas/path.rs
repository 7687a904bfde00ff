//! Simulated paths to try SOBAS on, and what became of it.

use cc::Start;
use cc::registry::build;
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use sizing::sobas::Thresholds;
use sizing::{Sobas, SobasConfig};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tightlink_sim::{FlowPlan, LinkPlan, LossDetection, NoRecorder, Plan, Recovery, Simulation, TrafficPlan};
use units::{Bytes, Fraction, Rate, Span, Time};

const PAYLOAD: Bytes = Bytes::new(1448);
const HEADER: Bytes = Bytes::new(52);

/// What shares the path, with half of its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cross {
    None,
    Cbr,
    Poisson,
    OnOff,
    /// A transfer limited by its socket buffer.
    Tcp,
}

#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: u64,
    pub rtt: Span,
    /// Of the bandwidth-delay product.
    pub buffer: f64,
    pub cross: Cross,
    pub loss: f64,
    pub control: &'static str,
    /// Of the capacity that the cross traffic takes.
    pub taken: f64,
    /// What is measured, its start included.
    pub seconds: u64,
    /// When the transfer begins.
    pub start: Time,
    pub seed: u64,
}

impl Path {
    /// Payload in flight that fills what the cross traffic leaves.
    fn fills(&self) -> f64 {
        let free = if self.cross == Cross::None { 1.0 } else { 1.0 - self.taken };
        let payload = PAYLOAD.get() as f64 / (PAYLOAD + HEADER).get() as f64;
        self.rate as f64 * free * payload / 8.0 * self.rtt.as_secs_f64()
    }

    fn flow(&self, name: &str, control: &str) -> FlowPlan {
        let start = Start { segment: PAYLOAD, window: PAYLOAD * 10, threshold: Bytes::MAX };
        FlowPlan {
            name: name.into(),
            control: build(control, "standard", start).expect("a registered control"),
            payload: PAYLOAD,
            header: HEADER,
            base_rtt: self.rtt,
            route: vec![0],
            return_route: Vec::new(),
            size: None,
            start: Time::ZERO,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            socket_buffer: Bytes::new(64_000_000),
            sizer: None,
            send_jitter: Span::ZERO,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(1),
            timestamps: true,
            sack: true,
            recovery: Recovery::Prr,
            loss_detection: LossDetection::Rack,
            ecn: false,
            pacing: false,
            access_rate: None,
        }
    }

    fn plan(&self, thresholds: Option<Thresholds>) -> Plan {
        let rate = Rate::from_bps(self.rate);
        let mut target = FlowPlan { start: self.start, ..self.flow("target", self.control) };
        if let Some(thresholds) = thresholds {
            let config =
                SobasConfig { can_pace: true, thresholds, ..SobasConfig::new(PAYLOAD, target.socket_buffer) };
            target.sizer = Some(Box::new(Sobas::new(config)));
        }
        let mut flows = vec![target];
        let taken = rate.scale(self.taken);
        if self.cross == Cross::Tcp {
            flows.push(FlowPlan { socket_buffer: taken.volume(self.rtt), ..self.flow("cross", "reno") });
        }
        let pattern = match self.cross {
            Cross::None | Cross::Tcp => None,
            Cross::Cbr => Some(Pattern::Cbr),
            Cross::Poisson => Some(Pattern::Poisson),
            Cross::OnOff => {
                Some(Pattern::OnOff { peak: rate.scale(0.75), burst: Span::from_millis(50), shape: None })
            }
        };
        let traffic = |pattern| TrafficPlan {
            name: "cross".into(),
            config: TrafficConfig {
                pattern,
                rate: taken,
                packet: PAYLOAD + HEADER,
                start: Time::ZERO,
                stop: Time::NEVER,
            },
            route: vec![0],
        };
        let limit = rate.volume(self.rtt).scale(self.buffer).max((PAYLOAD + HEADER) * 4);
        let loss = Fraction::new(self.loss).expect("a share");
        let end = self.start + Span::from_secs(self.seconds);
        Plan {
            links: vec![LinkPlan {
                name: "link-1".into(),
                config: LinkConfig { rate, delay: Span::ZERO, loss },
                queue: "drop-tail".into(),
                limit: Limit::Bytes(limit),
            }],
            tight: 0,
            flows,
            traffic: pattern.map(traffic).into_iter().collect(),
            sessions: Vec::new(),
            end: Some(end),
            warmup: Time::ZERO,
            seed: self.seed,
        }
    }
}

/// What became of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub goodput: f64,
    /// Mean RTT over base RTT.
    pub rtt: f64,
    pub retransmits: u64,
    /// S over what fills the path, as a flat rate first decided it.
    pub flat: Option<f64>,
    /// The same by a drop of the rate or a loss after a queue.
    pub dropped: Option<f64>,
    /// Seconds to the first time that the path was taken for congested; the window is its maximum.
    pub opened: Option<f64>,
    /// Phases, for people.
    pub told: Vec<String>,
}

pub fn run(path: &Path, thresholds: Option<Thresholds>) -> Run {
    let outcome = Simulation::new(path.plan(thresholds), NoRecorder).run();
    let flow = &outcome.flows[0];
    let decided = |reasons: &[&str]| {
        let decides = |reason: &str| reasons.iter().any(|begins| reason.starts_with(begins));
        let first = flow.sizing.iter().find(|change| change.state.phase == "hold")?;
        decides(&first.state.reason).then(|| first.window.get() as f64 / path.fills())
    };
    Run {
        goodput: flow.goodput().as_bps_f64(),
        rtt: flow.rtt.mean().map_or(f64::NAN, Span::as_secs_f64) / path.rtt.as_secs_f64(),
        retransmits: flow.retransmits,
        flat: decided(&["flat rate"]),
        dropped: decided(&["constant rate", "loss after"]),
        opened: (flow.sizing.iter())
            .find(|change| {
                // Beside others to contend is no release.
                change.state.phase == "open" || (change.state.phase == "contend" && path.loss > 0.0)
            })
            .map(|change| change.at.as_secs_f64()),
        told: flow
            .sizing
            .iter()
            .map(|change| {
                let window = change.window.get() as f64 / 1e3;
                format!(
                    "{:.3} s {} {window:.0} kB: {}",
                    change.at.as_secs_f64(),
                    change.state.phase,
                    change.state.reason
                )
            })
            .collect(),
    }
}

/// Each path of `paths` once, over two threads.
pub fn runs(paths: &[Path], thresholds: Option<Thresholds>) -> Vec<Run> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Run::default(); paths.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { return };
                    let run = run(path, thresholds);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[index] = run;
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}
