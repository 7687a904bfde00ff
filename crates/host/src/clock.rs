//! [`Clock`]: the one monotonic clock of a run. Every time stamp is read here and nowhere else.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use units::{Span, Time};

/// Two clocks read within this were read together.
const TOGETHER: Span = Span::from_micros(20);

/// Now, on the machine's monotonic clock.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the rooms above are driven by real time; this is where it enters"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// The processor time that the calling thread has used; zero if the kernel does not say.
#[must_use]
pub fn thread_cpu() -> Span {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).map_or(Span::ZERO, span)
}

/// A path's time, as whoever moves the path knows it: how far it is behind the real clock.
pub trait Behind: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Span;
    /// At `real`, a moment in the last seconds. What went through the path since has made it known exactly.
    fn at(&self, real: Instant) -> Span;
}

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
    behind: Box<dyn Behind>,
    /// The latest time read by anyone, behind which nobody's goes.
    latest: AtomicU64,
}

impl Clock {
    /// A clock that reads zero at `start`.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        Self { start, follows: None }
    }

    /// A clock that reads zero at `start` and follows the time of a path. It never goes back. Each call keeps a few
    /// bytes for good.
    #[must_use]
    pub fn following(start: Instant, behind: impl Behind + 'static) -> Self {
        let follows = Box::leak(Box::new(Followed { behind: Box::new(behind), latest: AtomicU64::new(0) }));
        Self { start, follows: Some(follows) }
    }

    /// A clock that reads zero now.
    #[must_use]
    pub fn start() -> Self {
        Self::new(now())
    }

    /// The time since the start of the run; zero before it.
    #[must_use]
    pub fn now(self) -> Time {
        let real = self.real();
        let Some(Followed { behind, latest }) = self.follows else { return real };
        let now = real.as_nanos().saturating_sub(behind.now().as_nanos());
        Time::from_nanos(latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// The real time since the start of the run, whatever the clock follows: for short times between two events. A
    /// clock that follows is moved when its path finds that it stood still, and until then runs on. So a difference
    /// of its readings may come out too short. [`behind`](Self::behind) tells the error later.
    #[must_use]
    pub fn real(&self) -> Time {
        self.time_of(now())
    }

    /// The real time at `instant` since the start of the run; zero before it.
    #[must_use]
    pub fn time_of(&self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.start))
    }

    /// The instant of the real time `real` since the start.
    #[must_use]
    pub fn instant(&self, real: Time) -> Instant {
        self.start + Duration::from_nanos(real.as_nanos())
    }

    /// How far behind the real clock it was at the real time `real` since the start.
    #[must_use]
    pub fn behind(&self, real: Time) -> Span {
        self.follows.map_or(Span::ZERO, |followed| followed.behind.at(self.instant(real)))
    }

    /// How long the path has stood still between two real times.
    #[must_use]
    pub fn stood(&self, from: Time, to: Time) -> Span {
        self.behind(to).saturating_sub(self.behind(from))
    }

    /// The system's clock: the time since 1970. Somebody may set it at any time.
    #[must_use]
    pub fn since_1970(&self) -> Time {
        self.both().1
    }

    /// When something was stamped by the kernel on the system's clock (time since 1970), a moment ago: in real time,
    /// and by the stamp. Without a stamp, or with one that does not lie within the last second, it was now; the
    /// system's clock may have been set meanwhile.
    #[must_use]
    pub fn stamped(&self, stamp: Option<Time>) -> (Time, Time) {
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
    struct Told(Arc<AtomicU64>);

    impl Behind for Told {
        fn now(&self) -> Span {
            Span::from_nanos(self.0.load(Ordering::Relaxed))
        }

        fn at(&self, _real: Instant) -> Span {
            self.now()
        }
    }

    #[test]
    fn a_clock_that_follows_a_path_stands_still_with_it() {
        let behind = Arc::new(AtomicU64::new(0));
        let start = Clock::start().start - Duration::from_secs(10);
        let (clock, other) = (Clock::following(start, Told(Arc::clone(&behind))), Clock::new(start));
        let before = clock.now();
        assert!(before >= Time::from_nanos(10_000_000_000));
        behind.store(5_000_000_000, Ordering::Relaxed);
        assert_eq!(clock.now(), before, "it never goes back");
        assert_eq!(clock.behind(clock.real()), Span::from_secs(5));
        assert_eq!(other.behind(other.real()), Span::ZERO);
        behind.store(0, Ordering::Relaxed);
        assert!(clock.now() <= other.now());
    }
}
