//! The simulator against closed forms.

use crate::common::{congestion_avoidance, plan};
use link::LinkState;
use model::empty_queue;
use proptest::prelude::*;
use tightlink_sim::{FlowPlan, FlowView, NoRecorder, Recorder, Simulation};
use units::{Bytes, Rate, Span, Time};

/// `[sobas:eq3]`: with a fixed window S below the bandwidth-delay product, goodput is S/T.
#[test]
fn a_fixed_window_flow_gets_window_over_rtt() {
    for (segments, rtt_ms) in [(1u64, 40u64), (20, 40), (88, 40), (276, 40), (300, 78), (50, 10)] {
        let mut plan = plan(97_000_000, 500);
        plan.end = Some(Time::ZERO + Span::from_secs(20));
        plan.warmup = Time::ZERO + Span::from_secs(2);
        let window = segments * 1448;
        plan.flows = vec![FlowPlan {
            socket_buffer: Bytes::new(window),
            ..FlowPlan::greedy("target", "fixed", Span::from_millis(rtt_ms))
        }];
        let outcome = Simulation::new(plan, NoRecorder).run();
        let goodput = outcome.flows[0].goodput().as_bps_f64();
        // The base RTT without queueing: propagation and one segment's serialization.
        let expected = (window * 8) as f64 / (rtt_ms as f64 * 1e-3 + 12000.0 / 97e6);
        let capacity = 97e6 * 1448.0 / 1500.0;
        let error = goodput / expected.min(capacity) - 1.0;
        assert!(
            error.abs() < 0.005,
            "S = {segments} segments, T = {rtt_ms} ms: {goodput} against {expected}, {error}"
        );
        assert_eq!(outcome.flows[0].retransmits, 0);
    }
}

/// Above the bandwidth-delay product the excess stands in the queue: T = S/C.
#[test]
fn a_window_beyond_the_product_stands_in_the_queue() {
    let mut plan = plan(97_000_000, 1000);
    plan.end = Some(Time::ZERO + Span::from_secs(20));
    plan.warmup = Time::ZERO + Span::from_secs(2);
    plan.flows = vec![FlowPlan {
        socket_buffer: Bytes::new(500 * 1448),
        ..FlowPlan::greedy("target", "fixed", Span::from_millis(40))
    }];
    let outcome = Simulation::new(plan, NoRecorder).run();
    let rtt = outcome.flows[0].rtt.mean().unwrap().as_secs_f64();
    assert!((rtt - 500.0 * 1500.0 * 8.0 / 97e6).abs() < 2e-4, "{rtt}");
    assert!(outcome.link.utilization > 0.9999);
    let waiting = outcome.link.mean_waiting_packets;
    let expected = 500.0 - 97e6 * 0.04 / 12000.0 - 1.0;
    assert!((waiting - expected).abs() < 2.0, "{waiting} against {expected}");
}

/// P2.eq2 for one flow: the queue of a Reno flow with B = BDP never empties.
#[test]
fn one_reno_flow_with_a_product_of_buffer_never_idles() {
    for (rate, rtt_ms) in [(16_000_000u64, 100u64), (97_000_000, 40), (500_000_000, 20)] {
        let product = rate / 8 * rtt_ms / 1000 / 1500;
        let mut plan = plan(rate, product + 2);
        plan.end = Some(Time::ZERO + Span::from_secs(300));
        plan.warmup = Time::ZERO + Span::from_secs(60);
        plan.flows = vec![FlowPlan::greedy("target", "reno", Span::from_millis(rtt_ms))];
        let outcome = Simulation::new(plan, NoRecorder).run();
        assert!(outcome.link.queue_drops > 0, "the window must saw for this to mean anything");
        assert_eq!(outcome.link.idle_fraction, 0.0, "{rate} bit/s, {rtt_ms} ms");
    }
}

/// A Reno flow without a buffer gets three quarters of the link, whole with a bandwidth-delay product.
#[test]
fn utilization_of_one_reno_flow_follows_the_sawtooth() {
    for share in [0.1, 0.3, 0.6] {
        let product = 16_000_000.0 / 8.0 * 0.1 / 1500.0;
        let mut plan = plan(16_000_000, (product * share) as u64);
        plan.end = Some(Time::ZERO + Span::from_secs(2000));
        plan.warmup = Time::ZERO + Span::from_secs(200);
        plan.flows = vec![FlowPlan::greedy("target", "reno", Span::from_millis(100))];
        let outcome = Simulation::new(plan, NoRecorder).run();
        let b = share;
        // In a cycle the window climbs from (1+b)/2 to 1+b: it fills the pipe of 1 at rate W/T below 1, at C
        // above, where a round trip takes W. Data over time, both in units of BDP and T.
        let below = (1.0 - ((1.0 + b) / 2.0_f64).powi(2)) / 2.0;
        let time_below = 1.0 - (1.0 + b) / 2.0;
        let above = ((1.0 + b).powi(2) - 1.0) / 2.0;
        let expected = (below + above) / (time_below + above);
        assert!(
            (outcome.link.utilization - expected).abs() < 0.01,
            "b = {b}: {} against {expected}",
            outcome.link.utilization
        );
    }
}

/// Remembers the least backlog after `from`, and whether a flow cut its window twice within `episode`.
struct LeastBacklog {
    from: Time,
    episode: Span,
    packets: u64,
    flows: Vec<(u64, Option<Time>)>,
    cut_twice: bool,
}

impl Recorder for LeastBacklog {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_micros(500))
    }
    fn link(&mut self, at: Time, state: &LinkState) {
        if at >= self.from {
            self.packets = self.packets.min(state.backlog.packets);
        }
    }
    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        let (window, last_cut) = &mut self.flows[index];
        if view.window.get() * 4 < *window * 3 {
            self.cut_twice |= at >= self.from && last_cut.is_some_and(|cut| at.since(cut) < self.episode);
            *last_cut = Some(at);
        }
        *window = view.window.get();
    }
}

/// Reno flows in congestion avoidance on 16 Mbit/s with `factor` times the largest product of buffer: the
/// least backlog, the paper's bound on it (packets of 500 bytes) and the share of time the link idled, or `None`
/// if the run broke the paper's assumption 6, that an overflow costs each source at most one loss.
fn least_backlog(rtts: &[Span], factor: f64, seed: u64) -> Option<(u64, u64, f64)> {
    let rate = Rate::from_bps(16_000_000);
    let packets = (empty_queue::guaranteed_buffer(rate, rtts).get() as f64 * factor) as u64 / 500;
    let buffer = Bytes::new(packets * 500);
    let mut plan = plan(rate.as_bps(), packets);
    plan.seed = seed;
    plan.end = Some(Time::ZERO + Span::from_secs(160));
    plan.warmup = Time::ZERO + Span::from_secs(60);
    let payload = Bytes::new(448);
    let one = |(index, rtt): (usize, &Span)| FlowPlan {
        payload,
        send_jitter: Span::from_micros(250),
        control: congestion_avoidance(payload, packets / rtts.len() as u64),
        ..FlowPlan::greedy(&format!("flow-{index}"), "reno", *rtt)
    };
    plan.flows = rtts.iter().enumerate().map(one).collect();
    let recorder = LeastBacklog {
        from: plan.warmup,
        // An overflow lasts until the slowest source has heard of it.
        episode: (rate.serialization(buffer) + Span::from_millis(200)) * 2,
        packets: u64::MAX,
        flows: vec![(0, None); rtts.len()],
        cut_twice: false,
    };
    let outcome = Simulation::new(plan, recorder).run();
    let bound = empty_queue::minimum_backlog(rate, buffer, rtts).get() / 500;
    (!outcome.recorder.cut_twice).then_some((outcome.recorder.packets, bound, outcome.link.idle_fraction))
}

/// The paper's "small statistical fluctuations", in packets: per flow, rounding of the halved window, its growth
/// between the loss and the news of it, and what jitter holds back.
fn fluctuation(flows: usize) -> u64 {
    4 * flows as u64 + 4
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// `[nonhomogeneous:eq1]`, `[nonhomogeneous:eq2]` for equal RTTs: the backlog keeps at least
    /// (B - mu tau)/2 and the link never idles.
    #[test]
    fn equal_flows_keep_half_of_what_exceeds_the_product(
        n in 1usize..6, rtt in 20u64..200, factor in 1.1f64..3.0, seed in any::<u64>(),
    ) {
        let Some((least, bound, idle)) = least_backlog(&vec![Span::from_millis(rtt); n], factor, seed) else {
            return Err(TestCaseError::reject("assumption 6"));
        };
        prop_assert!(least + fluctuation(n) >= bound, "least backlog {least}, Qmin {bound} packets");
        prop_assert_eq!(idle, 0.0);
    }

    /// The same for unequal RTTs. The paper's argument is quasi-static: while the halved flows fall silent, the
    /// mix on the wire can shift from short RTTs to long ones, which hides up to mu (max tau - min tau)/2 more
    /// of the windows in propagation (docs/papers/nonhomogeneous.md).
    #[test]
    fn unequal_flows_keep_it_but_for_what_a_change_of_mix_hides(
        n in 2usize..6, rtts in prop::collection::vec(20u64..200, 6), factor in 1.1f64..3.0, seed in any::<u64>(),
    ) {
        let rtts: Vec<Span> = rtts[..n].iter().map(|rtt| Span::from_millis(*rtt)).collect();
        let Some((least, bound, idle)) = least_backlog(&rtts, factor, seed) else {
            return Err(TestCaseError::reject("assumption 6"));
        };
        let (shortest, longest) = (rtts.iter().min().unwrap(), rtts.iter().max().unwrap());
        let hidden = (longest.saturating_sub(*shortest).as_secs_f64() * 4000.0 / 2.0) as u64;
        prop_assert!(least + fluctuation(n) + hidden >= bound, "least {least}, Qmin {bound}, hidden {hidden}");
        prop_assert!(idle < 1e-3, "idle {idle}");
    }
}
