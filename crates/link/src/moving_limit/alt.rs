//! ALT, adaptive limit tuning: the limit grows while the queue is empty and falls while it is not.

use serde::Serialize;
use units::{Span, Time};

/// The parameters of ALT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AltParameters {
    /// The time between two moves of the limit; above zero.
    pub interval: Span,
    /// `a1`, packets per second while the queue is empty.
    pub increase: f64,
    /// `b1`, packets per second while it is not.
    pub decrease: f64,
    /// The fewest packets.
    pub fewest: u64,
    /// The most packets.
    pub most: u64,
}

impl Default for AltParameters {
    /// Returns the values of `[li2011]` from memory, because it is not among our papers: 1 s, 10 and 1 packets per
    /// second, 5 to 1600 packets.
    fn default() -> Self {
        Self { interval: Span::from_secs(1), increase: 10.0, decrease: 1.0, fewest: 5, most: 1600 }
    }
}

/// The limit of ALT, for an interval in which the queue was empty for `t_i` and not for `t_b`:
///
/// ```text
/// q <- q + a1 t_i - b1 t_b        within the fewest and the most packets
/// ```
/// A queue counts as empty only if nothing is being sent from it either. Once the limit has settled, the queue is empty
/// for `b1/(a1+b1)` of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alt {
    parameters: AltParameters,
    limit: f64,
    empty: bool,
    /// The time up to which the limit has been moved.
    until: Time,
    /// The time from `until` to `changed` for which the queue was empty.
    empty_time: Span,
    changed: Time,
}

impl Alt {
    /// Creates a limit of `start` packets for a queue that is empty at time zero.
    ///
    /// # Panics
    /// If the interval is zero, or the fewest packets are more than the most.
    #[must_use]
    pub fn new(parameters: AltParameters, start: u64) -> Self {
        assert!(parameters.interval > Span::ZERO, "an interval takes time");
        Self {
            parameters,
            limit: (start as f64).clamp(parameters.fewest as f64, parameters.most as f64),
            empty: true,
            until: Time::ZERO,
            empty_time: Span::ZERO,
            changed: Time::ZERO,
        }
    }

    /// Records that from `now` on the queue is `empty`, or not.
    pub fn set_empty(&mut self, now: Time, empty: bool) {
        self.advance(now);
        self.empty = empty;
    }

    /// Returns `q` at `now`, in whole packets.
    pub fn packets(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.limit as u64
    }

    fn advance(&mut self, now: Time) {
        loop {
            let end = self.until + self.parameters.interval;
            let passed = now.min(end).since(self.changed);
            if self.empty {
                self.empty_time += passed;
            }
            self.changed = now.min(end);
            if now < end {
                return;
            }
            let AltParameters { interval, increase, decrease, fewest, most } = self.parameters;
            let (empty, busy) =
                (self.empty_time.as_secs_f64(), interval.saturating_sub(self.empty_time).as_secs_f64());
            let moved = self.limit + increase * empty - decrease * busy;
            self.limit = moved.clamp(fewest as f64, most as f64);
            (self.until, self.empty_time) = (end, Span::ZERO);
        }
    }
}
