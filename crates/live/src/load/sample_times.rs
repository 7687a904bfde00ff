//! [`SampleTimes`]: the times at which both sides take samples.

use units::{Span, Time};

/// The longest wait, so that the stop flag is read this often.
pub const STOP_CHECK: Span = Span::from_millis(20);

/// The times of the samples. They are multiples of `every` since the start of the run, so that both sides sample
/// together, and the end of the warm-up.
#[derive(Debug)]
pub struct SampleTimes {
    every: Span,
    next: Time,
    warmup: Option<Time>,
}

impl SampleTimes {
    /// Makes the times of a run that is at `now`.
    #[must_use]
    pub fn new(every: Span, warmup: Span, now: Time) -> Self {
        let mut sample_times = Self { every, next: now, warmup: Some(Time::ZERO + warmup) };
        sample_times.advance(now);
        sample_times
    }

    /// Returns the time of the next sample.
    #[must_use]
    pub fn due(&self) -> Time {
        self.warmup.map_or(self.next, |warmup| warmup.min(self.next))
    }

    /// Returns true if a sample is due. Moves to the next one, and leaves out those that were missed.
    pub fn take(&mut self, now: Time) -> bool {
        if now < self.due() {
            return false;
        }
        self.warmup = self.warmup.filter(|&warmup| warmup > now);
        if self.next <= now {
            self.advance(now);
        }
        true
    }

    fn advance(&mut self, now: Time) {
        let passed = now.as_nanos() / self.every.as_nanos();
        self.next = Time::ZERO + self.every * (passed + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn samples_fall_on_multiples_and_on_the_end_of_warmup() {
        let mut sample_times = SampleTimes::new(Span::from_millis(20), Span::from_millis(50), at(3));
        assert_eq!(sample_times.due(), at(20));
        assert!(!sample_times.take(at(19)));
        assert!(sample_times.take(at(21)));
        assert!(sample_times.take(at(41)));
        assert_eq!(sample_times.due(), at(50));
        assert!(sample_times.take(at(50)));
        assert_eq!(sample_times.due(), at(60));
        assert!(sample_times.take(at(95)), "late");
        assert_eq!(sample_times.due(), at(100), "missed samples are left out");
    }
}
