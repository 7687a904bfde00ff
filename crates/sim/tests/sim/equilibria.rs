//! Controllers that go by delay and rate, at their equilibria.

use crate::common::{plan, run};
use tightlink_sim::{FlowPlan, LossDetection, NoRecorder, Outcome, Plan, Recovery};
use units::{Span, Time};

const MBPS: u64 = 1_000_000;

/// `flows` of `control` with a base RTT of `rtt` ms over `mbps` with room for `limit` packets; measured from
/// `warmup` s to `seconds`.
fn alike(control: &str, flows: usize, rtt: u64, mbps: u64, limit: u64, warmup: u64, seconds: u64) -> Plan {
    let mut plan = plan(mbps * MBPS, limit);
    for index in 0..flows {
        plan.flows.push(FlowPlan::greedy(&format!("flow-{index}"), control, Span::from_millis(rtt)));
    }
    plan.warmup = Time::ZERO + Span::from_secs(warmup);
    plan.end = Some(Time::ZERO + Span::from_secs(seconds));
    plan
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

/// One BBR flow alone on 100 Mbit/s, 40 ms: 333 packets of bandwidth-delay product.
#[test]
fn a_bbr_flow_fills_the_link_and_leaves_little_in_the_queue() {
    for control in ["bbr", "bbr3"] {
        let outcome = run(alike(control, 1, 40, 100, 2000, 20, 60));
        let (backlog, utilization) = (mean_packets(&outcome), outcome.link.utilization);
        assert!(utilization > 0.95, "{control}: {utilization}");
        assert!(backlog < 60.0, "{control}: {backlog}");
        assert_eq!(outcome.flows[0].dropped, 0, "{control}");
    }
}

/// What the draft's numbers make of BBR v3 alone [draft-ietf-ccwg-bbr:5.3.3]. It paces at 1.25 x 0.99 while it probes upwards, and
/// goes down after three rounds without a quarter more of rate, each as long as the queue has become: 1.2375^3 - 1 = 0.895 products
/// wait then. At 0.9 x 0.99 they are gone 0.895/0.109 round trips later, and it cruises at 0.99 with an empty queue until it
/// probes again: 2 to 3 s after the last time, or 62 rounds if that is sooner; and never for longer than the 5 s between probes of
/// the RTT.
#[test]
fn a_bbr3_flow_probes_to_nine_tenths_of_a_product_and_cruises_with_an_empty_queue() {
    let (up, down) = (1.25_f64 * 0.99 - 1.0, 1.0 - 0.9 * 0.99);
    let peak = (1.0 + up).powi(3) - 1.0;
    for rtt in [20, 40, 80] {
        let outcome = run(alike("bbr3", 1, rtt, 100, 2000, 20, 140));
        let product = 100e3 * rtt as f64 / 12_000.0;
        let (lengths, waiting) = (&outcome.link.queue_length, outcome.link.mean_waiting_packets);
        let most = lengths.max() as f64;
        assert!((most / (peak * product) - 1.0).abs() < 0.03, "{rtt} ms: {most} of {}", peak * product);
        // Product times round trips of waiting in a probe: a triangle.
        let probe = 0.5 * peak * (peak / up + peak / down) * product * rtt as f64 * 1e-3;
        let seconds = |wait: f64| wait + rtt as f64 * 1e-3 * (1.0 + peak / up);
        let (often, seldom) = (probe / seconds(f64::min(2.0, 0.062 * rtt as f64)), probe / seconds(5.0));
        println!("{rtt} ms: {waiting:.1} packets wait, {seldom:.1} to {often:.1}, at most {most}");
        assert!((seldom..often).contains(&waiting), "{rtt} ms: {waiting} of {seldom} to {often}");
        // Cruising, at most the second of a quantum waits, for the first, and half of the time nothing does.
        let usual = [0.3, 0.5].map(|share| lengths.quantile(share));
        assert_eq!(usual, [Some(0), Some(1)], "{rtt} ms");
        assert!((0.97..0.99).contains(&outcome.link.utilization), "{}", outcome.link.utilization);
    }
}

/// Random loss of 1 % leaves Reno 2 % of the link (1.22/sqrt(0.01) packets per round trip) and BBR most of it.
#[test]
fn bbr_keeps_its_rate_on_a_lossy_path() {
    let lossy = |control: &str, share: f64| {
        let mut plan = alike(control, 1, 40, 100, 2000, 10, 40);
        plan.topology.links_mut()[0].config.loss = units::Fraction::new(share).unwrap();
        run(plan).flows[0].goodput().as_bps_f64() * 1e-6
    };
    assert!(lossy("reno", 0.01) < 6.0);
    assert!(lossy("bbr", 0.01) > 88.0);
    assert!(lossy("bbr3", 0.01) > 70.0);
    // Beyond 2 % version 3 gives way, version 1 does not.
    assert!(lossy("bbr", 0.05) > 2.0 * lossy("bbr3", 0.05));
}

/// A controller that goes by rates says itself what recovery may send, and PRR is left out for it (`tcp_cong_control()`
/// of Linux). Repairs are lost as well here.
#[test]
fn proportional_rate_reduction_does_not_hold_bbr_back() {
    for control in ["bbr", "bbr3"] {
        let goodput = |recovery: Recovery| {
            let mut plan = alike(control, 1, 40, 100, 2000, 10, 40);
            plan.topology.links_mut()[0].config.loss = units::Fraction::new(0.1).unwrap();
            plan.flows[0].transport.recovery = recovery;
            plan.flows[0].transport.loss_detection = LossDetection::Rack;
            run(plan).flows[0].goodput()
        };
        assert_eq!(goodput(Recovery::Prr), goodput(Recovery::Rfc6675), "{control}");
    }
}

/// Each has the whole link as its largest delivery rate of late, so the window, twice the product, is the limit: about
/// one product, 333 packets, waits.
#[test]
fn two_bbr_flows_share_a_link_and_keep_a_product_in_the_queue() {
    for control in ["bbr", "bbr3"] {
        let mut plan = alike(control, 2, 40, 100, 2000, 30, 90);
        plan.flows[1].start = Time::ZERO + Span::from_secs(3);
        let outcome = run(plan);
        let backlog = mean_packets(&outcome);
        assert!((200.0..370.0).contains(&backlog), "{control}: {backlog}");
        let ratio = outcome.flows[0].goodput().as_bps_f64() / outcome.flows[1].goodput().as_bps_f64();
        assert!((0.67..1.5).contains(&ratio), "{control}: {ratio}");
    }
}
