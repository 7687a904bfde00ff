//! The path's own time: it follows the real clock, but stands still while the machine does not run the emulator.
//!
//! A host that takes the processor away for 10 ms makes everything in that time late at once. If 10 ms of
//! acknowledgements were delivered together afterwards, senders would answer with one burst. No path of this rate could
//! have caused that burst, and a queue of less than 10 ms would drop it. So the path counts as frozen instead: the
//! packets that were due are delivered after the stall with the spacing they had. The price is a rate that is lower in
//! real time by the share of stalls. If stalls are rare, the path regains the lost time by [running](REGAIN) slightly
//! fast. If they are not, the run reports them. A program that measures in the path's time ([`PathLag`]) is not misled.
//!
//! While this process is stopped, by Ctrl-Z for example, the path stands still in the same way. Such a stop is not a
//! stall of the machine. It is known only when the SIGCONT that ended it has been handled, shortly before or after the
//! emulator's thread continues.

use super::lag::PathLag;
use host::Clock;
use units::{Span, Time};

/// The least lateness of a wake-up that counts as a stall. Timers on an idle virtual machine are late by 0.1 ms or so.
const STALL: Span = Span::from_micros(500);

/// The least length of a standstill that a stop of this process may have caused; people and scripts stop it for longer.
const LEAST_STOP: Span = Span::from_millis(50);

/// The time after a standstill within which SIGCONT is handled if it ended that standstill.
const HANDLED_WITHIN: Span = Span::from_secs(1);

/// While the path's time is behind the real clock, it runs faster by one part in this number. The timers of two hosts
/// differ by more than that.
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
    /// The time by which the path has fallen behind the real clock since the run began.
    lag: Span,
    /// The lag from before the run that is not regained yet.
    before: Span,
    shared_lag: PathLag,
    stalls: Stalls,
    /// The latest standstill of at least [`LEAST_STOP`]: its end, its length, and the longest stall before it.
    long: Option<(Time, Span, Span)>,
    /// The number of stops of this process that are known.
    stops: u64,
    /// Their total length in the measured interval.
    stopped: Span,
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
            long: None,
            stops: 0,
            stopped: Span::ZERO,
        }
    }

    /// Returns the path's time at the real time `real`, after the emulator has worked without a sleep since the last
    /// reading.
    pub(super) fn at_work(&mut self, real: Time) -> Time {
        self.look(real, self.seen)
    }

    /// Returns the path's time at `real`, after the emulator has slept. It was to wake at the real time `until` or for
    /// a packet; `None`: for a packet only.
    pub(super) fn woken(&mut self, real: Time, until: Option<Time>) -> Time {
        self.look(real, until.unwrap_or(real).max(self.seen))
    }

    fn look(&mut self, real: Time, by: Time) -> Time {
        let (elapsed, late) = (real.since(self.seen), real.since(by));
        let stalled = if late > STALL { late } else { Span::ZERO };
        let lag = self.lag.saturating_sub(elapsed.saturating_sub(stalled) / REGAIN) + stalled;
        if stalled >= LEAST_STOP {
            self.long = Some((real, stalled, self.stalls.longest));
        }
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

    /// Begins the measurement: stalls and stops count from here.
    pub(super) fn begin_measuring(&mut self) {
        (self.stalls, self.long, self.stopped) = (Stalls::default(), None, Span::ZERO);
    }

    /// Notes that so many stops of this process have ended. If one is new, the long standstill of just now was a stop
    /// and not a stall.
    pub(super) fn note_stops(&mut self, ended: u64) {
        if std::mem::replace(&mut self.stops, ended) == ended {
            return;
        }
        let Some((end, length, longest_before)) = self.long.take() else { return };
        if self.seen.since(end) <= HANDLED_WITHIN {
            self.stopped += length;
            self.stalls = Stalls {
                count: self.stalls.count - 1,
                total: self.stalls.total - length,
                longest: longest_before,
            };
        }
    }

    /// Returns the time in the measured interval for which this process was stopped.
    pub(super) fn stopped(&self) -> Span {
        self.stopped
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
