//! TCP-Madison against what its paper claims [madison]. Where the simulation disagrees, the bound here is the
//! simulation's and the comment has the paper's; see docs/papers/madison.md.

use crate::common::{flow, plan};
use link::traffic::{Pattern, TrafficConfig};
use tightlink_sim::{FlowView, NoRecorder, Outcome, Plan, Recorder, Simulation, TrafficPlan};
use units::{Bytes, Rate, Span, Time};

/// Of the links, packets.
const BUFFER: u64 = 1000;

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// 100 Mbit/s with flows of `control` over `rtts` ms, 5 s apart, and Poisson cross traffic of `cross` Mbit/s.
fn shared(control: &str, rtts: &[u64], cross: u64, warmup: u64, end: u64) -> Plan {
    let mut plan = plan(100_000_000, BUFFER);
    for (index, rtt) in rtts.iter().enumerate() {
        let mut flow = flow(&format!("{rtt} ms"), control, Span::from_millis(*rtt));
        flow.start = seconds(5 * index as u64);
        plan.flows.push(flow);
    }
    if cross > 0 {
        let config = TrafficConfig {
            pattern: Pattern::Poisson,
            rate: Rate::from_bps(cross * 1_000_000),
            packet: Bytes::new(1500),
            start: Time::ZERO,
            stop: Time::NEVER,
        };
        plan.traffic.push(TrafficPlan { name: "cross".into(), config, route: vec![0] });
    }
    (plan.warmup, plan.end) = (seconds(warmup), Some(seconds(end)));
    plan
}

fn run(plan: Plan) -> Outcome<NoRecorder> {
    Simulation::new(plan, NoRecorder).run()
}

/// The largest share's and the least's distance from the mean one.
fn unfairness(outcome: &Outcome<NoRecorder>) -> f64 {
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    rates.iter().map(|rate| (rate / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// 2b/(1 + 2b) with b = 5.085, until 10/p packets without loss have made p less and b more.
#[test]
fn a_lone_flow_is_held_to_what_its_target_backlog_allows() {
    let even = run(shared("madison-even", &[50], 0, 5, 9));
    assert!((even.link.utilization - 0.9105).abs() < 0.002, "{}", even.link.utilization);
    assert!(even.link.queue_length.max() <= 2, "{}", even.link.queue_length.max());
    let random = run(shared("madison", &[50], 0, 5, 9));
    assert!((random.link.utilization - 0.9105).abs() < 0.03, "{}", random.link.utilization);
    let patient = run(shared("madison-even", &[50], 0, 30, 40));
    assert!((patient.link.utilization - 0.9524).abs() < 0.002, "{}", patient.link.utilization);
}

/// The paper's claims: within 15 % of equal, a few losses per 10 000, fewer than 10 packets of backlog a flow. The
/// first two hold; the backlog is 23 to 26 a flow, since the target is 10 by then and what is measured lags behind.
#[test]
fn three_flows_share_equally_whatever_their_round_trip_times() {
    for cross in [0, 10] {
        let outcome = run(shared("madison", &[50, 100, 250], cross, 100, 160));
        assert!(unfairness(&outcome) < 0.15, "{cross}: {}", unfairness(&outcome));
        assert!(outcome.link.loss_rate() < 3e-4, "{cross}: {}", outcome.link.loss_rate());
        assert!(outcome.link.utilization > 0.97, "{cross}: {}", outcome.link.utilization);
        let backlog = outcome.link.mean_waiting_packets / 3.0;
        assert!(backlog < 30.0, "{cross}: {backlog}");
    }
}

/// What the M/D/1 formulas need: without it the flows ask for up to twice the link, and overflow a buffer that the
/// same flows with random spacing leave with room.
#[test]
fn evenly_spaced_flows_alone_misjudge_the_utilization_and_lose() {
    let even = run(shared("madison-even", &[50, 100, 250], 0, 30, 90));
    let random = run(shared("madison", &[50, 100, 250], 0, 30, 90));
    assert!(even.link.queue_length.max() >= random.link.queue_length.max());
    assert!(even.link.mean_waiting_packets > random.link.mean_waiting_packets);
    assert_eq!(random.link.loss_rate(), 0.0);
}

/// What a controller measures, at the end of the run.
#[derive(Default)]
struct Measures(Vec<(&'static str, f64)>);

impl Recorder for Measures {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(500))
    }
    fn link(&mut self, _at: Time, _state: &link::LinkState) {
        self.0.clear();
    }
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
    fn wants_measures(&self) -> bool {
        true
    }
    fn measure(&mut self, _at: Time, _index: usize, name: &'static str, value: f64) {
        self.0.push((name, value));
    }
}

#[test]
fn what_it_measures_can_be_recorded_and_is_right() {
    let outcome = Simulation::new(shared("madison", &[50], 0, 5, 9), Measures::default()).run();
    let of = |name| outcome.recorder.0.iter().find(|(found, _)| *found == name).unwrap().1;
    assert!((of("own_share") - 0.9105).abs() < 0.02, "{}", of("own_share"));
    assert!((of("target_backlog_packets") - 5.085).abs() < 0.001);
    // 12/C of 100 Mbit/s.
    assert!((of("own_share") / of("rate_packets_per_s") - 120e-6).abs() < 1e-7);
}
