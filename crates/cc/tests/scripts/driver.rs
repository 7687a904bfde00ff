//! Plays a script to a controller.
//!
//! A line of a script is `time | event | window`, in segments; `#` begins a comment. Events:
//!
//! | event | meaning |
//! |---|---|
//! | `ack 2` | an acknowledgement of two segments that moves the window's left edge |
//! | `loss 20` | a loss is found, with 20 segments in flight; the same for `mark`, `timeout` and, for the same segment again, `timeout-again` |
//! | `share 10 2` | an acknowledgement delivers ten segments, two of which are marked; after it may stand `ends` (a round trip ends) and `x 8` |
//! | `spurious` | that was a false alarm |
//!
//! After an `ack` may stand: `rtt 60ms` (else 100ms), `min 50ms` (the least RTT, else the same), `round 3`, `unused`
//! (the window was not the limit), `recovering`, `x 8` (so many alike); for controllers that go by rates `rate 100` (segments per
//! second delivered over the RTT; what a line acknowledges was sent after the lines before it were delivered), `flight 20` (what
//! stays in flight) and `lost 3` (found lost by it). A window after `~` is met to within two bytes,
//! what is left of fractions. After the window may stand a phase (`slow-start`, `avoidance`, `drain`, `probe-rtt`),
//! `threshold 10`, and `pacing 8Mbit/s`, met to within 0.1 %.

use std::str::FromStr;
use tightlink_cc::registry::{Tuning, tuned};
use tightlink_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, Marks, Phase, RateSample, RttView, Start,
};
use units::{Bytes, Rate, Span, Time};

const SEGMENT: u64 = 1000;

/// Reno from a window of ten segments, threshold unlimited, unless changed.
pub struct Setup {
    pub control: &'static str,
    pub slow_start: &'static str,
    pub window: u64,
    pub threshold: u64,
    pub tuning: Tuning,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            control: "reno",
            slow_start: "standard",
            window: 10,
            threshold: u64::MAX,
            tuning: Tuning::default(),
        }
    }
}

/// `control` in congestion avoidance with a window of `window` segments.
pub fn avoiding(control: &'static str, window: u64) -> Setup {
    Setup { control, window, threshold: window, ..Setup::default() }
}

/// Plays `script` to the controller of `setup`.
pub fn play(setup: &Setup, script: &str) {
    let start = Start {
        segment: Bytes::new(SEGMENT),
        window: Bytes::new(setup.window * SEGMENT),
        threshold: Bytes::new(setup.threshold.saturating_mul(SEGMENT)),
    };
    let mut control = tuned(setup.control, setup.slow_start, start, setup.tuning).expect("registered");
    let (mut clock, mut delivered) = (Time::ZERO, Bytes::ZERO);
    for line in script.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if line.is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [time, event, expected] = columns[..] else { panic!("three columns, not {line:?}") };
        let now = Time::ZERO + parsed::<Span>(time, line);
        assert!(now >= clock, "time runs backwards in {line:?}");
        clock = now;
        tell(&mut *control, &mut delivered, now, event, line);
        check(&*control, expected, line);
    }
}

fn tell(control: &mut dyn CongestionControl, delivered: &mut Bytes, now: Time, event: &str, line: &str) {
    let mut words = event.split_whitespace();
    let kind = words.next().expect("an event");
    let mut number = || segments(words.next().unwrap_or_else(|| panic!("a number after {kind} in {line:?}")));
    let congestion = match kind {
        "ack" => {
            let acked = number();
            return acknowledge(control, delivered, now, acked, words, line);
        }
        "share" => {
            let (delivered, marked) = (number(), number());
            return share(control, now, delivered, marked, words, line);
        }
        "spurious" => return control.on_spurious(),
        "loss" => CongestionKind::Loss,
        "mark" => CongestionKind::EcnMark,
        "timeout" => CongestionKind::Timeout,
        "timeout-again" => CongestionKind::PersistentLoss,
        _ => panic!("unknown event in {line:?}"),
    };
    let in_flight = number();
    control.on_congestion(&Congestion { now, kind: congestion, lost: Bytes::new(SEGMENT), in_flight });
}

fn share<'a>(
    control: &mut dyn CongestionControl,
    now: Time,
    delivered: Bytes,
    marked: Bytes,
    mut words: impl Iterator<Item = &'a str>,
    line: &str,
) {
    let (mut times, mut round_ends) = (1, false);
    while let Some(word) = words.next() {
        match word {
            "ends" => round_ends = true,
            "x" => times = parsed(words.next().unwrap_or_default(), line),
            _ => panic!("unknown word {word:?} in {line:?}"),
        }
    }
    for _ in 0..times {
        control.on_marks(&Marks { now, delivered, marked, round_ends });
    }
}

fn acknowledge<'a>(
    control: &mut dyn CongestionControl,
    delivered: &mut Bytes,
    now: Time,
    acked: Bytes,
    mut words: impl Iterator<Item = &'a str>,
    line: &str,
) {
    let (mut rtt, mut times, mut round) = (Span::from_millis(100), 1, 0);
    let (mut window_limited, mut recovering, mut min) = (true, false, None);
    let (mut rate, mut in_flight, mut lost) = (None, Bytes::ZERO, Bytes::ZERO);
    let before = *delivered;
    while let Some(word) = words.next() {
        match word {
            "rtt" => rtt = parsed(words.next().unwrap_or_default(), line),
            "min" => min = Some(parsed(words.next().unwrap_or_default(), line)),
            "round" => round = parsed(words.next().unwrap_or_default(), line),
            "rate" => rate = Some(segments(words.next().unwrap_or_default())),
            "flight" => in_flight = segments(words.next().unwrap_or_default()),
            "lost" => lost = segments(words.next().unwrap_or_default()),
            "x" => times = parsed(words.next().unwrap_or_default(), line),
            "unused" => window_limited = false,
            "recovering" => recovering = true,
            _ => panic!("unknown word {word:?} in {line:?}"),
        }
    }
    for _ in 0..times {
        *delivered += acked;
        let rate = rate.map(|per_second| RateSample {
            delivered: per_second.scale(rtt.as_secs_f64()),
            interval: rtt,
            delivered_before: before,
            delivered_total: *delivered,
            newly_delivered: acked,
            newly_lost: lost,
            lost,
            sent_in_flight: in_flight + acked,
            ..RateSample::default()
        });
        control.on_ack(&Ack {
            now,
            acked,
            delivered: acked,
            newest_sent: Time::ZERO,
            in_flight,
            rtt: RttView { latest: Some(rtt), smoothed: rtt, min: min.unwrap_or(rtt) },
            rate,
            window_limited,
            paced: false,
            recovering,
            round,
        });
    }
}

fn check(control: &dyn CongestionControl, expected: &str, line: &str) {
    let state = control.state();
    let mut words = expected.split_whitespace();
    let text = words.next().expect("a window");
    let (window, found) = (segments(text.trim_start_matches('~')), control.allowance().window);
    let off = found.saturating_sub(window) + window.saturating_sub(found);
    let within = Bytes::new(if text.starts_with('~') { 2 } else { 0 });
    assert!(off <= within, "a window of {found}, not {window}, after {line:?}");
    while let Some(word) = words.next() {
        match word {
            "slow-start" => assert_eq!(state.phase, Phase::SlowStart, "the phase after {line:?}"),
            "avoidance" => assert_eq!(state.phase, Phase::Avoidance, "the phase after {line:?}"),
            "drain" => assert_eq!(state.phase, Phase::Drain, "the phase after {line:?}"),
            "probe-rtt" => assert_eq!(state.phase, Phase::ProbeRtt, "the phase after {line:?}"),
            "pacing" => {
                let wanted = parsed::<Rate>(words.next().unwrap_or_default(), line).as_bps_f64();
                let found = control.allowance().pacing.map_or(f64::NAN, Rate::as_bps_f64);
                assert!(
                    (found / wanted - 1.0).abs() < 1e-3,
                    "a pace of {found}, not {wanted}, after {line:?}"
                );
            }
            "threshold" => {
                let threshold = segments(words.next().unwrap_or_default());
                assert_eq!(state.threshold, Some(threshold), "the threshold after {line:?}");
            }
            _ => panic!("unknown word {word:?} in {line:?}"),
        }
    }
}

/// "2.5": so many segments in bytes.
fn segments(text: &str) -> Bytes {
    let count: f64 = text.parse().unwrap_or_else(|_| panic!("{text:?} is no number of segments"));
    Bytes::new((count * SEGMENT as f64).round() as u64)
}

fn parsed<T: FromStr>(text: &str, line: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("cannot read {text:?} in {line:?}"))
}
