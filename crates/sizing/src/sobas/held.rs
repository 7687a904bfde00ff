//! With S decided: keep it, and follow a path that changes.

use super::path::{Before, Level, Sample};
use super::trial::LARGEST_STEP;
use super::{Phase, Sobas, shown_ms};
use units::{Span, Time};

/// Round trips in the first segment, and where others have a share, which is had by trials.
const FIRST_ROUNDS: u64 = 12;
const FIRST_ROUNDS_SHARED: u64 = 4;

/// Doublings of the segment before a paced sender that fills C' tries for more: a minute at least.
const PACED_REST: u32 = 4;

/// As long as this no trial goes where the buffer overflowed.
const OVERFLOW_MEMORY: Span = Span::from_secs(60);

/// A window that overflowed the buffer is lowered by this share.
pub(super) const LESS: f64 = 0.03;

/// With this share of C' a transfer is taken to be alone on the path: others have no share worth a trial.
const ALONE: f64 = 0.9;

/// And with this one the path is full.
const FULL: f64 = 0.98;

/// S is in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// R and T that S was decided by.
    level: Level,
    /// The RTT that S is meant to give.
    target: Span,
    /// When the segment of the transfer ends.
    until: Time,
    /// Samples in a row with a queue beyond the target.
    over: u32,
    /// What there was before S was lowered, until that is known to have helped.
    before: Option<(f64, Level)>,
}

impl Sobas {
    /// Begins to hold the window that is set; what happens in the first `settle` does not count.
    pub(super) fn hold(&mut self, now: Time, settle: Span, level: Level, target: Span) -> Phase {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        self.path.forget_samples(now + settle);
        let begins = now + settle;
        let end = self.config.thresholds.segment_end(begins, base, self.idle_trials);
        // The first decision was made in a hurry.
        let company = self.has_company(level);
        let rounds = if company { FIRST_ROUNDS_SHARED } else { FIRST_ROUNDS };
        // What is spread meets fewer of the others' bursts.
        self.paced |= self.config.can_pace && company;
        let until = if self.tried { end } else { end.min(begins + base * rounds) };
        Phase::Hold(Hold { level, target, until, over: 0, before: None })
    }

    /// A sample with S in force.
    pub(super) fn held(&mut self, now: Time, mut hold: Hold, sample: &Sample) -> Phase {
        let Some(times) = self.path.times() else { return self.phase };
        let limits = self.config.thresholds;
        if self.losses > 0 && now >= self.forgiven {
            self.losses -= 1;
            self.forgiven = now + limits.loss_memory;
        }
        if let Some((window, before)) = hold.before {
            let Some(level) = self.path.level_of(2) else { return self.phase };
            hold.before = None;
            let excess = before.median.saturating_sub(hold.target);
            let shrunk = 1.0 - self.window / window;
            if level.median + excess / 3 > before.median {
                // Less of us made no less of a queue.
                let base = self.path.least().unwrap_or(level.median);
                self.path.rebase(base);
                let why =
                    format!("a smaller window left the RTT as it was: {} is the path's", shown_ms(base));
                return self.restore(now, window, before, base, why);
            }
            if 1.0 - level.rate / before.rate >= limits.trial_pays * shrunk {
                let why = format!("a smaller window brought {} for {}", level.rate(), before.rate());
                return self.restore(now, window, before, times.base, why + ": others took the rest");
            }
        }
        let beyond = sample.limited && sample.waits.least >= hold.target + limits.rise(times.base);
        hold.over = if beyond { hold.over + 1 } else { 0 };
        if hold.over >= 2
            && let Some(level) = self.path.level_of(2)
        {
            let window = self.window;
            let next = self.decide(now, level, "the queue has grown");
            return match next {
                Phase::Hold(hold) if self.window < window => {
                    Phase::Hold(Hold { before: Some((window, level)), ..hold })
                }
                _ => next,
            };
        }
        if now < hold.until {
            return Phase::Hold(hold);
        }
        self.end_of_segment(now, hold, sample)
    }

    /// S was lowered for nothing: back to `window` and the queue that belongs to it.
    fn restore(&mut self, now: Time, window: f64, before: Level, base: Span, why: String) -> Phase {
        self.window = window;
        self.reason = why;
        let target = before.median.max(base.scale(1.0 + self.margin));
        self.hold(now, base * 2, before, target)
    }

    /// The transfer's segment is over: is there more to be had?
    fn end_of_segment(&mut self, now: Time, hold: Hold, sample: &Sample) -> Phase {
        let (Some(times), Some(level)) = (self.path.times(), self.path.level_of_limited()) else {
            return self.next_segment(now, hold);
        };
        let limits = self.config.thresholds;
        let room = level.median < times.exogenous + self.aim();
        let share = self.share(level).unwrap_or(0.0);
        let (alone, full) = (share >= ALONE, share >= FULL);
        let at_maximum = self.window >= self.maximum();
        // What others give way by has to show beyond what goodput differs by; but it is no more than a burst that fits.
        let fits = if self.has_company(level) { 1.0 + self.room / self.window } else { 1.0 };
        let step = fits.clamp(limits.trial, LARGEST_STEP);
        let overflows = self
            .overflowed
            .is_some_and(|(when, at)| now.since(when) < OVERFLOW_MEMORY && self.window * step > at * 0.97);
        // A paced sender leaves no queue to tell by, and what it sends is what trains have measured.
        if self.paced && full && self.idle_trials < PACED_REST {
            self.idle_trials += 1;
            return self.next_segment(now, hold);
        }
        // Others have come: S says nothing of them.
        let hold = if self.rate_based { Hold { level, ..hold } } else { hold };
        if !sample.limited || at_maximum {
            return self.next_segment(now, hold);
        }
        if overflows && self.may_contend(now, level) {
            // Not as of now: a flow that lost at the last overflow, ours or another, may not have its whole part back yet.
            return self.contend(now, hold.level, hold.target);
        }
        if overflows || (!room && alone) {
            return self.next_segment(now, hold);
        }
        self.reason =
            format!("segment over, {} at {}: trying a larger window", level.rate(), shown_ms(level.median));
        // The first segment is short: one bad sample in it would make the trial look good.
        let level = if !self.tried && hold.level.rate > level.rate { hold.level } else { level };
        self.tried = true;
        self.trial(level, hold.target, room, step)
    }

    /// R's part of C', if that is known.
    pub(super) fn share(&self, level: Level) -> Option<f64> {
        let capacity = self.path.payload_capacity(self.config.segment, self.config.header)?;
        Some(level.rate / capacity)
    }

    /// Others are known to have a share of the path.
    pub(super) fn has_company(&self, level: Level) -> bool {
        self.share(level).is_some_and(|share| share < ALONE)
    }

    /// The level S was computed from, if cross traffic shares the path and a rate-based sender should compete with it on its
    /// own.
    pub(super) fn shared_by_rate(&self) -> Option<Level> {
        match self.phase {
            Phase::Hold(hold) if self.rate_based && self.share(hold.level)? < ALONE => Some(hold.level),
            _ => None,
        }
    }

    /// A sender that keeps to a rate of its own is let go until it is certainly alone.
    pub(super) fn yields_to_rate(&self, level: Level) -> bool {
        self.rate_based && self.share(level).is_some_and(|share| share < FULL)
    }

    fn next_segment(&mut self, now: Time, hold: Hold) -> Phase {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        let until = self.config.thresholds.segment_end(now, base, self.idle_trials);
        Phase::Hold(Hold { until, ..hold })
    }

    /// A loss with S in force: first the margin is in question, then whether the loss is ours at all.
    pub(super) fn lost_in_hold(&mut self, now: Time, hold: Hold, before: Before) -> Phase {
        self.losses += 1;
        self.forgiven = now + self.config.thresholds.loss_memory;
        if self.losses >= self.config.thresholds.losses_held {
            self.losses = 0;
            return self.release(now, "losses go on with S in force");
        }
        if before == Before::Calm {
            return Phase::Hold(hold);
        }
        self.note_overflow(now);
        self.recover(now);
        self.margin = if self.margin < 0.005 { 0.0 } else { self.margin / 2.0 };
        let level = self.path.level_of_limited().unwrap_or(hold.level);
        let window = self.window;
        if self.has_climbed(&hold) {
            // R T without a queue would leave others all that they gave up.
            self.window *= 1.0 - LESS;
            self.reason = format!("loss with S in force, beside others: a little less, {}", self.shown());
            return self.hold(now, level.average * 2, hold.level, hold.target);
        }
        let next = self.decide(now, level, "loss with S in force");
        self.window = self.window.min(window);
        next
    }

    /// What is lost in the next round trips is of the overflow that was just seen.
    pub(super) fn recover(&mut self, now: Time) {
        self.recovered = now + self.path.times().map_or(Span::ZERO, |times| times.average * 4);
    }

    /// S was climbed to by trials that paid, and has a queue with it.
    fn has_climbed(&self, hold: &Hold) -> bool {
        self.path.times().is_some_and(|times| {
            let limits = self.config.thresholds;
            hold.target > times.exogenous.scale(1.0 + limits.margin) + limits.rise(times.base)
        })
    }
}
