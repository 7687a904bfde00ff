//! Loss-based controllers are a slow start and a growth function around one window and one threshold.

use crate::byte_counting::ByteCounting;
use crate::growth::Growth;
use crate::slow_start::{SlowStart, Step};
use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Marks, Phase, Wants};
use serde::Serialize;
use units::Bytes;

/// The initial values of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// Payload of a full segment (SMSS).
    pub segment: Bytes,
    /// Congestion window at the start.
    pub window: Bytes,
    /// Slow-start threshold at the start; [`Bytes::MAX`] when unlimited.
    pub threshold: Bytes,
}

/// A controller with a slow start `S` below the threshold and a growth function `G` above it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LossBased<S, G> {
    segment: Bytes,
    window: Bytes,
    threshold: Bytes,
    /// Window and threshold before the last congestion event.
    before: (Bytes, Bytes),
    counting: ByteCounting,
    slow_start: S,
    growth: G,
    /// True if a loss leaves a share of the window, in whole segments, and not of the data in flight.
    by_segments: bool,
}

impl<S: SlowStart, G: Growth> LossBased<S, G> {
    /// Creates a controller at its start. In slow start an acknowledgement counts for at most `byte_counting` segments.
    /// With zero, acknowledgements are counted instead of bytes, in slow start and above (RFC 3465).
    #[must_use]
    pub fn new(start: Start, byte_counting: u64, slow_start: S, growth: G) -> Self {
        let window = start.window.max(start.segment);
        Self {
            segment: start.segment,
            window,
            threshold: start.threshold,
            before: (window, start.threshold),
            counting: ByteCounting::new(start.segment, byte_counting),
            slow_start,
            growth,
            by_segments: false,
        }
    }

    /// Returns the same controller, but a loss leaves a share of the window in whole segments, as in Linux
    /// (`tcp_reno_ssthresh`), and not of the data in flight.
    #[must_use]
    pub fn by_segments(self) -> Self {
        Self { by_segments: true, ..self }
    }

    /// Returns the part of the window that congestion leaves.
    fn left_after(&mut self, event: &Congestion) -> Bytes {
        if !self.by_segments {
            return self.growth.threshold_after(event, self.window);
        }
        let event = Congestion { in_flight: self.window, ..*event };
        let left = self.growth.threshold_after(&event, self.window);
        self.segment * (left / self.segment)
    }

    fn in_slow_start(&mut self, ack: &Ack) {
        // RFC 7661: a window that is not in use says nothing about the path, so it must not grow. The acknowledgement's
        // RTT still counts.
        let counted = if ack.window_limited { self.counting.in_slow_start(ack) } else { Bytes::ZERO };
        match self.slow_start.on_ack(ack, counted, self.window) {
            Step::Grow(by) => self.window += by,
            Step::Leave(by) => {
                self.window += by;
                self.threshold = self.window;
            }
        }
    }
}

impl<S: SlowStart, G: Growth> CongestionControl for LossBased<S, G> {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(lower) = self.growth.observe(ack, self.window) {
            self.window = lower.max(self.segment);
            self.threshold = self.window;
            return;
        }
        if ack.recovering {
            return;
        }
        if self.window < self.threshold {
            return self.in_slow_start(ack);
        }
        if ack.window_limited {
            let counted = self.counting.in_avoidance(ack);
            self.window += self.growth.increase(ack, counted, self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.counting.on_congestion(event.kind);
        let persistent = event.kind == CongestionKind::PersistentLoss;
        if !persistent {
            self.before = (self.window, self.threshold);
            self.slow_start.on_congestion();
            if event.kind == CongestionKind::Timeout {
                self.slow_start.on_timeout();
            }
            // RFC 5681, equation 4: at least two segments. A repeated timeout leaves the threshold alone.
            self.threshold = self.left_after(event).max(self.segment * 2);
        }
        self.window = match event.kind {
            CongestionKind::Loss | CongestionKind::EcnMark => self.threshold,
            CongestionKind::Timeout | CongestionKind::PersistentLoss => self.segment,
        };
    }

    fn on_spurious(&mut self) {
        (self.window, self.threshold) = (self.window.max(self.before.0), self.before.1);
        self.counting.undo();
        self.slow_start.undo();
        self.growth.undo();
    }

    fn on_marks(&mut self, marks: &Marks) {
        self.growth.on_marks(marks);
    }

    fn wants(&self) -> Wants {
        self.growth.wants()
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.growth.measures(show);
    }

    fn hot_state(&self) -> Option<(&Bytes, usize)> {
        Some((&self.segment, size_of::<Self>()))
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: None }
    }

    fn state(&self) -> CcState {
        let phase = if self.window < self.threshold { Phase::SlowStart } else { Phase::Avoidance };
        CcState { phase, window: self.window, threshold: Some(self.threshold) }
    }
}
