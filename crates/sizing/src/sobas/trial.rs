//! A larger window is tried now and then: is there more to be had?

use super::held::LESS;
use super::path::{Before, Level, Sample};
use super::{Phase, Sobas};
use units::{Bytes, Span, Time};

/// Samples without another best goodput after which a sender in a trial is limited by something else than the window:
/// a window that grows by a segment per RTT grows by 1 % within these on all but the longest paths.
const PATIENCE: u32 = 25;

/// Samples by which a trial's goodput is judged; a wide one's, which shows sooner; and where goodput varies by itself. That is
/// also how many a sender may take to use a larger window: one that probes for bandwidth does so once in eight round trips.
const JUDGED: usize = 3;
const JUDGED_WIDE: usize = 2;
const JUDGED_AT_MOST: usize = 6;

/// Steps that pay one after another grow to this: a step is climbed by a sixteenth per round trip, so what it overshoots by is
/// little, and to judge it takes longer than to climb it.
pub(super) const LARGEST_STEP: f64 = 1.2;

/// A step that is wider than this says more than goodput samples differ by themselves.
const WIDE: f64 = 0.15;

/// A larger window is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// The window before.
    origin: f64,
    /// And the one from which on growth is counted: as long as there is room, it follows.
    from: f64,
    /// How far it goes, as a factor.
    step: f64,
    level: Level,
    target: Span,
    /// The most that any sample before it brought.
    best: f64,
    /// Goodput differed from sample to sample before it, too.
    varies: bool,
    /// The path had no queue: it may take more.
    room: bool,
    /// The window has grown as far as the trial goes, and what it brings is measured.
    judging: bool,
    /// The best goodput in it, and samples since it rose.
    fastest: f64,
    waited: u32,
}

impl Sobas {
    /// Begins to try a window that is larger by the factor `step`.
    pub(super) fn trial(&self, level: Level, target: Span, room: bool, step: f64) -> Phase {
        let (origin, from, fastest) = (self.window, self.window, level.rate);
        let best = self.path.best().map_or(level.rate, |level| level.rate);
        let varies = self.path.varies();
        let judging = false;
        Phase::Trial(Trial {
            origin,
            from,
            step,
            level,
            target,
            best,
            varies,
            room,
            judging,
            fastest,
            waited: 0,
        })
    }

    pub(super) fn grow_in_trial(&mut self, now: Time, mut trial: Trial, bytes: Bytes) -> Phase {
        if trial.judging {
            return self.phase;
        }
        let limits = self.config.thresholds;
        // Lest it run ahead of a sender that grows by itself.
        let in_flight = self.path.level_of(1).map_or(trial.from, |level| level.in_flight());
        let far = !trial.room || self.is_far(now);
        let gain = if far { limits.ramp_gain_late } else { limits.explore_gain };
        self.grow_to(gain, bytes, Some(in_flight.max(trial.from) * trial.step));
        if self.window >= trial.from * trial.step || self.window >= self.maximum() {
            if trial.room && self.path.has_room(now) && self.window < self.maximum() {
                // Still nothing waits: go on.
                trial.from = self.window;
            } else {
                trial.judging = true;
                let settle = self.path.times().map_or(Span::ZERO, |times| times.average * 2);
                self.path.forget_samples(now + settle);
            }
        }
        Phase::Trial(trial)
    }

    /// The path had room; has it a queue now?
    fn is_filled(&mut self, trial: &Trial, sample: &Sample) -> bool {
        let Some(times) = self.path.times() else { return false };
        let in_flight = self.path.level_of(1).map_or(0.0, |level| level.in_flight());
        if self.overflowed.is_some_and(|(_, at)| in_flight > at * 1.02) {
            // The path holds more than it did.
            self.overflowed = None;
        }
        !trial.judging && trial.room && sample.waits.least >= times.base + self.aim()
    }

    /// A window is found that fills the path.
    fn fill(&mut self, now: Time, trial: &Trial) -> Phase {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        let grown = self.window > trial.from * 1.02
            || trial.from > trial.level.rate / 8.0 * base.as_secs_f64() * 1.05;
        self.idle_trials = if grown { 0 } else { self.idle_trials + 1 };
        // A sender that was below the window is so still: what counts is what was in flight.
        let (window, level) = (self.window, self.path.level_of(1).unwrap_or(trial.level));
        let next = self.decide(now, level, "a queue begins to stand");
        self.window = self.window.clamp(trial.origin.min(window), window);
        next
    }

    /// A sample while a larger window is tried.
    pub(super) fn judge(&mut self, now: Time, mut trial: Trial, sample: &Sample) -> Phase {
        let Some(times) = self.path.times() else { return self.phase };
        if self.is_filled(&trial, sample) {
            return self.fill(now, &trial);
        }
        if !sample.limited {
            // A sender that grows by itself may take its time. One that does not is limited by something else, and the
            // window's size says nothing.
            trial.waited = if sample.rate > trial.fastest * 1.01 { 0 } else { trial.waited + 1 };
            trial.fastest = trial.fastest.max(sample.rate);
            if trial.waited < PATIENCE {
                return Phase::Trial(trial);
            }
            self.idle_trials += 1;
            self.window = trial.origin;
            self.reason = "the window was not the limit in a trial: it stays".to_owned();
            return self.hold(now, times.base * 2, trial.level, trial.target);
        }
        let grown = self.window / trial.from - 1.0;
        let judged = match grown >= WIDE {
            _ if trial.varies || self.path.varies() => JUDGED_AT_MOST,
            true => JUDGED_WIDE,
            false => JUDGED,
        };
        let Some(level) = self.path.level_of(judged).filter(|_| trial.judging) else {
            return Phase::Trial(trial);
        };
        let gained = level.rate / trial.level.rate - 1.0;
        let limits = self.config.thresholds;
        let keeps = grown >= WIDE && gained >= limits.trial_keeps * grown;
        // A window that grows takes of what others have, so their share is what the next step can bring.
        let left = 1.0 - self.share(level).unwrap_or(1.0);
        let pays = grown > 0.0
            && level.rate > trial.best
            && (gained >= limits.trial_pays * grown
                || (keeps && self.others_yield && left >= limits.trial_pays));
        let found =
            format!("the window grew by {:.1} %, the goodput by {:.1} %", grown * 100.0, gained * 100.0);
        if pays {
            self.idle_trials = 0;
            // What comes of a path that had room is nobody's.
            self.others_yield |= self.has_company(level) && !trial.room;
            self.reason = format!("{found}: others give way, it stays at {}", self.shown());
            let target = trial.target.max(level.median);
            // Without a pause: the next step up, a larger one.
            return self.trial(level, target, false, (trial.step * trial.step).min(LARGEST_STEP));
        }
        if self.path.level_of(JUDGED_AT_MOST).is_none() {
            return Phase::Trial(trial);
        }
        if keeps {
            // Beyond it there is less still, and then the end of the buffer.
            self.idle_trials += 3;
            self.reason = format!("{found}: not enough to go on, it stays at {}", self.shown());
            let target = trial.target.max(level.median);
            return self.hold(now, times.average * 2, level, target);
        }
        // A goodput that falls while the window grows tells of others who are on their way up: another trial soon.
        if gained >= -limits.trial_pays * grown {
            self.idle_trials += 1;
        }
        self.window = trial.from;
        self.reason = format!("{found}: back to {}", self.shown());
        self.hold(now, times.average * 2, trial.level, trial.target)
    }

    /// A loss while a larger window is tried: it was too large.
    pub(super) fn lost_in_trial(&mut self, now: Time, trial: Trial, before: Before) -> Phase {
        let Some(times) = self.path.times() else { return self.phase };
        if before != Before::Calm {
            self.note_overflow(now);
            self.recover(now);
        }
        // Where others have a share, the next segment tries an open window.
        self.idle_trials = if self.may_contend(now, trial.level) { 0 } else { self.idle_trials + 2 };
        self.window = trial.from * (1.0 - LESS);
        let hold = self.hold(now, times.average * 2, trial.level, trial.target);
        self.reason = format!("loss in a trial: back to {}", self.shown());
        match (hold, before) {
            (Phase::Hold(hold), Before::Calm) => self.lost_in_hold(now, hold, before),
            (hold, _) => hold,
        }
    }
}
