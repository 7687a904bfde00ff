//! What is measured of the tight link over time: its batches, and its queue's length.

use crate::common::plan;
use tightlink_sim::{BATCHES, FlowPlan, NoRecorder, Plan, Simulation};
use units::{Span, Time};

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Two flows over a queue too short to keep the link busy.
fn two_flows(end: Option<Time>) -> Plan {
    let mut plan = plan(10_000_000, 8);
    plan.flows = vec![
        FlowPlan::greedy("one", "reno", Span::from_millis(80)),
        FlowPlan::greedy("other", "reno", Span::from_millis(50)),
    ];
    (plan.end, plan.warmup) = (end, at(5));
    plan
}

#[test]
fn ten_batches_tile_the_measured_interval() {
    let outcome = Simulation::new(two_flows(Some(at(25))), NoRecorder).run();
    let times: Vec<Time> = outcome.batches.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (0..=BATCHES).map(|batch| at(5 + 2 * batch)).collect::<Vec<_>>());
    let (first, last) = (outcome.batches[0].1, outcome.batches[BATCHES as usize].1);
    assert_eq!(first.busy, Span::ZERO);
    let utilization = last.busy.as_secs_f64() / 20.0;
    assert!((utilization - outcome.link.utilization).abs() < 1e-12 && utilization < 0.99, "{utilization}");
    assert_eq!(last.arrivals - first.arrivals, outcome.link.arrivals);
    assert_eq!(last.drops - first.drops, outcome.link.drops());
    let longest = Span::from_secs(2);
    assert!(outcome.batches.windows(2).all(|pair| pair[1].1.busy - pair[0].1.busy <= longest));
}

#[test]
fn a_run_without_an_end_has_no_batches() {
    let mut plan = two_flows(None);
    plan.flows.iter_mut().for_each(|flow| flow.size = Some(units::Bytes::new(9_000_000)));
    let outcome = Simulation::new(plan, NoRecorder).run();
    assert!(outcome.ended > at(5) && outcome.batches.len() == 1);
}

#[test]
fn the_length_of_the_queue_over_time_is_the_same_with_and_without_link_events() {
    let fast = Simulation::new(two_flows(Some(at(25))), NoRecorder).run().link.queue_length;
    let slow = Simulation::with_link_events(two_flows(Some(at(25))), NoRecorder).run().link.queue_length;
    assert_eq!((fast.total(), fast.max()), (Span::from_secs(20), 8));
    assert_eq!(fast.shares(), slow.shares());
    assert!(fast.mean().is_some_and(|mean| mean > 0.5 && mean < 8.0), "{fast:?}");
}

#[test]
fn without_a_warm_up_the_first_burst_counts() {
    let whole = |warmup: Span| {
        let mut plan = plan(10_000_000, 4);
        let mut flow = FlowPlan::greedy("all", "reno", Span::from_millis(50));
        flow.size = Some(flow.payload * 10);
        plan.flows = vec![flow];
        plan.warmup = Time::ZERO + warmup;
        let outcome = Simulation::new(plan, NoRecorder).run();
        (outcome.link.arrivals, outcome.link.drops(), outcome.flows[0].sent, outcome.flows[0].dropped)
    };
    // One on the wire, four waiting, five of the initial window dropped and sent again.
    let counted = whole(Span::ZERO);
    assert_eq!(counted, (15, 5, 15, 5));
    assert_eq!(whole(Span::from_nanos(1)), (5, 0, 5, 0), "a warm-up of any length leaves it out");
}
