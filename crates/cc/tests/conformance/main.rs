//! What every controller of the registry promises, whatever it is told; and the example of the guide, which takes
//! the same tests.

mod guide;
#[expect(dead_code, reason = "the steady states use the rest of it")]
#[path = "../steady/path.rs"]
mod path;
mod sqrt;

// The guide's file says `crate::`, as it would in its place.
pub use tightlink_cc::*;

use proptest::prelude::*;
use tightlink_cc::registry::{
    CONTROLS, Control, EXPERIMENTAL, PAPER, Recipe, SLOW_STARTS, STANDARD, Tuning, YARDSTICK, build,
};
use units::{Bytes, Rate, Span, Time};

const SEGMENT: u64 = 1448;

fn start() -> Start {
    Start { segment: Bytes::new(SEGMENT), window: Bytes::new(10 * SEGMENT), threshold: Bytes::MAX }
}

fn controls() -> impl Iterator<Item = &'static Control> {
    CONTROLS.iter().chain([&guide::SQRT])
}

fn made(control: &Control, slow_start: &str, start: Start, tuning: Tuning) -> Box<dyn CongestionControl> {
    (control.build)(&Recipe { start, slow_start, tuning })
}

#[derive(Clone, Debug)]
enum Event {
    Sent { bytes: u64, in_flight: u64 },
    Ack { ack: Ack, rounds: u64 },
    Congestion(CongestionKind, u64, u64),
    Lost(LostSegment),
    Marks(Marks),
    Feedback(f64),
    Spurious,
}

/// Any 64 bits, with the limits and what is usual more often than chance has them.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..10_000_000, 1 => Just(0), 1 => Just(u64::MAX), 2 => any::<u64>()]
}

fn amount() -> impl Strategy<Value = Bytes> {
    number().prop_map(Bytes::new)
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![2 => 0u64..1_000_000_000, 1 => number()].prop_map(Span::from_nanos)
}

fn rate() -> impl Strategy<Value = RateSample> {
    let counted = (amount(), amount(), amount());
    let lost = (amount(), amount(), amount());
    (amount(), span(), any::<bool>(), counted, lost).prop_map(
        |(delivered, interval, application_limited, counted, lost)| RateSample {
            delivered,
            interval,
            application_limited,
            delivered_before: counted.0,
            delivered_total: counted.1,
            newly_delivered: counted.2,
            newly_lost: lost.0,
            lost: lost.1,
            sent_in_flight: lost.2,
        },
    )
}

/// Acknowledgements of the past and of the future, with round-trip times of zero and of centuries.
fn ack() -> impl Strategy<Value = Ack> {
    let rtt = (prop::option::of(span()), span(), span());
    let flags = (any::<bool>(), any::<bool>());
    (amount(), number(), amount(), rtt, prop::option::of(rate()), flags).prop_map(
        |(acked, newest_sent, in_flight, (latest, smoothed, min), rate, flags)| Ack {
            now: Time::ZERO,
            acked,
            delivered: rate.map_or(acked, |rate: RateSample| rate.newly_delivered),
            newest_sent: Time::from_nanos(newest_sent),
            in_flight,
            rtt: RttView { latest, smoothed, min },
            rate,
            window_limited: flags.0,
            paced: false,
            recovering: flags.1,
            round: 0,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        Just(CongestionKind::Loss),
        Just(CongestionKind::EcnMark),
        Just(CongestionKind::Timeout),
        Just(CongestionKind::PersistentLoss)
    ];
    let rounds = prop_oneof![4 => Just(0u64), 2 => Just(1), 1 => any::<u64>()];
    let lost = (amount(), amount(), amount()).prop_map(|(size, sent_in_flight, lost)| LostSegment {
        size,
        sent_in_flight,
        lost,
    });
    let marks = (amount(), amount(), any::<bool>()).prop_map(|(delivered, marked, round_ends)| Marks {
        now: Time::ZERO,
        delivered,
        marked,
        round_ends,
    });
    prop_oneof![
        8 => (ack(), rounds).prop_map(|(ack, rounds)| Event::Ack { ack, rounds }),
        2 => (number(), number()).prop_map(|(bytes, in_flight)| Event::Sent { bytes, in_flight }),
        2 => (kind, number(), number()).prop_map(|(kind, lost, in_flight)| Event::Congestion(kind, lost, in_flight)),
        1 => lost.prop_map(Event::Lost),
        2 => marks.prop_map(Event::Marks),
        1 => any::<f64>().prop_map(Event::Feedback),
        1 => (-1e6..1e6f64).prop_map(Event::Feedback),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::NAN), Just(0.0)].prop_map(Event::Feedback),
        1 => Just(Event::Spurious),
    ]
}

fn tell(cc: &mut dyn CongestionControl, now: Time, round: &mut u64, event: &Event) {
    match *event {
        Event::Sent { bytes, in_flight } => {
            cc.on_sent(now, Bytes::new(bytes), Bytes::new(in_flight));
            cc.gap_after(now);
        }
        Event::Ack { ack, rounds } => {
            *round = round.wrapping_add(rounds);
            cc.on_ack(&Ack { now, round: *round, ..ack });
        }
        Event::Congestion(kind, lost, in_flight) => cc.on_congestion(&Congestion {
            now,
            kind,
            lost: Bytes::new(lost),
            in_flight: Bytes::new(in_flight),
        }),
        Event::Lost(lost) => cc.on_lost(&lost),
        Event::Marks(marks) => cc.on_marks(&Marks { now, ..marks }),
        Event::Feedback(feedback) => cc.on_feedback(feedback),
        Event::Spurious => cc.on_spurious(),
    }
}

/// At least a segment may leave, at some rate; what is shown is a number.
fn holds(cc: &dyn CongestionControl, segment: Bytes) -> Result<(), TestCaseError> {
    let allowance = cc.allowance();
    prop_assert!(allowance.window >= segment, "{cc:?}");
    prop_assert!(allowance.pacing != Some(Rate::from_bps(0)), "{cc:?}");
    let header = cc.header();
    prop_assert!(header.window >= segment && !header.feedback.is_nan(), "{cc:?}");
    let mut shown = Ok(());
    cc.measures(&mut |name, value| {
        if value.is_nan() {
            shown = Err(TestCaseError::fail(format!("{name} is no number: {cc:?}")));
        }
    });
    cc.state();
    shown
}

proptest! {
    #[test]
    fn no_sequence_panics_or_takes_the_window_below_one_segment(
        events in prop::collection::vec((event(), number()), 0..150),
        byte_counting in prop_oneof![0u64..4, any::<u64>()],
        max_ssthresh in prop_oneof![0u64..200, any::<u64>()],
    ) {
        let tuning = Tuning { byte_counting, max_ssthresh, ..Tuning::default() };
        for control in controls() {
            for slow_start in SLOW_STARTS {
                let mut cc = made(control, slow_start.name, start(), tuning);
                let mut round = 0u64;
                for (event, now) in &events {
                    tell(&mut *cc, Time::from_nanos(*now), &mut round, event);
                    holds(&*cc, Bytes::new(SEGMENT))?;
                }
            }
        }
    }

    /// The same where time passes as it does, from any start.
    #[test]
    fn no_start_and_no_course_of_time_takes_the_window_below_one_segment(
        events in prop::collection::vec((event(), 0u64..1_000_000_000), 0..150),
        segment in prop_oneof![1u64..10_000, Just(1)],
        window in number(),
        threshold in number(),
    ) {
        let (segment, window, threshold) = (Bytes::new(segment), Bytes::new(window), Bytes::new(threshold));
        for control in controls() {
            let start = Start { segment, window, threshold };
            let mut cc = made(control, "standard", start, Tuning::default());
            let (mut round, mut now) = (0u64, Time::ZERO);
            for (event, passed) in &events {
                now += Span::from_nanos(*passed);
                tell(&mut *cc, now, &mut round, event);
                holds(&*cc, segment)?;
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
            let mut cc = registry::tuned("reno", slow_start.name, start(), tuning).expect("registered");
            let mut round = 0;
            for (segments, rtt, rounds) in &acks {
                round += rounds;
                let (before, rtt) = (cc.allowance().window, Span::from_millis(*rtt));
                cc.on_ack(&Ack {
                    now: Time::ZERO,
                    acked: Bytes::new(segments * SEGMENT),
                    delivered: Bytes::new(segments * SEGMENT),
                    newest_sent: Time::ZERO,
                    in_flight: Bytes::ZERO,
                    rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
                    rate: None,
                    window_limited: true,
                    paced: false,
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

/// A path that loses everything: no controller gives up sending, and none overflows.
#[test]
fn a_million_losses_leave_a_window_of_at_least_one_segment() {
    let rtt = Span::from_millis(100);
    for control in controls() {
        let mut cc = made(control, "standard", start(), Tuning::default());
        let kinds = [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::PersistentLoss];
        for turn in 0..1_000_000u64 {
            let now = Time::ZERO + Span::from_millis(turn);
            let in_flight = cc.allowance().window.min(Bytes::new(1_000_000_000));
            let kind = kinds[turn as usize % kinds.len()];
            cc.on_congestion(&Congestion { now, kind, lost: in_flight, in_flight });
            if turn % 10 == 0 {
                cc.on_ack(&Ack {
                    now,
                    acked: Bytes::new(SEGMENT),
                    delivered: Bytes::new(SEGMENT),
                    newest_sent: now - rtt,
                    in_flight,
                    rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
                    rate: None,
                    window_limited: true,
                    paced: false,
                    recovering: false,
                    round: turn,
                });
            }
            assert!(cc.allowance().window >= Bytes::new(SEGMENT), "{cc:?}");
        }
    }
}

/// Each says what it is and where it is from, for the list.
#[test]
fn every_control_has_a_summary_a_source_and_a_status() {
    let known = [STANDARD, EXPERIMENTAL, PAPER, YARDSTICK];
    let controls = controls().map(|control| (control.name, control.summary, control.source, control.status));
    let slow_starts = SLOW_STARTS.iter().map(|start| (start.name, start.summary, start.source, start.status));
    for (name, summary, source, status) in controls.chain(slow_starts) {
        assert!(!summary.is_empty() && !source.is_empty() && known.contains(&status), "{name}");
    }
}
