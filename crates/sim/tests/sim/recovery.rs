//! Loss recovery from outside.

use crate::common::{congestion_avoidance, plan, run, seconds};
use link::changes::{Capacity, Steps};
use std::sync::Arc;
use tightlink_sim::{FlowPlan, FlowReport, NoRecorder, Simulation};
use transport::{BbrVariant, CubicVariant, LossDetection, Recovery, WindowVariant};
use units::{Fraction, Rate, Span, Time};

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

/// Returns the outcome of a flow on a link of 10 Mbit/s that stands still from 3 s to 4 s. Its queue drops nothing.
fn behind_an_outage(control: &str, undoes: bool) -> FlowReport {
    let mut plan = plan(10_000_000, 1000);
    let rates = [(0, 10_000_000), (3, 0), (4, 10_000_000)];
    let rates = rates.map(|(at, rate)| (Span::from_secs(at), Rate::from_bps(rate))).to_vec();
    plan.topology.links_mut()[0].config.changes.capacity =
        Some(Capacity::Rates(Arc::new(Steps::new(rates, None).unwrap())));
    plan.end = Some(seconds(6));
    let mut flow = FlowPlan::greedy("target", control, Span::from_millis(40));
    if control != "bbr" {
        flow.control.start = congestion_avoidance(flow.payload, 40).start;
    }
    (flow.transport.recovery, flow.transport.loss_detection) = (Recovery::Prr, LossDetection::Rack);
    let host = &mut flow.transport.host;
    (host.bbr_variant, host.cubic_variant) = (BbrVariant::Linux, CubicVariant::Linux);
    (host.window_variant, host.undo_timeouts) = (WindowVariant::Linux, undoes);
    plan.flows = vec![flow];
    run(plan).flows.remove(0)
}

/// The timer expires while the link stands still. All data arrive after that, so only the first segment, once for each
/// timeout, and the probe of the tail are sent again.
#[test]
fn after_an_outage_linux_sends_next_to_nothing_again() {
    for control in ["reno", "cubic", "bbr"] {
        let (kept, undone) = (behind_an_outage(control, false), behind_an_outage(control, true));
        assert!(kept.timeouts > 0 && undone.timeouts > 0, "{control}: {} {}", kept.timeouts, undone.timeouts);
        assert!(undone.retransmits <= undone.timeouts + 1, "{control}: {} again", undone.retransmits);
        assert!(kept.retransmits > 20, "{control}: {} again without undoing", kept.retransmits);
        let (kept, undone) = (kept.goodput().as_bps_f64(), undone.goodput().as_bps_f64());
        // The link stands still for a sixth of the time.
        assert!(
            undone > kept && undone > 0.95 * 10e6 * 5.0 / 6.0 * 0.96,
            "{control}: {undone}, without {kept}"
        );
    }
}
