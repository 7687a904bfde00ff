//! [`Clock`]: the one monotonic clock of a run. Every time stamp of both sides is read here and nowhere else.

use std::time::Instant;
use units::Time;

/// A monotonic clock that reads zero at the start of the run. Both sides of a session in one process share
/// one, so their time stamps are comparable.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that reads zero at `start`.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        Self { start }
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
        Time::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }
}
