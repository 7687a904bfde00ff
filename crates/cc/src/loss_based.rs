//! Loss-based controllers are a slow start and a growth function around one window and one threshold.

use crate::growth::Growth;
use crate::slow_start::SlowStart;
use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase};
use units::Bytes;

/// Where a controller begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Payload of a full segment (SMSS).
    pub segment: Bytes,
    /// Congestion window at the start.
    pub window: Bytes,
    /// Slow-start threshold at the start; [`Bytes::MAX`] when unlimited.
    pub threshold: Bytes,
}

/// A slow start `S` below the threshold, a growth function `G` above it.
#[derive(Clone, Debug)]
pub struct LossBased<S, G> {
    segment: Bytes,
    window: Bytes,
    threshold: Bytes,
    /// Window and threshold before the last congestion event.
    before: (Bytes, Bytes),
    slow_start: S,
    growth: G,
}

impl<S: SlowStart, G: Growth> LossBased<S, G> {
    /// A controller at its start.
    #[must_use]
    pub fn new(start: Start, slow_start: S, growth: G) -> Self {
        let window = start.window.max(start.segment);
        Self {
            segment: start.segment,
            window,
            threshold: start.threshold,
            before: (window, start.threshold),
            slow_start,
            growth,
        }
    }
}

impl<S: SlowStart, G: Growth> CongestionControl for LossBased<S, G> {
    fn on_ack(&mut self, ack: &Ack) {
        // RFC 7661: a window that is not in use says nothing about the path, so it must not grow.
        if ack.recovering || !ack.window_limited {
            return;
        }
        let increase = if self.window < self.threshold {
            self.slow_start.increase(ack, self.window)
        } else {
            self.growth.increase(ack, self.window)
        };
        self.window += increase;
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let persistent = event.kind == CongestionKind::PersistentLoss;
        if !persistent {
            self.before = (self.window, self.threshold);
            // RFC 5681, equation 4: at least two segments. A repeated timeout leaves the threshold alone.
            self.threshold = self.growth.threshold_after(event, self.window).max(self.segment * 2);
        }
        self.window = match event.kind {
            CongestionKind::Loss | CongestionKind::EcnMark => self.threshold,
            CongestionKind::Timeout | CongestionKind::PersistentLoss => self.segment,
        };
    }

    fn on_spurious(&mut self) {
        (self.window, self.threshold) = self.before;
        self.growth.undo();
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: None }
    }

    fn state(&self) -> CcState {
        let phase = if self.window < self.threshold { Phase::SlowStart } else { Phase::Avoidance };
        CcState { phase, window: self.window, threshold: Some(self.threshold) }
    }
}
