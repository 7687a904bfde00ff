//! XCP and RCP with their routers: the papers' yardstick.

use crate::common::plan;
use tightlink_sim::{FlowPlan, NoRecorder, Outcome, Plan, Simulation};
use units::{Span, Time};

/// Flows of `control` with these RTTs in ms, the second half beginning at `later` s, on 100 Mbit/s with room for 1000
/// packets; measured between `from` and `to` seconds.
fn run(control: &str, rtts: &[u64], later: u64, from: u64, to: u64) -> Outcome<NoRecorder> {
    let mut plan = Plan { warmup: Time::ZERO + Span::from_secs(from), ..plan(100_000_000, 1000) };
    plan.topology.links_mut()[0].queue.assist = Some(control.into());
    plan.end = Some(Time::ZERO + Span::from_secs(to));
    plan.flows = rtts
        .iter()
        .enumerate()
        .map(|(index, rtt)| {
            let start = if index < rtts.len() / 2 { 0 } else { later };
            let start = Time::ZERO + Span::from_secs(start) + Span::from_millis(7 * index as u64);
            FlowPlan { start, ..FlowPlan::greedy(&format!("flow-{index}"), control, Span::from_millis(*rtt)) }
        })
        .collect();
    Simulation::new(plan, NoRecorder).run()
}

/// Goodputs as shares of the capacity's payload, utilization, mean queueing delay in ms.
fn shares(outcome: &Outcome<NoRecorder>) -> (Vec<f64>, f64, f64) {
    let payload = 100e6 * 1448.0 / 1500.0;
    let shares = outcome.flows.iter().map(|flow| flow.goodput().as_bps_f64() / payload).collect();
    let packets = outcome.link.mean_waiting_packets;
    (shares, 1.0 - outcome.link.idle_fraction, packets * 1500.0 * 8.0 / 100e6 * 1e3)
}

#[test]
fn xcp_shares_equally_with_next_to_no_queue_and_no_loss() {
    for rtts in [&[80, 80, 80, 80][..], &[20, 40, 80, 160]] {
        let outcome = run("xcp", rtts, 0, 10, 40);
        let (shares, utilization, queue) = shares(&outcome);
        println!("xcp {rtts:?}: {shares:.3?}, utilization {utilization:.4}, queue {queue:.2} ms");
        assert!(utilization > 0.97 && queue < 5.0, "{utilization} {queue}");
        assert_eq!(outcome.flows.iter().map(|flow| flow.dropped).sum::<u64>(), 0);
        for share in shares {
            assert!((share * rtts.len() as f64 - 1.0).abs() < 0.05, "{share}");
        }
    }
}

/// The paper: a new flow has its share within some RTTs, where TCP takes hundreds. Two flows run, two come at 10 s: in the
/// third second after, 25 to 37 round trips later, all are within a tenth of a quarter.
#[test]
fn xcp_gives_a_new_flow_its_share_in_a_few_rtts() {
    let outcome = run("xcp", &[80, 80, 80, 80], 10, 12, 13);
    let (shares, utilization, queue) = shares(&outcome);
    println!("xcp after a change: {shares:.3?}, utilization {utilization:.4}, queue {queue:.2} ms");
    assert!(shares.iter().all(|share| (share * 4.0 - 1.0).abs() < 0.1), "{shares:?}");
    assert!(utilization > 0.95 && outcome.link.loss_rate() < 1e-9);
}

#[test]
fn rcp_gives_every_flow_the_capacity_over_the_number_of_flows() {
    for rtts in [&[80, 80, 80, 80][..], &[20, 40, 80, 160], &[50, 50]] {
        let outcome = run("rcp", rtts, 0, 10, 40);
        let (shares, utilization, queue) = shares(&outcome);
        println!("rcp {rtts:?}: {shares:.3?}, utilization {utilization:.4}, queue {queue:.2} ms");
        assert!(utilization > 0.97 && queue < 5.0, "{utilization} {queue}");
        for share in shares {
            assert!((share * rtts.len() as f64 - 1.0).abs() < 0.05, "{share}");
        }
    }
}

/// Processor sharing: who comes has from the first answer on what the others have; a second later all have a quarter.
#[test]
fn rcp_gives_a_new_flow_its_share_at_once() {
    let outcome = run("rcp", &[80, 80, 80, 80], 10, 11, 12);
    let (shares, _, queue) = shares(&outcome);
    println!("rcp after a change: {shares:.3?}, queue {queue:.2} ms");
    let mean = shares.iter().sum::<f64>() / 4.0;
    assert!(shares.iter().all(|share| (share / mean - 1.0).abs() < 0.05), "{shares:?}");
    assert!((mean * 4.0 - 1.0).abs() < 0.1, "{mean}");
}

/// What comes without a header is counted and learns nothing: XCP has what it leaves.
#[test]
fn xcp_yields_what_traffic_without_headers_takes() {
    let mut plan = Plan { warmup: Time::ZERO + Span::from_secs(10), ..plan(100_000_000, 1000) };
    plan.topology.links_mut()[0].queue.assist = Some("xcp".into());
    plan.end = Some(Time::ZERO + Span::from_secs(30));
    plan.flows = vec![FlowPlan::greedy("flow", "xcp", Span::from_millis(80))];
    let limited = units::Bytes::new(30 * 1448);
    let fixed =
        FlowPlan { socket_buffer: limited, ..FlowPlan::greedy("fixed", "fixed", Span::from_millis(10)) };
    plan.flows.push(fixed);
    let outcome = Simulation::new(plan, NoRecorder).run();
    let (shares, utilization, queue) = shares(&outcome);
    println!("xcp beside 30 segments of 10 ms: {shares:.3?}, {utilization:.4}, {queue:.2} ms");
    assert!(utilization > 0.97 && queue < 5.0 && shares[1] > 0.25, "{shares:?} {utilization} {queue}");
}
