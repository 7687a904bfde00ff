//! S = R T: when it is decided, and what it then is.

use super::path::Level;
use super::{LEAST_SEGMENTS, Phase, Sobas, shown_ms};
use units::{Span, Time};

impl Sobas {
    pub(super) fn decide_if_flat(&mut self, now: Time, equal: usize) -> Phase {
        // A limit by the window says that the path is full only where the window is what the path takes.
        let at_ceiling = self.ceiling().is_some_and(|ceiling| self.window >= 0.999 * ceiling);
        let flat = if self.rate_based {
            // Such a sender stops by itself where the path ends, at the latest at its pace.
            self.path.equal(equal).map(|level| (level, true))
        } else {
            self.path.flat_rate(equal, at_ceiling)
        };
        if let Some((level, risen)) = flat {
            let window = self.window;
            let next = self.decide(now, level, "flat rate");
            if !risen {
                // The samples still know of smaller windows.
                self.window = window;
                self.reason = format!("flat rate: R = {}, by the window: S = {}", level.rate(), self.shown());
            }
            return next;
        }
        match self.path.const_rate_drop() {
            Some(level) => {
                self.margin /= 2.0;
                self.decide(now, level, "constant rate, then a drop")
            }
            None => self.phase,
        }
    }

    /// A loss after a queue: what the path gave before it is what it gives.
    pub(super) fn decide_by_loss(&mut self, now: Time) -> Phase {
        self.note_overflow(now);
        self.recover(now);
        self.margin /= 2.0;
        match self.given() {
            Some(level) => self.decide(now, level, "loss after a queue stood"),
            None => self.phase,
        }
    }

    /// What the path gave until now: the best of the last samples, or the last round trip if that was better and S is not decided
    /// yet. A window that grows fast has outgrown its samples. A sender that finds its own rate does not grow so, and whether it
    /// is alone is not told by one round trip.
    pub(super) fn given(&self) -> Option<Level> {
        let grows = matches!(self.phase, Phase::Ramp | Phase::Linear { .. }) && !self.rate_based;
        let capacity = self.path.payload_capacity(self.config.segment, self.config.header);
        let last = if grows { self.path.last_round(capacity) } else { None };
        match (self.path.best(), last) {
            (Some(best), Some(last)) if last.rate > best.rate => Some(last),
            (best, last) => best.or(last),
        }
    }

    pub(super) fn note_overflow(&mut self, now: Time) {
        let most = self.given().map_or(self.window, |level| level.in_flight());
        self.overflowed = Some((now, most.min(self.window)));
    }

    /// S = R T.
    pub(super) fn decide(&mut self, now: Time, level: Level, why: &str) -> Phase {
        let Some(times) = self.path.times() else { return self.phase };
        let most = times.exogenous.scale(1.0 + self.margin);
        let wait = level.average.min(most).max(times.base);
        let segment = self.config.segment.get() as f64;
        let window = (level.rate / 8.0 * wait.as_secs_f64() / segment).ceil() * segment;
        let before = self.window;
        self.window = window.clamp(self.segments(LEAST_SEGMENTS), self.maximum());
        self.reason = format!(
            "{why}: R = {}, T = {} of {} without a queue, S = {}",
            level.rate(),
            shown_ms(wait),
            shown_ms(times.exogenous),
            self.shown()
        );
        // What was promised beyond S drains first, and what was sent takes a round trip.
        let promised = (before - self.window).max(0.0).min(level.rate / 8.0 * level.average.as_secs_f64());
        let drain = Span::from_secs_f64(promised * 8.0 / level.rate.max(1.0));
        self.hold(now, drain + times.base * 2, level, most)
    }
}
