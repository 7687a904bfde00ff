//! [`Limit`]: no faster than this, over all data connections together: a token bucket.

use super::flight::locked;
use live::Clock;
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use units::{Rate, Span, Time};

/// The bucket holds what passes in this time: short enough not to fill a queue, long enough for a late wake-up.
const DEPTH: Span = Span::from_millis(20);

/// A rate that threads share.
#[derive(Debug)]
pub(super) struct Limit {
    rate: Option<Rate>,
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    /// When all that was taken has passed.
    until: Time,
    waited: Span,
    closed: bool,
}

impl Limit {
    pub(super) fn new(rate: Option<Rate>, clock: Clock) -> Self {
        let state = State { until: Time::ZERO, waited: Span::ZERO, closed: false };
        Self { rate, state: Mutex::new(state), changed: Condvar::new(), clock }
    }

    /// Waits until `bytes` more may be sent.
    pub(super) fn take(&self, bytes: u64) {
        let Some(rate) = self.rate else { return };
        let mut state = locked(&self.state);
        let began = self.clock.now();
        // Time not used is not made up for, but for what the bucket holds.
        let earliest = Time::from_nanos(began.as_nanos().saturating_sub(DEPTH.as_nanos()));
        let begin = state.until.max(earliest);
        let seconds = bytes as f64 * 8.0 / rate.as_bps_f64().max(1.0);
        state.until = begin + Span::from_secs_f64(seconds);
        let mine = state.until;
        loop {
            let left = mine.since(self.clock.now());
            if left == Span::ZERO || state.closed {
                break;
            }
            let wait = Duration::from_nanos(left.as_nanos());
            state =
                self.changed.wait_timeout(state, wait).unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        state.waited += self.clock.now().since(began);
    }

    /// The most that should be written at once.
    pub(super) fn burst(&self) -> usize {
        self.rate.map_or(usize::MAX, |rate| rate.volume(DEPTH).get().clamp(8 << 10, 1 << 20) as usize)
    }

    /// Nobody waits any more.
    pub(super) fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Time that threads waited in all.
    pub(super) fn waited(&self) -> Span {
        locked(&self.state).waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_stays_below_the_rate() {
        let clock = Clock::start();
        let limit = Limit::new(Some(Rate::from_bps(80_000_000)), clock);
        let began = clock.now();
        for _ in 0..100 {
            limit.take(20_000);
        }
        // 2 MB at 10 MB/s are 200 ms, less what the bucket held.
        assert!(clock.now().since(began) >= Span::from_millis(175), "{}", clock.now().since(began));
        assert!(limit.waited() > Span::ZERO, "all of that, unless the machine stalled");
    }

    #[test]
    fn without_a_rate_nobody_waits_and_closing_frees_all() {
        let clock = Clock::start();
        Limit::new(None, clock).take(u64::MAX);
        let limit = Limit::new(Some(Rate::from_bps(8)), clock);
        std::thread::scope(|threads| {
            threads.spawn(|| limit.take(1_000_000));
            limit.close();
        });
    }
}
