//! Vegas: it keeps a few packets of its own in the queue, and sees the queue in the round-trip time.
//!
//! `diff = cwnd (RTT - baseRTT) / RTT` is its own backlog. Below `ALPHA` the window grows by a segment per round trip,
//! above `BETA` it shrinks by one, between them it stays [brakmo:jsac95].

use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, Start};
use units::{Bytes, Span};

/// The least backlog that it keeps, segments: the paper's Vegas-2,4 and Linux' default.
const ALPHA: f64 = 2.0;
/// The largest backlog that it keeps, segments.
const BETA: f64 = 4.0;
/// The backlog that ends slow start [brakmo:jsac95, 3.4].
const GAMMA: f64 = 1.0;

/// TCP Vegas. Loss halves the window as Reno's does; the paper's finer retransmission timer is up to the transport.
#[derive(Clone, Debug)]
pub struct Vegas {
    segment: Bytes,
    window: Bytes,
    threshold: Bytes,
    before: (Bytes, Bytes),
    base_rtt: Span,
    round: u64,
    /// Least sample of the round.
    rtt: Span,
    /// True in every other round of slow start, in which the window grows. The rounds between show the queue of one
    /// window.
    growing: bool,
}

impl Vegas {
    /// Creates a controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = start.window.max(start.segment);
        Self {
            segment: start.segment,
            window,
            threshold: start.threshold,
            before: (window, start.threshold),
            base_rtt: Span::MAX,
            round: 0,
            rtt: Span::MAX,
            growing: true,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Returns the number of its own segments in the queue; `None` without a sample.
    fn backlog(&self) -> Option<f64> {
        if self.rtt == Span::MAX || self.rtt == Span::ZERO {
            return None;
        }
        let share = self.rtt.saturating_sub(self.base_rtt).as_secs_f64() / self.rtt.as_secs_f64();
        Some(self.window.get() as f64 / self.segment.get().max(1) as f64 * share)
    }

    fn end_round(&mut self, ack: &Ack) {
        if let Some(backlog) = self.backlog().filter(|_| !ack.recovering) {
            if self.in_slow_start() {
                self.judge_slow_start(backlog);
            } else if backlog > BETA {
                self.window = self.window.saturating_sub(self.segment).max(self.segment * 2);
                // The threshold follows the window down, so that avoidance goes on.
                self.threshold = self.threshold.min(self.window);
            } else if backlog < ALPHA && ack.window_limited {
                self.window += self.segment;
            }
        }
        self.round = ack.round;
        self.rtt = Span::MAX;
    }

    fn judge_slow_start(&mut self, backlog: f64) {
        if backlog > GAMMA {
            // The window falls to the one that the path carries without a queue, plus one segment.
            let without_queue = self.window.saturating_sub(self.segment.scale(backlog)) + self.segment;
            self.window = self.window.min(without_queue).max(self.segment * 2);
            self.threshold = self.window;
        }
        self.growing = !self.growing;
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt.latest {
            self.base_rtt = self.base_rtt.min(sample);
            self.rtt = self.rtt.min(sample);
        }
        if ack.round != self.round {
            self.end_round(ack);
        }
        if self.in_slow_start() && self.growing && ack.window_limited && !ack.recovering {
            self.window += ack.acked.min(self.segment);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.kind != CongestionKind::PersistentLoss {
            self.before = (self.window, self.threshold);
            self.threshold = (event.in_flight / 2).max(self.segment * 2);
        }
        self.window = match event.kind {
            CongestionKind::Loss | CongestionKind::EcnMark => self.threshold,
            CongestionKind::Timeout | CongestionKind::PersistentLoss => self.segment,
        };
        self.rtt = Span::MAX;
    }

    fn on_spurious(&mut self) {
        (self.window, self.threshold) = self.before;
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: None }
    }

    fn state(&self) -> CcState {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        CcState { phase, window: self.window, threshold: Some(self.threshold) }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("backlog_packets", self.backlog().unwrap_or(0.0));
    }
}
