//! The gaps between packets: even, random, or a mixture.

use units::random::Stream;
use units::{Span, Time};

/// A pace with drawn gaps between packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// The mean gap, seconds.
    mean: f64,
    /// 0 if packets are evenly spaced, 1 if they are a Poisson process.
    randomness: f64,
    /// The random factor, of mean one, of the gap after the packet that leaves next.
    drawn: f64,
    /// The gap after the packet that leaves next. It is drawn ahead of time, so that no departure waits for it.
    next_gap: Span,
    /// The time at which the next packet leaves.
    next: Time,
}

impl Gaps {
    pub(super) fn new(randomness: f64) -> Self {
        Self { mean: 0.0, randomness, drawn: 1.0, next_gap: Span::ZERO, next: Time::ZERO }
    }

    /// Schedules the next packet for `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.next = now;
    }

    /// Returns the time at which the next packet leaves.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Sets the mean time between packets, seconds.
    pub(super) fn set_mean(&mut self, mean: f64) {
        self.mean = mean;
        self.next_gap = self.random_gap();
    }

    /// Draws the gap after the packet that leaves next.
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

    /// Advances the pace by the packet that leaves at `now`; a packet that is late by more than a gap restarts the
    /// pace.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, stream: &mut Stream) {
        let gap = self.next_gap;
        self.draw(stream);
        self.next = (self.next + gap).max(now);
    }
}
