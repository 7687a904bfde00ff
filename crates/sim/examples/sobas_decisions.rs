//! How often SOBAS decides rightly, over a grid of simulated paths, for several values of each threshold. Prints the tables
//! to fit SOBAS's thresholds by (not run in full yet):
//!
//! ```text
//! cargo run --release -p tightlink-sim --example sobas_decisions
//! ```
//!
//! What is right is known from the path: how much of it is free, and whether it loses packets by itself.

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
enum Cross {
    None,
    Cbr,
    Poisson,
    OnOff,
    /// A transfer limited by its socket buffer.
    Tcp,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    rate: u64,
    rtt: Span,
    /// Of the bandwidth-delay product.
    buffer: f64,
    cross: Cross,
    loss: f64,
}

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for (rate, rtts) in [(10, &[10, 40, 200][..]), (97, &[10, 40]), (400, &[10])] {
        for rtt in rtts {
            for buffer in [0.05, 0.1, 0.25, 0.5, 1.0] {
                let path = |cross, loss| Path {
                    rate: rate * 1_000_000,
                    rtt: Span::from_millis(*rtt),
                    buffer,
                    cross,
                    loss,
                };
                for cross in [Cross::None, Cross::Cbr, Cross::Poisson, Cross::OnOff, Cross::Tcp] {
                    paths.push(path(cross, 0.0));
                }
                for loss in [0.001, 0.01] {
                    paths.push(path(Cross::None, loss));
                }
            }
        }
    }
    paths
}

impl Path {
    /// Payload in flight that fills what the cross traffic leaves.
    fn fills(&self) -> f64 {
        let free = if self.cross == Cross::None { 1.0 } else { 0.5 };
        let payload = PAYLOAD.get() as f64 / (PAYLOAD + HEADER).get() as f64;
        self.rate as f64 * free * payload / 8.0 * self.rtt.as_secs_f64()
    }

    fn flow(&self, name: &str) -> FlowPlan {
        let start = Start { segment: PAYLOAD, window: PAYLOAD * 10, threshold: Bytes::MAX };
        FlowPlan {
            name: name.into(),
            control: build("reno", "standard", start).expect("a registered control"),
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
        }
    }

    fn plan(&self, thresholds: Option<Thresholds>) -> Plan {
        let rate = Rate::from_bps(self.rate);
        let mut target = self.flow("target");
        if let Some(thresholds) = thresholds {
            let config =
                SobasConfig { can_pace: true, thresholds, ..SobasConfig::new(PAYLOAD, target.socket_buffer) };
            target.sizer = Some(Box::new(Sobas::new(config)));
        }
        let mut flows = vec![target];
        let half = rate.scale(0.5);
        if self.cross == Cross::Tcp {
            flows.push(FlowPlan { socket_buffer: half.volume(self.rtt), ..self.flow("cross") });
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
                rate: half,
                packet: PAYLOAD + HEADER,
                start: Time::ZERO,
                stop: Time::NEVER,
            },
            route: vec![0],
        };
        let limit = rate.volume(self.rtt).scale(self.buffer).max((PAYLOAD + HEADER) * 4);
        let loss = Fraction::new(self.loss).expect("a share");
        // Start-up, and some segments of the transfer.
        let end = Time::ZERO + (self.rtt * 150).max(Span::from_secs(6));
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
            seed: 1,
        }
    }
}

/// What became of one run.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    goodput: f64,
    /// Mean RTT over base RTT.
    rtt: f64,
    retransmits: u64,
    /// S over what fills the path, as a flat rate first decided it.
    flat: Option<f64>,
    /// The same by a drop of the rate or a loss after a queue.
    dropped: Option<f64>,
    /// Seconds to the first time that the path was taken for congested.
    opened: Option<f64>,
}

fn run(path: &Path, thresholds: Option<Thresholds>) -> Run {
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
            .find(|change| change.state.phase == "open")
            .map(|change| change.at.as_secs_f64()),
    }
}

/// Each path of `paths` once, over two threads.
fn runs(paths: &[Path], thresholds: Option<Thresholds>) -> Vec<Run> {
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

/// A share, as "12/80".
fn share(count: usize, of: usize) -> String {
    format!("{count}/{of}")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One row: what was decided on all paths with these thresholds.
fn row(name: &str, thresholds: Thresholds, paths: &[Path], maximum: &[Run]) {
    let results = runs(paths, Some(thresholds));
    let all = || paths.iter().zip(&results).zip(maximum);
    let (clean, lossy): (Vec<_>, Vec<_>) = all().partition(|((path, _), _)| path.loss == 0.0);
    // A window that leaves a tenth of the path unused is decided too early.
    let fills = |window: f64| window >= 0.9;
    let decided = |of: &dyn Fn(&Run) -> Option<f64>| {
        let windows: Vec<f64> = clean.iter().filter_map(|((_, run), _)| of(run)).collect();
        let right = windows.iter().filter(|window| fills(**window)).count();
        share(right, windows.len())
    };
    let flat_lossy = lossy.iter().filter(|((_, run), _)| run.flat.is_some() || run.dropped.is_some()).count();
    let released = lossy.iter().filter(|((_, run), _)| run.opened.is_some_and(|at| at <= 5.0)).count();
    let falsely = clean.iter().filter(|((_, run), _)| run.opened.is_some()).count();
    let gain = |of: &[((&Path, &Run), &Run)]| {
        let mut gains: Vec<f64> =
            of.iter().map(|((_, run), maximum)| run.goodput / maximum.goodput).collect();
        gains.sort_by(f64::total_cmp);
        (gains[gains.len() / 10], median(gains))
    };
    let ((low, middle), (low_lossy, middle_lossy)) = (gain(&clean), gain(&lossy));
    let rtt = median(clean.iter().map(|((_, run), _)| run.rtt).collect());
    let quiet = clean.iter().filter(|((_, run), _)| run.retransmits == 0).count();
    println!(
        "| {name} | {} | {} | {} | {} | {} | {low:.2} / {middle:.2} | {low_lossy:.2} / {middle_lossy:.2} | {rtt:.2} | {} |",
        decided(&|run| run.flat),
        decided(&|run| run.dropped),
        share(flat_lossy, lossy.len()),
        share(released, lossy.len()),
        share(falsely, clean.len()),
        share(quiet, clean.len()),
    );
}

fn main() {
    let paths = paths();
    let maximum = runs(&paths, None);
    let rtt = median(
        paths.iter().zip(&maximum).filter(|(path, _)| path.loss == 0.0).map(|(_, run)| run.rtt).collect(),
    );
    let quiet = paths.iter().zip(&maximum).filter(|(path, run)| path.loss == 0.0 && run.retransmits == 0);
    println!(
        "{} paths. The maximum window on those without loss: median RTT {rtt:.2} of the base, {} runs without a loss.\n",
        paths.len(),
        quiet.count()
    );
    println!(
        "| | flat-rate: right | drop or loss: right | decided on a lossy path | released in 5 s | released without loss | goodput / maximum, 10 % and median | the same, lossy | median RTT / base | no loss at all |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let defaults = Thresholds::default();
    row("defaults", defaults, &paths, &maximum);
    for nearly_equal in [0.02, 0.1] {
        let name = format!("nearly equal {} %", nearly_equal * 100.0);
        row(&name, Thresholds { nearly_equal, ..defaults }, &paths, &maximum);
    }
    for rise_share in [0.02, 0.1] {
        let name = format!("RTT rise {} %", rise_share * 100.0);
        row(&name, Thresholds { rise_share, ..defaults }, &paths, &maximum);
    }
    for hint_share in [0.005, 0.03, 0.05] {
        let name = format!("hint {} %", hint_share * 100.0);
        row(&name, Thresholds { hint_share, ..defaults }, &paths, &maximum);
    }
    for dropped in [0.5, 0.9] {
        let name = format!("drop below {} %", dropped * 100.0);
        row(&name, Thresholds { dropped, ..defaults }, &paths, &maximum);
    }
    row("5 samples in start-up", Thresholds { flat_starting: 5, ..defaults }, &paths, &maximum);
    for losses_held in [2, 5] {
        row(&format!("{losses_held} losses held"), Thresholds { losses_held, ..defaults }, &paths, &maximum);
    }
}
