//! What every controller of the registry promises, whatever it is told.

use proptest::prelude::*;
use tightlink_cc::registry::{CONTROLS, SLOW_STARTS, build};
use tightlink_cc::{Ack, Congestion, CongestionKind, RttView, Start};
use units::{Bytes, Span, Time};

const SEGMENT: u64 = 1448;

fn start() -> Start {
    Start { segment: Bytes::new(SEGMENT), window: Bytes::new(10 * SEGMENT), threshold: Bytes::MAX }
}

#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u64, rtt: u64, in_flight: u64, window_limited: bool, recovering: bool },
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
    let size = prop_oneof![0u64..10_000_000, Just(0), Just(u64::MAX), any::<u64>()];
    prop_oneof![
        8 => (size.clone(), any::<u64>(), size.clone(), any::<bool>(), any::<bool>()).prop_map(
            |(acked, rtt, in_flight, window_limited, recovering)| Event::Ack { acked, rtt, in_flight, window_limited, recovering }
        ),
        2 => (kind, size).prop_map(|(kind, in_flight)| Event::Congestion(kind, in_flight)),
        1 => Just(Event::Spurious),
    ]
}

proptest! {
    #[test]
    fn no_sequence_panics_or_takes_the_window_below_one_segment(
        events in prop::collection::vec((event(), any::<u64>()), 0..200)
    ) {
        for control in CONTROLS {
            for slow_start in SLOW_STARTS {
                let mut cc = build(control.name, slow_start.name, start()).expect("registered");
                for (event, now) in &events {
                    let now = Time::from_nanos(*now);
                    match *event {
                        Event::Ack { acked, rtt, in_flight, window_limited, recovering } => cc.on_ack(&Ack {
                            now,
                            acked: Bytes::new(acked),
                            newest_sent: Time::from_nanos(rtt),
                            in_flight: Bytes::new(in_flight),
                            rtt: RttView {
                                latest: Some(Span::from_nanos(rtt)),
                                smoothed: Span::from_nanos(rtt),
                                min: Span::ZERO,
                            },
                            rate: None,
                            window_limited,
                            recovering,
                            round: 0,
                        }),
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
}

#[test]
fn names_are_unique_and_unknown_ones_are_not_built() {
    for (i, control) in CONTROLS.iter().enumerate() {
        assert!(CONTROLS[..i].iter().all(|other| other.name != control.name));
    }
    assert!(build("renoo", "standard", start()).is_none());
    assert!(build("reno", "slow", start()).is_none());
}
