//! The stages of a flow, against sections 4.2 and 4.3 of the paper.

use super::*;
use crate::RttView;

const SEGMENT: Bytes = Bytes::new(1500);
const BASE: Span = Span::from_millis(50);

fn start() -> Start {
    Start { segment: SEGMENT, window: SEGMENT * 10, threshold: Bytes::MAX }
}

fn ack(now: Time, newest_sent: Time, round: u64) -> Ack {
    let rtt = now.since(newest_sent);
    Ack {
        now,
        acked: SEGMENT,
        delivered: SEGMENT,
        newest_sent,
        in_flight: SEGMENT,
        rtt: RttView { latest: Some(rtt), smoothed: BASE, min: BASE },
        rate: None,
        window_limited: false,
        paced: false,
        recovering: false,
        round,
    }
}

fn stage(madison: &Madison) -> &'static str {
    match madison.stage {
        Stage::StartUp(_) => "start-up",
        Stage::Starting => "starting",
        Stage::Later => "later",
    }
}

/// Sends start-up over an idle path with that service time; acknowledges the first `acknowledged` of its packets.
fn started(service: Span, acknowledged: usize) -> Madison {
    started_with(Parameters::default(), service, acknowledged)
}

fn started_with(parameters: Parameters, service: Span, acknowledged: usize) -> Madison {
    let mut madison = Madison::with(start(), parameters);
    let (mut now, mut sent) = (Time::ZERO, Vec::new());
    for _ in 0..12 {
        sent.push(now);
        let gap = madison.gap_after(now).expect("a script");
        now = if gap == Span::MAX { now } else { now + gap };
    }
    let (mut arrived, mut free) = (Vec::new(), Time::ZERO);
    for sent in &sent {
        free = free.max(*sent) + service;
        arrived.push(free + BASE - service);
    }
    for (sent, arrived) in sent.into_iter().zip(arrived).take(acknowledged) {
        madison.on_ack(&ack(arrived, sent, 1));
    }
    madison
}

#[test]
fn start_up_starts_a_flow_at_the_rate_of_its_target() {
    assert_eq!(stage(&started(Span::from_micros(120), 11)), "start-up");
    let madison = started(Span::from_micros(120), 12);
    assert_eq!(stage(&madison), "starting");
    // x = 2b/(1 + 2b) (1 - u0), b = 5.085, of a link that eight probes found idle: u0 = 1/10.
    let share = madison.sending.rate() * 120e-6;
    assert!((share - 0.9 * 0.9105).abs() < 1e-4, "{share}");
}

#[test]
fn as_printed_the_first_four_probes_do_unless_15_ms_are_less_than_20_service_times() {
    let after = |service, acknowledged| stage(&started_with(Parameters::printed(), service, acknowledged));
    let (fast, slow) = (Span::from_micros(120), Span::from_millis(1));
    assert_eq!((after(fast, 5), after(fast, 6)), ("start-up", "starting"));
    assert_eq!((after(slow, 11), after(slow, 12)), ("start-up", "starting"));
}

#[test]
fn probes_are_32_service_times_apart_within_15_and_100_ms() {
    for (service, spacing) in [(120, 0.015), (1000, 0.032), (6000, 0.1)] {
        let madison = started(Span::from_micros(service), 12);
        assert!((madison.schedule.spacing() - spacing).abs() < 1e-9, "{service}: {madison:?}");
    }
}

#[test]
fn a_pair_is_wanted_once_per_round_trip_until_there_have_been_twenty() {
    let mut madison = started(Span::from_micros(120), 12);
    let mut now = Time::ZERO + Span::from_secs(1);
    // No packet left until now, so the pace begins anew.
    assert_eq!(madison.gap_after(now), Some(Span::ZERO));
    let (mut pairs, mut second) = (Vec::new(), false);
    while now < Time::ZERO + Span::from_secs(3) {
        let gap = madison.gap_after(now).expect("a pace");
        let round = now.as_nanos() / BASE.as_nanos();
        let behind = if second { Span::from_micros(120) } else { Span::ZERO };
        madison.on_ack(&ack(now + BASE + behind, now, round));
        second = gap == Span::ZERO;
        if second {
            pairs.push(round);
        }
        now += gap;
    }
    // Start-up has sent two more.
    assert_eq!((2 + pairs.len(), madison.path.pairs()), (PAIRS, PAIRS));
    assert!(pairs.windows(2).all(|two| two[0] < two[1]), "{pairs:?}");
}

#[test]
fn a_missing_acknowledgement_quiets_the_sender_until_the_next_comes() {
    let mut madison = started(Span::from_micros(120), 12);
    // The window holds the data that its rate sends within a round trip and 100 ms.
    let most = madison.sending.rate() * 0.15 + 2.0;
    assert_eq!(madison.allowance().window, SEGMENT.scale(most));
    let now = Time::ZERO + Span::from_secs(1);
    let (lost, in_flight) = (SEGMENT, SEGMENT * 100);
    madison.on_congestion(&Congestion { now, kind: CongestionKind::Timeout, lost, in_flight });
    assert_eq!(madison.allowance().window, SEGMENT);
    madison.on_ack(&ack(now + BASE, now, 2));
    assert_eq!(madison.allowance().window, SEGMENT.scale(most));
}
