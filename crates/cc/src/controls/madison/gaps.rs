//! The gaps between packets: even, or random, or between the two.

use units::random::Stream;
use units::{Span, Time};

/// A pace, with packets as far apart as is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// On average, seconds.
    mean: f64,
    /// 0: packets are evenly spaced; 1: they are a Poisson process.
    randomness: f64,
    /// After the packet that leaves next: drawn, of mean one, and so the gap. Ahead of time, as nothing need wait for
    /// it then.
    drawn: f64,
    next_gap: Span,
    /// When the next packet leaves.
    next: Time,
}

impl Gaps {
    pub(super) fn new(randomness: f64) -> Self {
        Self { mean: 0.0, randomness, drawn: 1.0, next_gap: Span::ZERO, next: Time::ZERO }
    }

    /// The next packet leaves at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.next = now;
    }

    /// When the next packet leaves.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Packets leave every `mean` seconds.
    pub(super) fn set_mean(&mut self, mean: f64) {
        self.mean = mean;
        self.next_gap = self.random_gap();
    }

    /// Draws the gap after next.
    #[inline]
    pub(super) fn draw(&mut self, stream: &mut Stream) {
        self.drawn = stream.exponential(1.0);
        self.next_gap = self.random_gap();
    }

    #[inline]
    fn random_gap(&self) -> Span {
        let random = self.mean * self.drawn;
        Span::from_secs_f64(self.mean + self.randomness * (random - self.mean))
    }

    /// The packet that leaves at `now` takes its place in the pace; one that is late by more than a gap begins anew.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, stream: &mut Stream) {
        let gap = self.next_gap;
        self.draw(stream);
        self.next = (self.next + gap).max(now);
    }
}
