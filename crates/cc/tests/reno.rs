//! Ack scripts for Reno: time, event, expected window in segments; one test per rule of RFC 5681.

use tightlink_cc::registry::build;
use tightlink_cc::{Ack, Congestion, CongestionControl, CongestionKind, Phase, RttView, Start};
use units::{Bytes, Span, Time};

const SEGMENT: u64 = 1000;

fn reno(window: u64, threshold: u64) -> Box<dyn CongestionControl> {
    let start = Start {
        segment: Bytes::new(SEGMENT),
        window: Bytes::new(window * SEGMENT),
        threshold: Bytes::new(threshold * SEGMENT),
    };
    build("reno", "standard", start).unwrap()
}

fn ack(segments: u64) -> Ack {
    let rtt = Span::from_millis(100);
    Ack {
        now: Time::ZERO,
        acked: Bytes::new(segments * SEGMENT),
        newest_sent: Time::ZERO,
        in_flight: Bytes::ZERO,
        rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
        rate: None,
        window_limited: true,
        recovering: false,
        round: 0,
    }
}

fn congestion(kind: CongestionKind, in_flight: u64) -> Congestion {
    Congestion {
        now: Time::ZERO,
        kind,
        lost: Bytes::new(SEGMENT),
        in_flight: Bytes::new(in_flight * SEGMENT),
    }
}

fn segments(cc: &dyn CongestionControl) -> u64 {
    cc.allowance().window / Bytes::new(SEGMENT)
}

#[test]
fn slow_start_adds_one_segment_per_ack_however_much_it_covers() {
    let mut cc = reno(2, 1000);
    for _ in 0..10 {
        cc.on_ack(&ack(1));
    }
    assert_eq!(segments(&*cc), 12);
    cc.on_ack(&ack(2));
    assert_eq!(segments(&*cc), 13);
    assert_eq!(cc.state().phase, Phase::SlowStart);
}

#[test]
fn avoidance_adds_one_segment_per_window_acknowledged() {
    let mut cc = reno(10, 10);
    assert_eq!(cc.state().phase, Phase::Avoidance);
    for _ in 0..9 {
        cc.on_ack(&ack(1));
    }
    assert_eq!(segments(&*cc), 10);
    cc.on_ack(&ack(1));
    assert_eq!(segments(&*cc), 11);
    // Delayed acknowledgements do not slow it: eleven more bytes' worth in fewer acknowledgements.
    for _ in 0..6 {
        cc.on_ack(&ack(2));
    }
    assert_eq!(segments(&*cc), 12);
}

#[test]
fn loss_halves_the_flight_and_ends_slow_start() {
    let mut cc = reno(20, 1000);
    cc.on_congestion(&congestion(CongestionKind::Loss, 20));
    assert_eq!(segments(&*cc), 10);
    assert_eq!(cc.state().phase, Phase::Avoidance);
}

#[test]
fn a_timeout_leaves_one_segment_and_half_the_flight_as_threshold() {
    let mut cc = reno(20, 1000);
    cc.on_congestion(&congestion(CongestionKind::Timeout, 20));
    assert_eq!(segments(&*cc), 1);
    assert_eq!(cc.state().threshold, Some(Bytes::new(10 * SEGMENT)));
    // The same segment times out again: the threshold stays.
    cc.on_congestion(&congestion(CongestionKind::PersistentLoss, 1));
    assert_eq!(cc.state().threshold, Some(Bytes::new(10 * SEGMENT)));
}

#[test]
fn the_threshold_never_falls_below_two_segments() {
    let mut cc = reno(2, 1000);
    cc.on_congestion(&congestion(CongestionKind::Loss, 1));
    assert_eq!(segments(&*cc), 2);
}

#[test]
fn a_window_out_of_use_or_in_recovery_does_not_grow() {
    let mut cc = reno(10, 1000);
    cc.on_ack(&Ack { window_limited: false, ..ack(1) });
    cc.on_ack(&Ack { recovering: true, ..ack(1) });
    assert_eq!(segments(&*cc), 10);
}

#[test]
fn a_false_alarm_is_undone() {
    let mut cc = reno(20, 1000);
    cc.on_congestion(&congestion(CongestionKind::Timeout, 20));
    cc.on_spurious();
    assert_eq!(segments(&*cc), 20);
    assert_eq!(cc.state().phase, Phase::SlowStart);
}
