//! The one place of this room that reads the clock, and the bridge between it and [`Time`]. What a path makes of it is
//! in `path/time.rs`.

use std::time::{Duration, Instant};
use units::{Span, Time};

/// Now, on CLOCK_MONOTONIC.
#[expect(clippy::disallowed_methods, reason = "the emulator is driven by the real clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Real time since the path was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
}

impl Clock {
    /// A clock that shows zero now.
    pub(crate) fn start() -> Self {
        Self { zero: now() }
    }

    /// What the clock shows.
    pub(crate) fn time(&self) -> Time {
        self.time_of(now())
    }

    /// What the clock showed at `instant`; zero before it was started.
    pub(crate) fn time_of(&self, instant: Instant) -> Time {
        Time::from_nanos(instant.saturating_duration_since(self.zero).as_nanos() as u64)
    }

    /// The real instant at which the clock shows `time`.
    pub(crate) fn instant(&self, time: Time) -> Instant {
        self.zero + Duration::from_nanos(time.as_nanos())
    }
}

/// CPU time the calling thread has used; zero if the kernel does not say.
pub(crate) fn thread_cpu() -> Span {
    match nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID) {
        Ok(spec) => Span::from_nanos(Duration::from(spec).as_nanos() as u64),
        Err(_) => Span::ZERO,
    }
}
