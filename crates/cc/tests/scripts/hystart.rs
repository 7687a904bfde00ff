//! HyStart, as Linux has it: the length of a train of acknowledgements, and the rise of the RTT.

use tightlink_cc::slow_start::*;
use tightlink_cc::{Ack, RttView};
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1000);

/// Returns true if acknowledgements in round `round`, each a time and an RTT in ms, end the slow start of a window
/// of `segments`.
fn ends(hystart: &mut HyStart, round: u64, segments: u64, acks: &[(u64, u64)]) -> bool {
    acks.iter().any(|&(at, rtt)| {
        let rtt = Span::from_millis(rtt);
        let ack = Ack {
            now: Time::from_nanos(at * 1_000_000),
            acked: SEGMENT,
            delivered: SEGMENT,
            newest_sent: Time::ZERO,
            in_flight: Bytes::ZERO,
            rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
            rate: None,
            window_limited: true,
            paced: false,
            recovering: false,
            round,
        };
        matches!(hystart.on_ack(&ack, SEGMENT, SEGMENT * segments), Step::Leave(_))
    })
}

/// 64 segments on 40 ms: 262 144 bytes take 82 ms at twice the window per round trip. So the allowed delay is 1 ms.
#[test]
fn a_train_longer_than_half_the_path_ends_it() {
    let train = |until| (100..=until).map(|at| (at, 40)).collect::<Vec<_>>();
    assert!(!ends(&mut HyStart::new(SEGMENT), 1, 64, &train(120)));
    assert!(ends(&mut HyStart::new(SEGMENT), 1, 64, &train(121)));
    // Below sixteen segments it is inactive.
    assert!(!ends(&mut HyStart::new(SEGMENT), 1, 15, &train(130)));
    // A pause of more than 2 ms ends the train. The acknowledgements after it in the round belong to no train.
    let paused: Vec<_> = (100..110).chain(113..140).map(|at| (at, 40)).collect();
    assert!(!ends(&mut HyStart::new(SEGMENT), 1, 64, &paused));
}

#[test]
fn a_rise_of_an_eighth_in_a_round_of_more_than_eight_samples_ends_it() {
    let round = |rtt, count| (0..count).map(move |ack| (100 + ack / 8, rtt)).collect::<Vec<_>>();
    let mut hystart = HyStart::new(SEGMENT);
    assert!(!ends(&mut hystart, 1, 64, &round(64, 9)));
    assert!(!ends(&mut hystart, 2, 64, &round(72, 9)), "8 ms are not more than an eighth");
    assert!(!ends(&mut hystart, 3, 64, &round(73, 8)), "too few");
    assert!(ends(&mut hystart, 4, 64, &round(73, 9)));
}

#[test]
fn it_looks_again_after_a_timeout_only() {
    let rise = |hystart: &mut HyStart| {
        ends(hystart, 1, 64, &[(100, 40)]);
        ends(hystart, 2, 64, &[(200, 60); 9])
    };
    let mut hystart = HyStart::new(SEGMENT);
    assert!(rise(&mut hystart));
    hystart.on_congestion();
    assert!(!rise(&mut hystart));
    hystart.on_timeout();
    assert!(rise(&mut hystart));
}

/// An outage made the timer expire, and the acknowledgements that follow are all 1.16 to 1.19 s old, as on Linux 6.18
/// behind `ATT-LTE-driving-2016.up` with 100 ms. Its slow start ended with the ninth sample after the first.
#[test]
fn after_an_outage_the_first_sample_is_only_the_least_delay() {
    let mut hystart = HyStart::new(SEGMENT);
    hystart.on_timeout();
    assert!(!ends(&mut hystart, 7, 103, &[(1429, 1159)]), "the window was one segment then");
    assert!(!ends(&mut hystart, 7, 116, &[(1471, 1186); 8]));
    assert!(ends(&mut hystart, 7, 116, &[(1487, 1196)]));
}

#[test]
fn a_round_that_began_with_a_timeout_has_no_train() {
    let train: Vec<_> = (1429..1529).map(|at| (at, 40)).collect();
    let mut hystart = HyStart::new(SEGMENT);
    hystart.on_timeout();
    assert!(!ends(&mut hystart, 7, 64, &train));
    assert!(ends(&mut hystart, 8, 64, &train));
}
