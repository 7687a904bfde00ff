//! The path's own time: the real clock's, but it stands still while the machine does not run the emulator.
//!
//! A host that takes the processor away for 10 ms makes everything in that time late at once. Delivered at once
//! afterwards, 10 ms of acknowledgements would let senders answer with one burst. No path of this rate could have
//! caused that burst, and a queue of less than 10 ms would drop it. So the path is taken to have been frozen instead:
//! what was due is delivered after the stall with the spacing it had. The price is a rate that is lower in real time
//! by the share of stalls. Where stalls are rare the lost time is regained by [running](REGAIN) a little fast. Where
//! they are not, the run says so. A program that measures in the path's time ([`Behind`]) is not deceived.

use super::behind::Behind;
use host::Clock;
use units::{Span, Time};

/// Later than this is a stall, not a slow wake-up: timers on an idle virtual machine are late by 0.1 ms or so.
const STALL: Span = Span::from_micros(500);

/// While the path's time is behind, it runs faster than the real clock by one part in this number. A host's own
/// timers differ by more.
pub(super) const REGAIN: u64 = 200;

/// Stalls of the machine, in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// How long they were together.
    pub total: Span,
    /// The longest.
    pub longest: Span,
}

/// The path's time, computed from the real clock's.
#[derive(Debug)]
pub(super) struct PathTime {
    /// The real time last looked at.
    seen: Time,
    /// What it is behind since the run began, and what it was before that and is not regained.
    behind: Span,
    before: Span,
    told: Behind,
    stalls: Stalls,
}

impl PathTime {
    /// Reads what `clock`, whose readings it is given, shows.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            seen: Time::ZERO,
            behind: Span::ZERO,
            before: Span::ZERO,
            told: Behind::new(clock),
            stalls: Stalls::default(),
        }
    }

    /// The path's time at the real time `real`, if the emulator has been at work since it looked last.
    pub(super) fn at_work(&mut self, real: Time) -> Time {
        self.look(real, self.seen)
    }

    /// The path's time at `real`, if the emulator slept and wanted to be woken by `until`, on the real clock, or by a
    /// packet. `None` means by a packet only.
    pub(super) fn woken(&mut self, real: Time, until: Option<Time>) -> Time {
        self.look(real, until.unwrap_or(real).max(self.seen))
    }

    fn look(&mut self, real: Time, by: Time) -> Time {
        let (elapsed, late) = (real.since(self.seen), real.since(by));
        let stalled = if late > STALL { late } else { Span::ZERO };
        let behind = self.behind.saturating_sub(elapsed.saturating_sub(stalled) / REGAIN) + stalled;
        if stalled > Span::ZERO {
            self.told.stood(real - stalled, real, behind - stalled);
            self.stalls.count += 1;
            self.stalls.total += stalled;
            self.stalls.longest = self.stalls.longest.max(stalled);
        }
        if behind != self.behind {
            self.behind = behind;
            self.told.set(behind);
        }
        self.seen = real;
        real - self.before - behind
    }

    /// How long on the real clock until the path's time has gone on by `span`.
    pub(super) fn real(&self, span: Span) -> Span {
        if self.behind > Span::ZERO { span - span / (REGAIN + 1) } else { span }
    }

    /// A run begins. Returns the real time that its time zero counts from.
    pub(super) fn begin(&mut self, now: Time) -> Time {
        self.before += std::mem::take(&mut self.behind);
        self.told.begin();
        now + self.before
    }

    /// Measurement begins: stalls count from here.
    pub(super) fn begin_measuring(&mut self) {
        self.stalls = Stalls::default();
    }

    /// How far behind, for others to read while the path runs.
    pub(super) fn behind(&self) -> Behind {
        self.told.clone()
    }

    /// The real time last looked at, which the path's time was last computed from.
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
    use host::Behind as _;

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
        assert_eq!(time.woken(slow, Some(ms(401))), slow, "a slow wake-up is no stall");
        assert_eq!(time.stalls(), Stalls::default());
        assert_eq!(time.woken(ms(420), Some(ms(410))), ms(410), "late by 10 ms");
        assert_eq!(time.stalls().count, 1);
        assert_eq!(time.stalls().longest, Span::from_millis(10));
        assert_eq!(time.behind().now(), Span::from_millis(10));
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
        assert_eq!(time.behind().now(), Span::ZERO);
    }

    #[test]
    fn a_run_counts_from_its_own_beginning() {
        let mut time = PathTime::new(Clock::start());
        time.at_work(ms(50));
        let now = time.at_work(ms(50));
        assert_eq!(time.begin(now), ms(50), "on the real clock");
        assert_eq!(time.behind().now(), Span::ZERO);
        time.at_work(ms(57));
        assert_eq!(time.behind().now(), Span::from_millis(7));
    }
}
