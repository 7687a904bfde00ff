//! [`Clock`]: the one monotonic clock of a run. Every time stamp is read here and nowhere else.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use units::{Span, Time};

/// The longest time within which readings of two clocks count as simultaneous.
const TOGETHER: Span = Span::from_micros(20);

/// Returns the current time on the machine's monotonic clock.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the rooms above are driven by real time; this is where it enters"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Returns the processor time that the calling thread has used; zero if the kernel does not report it.
#[must_use]
pub fn thread_cpu() -> Span {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).map_or(Span::ZERO, span)
}

/// The lag of a path's time behind the real clock, as the code that runs the path reports it.
pub trait PathLag: Debug + Send + Sync {
    /// Returns the lag now.
    fn now(&self) -> Span;
    /// Returns the lag at `real`, a moment in the last seconds. It is exact, because packets have left the path since.
    fn at(&self, real: Instant) -> Span;
}

/// A monotonic clock that reads zero at the start of the run. Both sides of a session in one process share one, so
/// their time stamps are comparable. Over an emulated path that may stand still, the clock can follow the path's time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    follows: Option<&'static FollowedPath>,
}

/// The path that a clock follows. It lives as long as the process, so that a clock needs only a reference to it and
/// threads can copy the clock.
#[derive(Debug)]
struct FollowedPath {
    lag: Box<dyn PathLag>,
    /// The latest time that any thread has read; no thread's time goes back behind it.
    latest: AtomicU64,
}

impl Clock {
    /// Makes a clock that reads zero at `start`.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        Self { start, follows: None }
    }

    /// Makes a clock that reads zero at `start` and follows the time of a path. The clock never goes back. Each call of
    /// this function leaks a few bytes.
    #[must_use]
    pub fn following(start: Instant, lag: impl PathLag + 'static) -> Self {
        let follows = Box::leak(Box::new(FollowedPath { lag: Box::new(lag), latest: AtomicU64::new(0) }));
        Self { start, follows: Some(follows) }
    }

    /// Makes a clock that reads zero now.
    #[must_use]
    pub fn start() -> Self {
        Self::new(now())
    }

    /// Returns the time since the start of the run; zero before it.
    #[must_use]
    pub fn now(self) -> Time {
        let real = self.real();
        let Some(FollowedPath { lag, latest }) = self.follows else { return real };
        let now = real.as_nanos().saturating_sub(lag.now().as_nanos());
        Time::from_nanos(latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// Returns the real time since the start of the run, to measure short times between two events. A clock that
    /// follows a path is corrected only after the path has found that it stood still. So a time between two events may
    /// be too short. [`lag`](Self::lag) shows the error later.
    #[must_use]
    pub fn real(&self) -> Time {
        self.time_of(now())
    }

    /// Returns the real time at `instant` since the start of the run; zero before it.
    #[must_use]
    pub fn time_of(&self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.start))
    }

    /// Returns the instant of the real time `real` since the start.
    #[must_use]
    pub fn instant(&self, real: Time) -> Instant {
        self.start + Duration::from_nanos(real.as_nanos())
    }

    /// Returns the time by which the clock was behind the real clock at the real time `real` since the start.
    #[must_use]
    pub fn lag(&self, real: Time) -> Span {
        self.follows.map_or(Span::ZERO, |followed| followed.lag.at(self.instant(real)))
    }

    /// Returns the time for which the path has stood still between two real times.
    #[must_use]
    pub fn stood(&self, from: Time, to: Time) -> Span {
        self.lag(to).saturating_sub(self.lag(from))
    }

    /// Returns the time since 1970 on the system's clock. That clock may be set at any time.
    #[must_use]
    pub fn since_1970(&self) -> Time {
        self.both().1
    }

    /// Returns the time of an event a moment ago: in real time since the start, and by the kernel's stamp on the
    /// system's clock (time since 1970). Without a stamp, the event counts as happening now. The same holds if the
    /// stamp does not lie within the last second, because the system's clock may have been set meanwhile.
    #[must_use]
    pub fn stamped(&self, stamp: Option<Time>) -> (Time, Time) {
        let (now, system) = self.both();
        match stamp.map(|stamp| (stamp, system.since(stamp))) {
            Some((stamp, age)) if stamp <= system && age < Span::from_secs(1) => (now - age, stamp),
            _ => (now, system),
        }
    }

    /// Reads real time and the system's clock at the same moment.
    #[expect(clippy::disallowed_methods, reason = "the kernel stamps datagrams on the system's clock")]
    fn both(&self) -> (Time, Time) {
        let mut tries = 0;
        loop {
            let before = self.real();
            let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = self.real();
            tries += 1;
            // If the readings are further apart, another thread had the processor in between, and the clocks are read
            // again.
            if now.since(before) < TOGETHER || tries == 3 {
                return (now, Time::ZERO + span(system));
            }
        }
    }
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Debug)]
    struct FixedLag(Arc<AtomicU64>);

    impl PathLag for FixedLag {
        fn now(&self) -> Span {
            Span::from_nanos(self.0.load(Ordering::Relaxed))
        }

        fn at(&self, _real: Instant) -> Span {
            self.now()
        }
    }

    #[test]
    fn a_clock_that_follows_a_path_stands_still_with_it() {
        let lag = Arc::new(AtomicU64::new(0));
        let start = Clock::start().start - Duration::from_secs(10);
        let (clock, other) = (Clock::following(start, FixedLag(Arc::clone(&lag))), Clock::new(start));
        let before = clock.now();
        assert!(before >= Time::from_nanos(10_000_000_000));
        lag.store(5_000_000_000, Ordering::Relaxed);
        assert_eq!(clock.now(), before, "it never goes back");
        assert_eq!(clock.lag(clock.real()), Span::from_secs(5));
        assert_eq!(other.lag(other.real()), Span::ZERO);
        lag.store(0, Ordering::Relaxed);
        assert!(clock.now() <= other.now());
    }
}
