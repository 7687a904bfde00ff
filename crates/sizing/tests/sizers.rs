//! Sizers: what each must answer, what all of them promise, and how the driver keeps their actions.

use proptest::prelude::*;
use tightlink_sizing::registry::{SIZERS, build, build_with, has};
use tightlink_sizing::{
    Action, BufferSizer, Demands, Driver, Drs, Fixed, INITIAL_WINDOW, Input, SenderReport, SizerConfig,
    SizerState,
};
use units::{Bytes, Rate, Span, Time};

const SEGMENT: Bytes = Bytes::new(1000);
const RTT: Span = Span::from_millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The last window the sizer wants, if it wants another one.
fn polled(sizer: &mut dyn BufferSizer, now: Time) -> Option<Bytes> {
    let mut window = None;
    while let Some(Action::Window(wanted)) = sizer.poll(now) {
        window = Some(wanted);
    }
    window
}

#[test]
fn a_fixed_window_is_said_once() {
    let mut sizer = Fixed::new(Bytes::new(400_000));
    assert_eq!(polled(&mut sizer, Time::ZERO), Some(Bytes::new(400_000)));
    sizer.handle(at(1), Input::Delivered(Bytes::new(1_000_000)));
    assert_eq!(polled(&mut sizer, at(1)), None);
    assert_eq!(sizer.wakeup(), None);
}

fn drs(maximum: u64) -> Drs {
    let mut drs = Drs::new(SEGMENT, Bytes::new(maximum));
    assert_eq!(polled(&mut drs, Time::ZERO), Some(INITIAL_WINDOW.min(Bytes::new(maximum))));
    drs.handle(at(0), Input::RoundTrip(RTT));
    drs
}

/// time | delivered in the round trip before | window after it, or none if it stays.
fn play(drs: &mut Drs, script: &[(u64, u64, Option<u64>)]) {
    for (ms, delivered, expected) in script {
        drs.handle(at(*ms), Input::Delivered(Bytes::new(*delivered)));
        assert_eq!(polled(drs, at(*ms)).map(Bytes::get), *expected, "at {ms} ms");
    }
}

#[test]
fn the_window_is_twice_the_delivery_and_more_while_that_grows() {
    play(
        &mut drs(6_000_000),
        &[
            // The round trip begins here. The first buffer has room for 81920 B of payload.
            (1, 1_000, Some(81_920)),
            // 10 segments in all: no more than any sender begins with.
            (101, 9_000, None),
            // Twice as much: 2 x 20 + 4 x 20 x (20 - 10) / 10 segments.
            (201, 20_000, Some(120_000)),
            // Not a round trip later: it counts for the next.
            (250, 10_000, None),
            // 2 x 40 + 4 x 40 x (40 - 20) / 20.
            (301, 30_000, Some(240_000)),
            // As much as before: it stays.
            (401, 40_000, None),
            // Less: it never shrinks, and a return to as much is no growth.
            (501, 5_000, None),
            (601, 40_000, None),
            // A tenth more: 2 x 44 + 4 x 44 x 0.1 = 105.6 segments, less than there is.
            (701, 44_000, None),
        ],
    );
}

#[test]
fn the_maximum_is_not_exceeded() {
    let mut drs = drs(100_000);
    play(&mut drs, &[(1, 1_000, Some(81_920)), (101, 50_000, Some(100_000)), (201, 500_000, None)]);
}

#[test]
fn nothing_moves_before_a_round_trip_is_known() {
    let mut drs = Drs::new(SEGMENT, Bytes::new(6_000_000));
    assert_eq!(polled(&mut drs, Time::ZERO), Some(INITIAL_WINDOW));
    play(&mut drs, &[(1, 20_000, Some(81_920)), (50, 20_000, None)]);
}

/// Without time stamps a window's worth of data, 65535 bytes at first, tells the round trip.
#[test]
fn without_time_stamps_a_windows_worth_of_data_is_timed() {
    let mut drs = Drs::new(SEGMENT, Bytes::new(6_000_000));
    polled(&mut drs, Time::ZERO);
    play(
        &mut drs,
        &[
            (1, 1_000, Some(81_920)), // timing begins
            (50, 40_000, None),
            // 65535 B more in 120 ms: that is the round trip. 66.535 segments delivered since it began:
            // 2 x 66.535 + 4 x 66.535 x (66.535 - 10) / 10.
            (121, 25_535, Some(1_637_692)),
            // Within 120 ms: the same round trip still.
            (200, 40_000, None),
        ],
    );
}

#[test]
fn larger_samples_are_smoothed_by_an_eighth_and_a_lower_one_counts_at_once() {
    let mut sizer = drs(6_000_000);
    // 100 ms and a sample of 180 ms: 110 ms. 21 segments in it: 2 x 21 + 4 x 21 x (21 - 10) / 10.
    sizer.handle(at(0), Input::RoundTrip(Span::from_millis(180)));
    play(&mut sizer, &[(1, 1_000, Some(81_920)), (110, 19_000, None), (111, 1_000, Some(134_400))]);
    let mut sizer = drs(6_000_000);
    sizer.handle(at(0), Input::RoundTrip(Span::from_millis(40)));
    play(&mut sizer, &[(1, 1_000, Some(81_920)), (40, 19_000, None), (41, 1_000, Some(134_400))]);
}

#[test]
fn names_are_known_or_not_built() {
    assert!(has("drs") && has("sobas") && !has("sobbas"));
    assert!(build("dsr", SEGMENT, Bytes::MAX).is_none());
}

fn any_input() -> impl Strategy<Value = Input> {
    let amount = || prop_oneof![any::<u64>(), 0u64..2_000_000, 1_000_000u64..100_000_000];
    prop_oneof![
        amount().prop_map(|bytes| Input::Delivered(Bytes::new(bytes))),
        amount().prop_map(|nanos| Input::RoundTrip(Span::from_nanos(nanos))),
        prop::option::of(amount()).prop_map(|nanos| Input::Probe(nanos.map(Span::from_nanos))),
        prop::option::of(amount()).prop_map(|bits| Input::Train(bits.map(Rate::from_bps))),
        amount().prop_map(Input::OutOfOrder),
        (amount(), amount(), amount()).prop_map(|(busy, limited, retransmits)| {
            let (busy, window_limited) = (Span::from_nanos(busy), Span::from_nanos(limited));
            Input::Sender(SenderReport { busy, window_limited, retransmits })
        }),
    ]
}

fn any_time() -> impl Strategy<Value = Time> {
    prop_oneof![any::<u64>(), 0u64..3_000_000_000].prop_map(Time::from_nanos)
}

proptest! {
    /// Whatever a sizer is told, its window stays between something and the maximum, and it does not panic or talk
    /// without end. That of dynamic right-sizing never shrinks.
    #[test]
    fn no_input_makes_a_sizer_panic_or_break_its_promises(
        inputs in prop::collection::vec((any_time(), any_input()), 0..300),
        segment in prop_oneof![Just(1448u64), 1..=u64::MAX],
        maximum in 1..=u64::MAX,
        running in prop::option::of(any::<u64>()),
    ) {
        for entry in SIZERS {
            let mut config = SizerConfig::new(Bytes::new(segment), Bytes::new(maximum));
            config.can_pace = segment % 2 == 0;
            config.running = running.map(Bytes::new);
            let mut sizer = build_with(entry.name, config).expect("registered");
            let mut window = Bytes::ZERO;
            let begin = (Time::ZERO, Input::Delivered(Bytes::ZERO));
            for (now, input) in std::iter::once(&begin).chain(&inputs) {
                sizer.handle(*now, *input);
                for said in 0.. {
                    let Some(action) = sizer.poll(*now) else { break };
                    prop_assert!(said < 5, "{}: {action:?} and no end", entry.name);
                    if let Action::Window(wanted) = action {
                        prop_assert!(wanted > Bytes::ZERO && wanted <= Bytes::new(maximum), "{}", entry.name);
                        prop_assert!(entry.name != "drs" || wanted > window);
                        window = wanted;
                    }
                }
            }
            prop_assert!(window > Bytes::ZERO, "{}: a window to begin with", entry.name);
        }
    }
}

/// A sizer that returns the actions it was made with, and enters a new phase with each input.
#[derive(Debug)]
struct Script(Vec<Action>, u64);

impl BufferSizer for Script {
    fn handle(&mut self, _now: Time, input: Input) {
        if let Input::OutOfOrder(count) = input {
            self.1 = count;
        }
    }

    fn poll(&mut self, _now: Time) -> Option<Action> {
        self.0.pop()
    }

    fn state(&self) -> SizerState {
        SizerState { phase: if self.1 < 2 { "few" } else { "many" }, reason: self.1.to_string() }
    }
}

fn driver(actions: &[Action]) -> Driver {
    Driver::new(Box::new(Script(actions.iter().rev().copied().collect(), 0)), Time::ZERO)
}

#[test]
fn the_last_window_and_the_last_pace_count_and_every_train() {
    let (window, pace) = (Bytes::new(7), Some(Rate::from_bps(8)));
    let actions = [Action::Train(20), Action::Window(Bytes::new(9)), Action::Pace(pace), Action::Train(20)];
    let mut driver = driver(&[&actions[..], &[Action::Pace(None), Action::Window(window)]].concat());
    assert_eq!(driver.window(), Some(window));
    assert!(driver.has_demands());
    assert_eq!(driver.take_demands(), Demands { trains: 2, packets: 20, pace: Some(None) });
    assert!(!driver.has_demands(), "each is given once");
    assert!(!driver.tell(Time::ZERO, Input::OutOfOrder(1)), "no window is asked for");
}

#[test]
fn a_phase_is_kept_once_and_a_reason_where_it_is_asked_for() {
    let [mut by_phase, mut by_reason] = [driver(&[]), driver(&[])];
    for tick in 0..=3 {
        let now = Time::ZERO + Span::from_secs(tick);
        by_phase.tell(now, Input::OutOfOrder(tick));
        by_phase.note_phase(now);
        by_phase.note_phase(now);
        by_reason.tell(now, Input::OutOfOrder(tick));
        by_reason.note_state(now, Bytes::new(1));
        by_reason.note_state(now, Bytes::new(1));
    }
    let reasons = |driver: &Driver| -> Vec<String> {
        driver.changes().iter().map(|change| change.state.reason.clone()).collect()
    };
    assert_eq!(reasons(&by_phase), ["0", "2"]);
    assert_eq!(reasons(&by_reason), ["0", "1", "2", "3"]);
}

#[test]
fn a_sizer_that_never_rests_does_not_take_the_memory() {
    let mut driver = driver(&[]);
    for count in 0..3000 {
        driver.tell(Time::ZERO, Input::OutOfOrder(count));
        driver.note_state(Time::ZERO, Bytes::new(1));
    }
    assert_eq!(driver.changes().len(), 1000);
}
