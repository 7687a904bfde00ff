//! TCP-Madison against what its paper claims [madison]. Where the simulation disagrees, the bound here is the
//! simulation's and the comment has the paper's; see docs/papers/madison.md.

use crate::common::{plan, run, seconds};
use link::traffic::{Pattern, TrafficConfig};
use tightlink_sim::{FlowPlan, FlowView, NoRecorder, Outcome, Plan, Recorder, Simulation, TrafficPlan};
use units::{Bytes, Fraction, Rate, Span, Time};

/// Of the links, packets.
const BUFFER: u64 = 1000;

/// `mbps` Mbit/s with flows of `control` over `rtts` ms, 5 s apart, and Poisson cross traffic of `cross` percent.
fn sharing(control: &str, mbps: u64, rtts: &[u64], cross: u64, (warmup, end): (u64, u64)) -> Plan {
    let mut plan = plan(mbps * 1_000_000, BUFFER);
    for (index, rtt) in rtts.iter().enumerate() {
        let mut flow = FlowPlan::greedy(&format!("{rtt} ms"), control, Span::from_millis(*rtt));
        flow.start = seconds(5 * index as u64);
        plan.flows.push(flow);
    }
    if cross > 0 {
        let config = TrafficConfig {
            pattern: Pattern::Poisson,
            rate: Rate::from_bps(mbps * cross * 10_000),
            packet: Bytes::new(1500),
            start: Time::ZERO,
            stop: Time::NEVER,
        };
        plan.traffic.push(TrafficPlan {
            name: "cross".into(),
            config,
            route: vec![0],
            marking: tightlink_sim::Marking::default(),
        });
    }
    (plan.warmup, plan.end) = (seconds(warmup), Some(seconds(end)));
    plan
}

/// The same at 100 Mbit/s.
fn shared(control: &str, rtts: &[u64], cross: u64, measured: (u64, u64)) -> Plan {
    sharing(control, 100, rtts, cross, measured)
}

fn rates(outcome: &Outcome<NoRecorder>) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect()
}

/// The largest share's and the least's distance from the mean one.
fn unfairness(outcome: &Outcome<NoRecorder>) -> f64 {
    let rates = rates(outcome);
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    rates.iter().map(|rate| (rate / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// Packets of a flow that wait, on average: the flows' part of those that do.
fn backlog(outcome: &Outcome<NoRecorder>, capacity: f64) -> f64 {
    let rates = rates(outcome);
    let share = rates.iter().sum::<f64>() / rates.len() as f64 * 1500.0 / 1448.0 / capacity;
    outcome.link.mean_waiting_packets * share / outcome.link.utilization
}

/// 2b/(1 + 2b) with b = 5.085.
#[test]
fn a_lone_flow_is_held_to_what_its_target_backlog_allows() {
    let even = run(shared("madison-even", &[50], 0, (5, 40)));
    assert!((even.link.utilization - 0.9105).abs() < 0.002, "{}", even.link.utilization);
    assert!(even.link.queue_length.max() <= 2, "{}", even.link.queue_length.max());
    // A Poisson process: the queue is M/D/1's, and the backlog the target's.
    let random = run(shared("madison", &[50], 0, (30, 90)));
    assert!((random.link.utilization - 0.9105).abs() < 0.02, "{}", random.link.utilization);
    let backlog = backlog(&random, 100e6);
    assert!((3.5..5.5).contains(&backlog), "{backlog}");
}

/// The paper's claims: within 15 % of equal, a few losses per 10 000, fewer than 10 packets of backlog a flow. These
/// cases were looked at while the rules were made. The flows start 5 s apart; measured from 10 s after the last has.
#[test]
fn three_flows_share_equally_whatever_their_round_trip_times() {
    for cross in [0, 10, 40, 70] {
        let outcome = run(shared("madison", &[50, 100, 250], cross, (20, 80)));
        assert!(unfairness(&outcome) < 0.15, "{cross}: {}", unfairness(&outcome));
        assert_eq!(outcome.link.loss_rate(), 0.0, "{cross}");
        // Equation 8 with the backlogs of the three alone, less 3 %.
        let waiting = 2.0 * 3.0 * 5.085;
        let least = 0.97 * waiting / (1.0 + waiting);
        assert!(outcome.link.utilization > least, "{cross}: {} for {least}", outcome.link.utilization);
        let backlog = backlog(&outcome, 100e6);
        assert!((3.5..5.5).contains(&backlog), "{cross}: {backlog}");
    }
}

/// And these were not: other rates, round-trip times, numbers of flows and seeds.
#[test]
fn flows_share_equally_on_paths_that_no_rule_was_chosen_by() {
    let paths = [
        (10, &[20, 80, 160][..], 25, (100, 300)),
        (24, &[30, 300], 55, (30, 100)),
        (100, &[10, 40, 90, 200], 65, (30, 70)),
    ];
    for (mbps, rtts, cross, measured) in paths {
        let mut plan = sharing("madison", mbps, rtts, cross, measured);
        plan.seed = 77;
        let outcome = run(plan);
        assert!(unfairness(&outcome) < 0.15, "{mbps}: {}", unfairness(&outcome));
        assert_eq!(outcome.link.loss_rate(), 0.0, "{mbps}");
        let backlog = backlog(&outcome, mbps as f64 * 1e6);
        assert!((3.5..5.5).contains(&backlog), "{mbps}: {backlog}");
    }
}

/// Seconds from the second flow's start, 20 s after the first's, until its rate over a second is first within a fifth of
/// half of what both have at the end.
fn joining(control: &str, cross: u64) -> f64 {
    let mut plan = shared(control, &[250, 250], cross, (80, 280));
    plan.flows[1].start = seconds(20);
    let outcome = Simulation::new(plan, Delivered::default()).run();
    let (looks, last) = (&outcome.recorder.0, outcome.recorder.0.len() - 1);
    let rate =
        |flow: usize, from: usize, to: usize| (looks[to][flow] - looks[from][flow]) / (to - from) as f64;
    let share = f64::midpoint(rate(0, 80, last), rate(1, 80, last));
    let found = (21..=last).find(|at| (rate(1, at - 1, *at) / share - 1.0).abs() < 0.2);
    found.map_or(f64::INFINITY, |at| at as f64 - 20.0)
}

/// What each flow had delivered at each second, bits.
#[derive(Default)]
struct Delivered(Vec<[f64; 2]>);

impl Recorder for Delivered {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_secs(1))
    }
    fn link(&mut self, _at: Time, _state: &link::LinkState) {
        self.0.push([0.0; 2]);
    }
    fn flow(&mut self, _at: Time, index: usize, view: &FlowView) {
        if let Some(look) = self.0.last_mut() {
            look[index] = view.delivered.bits_f64();
        }
    }
}

/// Issue 5's bound: five times sooner at 250 ms. The paper says that FAST takes over 30 s on such paths.
#[test]
fn a_second_flow_has_its_share_five_times_sooner_than_with_fast() {
    for cross in [0, 40] {
        let (fast, madison) = (joining("fast", cross), joining("madison", cross));
        println!("{cross} %: FAST {fast} s, Madison {madison} s");
        assert!(fast > 30.0 && 5.0 * madison < fast, "{cross}: {madison} {fast}");
    }
}

/// Utilization by six probes of a moment is biased low: by the letter, flows ask for more than there is.
#[test]
fn the_printed_rules_overflow_where_few_flows_share() {
    let printed = run(shared("madison-printed", &[50, 100, 250], 0, (20, 60)));
    assert!(printed.link.loss_rate() > 2e-3, "{}", printed.link.loss_rate());
    assert!(backlog(&printed, 100e6) > 30.0, "{}", backlog(&printed, 100e6));
    let ours = run(shared("madison", &[50, 100, 250], 0, (20, 60)));
    assert_eq!(ours.link.loss_rate(), 0.0);
}

/// What the M/D/1 formulas need where flows are alone: without it they see no queue until they overflow the link.
#[test]
fn evenly_spaced_flows_alone_swing_between_too_much_and_too_little() {
    let even = run(shared("madison-even", &[50, 100, 250], 0, (30, 90)));
    let random = run(shared("madison", &[50, 100, 250], 0, (30, 90)));
    assert!(even.link.utilization < random.link.utilization - 0.03, "{}", even.link.utilization);
    assert!(even.link.queue_length.max() > random.link.queue_length.max());
    // Cross traffic is randomness enough.
    let loaded = run(shared("madison-even", &[50, 100, 250], 70, (30, 80)));
    assert!(loaded.link.utilization > 0.97 && unfairness(&loaded) < 0.15, "{}", unfairness(&loaded));
}

/// 500 Mbit/s, 78 ms, 172 kB of buffer, 70 % cross traffic. The paper has over ten times Reno's throughput with 2.5 losses
/// per 10 000 packets and a backlog of 3.5; here the losses are random ones.
#[test]
fn over_a_lossy_path_it_has_several_times_what_reno_has() {
    let lossy = |control: &str| {
        let mut plan = sharing(control, 500, &[78], 70, (10, 30));
        plan.topology.links_mut()[0].limit = link::Limit::Packets(115);
        plan.topology.links_mut()[0].config.loss = Fraction::new(2.5e-4).unwrap();
        run(plan)
    };
    let (madison, reno) = (lossy("madison"), lossy("reno"));
    assert!(rates(&madison)[0] > 4.0 * rates(&reno)[0], "{:?} {:?}", rates(&madison), rates(&reno));
    assert!(backlog(&madison, 500e6) < 10.0);
    assert!(madison.link.loss_rate() < 4e-4, "{}", madison.link.loss_rate());
}

/// Not by more than a tenth, says the paper of 60 to 70 % cross traffic. Where Reno's own losses keep it far below its share,
/// at 260 ms behind a small buffer, that does not hold: see docs/papers/madison.md.
#[test]
fn reno_loses_nothing_to_it_on_paths_of_50_ms() {
    for (cross, buffer) in [(0, 417), (0, 100), (40, 100)] {
        let beside = |control: &str| {
            let mut plan = shared("reno", &[50], cross, (20, 80));
            plan.flows.push(FlowPlan::greedy("beside", control, Span::from_millis(50)));
            plan.topology.links_mut()[0].limit = link::Limit::Packets(buffer);
            run(plan)
        };
        let (reno, madison) = (rates(&beside("reno")), rates(&beside("madison")));
        let fair = f64::midpoint(reno[0], reno[1]);
        assert!(
            madison[0] > 0.9 * fair,
            "{cross} {buffer}: {} beside Madison, {fair} beside Reno",
            madison[0]
        );
    }
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
    let outcome = Simulation::new(shared("madison-even", &[50], 0, (5, 9)), Measures::default()).run();
    let of = |name| outcome.recorder.0.iter().find(|(found, _)| *found == name).unwrap().1;
    assert!((of("own_share") - 0.9105).abs() < 0.02, "{}", of("own_share"));
    assert!((of("target_backlog_packets") - 5.085).abs() < 0.001);
    // 12/C of 100 Mbit/s.
    assert!((of("own_share") / of("rate_packets_per_s") - 120e-6).abs() < 1e-7);
}
