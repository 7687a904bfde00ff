//! Goodput in successive windows of time.

use crate::Estimator;
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

/// The number of parts of a window; the deliveries that [`Goodput::recent`] uses are remembered one part apart.
const MARKS: u64 = 16;

/// The data delivered in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoodputSample {
    /// The time at which the window began; data that came before is not part of it.
    pub from: Time,
    /// The time of the delivery that ended the window.
    pub to: Time,
    /// The payload delivered in order.
    pub bytes: Bytes,
}

impl GoodputSample {
    /// Returns the bytes over the length of the window.
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
    /// The bytes delivered since the first delivery.
    total: Bytes,
    /// The time of the last delivery.
    newest: Time,
    /// The times of earlier deliveries within the last window's length, with the total at each; oldest first.
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
        // Of the marks that are a length old, only the newest can still be used.
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
            // The delivery that begins a window is not part of it, because its data was sent before.
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
