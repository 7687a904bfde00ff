//! Prague: a scalable controller for L4S queues. Its window is inverse to the share of marks.
//!
//! The rules and values are those of the L4S team's Linux, `tcp_prague` 0.6 (commit 02573a2). They were
//! not compared with the text of draft-briscoe-iccrg-prague-congestion-control-04. Here two things differ:
//!
//! | matter | Linux 0.6 | here |
//! |---|---|---|
//! | the mark that ends slow start | leaves less than half, because the fractional window has not grown with the other | leaves half, because alpha begins with one |
//! | a reduction | takes a segment per acknowledgement until it is complete | takes effect at once |
//!
//! As there, a queue that marks for classic flows is not detected (`prague_ecn_fallback = 0`), and a loss halves the
//! window.

use crate::marked_share::MarkedShare;
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Marks, Phase, Start, Wants,
};
use serde::Serialize;
use units::{Bytes, Rate, Span, Time};

/// The least window that marks leave, in segments (`MIN_CWND`).
const LEAST: f64 = 2.0;
/// The largest window, in segments: any number that a window in bytes can hold.
const MOST: f64 = 1e12;
/// The pacing gains below half of the threshold, and above.
const PACING: (f64, f64) = (2.0, 1.0);

/// The RTT scaling of Prague (`RTT_CONTROL_RATE`): flows with an RTT of up to `target` have one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RttScaling {
    /// The round-trip time below which flows send as if they had this one (`prague_rtt_target`).
    pub target: Span,
    /// The number of round trips above the threshold after which a flow does so (`prague_rtt_transition`).
    pub transition: u64,
}

impl Default for RttScaling {
    /// Returns the values of `tcp_prague` 0.6.
    fn default() -> Self {
        Self { target: Span::from_millis(25), transition: 500 }
    }
}

/// Prague congestion control.
#[derive(Clone, Debug)]
pub struct Prague {
    segment: Bytes,
    /// Its RTT scaling; `None`: its window grows by a segment per round trip at any RTT (`RTT_CONTROL_NONE`).
    scaling: Option<RttScaling>,
    /// The window in segments, with its fraction.
    window: f64,
    threshold: f64,
    /// Window and threshold before the last congestion event.
    before: (f64, f64),
    share: MarkedShare,
    /// True once a mark has come. Before that the average does not move, because no queue may mark at all.
    marked: bool,
    /// Segments that the acknowledgement at hand delivers without a mark; `None` if the transport reports no marks.
    unmarked: Option<f64>,
    /// Round trips above the threshold.
    rounds: u64,
    /// The time at which the average last moved.
    averaged: Time,
    /// The time of the last reduction by marks.
    reduced: Option<Time>,
    rtt: Span,
    pace: Option<Rate>,
}

impl Prague {
    /// Creates a controller at its start, with the RTT scaling `scaling` or without one.
    #[must_use]
    pub fn new(start: Start, scaling: Option<RttScaling>) -> Self {
        let segments = |bytes: Bytes| bytes.get() as f64 / start.segment.get().max(1) as f64;
        let window = segments(start.window).clamp(1.0, MOST);
        let threshold = segments(start.threshold);
        Self {
            segment: start.segment,
            scaling,
            window,
            threshold,
            before: (window, threshold),
            share: MarkedShare::default(),
            marked: false,
            unmarked: None,
            rounds: 0,
            averaged: Time::ZERO,
            reduced: None,
            rtt: Span::ZERO,
            pace: None,
        }
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.segment.get().max(1) as f64
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Returns the RTT that the flow acts upon if its own is shorter; `None` while it acts upon its own.
    fn target(&self) -> Option<Span> {
        let scaling = self.scaling.filter(|scaling| self.rounds >= scaling.transition)?;
        (!self.in_slow_start()).then_some(scaling.target)
    }

    /// Returns the segments by which the window grows in a round trip without marks: `(RTT / VRTT)^2`, with a virtual
    /// RTT of at least the target. So flows with any RTT up to the target have the same rate.
    fn increase_per_round(&self) -> f64 {
        let Some(target) = self.target().filter(|target| self.rtt < *target && self.rtt > Span::ZERO) else {
            return 1.0;
        };
        let ratio = self.rtt.as_secs_f64() / target.as_secs_f64();
        ratio * ratio
    }

    /// Returns true if at least a virtual round trip has passed since `last`. The caller knows that a real one has.
    fn has_waited(&self, now: Time, last: Time) -> bool {
        self.target().is_none_or(|target| now.since(last) >= target)
    }

    fn set_window(&mut self, window: f64, least: f64) {
        self.window = window.clamp(least, MOST);
        self.repace();
    }

    /// Sets the pace to the window per round trip.
    fn repace(&mut self) {
        if self.rtt == Span::ZERO {
            return;
        }
        let gain = if self.window < self.threshold / 2.0 { PACING.0 } else { PACING.1 };
        let rate = gain * self.window * self.segment.bits_f64() / self.rtt.as_secs_f64();
        self.pace = Some(Rate::from_bps_f64(rate).max(Rate::from_bps(1)));
    }

    /// Returns the window in bytes: the fraction counts as a whole segment, which the pace delays.
    fn bytes(&self) -> Bytes {
        self.segment.scale(libm::ceil(self.window)).max(self.segment)
    }
}

impl CongestionControl for Prague {
    fn on_established(&mut self, _now: Time, rtt: Span) {
        self.rtt = rtt;
        self.repace();
    }

    fn on_marks(&mut self, marks: &Marks) {
        self.unmarked = Some(self.segments(marks.delivered.saturating_sub(marks.marked)));
        self.marked |= marks.marked > Bytes::ZERO;
        self.share.count(marks);
        if marks.round_ends && self.has_waited(marks.now, self.averaged) {
            self.averaged = marks.now;
            if self.marked {
                self.share.average();
            } else {
                self.share.restart();
            }
            if !self.in_slow_start() {
                self.rounds = self.rounds.saturating_add(1);
            }
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.rtt.smoothed;
        let unmarked = self.unmarked.take().unwrap_or_else(|| self.segments(ack.delivered));
        let mut window = self.window;
        if !ack.recovering && ack.window_limited {
            if self.in_slow_start() {
                window = (window + unmarked).min(self.threshold.max(window));
            } else {
                window += unmarked * self.increase_per_round() / window;
            }
        }
        self.set_window(window, 1.0);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::EcnMark => {
                if self.reduced.is_some_and(|last| !self.has_waited(event.now, last)) {
                    return;
                }
                self.reduced = Some(event.now);
                self.before = (self.window, self.threshold);
                let least = LEAST.min(self.window);
                let left = (self.window * self.share.kept()).max(least);
                self.threshold = left.min(self.threshold);
                self.set_window(left, least);
            }
            CongestionKind::Loss => {
                self.before = (self.window, self.threshold);
                self.threshold = (self.window / 2.0).max(LEAST);
                self.set_window(self.threshold, LEAST);
            }
            CongestionKind::Timeout => {
                self.before = (self.window, self.threshold);
                self.threshold = (self.window / 2.0).max(LEAST);
                self.set_window(1.0, 1.0);
            }
            CongestionKind::PersistentLoss => self.set_window(1.0, 1.0),
        }
    }

    fn on_spurious(&mut self) {
        self.threshold = self.before.1;
        self.set_window(self.window.max(self.before.0), 1.0);
    }

    fn wants(&self) -> Wants {
        Wants { deliveries: true, marks: true, scalable: true, ..Wants::default() }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("marked_share", self.share.alpha());
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.bytes(), pacing: self.pace }
    }

    fn state(&self) -> CcState {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        CcState { phase, window: self.bytes(), threshold: Some(self.segment.scale(self.threshold)) }
    }
}
