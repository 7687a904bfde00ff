//! [`Clock`]: the one monotonic clock of a run. Every time stamp of both sides is read here and nowhere else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use units::Time;

/// A monotonic clock that reads zero at the start of the run. Both sides of a session in one process share
/// one, so their time stamps are comparable. Over an emulated path that may stand still, it can follow the path's time.
#[derive(Clone, Debug)]
pub struct Clock {
    start: Instant,
    /// How far behind the real clock it is, nanoseconds; whoever moves the path keeps it.
    behind: Arc<AtomicU64>,
    /// The latest time read by anyone, behind which nobody's goes.
    latest: Arc<AtomicU64>,
}

impl Clock {
    /// A clock that reads zero at `start`.
    #[must_use]
    pub fn new(start: Instant) -> Self {
        Self::following(start, Arc::default())
    }

    /// A clock that reads zero at `start` and runs `behind` nanoseconds late, which may change while it runs. It never
    /// goes back.
    #[must_use]
    pub fn following(start: Instant, behind: Arc<AtomicU64>) -> Self {
        Self { start, behind, latest: Arc::default() }
    }

    /// A clock that reads zero now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "real transfers happen in real time; this is where it enters"
    )]
    pub fn start() -> Self {
        Self::new(Instant::now())
    }

    /// The time since the start of the run; zero before it.
    #[must_use]
    pub fn now(&self) -> Time {
        let elapsed = Self::start().start.saturating_duration_since(self.start);
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let now = elapsed.saturating_sub(self.behind.load(Ordering::Relaxed));
        Time::from_nanos(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_that_follows_a_path_stands_still_with_it() {
        let behind = Arc::new(AtomicU64::new(0));
        let start = Clock::start().start - Duration::from_secs(10);
        let (clock, other) = (Clock::following(start, Arc::clone(&behind)), Clock::new(start));
        let before = clock.now();
        assert!(before >= Time::from_nanos(10_000_000_000));
        behind.store(5_000_000_000, Ordering::Relaxed);
        assert_eq!(clock.now(), before, "it never goes back");
        behind.store(0, Ordering::Relaxed);
        assert!(clock.now() <= other.now());
    }
}
