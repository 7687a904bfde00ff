//! The path's own time: it follows the real clock, but stands still while the machine does not run the emulator.
//!
//! A host that takes the processor away for 10 ms makes everything in that time late at once. If 10 ms of
//! acknowledgements were delivered together afterwards, senders would answer with one burst. No path of this rate could
//! have caused that burst, and a queue of less than 10 ms would drop it. So the path counts as frozen instead: the
//! packets that were due are delivered after the stall with the spacing they had. The price is a rate that is lower in
//! real time by the share of stalls. If stalls are rare, the path regains the lost time by [running](REGAIN) slightly
//! fast. If they are not, the run reports them. A program that measures in the path's time ([`PathLag`]) is not misled.

use super::lag::PathLag;
use host::Clock;
use units::{Span, Time};

/// The lateness from which on a wake-up is a stall: timers on an idle virtual machine are late by 0.1 ms or so.
const STALL: Span = Span::from_micros(500);

/// The divisor of the regain: while the path's time is behind, it runs faster than the real clock by one part in this
/// number. The timers of two hosts differ by more than that.
pub(super) const REGAIN: u64 = 200;

/// Stalls of the machine, in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Their number.
    pub count: u64,
    /// Their total length.
    pub total: Span,
    /// The longest stall.
    pub longest: Span,
}

/// The path's time, computed from the real clock's.
#[derive(Debug)]
pub(super) struct PathTime {
    /// The real time at the last reading.
    seen: Time,
    /// The time by which the path is behind since the run began, and the part from before the run that is not regained
    /// yet.
    lag: Span,
    before: Span,
    shared_lag: PathLag,
    stalls: Stalls,
}

impl PathTime {
    /// Makes the path's time over readings of `clock`.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            seen: Time::ZERO,
            lag: Span::ZERO,
            before: Span::ZERO,
            shared_lag: PathLag::new(clock),
            stalls: Stalls::default(),
        }
    }

    /// Returns the path's time at the real time `real`, if the emulator has been at work since the last reading.
    pub(super) fn at_work(&mut self, real: Time) -> Time {
        self.look(real, self.seen)
    }

    /// Returns the path's time at `real`, if the emulator slept and was to be woken by `until`, on the real clock, or
    /// by a packet. `None` means by a packet only.
    pub(super) fn woken(&mut self, real: Time, until: Option<Time>) -> Time {
        self.look(real, until.unwrap_or(real).max(self.seen))
    }

    fn look(&mut self, real: Time, by: Time) -> Time {
        let (elapsed, late) = (real.since(self.seen), real.since(by));
        let stalled = if late > STALL { late } else { Span::ZERO };
        let lag = self.lag.saturating_sub(elapsed.saturating_sub(stalled) / REGAIN) + stalled;
        if stalled > Span::ZERO {
            self.shared_lag.stood(real - stalled, real, lag - stalled);
            self.stalls.count += 1;
            self.stalls.total += stalled;
            self.stalls.longest = self.stalls.longest.max(stalled);
        }
        if lag != self.lag {
            self.lag = lag;
            self.shared_lag.set(lag);
        }
        self.seen = real;
        real - self.before - lag
    }

    /// Returns the real time that passes until the path's time has advanced by `span`.
    pub(super) fn real(&self, span: Span) -> Span {
        if self.lag > Span::ZERO { span - span / (REGAIN + 1) } else { span }
    }

    /// Begins a run. Returns the real time from which its time zero counts.
    pub(super) fn begin(&mut self, now: Time) -> Time {
        self.before += std::mem::take(&mut self.lag);
        self.shared_lag.begin();
        now + self.before
    }

    /// Begins the measurement: stalls count from here.
    pub(super) fn begin_measuring(&mut self) {
        self.stalls = Stalls::default();
    }

    /// Returns the lag of the path's time, which others may read while the path runs.
    pub(super) fn lag(&self) -> PathLag {
        self.shared_lag.clone()
    }

    /// Returns the real time at the last reading, from which the path's time was last computed.
    pub(super) fn seen(&self) -> Time {
        self.seen
    }

    pub(super) fn stalls(&self) -> Stalls {
        self.stalls
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
    fn a_stall_stops_the_path_and_nothing_else_does() {
        let mut time = PathTime::new(Clock::start());
        assert_eq!(time.woken(ms(5), Some(ms(5))), ms(5), "on time");
        assert_eq!(time.woken(ms(9), Some(ms(20))), ms(9), "a packet came before");
        assert_eq!(time.woken(ms(400), None), ms(400), "nothing was due");
        let slow = ms(401) + Span::from_micros(400);
        assert_eq!(time.woken(slow, Some(ms(401))), slow, "a slow wake-up is not a stall");
        assert_eq!(time.stalls(), Stalls::default());
        assert_eq!(time.woken(ms(420), Some(ms(410))), ms(410), "late by 10 ms");
        assert_eq!(time.stalls().count, 1);
        assert_eq!(time.stalls().longest, Span::from_millis(10));
        assert_eq!(time.lag().now(), Span::from_millis(10));
    }

    #[test]
    fn a_stall_in_the_middle_of_work_is_seen() {
        let mut time = PathTime::new(Clock::start());
        time.woken(ms(1), None);
        assert_eq!(time.at_work(ms(31)), ms(1));
        assert_eq!(time.stalls().total, Span::from_millis(30));
    }

    #[test]
    fn what_was_lost_is_regained_slowly_and_time_never_goes_back() {
        let mut time = PathTime::new(Clock::start());
        time.at_work(ms(0));
        time.at_work(ms(10));
        let mut before = Time::ZERO;
        for tick in 11..=2_200 {
            let now = time.woken(ms(tick), Some(ms(tick)));
            let step = now.since(before);
            assert!(tick == 11 || step >= Span::from_millis(1), "never slower than the clock");
            assert!(tick == 11 || step <= Span::from_micros(1_005), "at most a 200th faster");
            before = now;
        }
        assert_eq!(before, ms(2_200), "10 ms are regained within 2 s");
        assert_eq!(time.lag().now(), Span::ZERO);
    }

    #[test]
    fn a_run_counts_from_its_own_beginning() {
        let mut time = PathTime::new(Clock::start());
        time.at_work(ms(50));
        let now = time.at_work(ms(50));
        assert_eq!(time.begin(now), ms(50), "on the real clock");
        assert_eq!(time.lag().now(), Span::ZERO);
        time.at_work(ms(57));
        assert_eq!(time.lag().now(), Span::from_millis(7));
    }
}
