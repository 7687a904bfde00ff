//! Westwood+: the eligible rate, and the response function of Grieco and Mascolo's analysis.

use crate::path::{SEGMENT, Sender, agrees, named, of, periodic};
use tightlink_cc::controls::Westwood;
use tightlink_cc::growth::Growth;
use tightlink_cc::{Ack, RttView};
use units::{Bytes, Span, Time};

/// Acknowledgements at a steady rate, some of them lost on the way.
fn observe(westwood: &mut Westwood, rate: u64, rtt: Span, covering: u64) {
    let gap = Span::from_nanos(covering * SEGMENT * 1_000_000_000 / rate);
    let mut now = Time::ZERO;
    for _ in 0..10_000 {
        now += gap;
        let ack = Ack {
            now,
            acked: Bytes::new(covering * SEGMENT),
            delivered: Bytes::new(covering * SEGMENT),
            newest_sent: Time::ZERO,
            in_flight: Bytes::ZERO,
            rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt / 2 },
            rate: None,
            window_limited: true,
            paced: false,
            recovering: false,
            round: 0,
        };
        assert_eq!(westwood.observe(&ack, Bytes::new(SEGMENT)), None);
    }
}

#[test]
fn the_eligible_window_is_the_rate_of_acknowledgements_times_the_least_rtt() {
    for rate in [125_000u64, 12_500_000] {
        for covering in [1, 2, 8] {
            let mut westwood = Westwood::new(Bytes::new(SEGMENT));
            observe(&mut westwood, rate, Span::from_millis(100), covering);
            agrees("bandwidth", westwood.bandwidth().expect("sampled"), rate as f64, 0.01);
            let eligible = westwood.eligible().expect("sampled").get() as f64;
            agrees("eligible window", eligible, rate as f64 * 0.05, 0.01);
        }
    }
}

/// The filter forgets a tenth per round trip: after a change of rate 0.9^n of the difference are left.
#[test]
fn the_bandwidth_filter_forgets_a_tenth_per_round_trip() {
    let rtt = Span::from_millis(100);
    let mut westwood = Westwood::new(Bytes::new(SEGMENT));
    let mut now = Time::ZERO;
    let mut round = |acked: u64| {
        now += rtt;
        let view = RttView { latest: Some(rtt), smoothed: rtt, min: rtt };
        let acked = Bytes::new(acked);
        let ack = Ack {
            now,
            acked,
            delivered: acked,
            newest_sent: now,
            in_flight: acked,
            rtt: view,
            rate: None,
            window_limited: true,
            paced: false,
            recovering: false,
            round: 0,
        };
        westwood.observe(&ack, acked);
        westwood.bandwidth()
    };
    assert_eq!(round(0), None);
    assert_eq!(round(100_000), Some(1e6));
    for n in 1..20 {
        let expected = 2e6 - 1e6 * 0.9f64.powi(n);
        let found = round(200_000).expect("sampled");
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
}

/// r = sqrt((1 - p) / p) / sqrt(RTT x Tq), Tq the mean queueing delay ("Mathematical analysis of Westwood+ TCP
/// congestion control", 2005): where the queue is a small part of the RTT, as the analysis' linearisation wants, and an epoch is long against
/// the filter's ten round trips, which the analysis leaves out: at p = 1e-4 and 5 ms they cost 21 %.
#[test]
fn westwood_has_the_average_window_of_its_response_function() {
    for p in [1e-6, 3e-7f64] {
        for millis in [10, 15] {
            let (base, queue) = (Span::from_millis(100), Span::from_millis(millis));
            let rtt = (base + queue).as_secs_f64();
            let published = ((1.0 - p) / p * rtt / queue.as_secs_f64()).sqrt();
            let sender = Sender::with_queue(named("westwood", published), base, queue);
            agrees(&format!("westwood, p = {p:e}, {queue}"), periodic(sender, p, 8), published, 0.05);
        }
    }
}

/// The same with the filter, which the published function leaves out: a window that grows by a segment per round trip is
/// seen as it was. After D of them 0.9^D is left of what a step in rate had been, and 9.5 (1 - 0.9^D) segments are missing (the mean age
/// of the samples, and half a round trip in which one is taken).
fn with_filter(p: f64, rtt: f64, queue: f64) -> f64 {
    let packets = |window: f64| {
        let (mut low, mut high) = (0.0, window);
        for _ in 0..100 {
            // What a loss at `window` takes is what D round trips have given.
            let middle = (low + high) / 2.0;
            let lag = 9.5 * (1.0 - libm::pow(0.9f64, middle));
            let taken = window - (window - lag) * (rtt - queue) / rtt;
            if taken > middle { low = middle } else { high = middle }
        }
        (low * (window - low / 2.0), window - low / 2.0)
    };
    let (mut low, mut high) = (1.0f64, 1e7);
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if packets(middle).0 < 1.0 / p { low = middle } else { high = middle }
    }
    packets(low).1
}

/// The published function assumes that the filter has settled and that the queue is a small part of the RTT. Where epochs are
/// not long against ten round trips, the filter's lag is what is missing.
#[test]
fn where_losses_are_frequent_the_filter_s_lag_is_what_westwood_s_response_function_leaves_out() {
    for p in [1e-3, 1e-4, 1e-5f64] {
        for millis in [5, 20] {
            let (base, queue) = (Span::from_millis(100), Span::from_millis(millis));
            let rtt = (base + queue).as_secs_f64();
            let published = ((1.0 - p) / p * rtt / queue.as_secs_f64()).sqrt();
            let sender = Sender::with_queue(named("westwood", published), base, queue);
            let ours = periodic(sender, p, 40);
            let off = 100.0 * (ours / published - 1.0);
            let what = format!("westwood, p = {p:e}, {queue}: {off:+.1} % of the published");
            agrees(&what, ours, with_filter(p, rtt, queue.as_secs_f64()), 0.05);
        }
    }
}

/// A loss that is not congestion's, without a queue, takes little: the rate times the least RTT is the window.
#[test]
fn without_a_queue_a_loss_leaves_nearly_the_whole_window() {
    let mut sender = Sender::new(of(Westwood::new(Bytes::new(SEGMENT)), 100.0), Span::from_millis(100));
    for _ in 0..100 {
        sender.round(|| false);
    }
    let before = sender.segments();
    sender.lose(sender.now);
    assert!(sender.segments() > 0.9 * before, "{before} then {}", sender.segments());
}
