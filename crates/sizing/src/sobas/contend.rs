//! Where others share the path and the buffer has overflowed, a smaller window loses nothing, but a larger one may take what
//! others give up when they lose. Which of the two holds is tried: the window is open for as long as that does not cost more
//! than a small share of what has been delivered so far.

use super::path::{Level, Sample};
use super::{Phase, Sobas};
use units::{Bytes, Span, Time};

/// The window is open, and what that brings is compared with S.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contend {
    /// S, and what it brought.
    window: f64,
    level: Level,
    target: Span,
    since: Time,
    /// Until when and how much was delivered, as far as it is counted.
    counted: (Time, Bytes),
    /// Bytes that S would have brought beyond what was delivered; less than none if it would have brought less.
    deficit: f64,
}

impl Sobas {
    /// Whether to open the window: others have a share and give way, and where the buffer overflows is known.
    pub(super) fn may_contend(&self, now: Time, level: Level) -> bool {
        !self.rate_based && self.others_yield && now >= self.contends_from && self.has_company(level)
    }

    /// Opens the window, from what is S now.
    pub(super) fn contend(&mut self, now: Time, level: Level, target: Span) -> Phase {
        let window = std::mem::replace(&mut self.window, self.config.maximum.get() as f64);
        self.reason = format!(
            "others have a share, R = {}, and a larger window overflows: does an open one bring more?",
            level.rate()
        );
        let counted = (now, self.delivered);
        Phase::Contend(Contend { window, level, target, since: now, counted, deficit: 0.0 })
    }

    /// A sample with an open window.
    pub(super) fn contended(&mut self, now: Time, mut contend: Contend, sample: &Sample) -> Phase {
        let (from, before) = contend.counted;
        let elapsed = now.since(from).as_secs_f64();
        let missing = contend.level.rate / 8.0 * elapsed - self.delivered.saturating_sub(before).get() as f64;
        contend.counted = (now, self.delivered);
        let most = self.config.thresholds.regret * self.delivered.get() as f64;
        contend.deficit = (contend.deficit + missing).max(-most);
        if contend.deficit <= most {
            // The others may have left.
            return match self.path.flat_rate(self.config.thresholds.flat_later, false) {
                Some((level, true)) if !self.has_company(level) => {
                    self.decide(now, level, "flat rate, and nobody else has a share")
                }
                _ => Phase::Contend(contend),
            };
        }
        // What is spent on this grows with the transfer.
        self.contends_from = now + now.since(self.began) * 3;
        self.note_overflow(now);
        self.window = contend.window;
        self.reason = format!(
            "an open window brought less than S did for {:.1} s, {:.0} kB in all: back to {}",
            now.since(contend.since).as_secs_f64(),
            contend.deficit / 1e3,
            self.shown()
        );
        self.hold(now, sample.waits.mean * 4, contend.level, contend.target)
    }
}
