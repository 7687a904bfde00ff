//! What every controller of the registry promises, whatever it is told.

use proptest::prelude::*;
use tightlink_cc::registry::{CONTROLS, SLOW_STARTS, Tuning, build, tuned};
use tightlink_cc::{Ack, Congestion, CongestionKind, RttView, Start};
use units::{Bytes, Span, Time};

const SEGMENT: u64 = 1448;

fn start() -> Start {
    Start { segment: Bytes::new(SEGMENT), window: Bytes::new(10 * SEGMENT), threshold: Bytes::MAX }
}

#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u64, rtt: Option<u64>, in_flight: u64, window_limited: bool, recovering: bool, rounds: u64 },
    Congestion(CongestionKind, u64),
    Spurious,
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        Just(CongestionKind::Loss),
        Just(CongestionKind::EcnMark),
        Just(CongestionKind::Timeout),
        Just(CongestionKind::PersistentLoss)
    ];
    let rounds = prop_oneof![4 => Just(0u64), 2 => Just(1), 1 => any::<u64>()];
    let size = prop_oneof![0u64..10_000_000, Just(0), Just(u64::MAX), any::<u64>()];
    prop_oneof![
        8 => (size.clone(), prop::option::of(any::<u64>()), size.clone(), any::<bool>(), any::<bool>(), rounds)
            .prop_map(|(acked, rtt, in_flight, window_limited, recovering, rounds)| {
                Event::Ack { acked, rtt, in_flight, window_limited, recovering, rounds }
            }),
        2 => (kind, size).prop_map(|(kind, in_flight)| Event::Congestion(kind, in_flight)),
        1 => Just(Event::Spurious),
    ]
}

proptest! {
    #[test]
    fn no_sequence_panics_or_takes_the_window_below_one_segment(
        events in prop::collection::vec((event(), any::<u64>()), 0..200),
        byte_counting in prop_oneof![0u64..4, any::<u64>()],
        max_ssthresh in prop_oneof![0u64..200, any::<u64>()],
    ) {
        let tuning = Tuning { byte_counting, max_ssthresh };
        for control in CONTROLS {
            for slow_start in SLOW_STARTS {
                let mut cc = tuned(control.name, slow_start.name, start(), tuning).expect("registered");
                let mut round = 0u64;
                for (event, now) in &events {
                    let now = Time::from_nanos(*now);
                    match *event {
                        Event::Ack { acked, rtt, in_flight, window_limited, recovering, rounds } => {
                            round = round.wrapping_add(rounds);
                            let rtt = rtt.map(Span::from_nanos);
                            cc.on_ack(&Ack {
                                now,
                                acked: Bytes::new(acked),
                                newest_sent: now,
                                in_flight: Bytes::new(in_flight),
                                rtt: RttView {
                                    latest: rtt,
                                    smoothed: rtt.unwrap_or_default(),
                                    min: Span::ZERO,
                                },
                                rate: None,
                                window_limited,
                                recovering,
                                round,
                            });
                        }
                        Event::Congestion(kind, in_flight) => cc.on_congestion(&Congestion {
                            now,
                            kind,
                            lost: Bytes::new(SEGMENT),
                            in_flight: Bytes::new(in_flight),
                        }),
                        Event::Spurious => cc.on_spurious(),
                    }
                    prop_assert!(cc.allowance().window >= Bytes::new(SEGMENT), "{cc:?}");
                    cc.state();
                }
            }
        }
    }

    /// Whatever it is told, a slow start adds at most what is acknowledged, and the window holds at what a loss
    /// leaves.
    #[test]
    fn no_slow_start_grows_faster_than_the_standard_one(
        acks in prop::collection::vec((1u64..5, 1u64..300, 0u64..2), 1..400),
        max_ssthresh in 1u64..200,
    ) {
        let tuning = Tuning { max_ssthresh, ..Tuning::default() };
        for slow_start in SLOW_STARTS {
            let mut cc = tuned("reno", slow_start.name, start(), tuning).expect("registered");
            let mut round = 0;
            for (segments, rtt, rounds) in &acks {
                round += rounds;
                let (before, rtt) = (cc.allowance().window, Span::from_millis(*rtt));
                cc.on_ack(&Ack {
                    now: Time::ZERO,
                    acked: Bytes::new(segments * SEGMENT),
                    newest_sent: Time::ZERO,
                    in_flight: Bytes::ZERO,
                    rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
                    rate: None,
                    window_limited: true,
                    recovering: false,
                    round,
                });
                let after = cc.allowance().window;
                prop_assert!(after >= before && after <= before + Bytes::new(SEGMENT), "{cc:?}");
            }
        }
    }
}

#[test]
fn names_are_unique_and_unknown_ones_are_not_built() {
    for (i, control) in CONTROLS.iter().enumerate() {
        assert!(CONTROLS[..i].iter().all(|other| other.name != control.name));
    }
    assert!(build("renoo", "standard", start()).is_none());
    assert!(build("reno", "slow", start()).is_none());
}
