//! [`History`]: the course of a transfer, for its report. It takes bounded memory: when it is full, it drops every
//! other sample and takes samples half as often.

use estimate::limits::window_below_congestion;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span, Time};

/// The greatest number of samples, and of phases; a report's page draws fewer.
const MOST: usize = 4000;

/// The state of a transfer at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Time since the beginning, in seconds.
    pub t_s: f64,
    /// Bytes of files at the receiver.
    pub bytes: u64,
    /// The smoothed round-trip time of the first data connection, in seconds; 0 if unknown.
    pub rtt_s: f64,
    /// The requested receive window, over all data connections; `None` for the maximum.
    pub window: Option<u64>,
    /// Bytes that the receiver's kernel has acknowledged, over all present data connections.
    pub acknowledged: u64,
    /// The congestion window, over all data connections; 0 if unknown.
    pub congestion_window: u64,
    /// The number of retransmitted segments so far.
    pub retransmits: u64,
}

/// A phase that the window's sizer has entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseEntry {
    /// Milliseconds since the sender was let in.
    pub at_ms: u64,
    /// The name of the phase.
    #[serde(with = "crate::wire::bounded::text")]
    pub phase: String,
    /// The reason for entering it.
    #[serde(with = "crate::wire::bounded::text")]
    pub reason: String,
}

/// The samples and phases of a transfer, oldest first.
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
    /// Adds `sample`, if one is due at `now`.
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

    /// Adds phases that the sizer has entered.
    pub(crate) fn entered(&mut self, phases: &[PhaseEntry]) {
        let room = MOST.saturating_sub(self.phases.len());
        self.phases.extend(phases.iter().take(room).cloned());
    }

    /// Computes [`estimate::limits::window_below_congestion`] of the samples.
    #[must_use]
    pub fn window_below_congestion(&self) -> f64 {
        let moment = |sample: &Sample| (sample.window.map(Bytes::new), Bytes::new(sample.congestion_window));
        window_below_congestion(self.samples.iter().map(moment))
    }

    /// Returns the mean of the smoothed round-trip times in the samples, in seconds; `None` if there are none.
    #[must_use]
    pub fn mean_rtt(&self) -> Option<f64> {
        let known: Vec<f64> =
            self.samples.iter().map(|sample| sample.rtt_s).filter(|&rtt| rtt > 0.0).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// Returns the samples.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the phases.
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
    fn phases_are_kept_in_order_and_not_without_end() {
        let entry = |at_ms| PhaseEntry { at_ms, phase: "hold".into(), reason: "why".into() };
        let mut history = History::default();
        history.entered(&[entry(1), entry(2)]);
        history.entered(&[entry(5)]);
        assert_eq!(history.phases(), [entry(1), entry(2), entry(5)]);
        for _ in 0..MOST {
            history.entered(&[entry(6), entry(7)]);
        }
        assert_eq!(history.phases().len(), MOST);
    }
}
