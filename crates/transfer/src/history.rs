//! [`History`]: a transfer against time, for its report. It takes bounded memory: when it is full every other sample goes,
//! and from then on samples are taken half as often.

use serde::Serialize;
use units::{Span, Time};

/// More than a page draws.
const MOST: usize = 4000;

/// One moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the beginning.
    pub t_s: f64,
    /// Bytes of files at the receiver.
    pub bytes: u64,
    /// Smoothed round-trip time of the first data connection, seconds; 0 if unknown.
    pub rtt_s: f64,
    /// Receive window asked for, over all data connections; `None`: the maximum.
    pub window: Option<u64>,
    /// Congestion window, over all data connections; 0 if unknown.
    pub congestion_window: u64,
    /// Segments sent again so far.
    pub retransmits: u64,
}

/// The window's decider has entered a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseEntry {
    /// Milliseconds since the beginning.
    pub at_ms: u64,
    /// Which phase.
    pub phase: String,
    /// Why.
    pub reason: String,
}

/// Samples and phases, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    samples: Vec<Sample>,
    phases: Vec<PhaseEntry>,
    every: Span,
    due: Time,
}

impl Default for History {
    fn default() -> Self {
        Self { samples: Vec::new(), phases: Vec::new(), every: Span::from_millis(100), due: Time::ZERO }
    }
}

impl History {
    /// Keeps `sample`, if one is due at `now`.
    pub(crate) fn add(&mut self, now: Time, sample: Sample) {
        if now < self.due {
            return;
        }
        if self.samples.len() >= MOST {
            let mut odd = false;
            self.samples.retain(|_| {
                odd = !odd;
                odd
            });
            self.every = self.every * 2;
        }
        self.due = now + self.every;
        self.samples.push(sample);
    }

    /// The decider is in `phase`.
    pub(crate) fn phase(&mut self, at: Span, phase: &str, reason: &str) {
        let known = self.phases.last().is_some_and(|last| last.phase == phase);
        if !phase.is_empty() && !known && self.phases.len() < MOST {
            let at_ms = at.as_nanos() / 1_000_000;
            self.phases.push(PhaseEntry { at_ms, phase: phase.into(), reason: reason.into() });
        }
    }

    /// The samples.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The phases.
    #[must_use]
    pub fn phases(&self) -> &[PhaseEntry] {
        &self.phases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_transfer_keeps_samples_from_beginning_to_end() {
        let mut history = History::default();
        let hours: u64 = 5;
        for tick in 0..hours * 36_000 {
            let now = Time::ZERO + Span::from_millis(100) * tick;
            history.add(now, Sample { t_s: tick as f64 / 10.0, ..Sample::default() });
        }
        let samples = history.samples();
        assert!((MOST / 2..=MOST).contains(&samples.len()), "{}", samples.len());
        assert_eq!(samples[0].t_s, 0.0);
        assert!(samples[samples.len() - 1].t_s > hours as f64 * 3600.0 - 20.0);
    }

    #[test]
    fn a_phase_is_kept_once() {
        let mut history = History::default();
        for (at, phase) in [(1, "ramp"), (2, "ramp"), (3, "hold"), (4, "")] {
            history.phase(Span::from_millis(at), phase, "why");
        }
        let seen: Vec<_> = history.phases().iter().map(|entry| (entry.at_ms, &*entry.phase)).collect();
        assert_eq!(seen, [(1, "ramp"), (3, "hold")]);
    }
}
