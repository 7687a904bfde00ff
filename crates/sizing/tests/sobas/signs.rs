//! The signs of the source, each told by itself: what the receiver sees is made up, and no path is behind it.

use crate::fluid::SEGMENT;
use tightlink_sizing::{Action, BufferSizer, Input, SizerConfig, Sobas};
use units::{Bytes, Rate, Span, Time};

const BASE_MS: f64 = 40.0;
/// Of trains, where they are answered.
const CAPACITY: f64 = 100e6;

/// A receiver that is told what arrives.
struct Told {
    sizer: Sobas,
    base_ms: f64,
    millis: u64,
    window: f64,
    trains: bool,
}

impl Told {
    /// Probes have come back for 0.2 s.
    fn new(base_ms: f64, trains: bool) -> Self {
        let mut config = SizerConfig::new(Bytes::new(SEGMENT as u64), Bytes::new(64_000_000));
        config.trains = if trains { config.trains } else { 0 };
        let mut told = Self { sizer: Sobas::new(config), base_ms, millis: 0, window: 0.0, trains };
        told.run(0.2, base_ms, |_| 0.0);
        told
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from_millis(self.millis)
    }

    /// For so long payload arrives at the rate, bit/s, that `rate` makes of the window, and round trips take `rtt_ms`.
    fn run(&mut self, seconds: f64, rtt_ms: f64, rate: impl Fn(f64) -> f64) {
        for _ in 0..(seconds * 1e3) as u64 {
            self.tick(rtt_ms, rate(self.window));
        }
    }

    fn tick(&mut self, rtt_ms: f64, bps: f64) {
        self.millis += 1;
        let now = self.now();
        if self.millis.is_multiple_of(10) {
            self.sizer.handle(now, Input::Probe(Some(Span::from_secs_f64(rtt_ms / 1e3))));
        }
        if bps > 0.0 {
            self.sizer.handle(now, Input::Delivered(Bytes::new((bps / 8e3) as u64)));
        }
        while let Some(action) = self.sizer.poll(now) {
            match action {
                Action::Window(window) => self.window = window.get() as f64,
                Action::Train(_) if self.trains => {
                    self.sizer.handle(now, Input::Train(Some(Rate::from_bps_f64(CAPACITY))));
                }
                _ => {}
            }
        }
    }

    /// Rates that grow by `growth` every 100 ms from `bps` on, until something is decided: after how long, and the last rate.
    fn until_decided(&mut self, rtt_ms: f64, bps: f64, growth: f64) -> Option<(f64, f64)> {
        for milli in 0..3000 {
            let rate = bps * libm::pow(1.0 + growth, f64::from(milli) / 100.0);
            self.tick(rtt_ms, rate);
            if self.phase() == "hold" {
                return Some((f64::from(milli) / 1e3, rate));
            }
        }
        None
    }

    fn phase(&self) -> &'static str {
        self.sizer.state().phase
    }

    /// A segment arrives out of order, after a moment of queue or with none.
    fn loses(&mut self, moment_ms: f64) {
        let rtt = Span::from_secs_f64((self.base_ms + moment_ms) / 1e3);
        self.sizer.handle(self.now(), Input::Probe(Some(rtt)));
        self.sizer.handle(self.now(), Input::OutOfOrder(1));
    }
}

/// Rates that double, then stay; the RTT has risen by a quarter.
fn constant_after_growth(base_ms: f64, loss: bool) -> f64 {
    let mut told = Told::new(base_ms, false);
    for step in 0..6 {
        told.run(base_ms * 3.75e-3, base_ms, |_| 2e6 * f64::from(1 << step));
    }
    if loss {
        told.loses(base_ms / 4.0);
        told.run(base_ms * 7.5e-3, base_ms, |_| 100e6);
    }
    assert_eq!(told.phase(), "grow", "{:?}", told.sizer.state());
    told.until_decided(1.25 * base_ms, 50e6, 0.0).expect("the rate is flat").0
}

#[test]
fn two_samples_of_two_round_trips_make_a_flat_rate_and_five_after_a_loss() {
    for base_ms in [40.0, 60.0, 80.0] {
        let round_trips = |seconds: f64| seconds * 1e3 / (1.25 * base_ms);
        let (first, later) = (constant_after_growth(base_ms, false), constant_after_growth(base_ms, true));
        let (first, later) = (round_trips(first), round_trips(later));
        // A sample has begun before, and does not count.
        assert!((3.0..7.0).contains(&first), "{base_ms} ms: {first:.1} round trips");
        assert!((9.0..13.0).contains(&later), "{base_ms} ms: {later:.1} round trips after a loss");
    }
}

#[test]
fn rates_that_grow_by_less_than_a_twentieth_a_sample_are_flat_and_others_are_not() {
    let grows = |growth: f64| {
        let mut told = Told::new(BASE_MS, false);
        told.run(0.3, BASE_MS, |_| 2e6);
        told.until_decided(BASE_MS + 10.0, 5e6, growth)
    };
    assert!(grows(0.03).is_some());
    assert_eq!(grows(0.08), None);
}

#[test]
fn a_flat_rate_needs_a_longer_rtt_or_a_window_that_is_the_limit() {
    let flat = |part: f64| {
        let mut told = Told::new(BASE_MS, true);
        // No queue: what arrives is a part of what the window and the path let through.
        told.run(4.0, BASE_MS, |window| part * (window * 8e3 / BASE_MS).min(0.9 * CAPACITY));
        told
    };
    let limited = flat(1.0);
    assert_eq!(limited.phase(), "hold", "{:?}", limited.sizer.state());
    assert!(limited.sizer.state().reason.contains("flat rate"), "{:?}", limited.sizer.state());
    assert_eq!(flat(0.5).phase(), "grow", "half of the window is used: something else is the limit");
}

#[test]
fn a_constant_rate_that_drops_decides_by_the_rate_before_it_and_a_smaller_drop_does_not() {
    let drops = |at: f64, to: f64| {
        let mut told = Told::new(BASE_MS, false);
        told.run(at, BASE_MS, |_| 20e6);
        assert_eq!(told.phase(), "grow", "{:?}", told.sizer.state());
        told.run(0.5, BASE_MS, |_| to * 20e6);
        told
    };
    // A sample of two round trips that has most of the time before the drop in it is between both rates.
    let times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|tenth| 1.0 + tenth * BASE_MS / 4e3);
    let far = times.map(|at| drops(at, 0.2));
    let decided: Vec<_> = far
        .iter()
        .filter(|told| told.sizer.state().reason.starts_with("constant rate, then a drop"))
        .collect();
    assert!(decided.len() >= 5, "{} of {}", decided.len(), times.len());
    for told in decided {
        // S = R T, in whole segments, with at most the queue that is aimed at.
        let share = told.window / (20e6 / 8.0 * BASE_MS / 1e3);
        assert!((0.99..1.08).contains(&share), "{share:.3} of R T");
    }
    for at in times {
        assert_eq!(drops(at, 0.8).phase(), "grow");
    }
}

#[test]
fn a_loss_without_a_queue_leaves_the_window_at_its_maximum() {
    let mut told = Told::new(BASE_MS, false);
    told.run(0.3, BASE_MS, |_| 5e6);
    told.loses(0.0);
    assert_eq!(told.phase(), "open", "{:?}", told.sizer.state());
    told.run(2.0, BASE_MS, |_| 5e6);
    assert!(told.window > 2.0 * 5e6 / 8.0 * BASE_MS / 1e3, "{}", told.window);
}

#[test]
fn the_window_begins_within_the_capacity_and_grows_by_a_segment_per_round_trip_beyond_it() {
    let mut told = Told::new(BASE_MS, true);
    let product = CAPACITY * SEGMENT / (SEGMENT + 52.0) / 8.0 * BASE_MS / 1e3;
    assert!(told.window < product / 3.0, "{} of {product}", told.window);
    // 1 ms is a queue, and less than what makes a rate flat.
    let rtt = BASE_MS + 1.0;
    let mut millis = 0;
    while told.window < 0.999 * product {
        told.tick(rtt, 0.8 * told.window * 8e3 / rtt);
        millis += 1;
        assert!(millis < 3000, "{} of {product}", told.window);
    }
    let before = told.window;
    told.run(10.0 * rtt / 1e3, rtt, |window| 0.8 * window * 8e3 / rtt);
    let grown = (told.window - before) / SEGMENT;
    assert_eq!(told.phase(), "grow", "{:?}", told.sizer.state());
    assert!((5.0..=11.0).contains(&grown), "{grown} segments in ten round trips");
}

#[test]
fn a_queue_before_the_capacity_ends_the_ramp() {
    let product = CAPACITY * SEGMENT / (SEGMENT + 52.0) / 8.0 * BASE_MS / 1e3;
    for (queue_ms, ends) in [(0.0, false), (2.0, true)] {
        let mut told = Told::new(BASE_MS, true);
        while told.window < 0.6 * product {
            told.tick(BASE_MS, 0.8 * told.window * 8e3 / BASE_MS);
        }
        let rtt = BASE_MS + queue_ms;
        told.run(0.5, rtt, |window| 0.8 * window * 8e3 / rtt);
        let grown = told.window / product;
        assert_eq!(grown < 0.75, ends, "{queue_ms} ms: {grown} of C'T, {:?}", told.sizer.state());
    }
}
