//! Loss recovery from outside.

use crate::common::plan;
use tightlink_sim::{FlowPlan, NoRecorder, Simulation};
use units::{Fraction, Span, Time};

/// A retransmission that is lost, too, is nobody's duplicate: only the timer finds it, however many other holes
/// are being repaired meanwhile.
#[test]
fn a_lost_retransmission_ends_in_a_timeout() {
    for loss in [0.02, 0.1, 0.3] {
        for sack in [true, false] {
            let mut plan = plan(20_000_000, 200);
            plan.topology.links_mut()[0].config.loss = Fraction::new(loss).unwrap();
            plan.end = Some(Time::ZERO + Span::from_secs(300));
            let mut flow = FlowPlan::greedy("target", "reno", Span::from_millis(20));
            flow.transport.sack = sack;
            plan.flows = vec![flow];
            let outcome = Simulation::new(plan, NoRecorder).run();
            // The square-root law, and timeouts of 200 ms that double at a loss of 30 %, leave more than this.
            let least = if loss < 0.2 { 0.2e6 } else { 5e3 };
            let goodput = outcome.flows[0].goodput().as_bps_f64();
            assert!(goodput > least, "loss {loss}, sack {sack}: {goodput} bit/s");
            // And it is goodput: most of what is delivered is not sent twice.
            let sent = outcome.flows[0].sent as f64;
            assert!((outcome.flows[0].retransmits as f64) < sent * (loss + 0.35), "loss {loss}, sack {sack}");
        }
    }
}

/// BBR goes by delivery rates. Without names each duplicate is a delivery, whichever; were deliveries counted as they are
/// acknowledged, each hole that is filled would look like a burst and the path like one of twice its capacity.
#[test]
fn delivery_rates_are_those_of_the_path_without_names_too() {
    for limit in [17, 33] {
        let goodput = |sack| {
            let mut plan = plan(20_000_000, limit);
            plan.warmup = Time::ZERO + Span::from_secs(10);
            plan.end = Some(Time::ZERO + Span::from_secs(60));
            let mut flow = FlowPlan::greedy("target", "bbr", Span::from_millis(40));
            flow.transport.sack = sack;
            plan.flows = vec![flow];
            Simulation::new(plan, NoRecorder).run().flows[0].goodput().as_bps_f64()
        };
        let (with, without) = (goodput(true), goodput(false));
        assert!(with > 18e6, "limit {limit}: {with} bit/s with names");
        assert!(without > 0.95 * with, "limit {limit}: {without} bit/s without names, {with} with");
    }
}
