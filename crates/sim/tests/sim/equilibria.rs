//! Controllers that go by delay and rate, at their equilibria.

use crate::common::{flow, plan};
use tightlink_sim::{NoRecorder, Outcome, Plan, Simulation};
use units::{Span, Time};

const MBPS: u64 = 1_000_000;

/// `flows` of `control` with a base RTT of `rtt` ms over `mbps` with room for `limit` packets; measured from
/// `warmup` s to `seconds`.
fn alike(control: &str, flows: usize, rtt: u64, mbps: u64, limit: u64, warmup: u64, seconds: u64) -> Plan {
    let mut plan = plan(mbps * MBPS, limit);
    for index in 0..flows {
        plan.flows.push(flow(&format!("flow-{index}"), control, Span::from_millis(rtt)));
    }
    plan.warmup = Time::ZERO + Span::from_secs(warmup);
    plan.end = Some(Time::ZERO + Span::from_secs(seconds));
    plan
}

fn run(plan: Plan) -> Outcome<NoRecorder> {
    Simulation::new(plan, NoRecorder).run()
}

/// Packets waiting or being sent, on average.
fn mean_packets(outcome: &Outcome<NoRecorder>) -> f64 {
    outcome.link.mean_waiting_packets + outcome.link.utilization
}

#[test]
fn a_vegas_flow_keeps_between_two_and_four_packets_in_the_queue() {
    let outcome = run(alike("vegas", 1, 50, 20, 200, 20, 60));
    let backlog = mean_packets(&outcome);
    assert!((2.0..=5.0).contains(&backlog), "{backlog}");
    assert!(outcome.link.utilization > 0.995, "{}", outcome.link.utilization);
    assert_eq!(outcome.flows[0].dropped, 0);
}

#[test]
fn five_vegas_flows_keep_ten_to_twenty() {
    let mut plan = alike("vegas", 5, 50, 20, 200, 30, 90);
    for (index, flow) in plan.flows.iter_mut().enumerate() {
        flow.start = Time::ZERO + Span::from_millis(40 * index as u64);
    }
    let outcome = run(plan);
    let backlog = mean_packets(&outcome);
    assert!((10.0..=25.0).contains(&backlog), "{backlog}");
}

/// 100 Mbit/s are 8.33 packets per millisecond: alpha is 16.7.
#[test]
fn a_fast_flow_keeps_alpha_packets_in_the_queue() {
    let outcome = run(alike("fast", 1, 60, 100, 1000, 40, 80));
    let backlog = mean_packets(&outcome);
    assert!((14.0..=19.0).contains(&backlog), "{backlog}");
    assert!(outcome.link.utilization > 0.999, "{}", outcome.link.utilization);
    assert_eq!(outcome.flows[0].dropped, 0);
}

/// Below 4 packets per millisecond alpha is its least, 8.
#[test]
fn three_fast_flows_on_a_slow_link_keep_eight_each_and_share_equally() {
    let outcome = run(alike("fast", 3, 40, 20, 1000, 40, 100));
    let backlog = mean_packets(&outcome);
    assert!((22.0..=27.0).contains(&backlog), "{backlog}");
    let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64()).collect();
    let (least, most) =
        (shares.iter().copied().fold(f64::MAX, f64::min), shares.iter().copied().fold(0.0, f64::max));
    assert!(most / least < 1.1, "{shares:?}");
}
