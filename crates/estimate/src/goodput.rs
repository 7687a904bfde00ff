//! Goodput in successive windows of time.

use crate::Estimator;
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

/// The number of parts of a window; the deliveries that [`Goodput::recent`] uses are remembered one part apart.
const MARKS: u64 = 16;

/// The data delivered in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoodputSample {
    /// The time at which it began; data that came before are not part of it.
    pub from: Time,
    /// Its end: the time of the delivery that ended it.
    pub to: Time,
    /// The payload in order.
    pub bytes: Bytes,
}

impl GoodputSample {
    /// Returns bytes over time.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::of(self.bytes, self.to.since(self.from))
    }
}

/// Goodput over successive windows of at least a given length, two round trips in the source [sobas:IV].
///
/// A window ends with the first delivery after its length has passed, and its rate is over the time that really passed.
/// A program that reads a socket every 10 or 50 ms sees deliveries in lumps. A fixed length would count a lump more or
/// less.
#[derive(Clone, Debug, Default)]
pub struct Goodput {
    length: Span,
    from: Option<Time>,
    not_before: Time,
    bytes: Bytes,
    last: Option<GoodputSample>,
    /// The bytes delivered since the first delivery, and the time of the last.
    total: Bytes,
    newest: Time,
    /// The same values at earlier deliveries within the last window's length, oldest first.
    marks: VecDeque<(Time, Bytes)>,
}

impl Goodput {
    /// Makes an estimator with windows of at least `length`.
    #[must_use]
    pub fn new(length: Span) -> Self {
        Self { length, ..Self::default() }
    }

    /// Sets the least length of windows, the current one included.
    pub fn set_length(&mut self, length: Span) {
        self.length = length;
    }

    /// Forgets the data in the window, and begins a new one with the first delivery at `at` or later.
    pub fn restart(&mut self, at: Time) {
        self.from = None;
        self.not_before = at;
    }

    fn begin(&mut self, at: Time) {
        self.from = Some(at);
        self.bytes = Bytes::ZERO;
    }

    fn mark(&mut self, at: Time, bytes: Bytes) {
        self.total += bytes;
        self.newest = at;
        if self.marks.back().is_none_or(|(last, _)| at.since(*last) >= self.length / MARKS) {
            self.marks.push_back((at, self.total));
        }
        // Only the newest mark that is a length old can still be used.
        while self.marks.get(1).is_some_and(|(second, _)| at.since(*second) >= self.length) {
            self.marks.pop_front();
        }
    }

    /// Returns the deliveries in the last `span` or a little more, also if they belong to a window that began long
    /// before. `None` if deliveries do not go back that far; they are remembered for a window's length.
    #[must_use]
    pub fn recent(&self, span: Span) -> Option<GoodputSample> {
        let (from, before) =
            *self.marks.iter().rfind(|(at, _)| *at < self.newest && self.newest.since(*at) >= span)?;
        Some(GoodputSample { from, to: self.newest, bytes: self.total - before })
    }

    /// Adds a delivery as [`observe`](Estimator::observe) does, and returns the sample if this ends a window.
    pub fn sample(&mut self, at: Time, bytes: Bytes) -> Option<GoodputSample> {
        self.mark(at, bytes);
        let Some(from) = self.from else {
            // Data that arrives with the beginning was sent before it.
            if at >= self.not_before {
                self.begin(at);
            }
            return None;
        };
        self.bytes += bytes;
        if self.length == Span::ZERO || at.since(from) < self.length {
            return None;
        }
        let sample = GoodputSample { from, to: at, bytes: self.bytes };
        self.begin(at);
        self.last = Some(sample);
        Some(sample)
    }
}

impl Estimator for Goodput {
    type Sample = Bytes;
    type Estimate = Rate;

    fn observe(&mut self, at: Time, bytes: Bytes) {
        self.sample(at, bytes);
    }

    /// Returns the rate over the window that ended last.
    fn estimate(&self) -> Option<Rate> {
        self.last.map(|sample| sample.rate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn lumps_of_any_size_give_the_rate_over_the_time_that_passed() {
        // 12 Mb/s, seen in lumps at uneven times.
        let mut goodput = Goodput::new(Span::from_millis(80));
        let mut samples = Vec::new();
        let mut before = 0;
        for step in 0..100u64 {
            let now = step * 17_000 + (step * 7919) % 9_000;
            let bytes = Bytes::new((now - before) * 12 / 8);
            before = now;
            samples.extend(goodput.sample(at(now), bytes));
        }
        assert!(samples.len() > 15, "{}", samples.len());
        for sample in &samples {
            assert!(sample.to.since(sample.from) >= Span::from_millis(80));
            let rate = sample.rate().as_bps_f64();
            assert!((rate / 12e6 - 1.0).abs() < 1e-4, "{rate}");
        }
        assert_eq!(goodput.estimate(), samples.last().map(GoodputSample::rate));
    }

    #[test]
    fn after_a_restart_in_the_future_what_comes_before_does_not_count() {
        let mut goodput = Goodput::new(Span::from_millis(10));
        goodput.restart(at(50_000));
        let deliveries = [10_000, 40_000, 55_000, 60_000, 65_000];
        let samples: Vec<_> =
            deliveries.into_iter().map(|us| goodput.sample(at(us), Bytes::new(100))).collect();
        let sample = samples[4].expect("10 ms after the first that counts");
        assert_eq!((sample.from, sample.bytes), (at(55_000), Bytes::new(200)));
        assert!(samples[..4].iter().all(Option::is_none));
    }

    #[test]
    fn the_last_of_a_growing_rate_is_more_than_its_window() {
        // A delivery per millisecond, each of 100 bytes more than the one before.
        let mut goodput = Goodput::new(Span::from_millis(80));
        let mut last = None;
        for ms in 0..100u64 {
            last = goodput.sample(at(ms * 1000), Bytes::new(ms * 100)).or(last);
        }
        let recent = goodput.recent(Span::from_millis(20)).expect("a hundred milliseconds");
        assert!((20..=25).contains(&(recent.to.since(recent.from).as_nanos() / 1_000_000)), "{recent:?}");
        let from = recent.from.as_nanos() / 1_000_000;
        assert_eq!(recent.bytes, Bytes::new((from + 1..100).map(|ms| ms * 100).sum()));
        assert!(recent.rate() > last.expect("a window is over").rate().scale(2.0));
        assert_eq!(goodput.recent(Span::from_millis(90)), None, "more than a window's length ago");
        assert_eq!(Goodput::new(Span::from_millis(80)).recent(Span::ZERO), None);
    }

    #[test]
    fn nothing_is_said_before_a_window_has_a_length() {
        let mut goodput = Goodput::default();
        goodput.observe(at(0), Bytes::new(1000));
        goodput.observe(at(1_000_000), Bytes::new(1000));
        assert_eq!(goodput.estimate(), None);
        goodput.set_length(Span::from_millis(10));
        goodput.observe(at(2_000_000), Bytes::new(1000));
        assert_eq!(goodput.estimate(), Some(Rate::from_bps(8000)));
    }
}
