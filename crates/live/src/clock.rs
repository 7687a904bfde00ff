//! [`Clock`]: the one monotonic clock of a run. Every time stamp of both sides is read here and nowhere else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use units::{Span, Time};

/// Two clocks read within this were read together.
const TOGETHER: Span = Span::from_micros(20);

/// A monotonic clock that reads zero at the start of the run. Both sides of a session in one process share
/// one, so their time stamps are comparable. Over an emulated path that may stand still, it can follow the path's time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    follows: Option<&'static Followed>,
}

/// A path's time. It lives as long as the process, so that a clock stays a small value that threads copy.
#[derive(Debug)]
struct Followed {
    /// How far behind the real clock it is, nanoseconds; whoever moves the path keeps it.
    behind: Arc<AtomicU64>,
    /// The latest time read by anyone, behind which nobody's goes.
    latest: AtomicU64,
}

impl Clock {
    /// A clock that reads zero at `start`.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        Self { start, follows: None }
    }

    /// A clock that reads zero at `start` and runs `behind` nanoseconds late, which may change while it runs. It never
    /// goes back. Each call keeps a few bytes for good.
    #[must_use]
    pub fn following(start: Instant, behind: Arc<AtomicU64>) -> Self {
        let follows = Box::leak(Box::new(Followed { behind, latest: AtomicU64::new(0) }));
        Self { start, follows: Some(follows) }
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
    pub fn now(self) -> Time {
        let elapsed = Self::start().start.saturating_duration_since(self.start);
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let Some(Followed { behind, latest }) = self.follows else { return Time::from_nanos(elapsed) };
        let now = elapsed.saturating_sub(behind.load(Ordering::Relaxed));
        Time::from_nanos(latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// The real time since the start of the run, whatever the clock follows: for differences of a few milliseconds between
    /// two events. A clock that follows is moved when its path finds that it stood still, and until then runs on, so such a
    /// difference may come out too short; the real one can only be too long.
    pub(crate) fn real(&self) -> Time {
        let elapsed = Self::start().start.saturating_duration_since(self.start);
        Time::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// When something was stamped by the kernel on the system's clock (time since 1970), a moment ago: in real time, and
    /// by the stamp. Without a stamp, or with one that does not lie within the last second, it was now; the system's clock
    /// may have been set meanwhile.
    pub(crate) fn stamped(&self, stamp: Option<Time>) -> (Time, Time) {
        let (now, system) = self.both();
        match stamp.map(|stamp| (stamp, system.since(stamp))) {
            Some((stamp, age)) if stamp <= system && age < Span::from_secs(1) => (now - age, stamp),
            _ => (now, system),
        }
    }

    /// Real time and the system's clock at the same moment.
    #[expect(clippy::disallowed_methods, reason = "the kernel stamps datagrams on the system's clock")]
    fn both(&self) -> (Time, Time) {
        let mut tries = 0;
        loop {
            let before = self.real();
            let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = self.real();
            tries += 1;
            // Someone else had the processor in between.
            if now.since(before) < TOGETHER || tries == 3 {
                return (now, Time::from_nanos(u64::try_from(system.as_nanos()).unwrap_or(u64::MAX)));
            }
        }
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
