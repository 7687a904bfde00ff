//! TCP-LP: Reno that gives way when a larger delay shows that others want the path.
//!
//! | phase | early indication | window |
//! |---|---|---|
//! | growing | none | Reno's |
//! | growing | yes | half; the inference phase begins |
//! | inference, first round trip | ignored: it cannot show the halving yet | holds |
//! | inference, later | yes | one segment; the phase begins anew |
//! | inference, later | none for three round trips | growing |

use super::Reno;
use crate::growth::Growth;
use crate::{Ack, Congestion};
use units::{Bytes, Span, Time};

/// The weight of a sample in the smoothed delay: gamma [tcp-lp:III].
const WEIGHT: f64 = 1.0 / 8.0;
/// The part of the way from the least to the largest delay at which the path counts as congested: delta
/// [tcp-lp:III].
const DELTA: f64 = 0.15;
/// Length of the inference phase, round trips [tcp-lp:III].
const INFERENCE: u64 = 3;

/// A. Kuzmanovic, E. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", 2003. The paper
/// measures one-way delay by timestamps. Here the round-trip time replaces it, so a queue on the way back counts, too.
/// Indications count from the first loss on, because the largest delay is unknown before it.
#[derive(Clone, Copy, Debug)]
pub struct LowPriority {
    segment: Bytes,
    reno: Reno,
    /// The smoothed delay, seconds.
    smoothed: Option<f64>,
    /// The least delay, seconds.
    least: f64,
    /// The largest delay, seconds.
    largest: f64,
    lost: bool,
    inference: Option<Inference>,
}

#[derive(Clone, Copy, Debug)]
struct Inference {
    /// The time from which indications count again.
    settled: Time,
    ends: Time,
}

impl LowPriority {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self {
            segment,
            reno: Reno::new(segment),
            smoothed: None,
            least: f64::INFINITY,
            largest: 0.0,
            lost: false,
            inference: None,
        }
    }

    /// Returns true if the delay shows that the path is congested.
    fn indicates(&mut self, delay: f64) -> bool {
        let smoothed = self.smoothed.map_or(delay, |old| old + WEIGHT * (delay - old));
        self.smoothed = Some(smoothed);
        self.least = self.least.min(delay);
        self.largest = self.largest.max(delay);
        self.lost && smoothed > self.least + DELTA * (self.largest - self.least)
    }
}

impl Growth for LowPriority {
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        if self.inference.is_some() { Bytes::ZERO } else { self.reno.increase(ack, counted, window) }
    }

    fn observe(&mut self, ack: &Ack, window: Bytes) -> Option<Bytes> {
        let indicated = ack.rtt.latest.is_some_and(|sample| self.indicates(sample.as_secs_f64()));
        if self.inference.is_some_and(|phase| ack.now >= phase.ends) {
            self.inference = None;
        }
        if !indicated || self.inference.is_some_and(|phase| ack.now < phase.settled) {
            return None;
        }
        let left = if self.inference.is_some() { self.segment } else { window / 2 };
        let rtt: Span = ack.rtt.smoothed;
        self.inference = Some(Inference { settled: ack.now + rtt, ends: ack.now + rtt * INFERENCE });
        Some(left)
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        self.lost = true;
        self.reno.threshold_after(event, window)
    }
}
