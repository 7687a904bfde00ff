//! [`RateLimit`]: the greatest rate over all data connections and packet trains together, as a token bucket.

use crate::lock::locked;
use host::Clock;
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use units::{Rate, Span, Time};

/// The size of the bucket, as the time that its bytes take at the rate: short enough not to fill a queue, long enough
/// for a late wake-up.
const DEPTH: Span = Span::from_millis(20);

/// A rate that threads share.
#[derive(Debug)]
pub(super) struct RateLimit {
    rate: Option<Rate>,
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    /// The time at which all bytes taken will have passed at the rate.
    until: Time,
    /// The part of the time up to `until` for bytes that are not sent yet, because their threads still wait.
    waiting: Span,
    waited: Span,
    closed: bool,
}

impl RateLimit {
    pub(super) fn new(rate: Option<Rate>, clock: Clock) -> Self {
        let state = State { until: Time::ZERO, waiting: Span::ZERO, waited: Span::ZERO, closed: false };
        Self { rate, state: Mutex::new(state), changed: Condvar::new(), clock }
    }

    /// Waits until `bytes` more may be sent.
    pub(super) fn take(&self, bytes: u64) {
        let Some(rate) = self.rate else { return };
        let mut state = locked(&self.state);
        let began = self.clock.now();
        let cost = cost(bytes, rate);
        let mine = state.charge(cost, began);
        state.waiting += cost;
        loop {
            let left = mine.since(self.clock.now());
            if left == Span::ZERO || state.closed {
                break;
            }
            let wait = Duration::from_nanos(left.as_nanos());
            state =
                self.changed.wait_timeout(state, wait).unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        state.waiting = state.waiting.saturating_sub(cost);
        state.waited += self.clock.now().since(began);
    }

    /// Takes `bytes` at once for a packet train, which cannot wait: the data waits longer instead. Returns false, and
    /// takes nothing, while sent data and trains are ahead of the rate by more than a train of this size. So data and
    /// trains together keep to the rate.
    pub(super) fn take_for_train(&self, bytes: u64) -> bool {
        let Some(rate) = self.rate else { return true };
        let mut state = locked(&self.state);
        let (now, cost) = (self.clock.now(), cost(bytes, rate));
        // Data whose thread still waits has not been sent, so it is not ahead of the rate.
        if state.until.since(now) > state.waiting + cost {
            return false;
        }
        state.charge(cost, now);
        true
    }

    /// Returns the greatest number of bytes to be written at once.
    pub(super) fn burst(&self) -> usize {
        self.rate.map_or(usize::MAX, |rate| rate.volume(DEPTH).get().clamp(8 << 10, 1 << 20) as usize)
    }

    /// Ends all waiting.
    pub(super) fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Returns the time that threads waited in all.
    pub(super) fn waited(&self) -> Span {
        locked(&self.state).waited
    }
}

impl State {
    /// Adds data that takes `cost` to pass. Returns the time at which it will have passed.
    fn charge(&mut self, cost: Span, now: Time) -> Time {
        // Unused time is not made up for, except as far as the bucket holds.
        let earliest = Time::from_nanos(now.as_nanos().saturating_sub(DEPTH.as_nanos()));
        self.until = self.until.max(earliest) + cost;
        self.until
    }
}

/// Returns the time that `bytes` take at `rate`.
fn cost(bytes: u64, rate: Rate) -> Span {
    Span::from_secs_f64(bytes as f64 * 8.0 / rate.as_bps_f64().max(1.0))
}

#[cfg(test)]
#[path = "../../tests/within/rate_limit.rs"]
mod tests;
