//! [`RateLimit`]: the greatest rate over all data connections and packet trains together, as a token bucket.

use crate::lock::locked;
use host::Clock;
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use units::{Rate, Span, Time};

/// The time whose volume the bucket holds: short enough not to fill a queue, long enough for a late wake-up.
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
    /// The time at which everything taken has passed.
    until: Time,
    /// The part of that time for data that was not sent yet, because its threads wait.
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
    /// takes nothing, while trains owe more than one of this size, so that trains and data together keep to the rate.
    pub(super) fn take_for_train(&self, bytes: u64) -> bool {
        let Some(rate) = self.rate else { return true };
        let mut state = locked(&self.state);
        let (now, cost) = (self.clock.now(), cost(bytes, rate));
        // Waiting data has not been sent, so it owes nothing.
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
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    const TRAIN: u64 = 50 * 1472;

    /// Measures the bytes of data and of trains that pass while trains are requested as fast as possible, and the time.
    /// That time is a second, or until data has passed.
    fn flooded(rate: Rate, streams: usize) -> (u64, u64, Span) {
        let clock = Clock::start();
        let limit = RateLimit::new(Some(rate), clock);
        let (data, over, mut trains) = (AtomicU64::new(0), AtomicBool::new(false), 0);
        let began = clock.now();
        let send = || {
            let chunk = limit.burst().min(64 << 10) as u64;
            while !over.load(Relaxed) {
                limit.take(chunk);
                if !over.load(Relaxed) {
                    data.fetch_add(chunk, Relaxed);
                }
            }
        };
        let mut took = Span::ZERO;
        std::thread::scope(|threads| {
            for _ in 0..streams {
                threads.spawn(send);
            }
            let goes_on =
                |took| took < Span::from_secs(1) || (data.load(Relaxed) == 0 && took < Span::from_secs(20));
            while goes_on(clock.now().since(began)) {
                trains += TRAIN * u64::from(limit.take_for_train(TRAIN));
                std::thread::yield_now();
            }
            over.store(true, Relaxed);
            took = clock.now().since(began);
            limit.close();
        });
        (data.load(Relaxed), trains, took)
    }

    #[test]
    fn data_and_a_flood_of_trains_together_stay_below_the_rate() {
        for (rate, streams) in [(1_000_000, 1), (1_000_000, 4), (400_000_000, 3)] {
            let rate = Rate::from_bps(rate);
            let (data, trains, took) = flooded(rate, streams);
            // At most one train is ahead of the rate, one was requested while that one was owed, and the bucket was
            // full.
            let most = rate.volume(took + DEPTH).get() + 2 * TRAIN;
            assert!(data + trains <= most, "{rate}: {data} of data, {trains} of trains, at most {most}");
            assert!(trains > 0 && data > 0, "{rate}: {data} of data, {trains} of trains");
        }
    }

    #[test]
    fn trains_are_sent_while_data_waits_for_the_rate() {
        let clock = Clock::start();
        let limit = RateLimit::new(Some(Rate::from_bps(8_000_000)), clock);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                // Each takes half a second.
                threads.spawn(|| limit.take(500_000));
            }
            let waiting = || locked(&limit.state).waiting > Span::from_millis(1900);
            while !waiting() {
                std::thread::yield_now();
            }
            assert!(limit.take_for_train(TRAIN), "what waits was not sent");
            limit.close();
        });
    }

    #[test]
    fn a_train_makes_the_data_wait() {
        let clock = Clock::start();
        let limit = RateLimit::new(Some(Rate::from_bps(8_000_000)), clock);
        let began = clock.now();
        assert!(limit.take_for_train(TRAIN));
        limit.take(1000);
        // 73.6 kB pass at 1 MB/s, less the content of the bucket.
        assert!(clock.now().since(began) >= Span::from_millis(53), "{}", clock.now().since(began));
        assert!(RateLimit::new(None, clock).take_for_train(u64::MAX), "without a limit");
    }

    #[test]
    fn what_passes_stays_below_the_rate() {
        let clock = Clock::start();
        let limit = RateLimit::new(Some(Rate::from_bps(80_000_000)), clock);
        let began = clock.now();
        for _ in 0..100 {
            limit.take(20_000);
        }
        // 2 MB at 10 MB/s are 200 ms, less the content of the bucket.
        assert!(clock.now().since(began) >= Span::from_millis(175), "{}", clock.now().since(began));
        assert!(limit.waited() > Span::ZERO, "all of that, unless the machine stalled");
    }

    #[test]
    fn without_a_rate_nobody_waits_and_closing_frees_all() {
        let clock = Clock::start();
        RateLimit::new(None, clock).take(u64::MAX);
        let limit = RateLimit::new(Some(Rate::from_bps(8)), clock);
        std::thread::scope(|threads| {
            threads.spawn(|| limit.take(1_000_000));
            limit.close();
        });
    }
}
