//! [`PathLag`]: the path's time for programs at its ends.

use super::time::REGAIN;
use host::Clock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use units::{Span, Time};

/// The number of standstills remembered: at a thousand a second, the worst that was seen, those of the last four
/// seconds.
const REMEMBERED: usize = 4096;

/// The time by which the path's time is behind the real clock since [`Path::begin`](crate::Path::begin), now and a few
/// seconds ago. Programs that measure at the path's ends read it.
#[derive(Clone, Debug)]
pub struct PathLag(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// The current value in nanoseconds.
    now: AtomicU64,
    past: Mutex<VecDeque<Standstill>>,
}

/// A standstill of the path from one real time to another.
#[derive(Clone, Copy, Debug)]
struct Standstill {
    from: Time,
    to: Time,
    /// The time by which the path was behind the real clock before this standstill.
    before: Span,
}

impl PathLag {
    pub(super) fn new(clock: Clock) -> Self {
        Self(Arc::new(Shared { clock, now: AtomicU64::new(0), past: Mutex::default() }))
    }

    pub(super) fn set(&self, lag: Span) {
        self.0.now.store(lag.as_nanos(), Ordering::Relaxed);
    }

    /// Records a standstill of the path that lasted from `from` to `to`. When it began, the path was behind the real
    /// clock by `before`.
    pub(super) fn stood(&self, from: Time, to: Time, before: Span) {
        let mut past = self.0.past.lock().unwrap_or_else(PoisonError::into_inner);
        if past.len() == REMEMBERED {
            past.pop_front();
        }
        past.push_back(Standstill { from, to, before });
    }

    /// Forgets the standstills and counts from zero again.
    pub(super) fn begin(&self) {
        self.0.past.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.set(Span::ZERO);
    }
}

impl host::PathLag for PathLag {
    /// Returns the lag that the emulator knows. A standstill that still lasts is not included yet.
    fn now(&self) -> Span {
        Span::from_nanos(self.0.now.load(Ordering::Relaxed))
    }

    /// Returns the lag at the moment `real`. It is exact if a packet that was in the path at that moment has left it
    /// since, because all standstills up to that moment are then known. For moments before the earliest remembered
    /// standstill, some seconds ago, it returns the lag at that standstill.
    fn at(&self, real: Instant) -> Span {
        let real = self.0.clock.time_of(real);
        let past = self.0.past.lock().unwrap_or_else(PoisonError::into_inner);
        let place = past.partition_point(|stood| stood.from <= real);
        match place.checked_sub(1).and_then(|place| past.get(place)) {
            None => past.front().map_or_else(|| self.now(), |first| first.before),
            Some(stood) if real < stood.to => stood.before + real.since(stood.from),
            Some(stood) => {
                let after = stood.before + stood.to.since(stood.from);
                after.saturating_sub(real.since(stood.to) / REGAIN)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::PathLag as _;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_past_is_known_to_the_moment() {
        let clock = Clock::start();
        let lag = PathLag::new(clock);
        let at = |ms: u64| lag.at(clock.instant(self::ms(ms))).as_millis_f64();
        assert_eq!(at(7), 0.0, "nothing stood still");
        lag.stood(ms(10), ms(30), Span::ZERO);
        assert_eq!((at(5), at(10), at(18), at(30)), (0.0, 0.0, 8.0, 20.0));
        assert_eq!(at(230), 19.0, "200 ms regain one");
        assert_eq!(at(30_000), 0.0, "it never gets ahead");
        lag.stood(ms(230), ms(233), Span::from_millis(19));
        assert_eq!((at(229), at(231), at(233)), (19.005, 20.0, 22.0));
        lag.begin();
        assert_eq!(at(231), 0.0);
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let clock = Clock::start();
        let lag = PathLag::new(clock);
        for number in 0..5000 {
            lag.stood(ms(2 * number), ms(2 * number + 1), Span::from_millis(number));
        }
        assert_eq!(lag.at(clock.instant(ms(9_999))), Span::from_millis(5000));
        assert_eq!(lag.at(clock.instant(ms(3))), Span::from_millis(5000 - REMEMBERED as u64));
    }
}
