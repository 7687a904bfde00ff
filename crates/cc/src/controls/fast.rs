//! FAST: an equation for the window that keeps `alpha` packets of the flow in the queue [jin:infocom04].
//!
//! ```text
//! w <- min(2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha))     every other round trip
//! ```
//!
//! Slow start lasts while the path shows no queue: the equation with an `alpha` proportional to `w`, which the source
//! names for that case. Loss halves the window. `alpha` belongs to the path and is the same for all its flows
//! [madison:5.1]. It is twice the largest throughput that FAST had there in 200 s, in packets per millisecond, and at
//! least 8. Without a configured `alpha` a flow uses the largest throughput that it has had itself.

use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, Start};
use units::{Bytes, Rate, Span, Time};

/// Weight of the new window [jin:infocom04, III-C].
const GAMMA: f64 = 0.5;
/// The least `alpha`, packets [madison:5.1].
const LEAST_ALPHA: f64 = 8.0;
/// `alpha` per packet and millisecond of the largest throughput [madison:5.1].
const ALPHA_PER_RATE: f64 = 2.0;
/// Rounds between updates: the paper's "every other RTT".
const ROUNDS: u64 = 2;
/// The weight of a sample in the average RTT is 3/w, but at most this [jin:infocom04, III-A].
const MOST_WEIGHT: f64 = 0.25;
/// The backlog, in packets, above which slow start ends `[D]`.
const QUEUE_SHOWS: f64 = 1.0;
/// The ratio of the pace to `w/RTT`, in slow start and later; above one, so that the window stays the limit `[D]`.
const PACING: (f64, f64) = (2.0, 1.25);
/// The relative change of the average RTT after which the pace is computed anew `[D]`: far less than the pace's margin
/// over `w/RTT`.
const STALE: f64 = 1.0 / 64.0;
/// The largest window in segments: far beyond any path, and far below numeric limits.
const MOST: f64 = 1e9;

/// FAST TCP.
#[derive(Clone, Debug)]
pub struct Fast {
    segment: Bytes,
    /// The window in segments.
    window: f64,
    /// The window in bytes.
    bytes: Bytes,
    threshold: f64,
    /// The configured target backlog, packets.
    configured: Option<f64>,
    before: (f64, f64),
    base_rtt: Span,
    /// Average RTT, seconds; zero before the first sample.
    rtt: f64,
    /// The largest throughput so far, packets per millisecond.
    largest: f64,
    /// The round and the time of the last update.
    updated: (u64, Time),
    /// The bytes acknowledged since the last update.
    acked: Bytes,
    /// The pacing rate.
    pace: Option<Rate>,
    /// The gain, the window and the RTT for which the pacing rate was computed.
    paced_for: (f64, f64, f64),
}

impl Fast {
    /// Creates a controller at its start, which derives `alpha` from its own throughput.
    #[must_use]
    pub fn new(start: Start) -> Self {
        Self::with_alpha(start, None)
    }

    /// Creates a controller with the path's `alpha`, packets.
    #[must_use]
    pub fn with_alpha(start: Start, alpha: Option<u64>) -> Self {
        let segments =
            |bytes: Bytes| (bytes.get() as f64 / start.segment.get().max(1) as f64).clamp(1.0, MOST);
        let (window, threshold) = (segments(start.window), segments(start.threshold));
        Self {
            segment: start.segment,
            window,
            bytes: start.segment.scale(window).max(start.segment),
            threshold,
            configured: alpha.map(|packets| packets as f64),
            before: (window, threshold),
            base_rtt: Span::MAX,
            rtt: 0.0,
            largest: 0.0,
            updated: (0, Time::ZERO),
            acked: Bytes::ZERO,
            pace: None,
            paced_for: (0.0, 0.0, 0.0),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Returns the target backlog, packets.
    fn alpha(&self) -> f64 {
        self.configured.unwrap_or_else(|| LEAST_ALPHA.max(ALPHA_PER_RATE * self.largest))
    }

    /// Returns `baseRTT / RTT`.
    fn ratio(&self) -> f64 {
        if self.rtt > 0.0 { (self.base_rtt.as_secs_f64() / self.rtt).clamp(0.0, 1.0) } else { 1.0 }
    }

    fn backlog(&self) -> f64 {
        self.window * (1.0 - self.ratio())
    }

    fn observe(&mut self, sample: Span) {
        self.base_rtt = self.base_rtt.min(sample);
        let sample = sample.as_secs_f64();
        let weight = (3.0 / self.window).min(MOST_WEIGHT);
        self.rtt = if self.rtt > 0.0 { self.rtt + weight * (sample - self.rtt) } else { sample };
    }

    fn update(&mut self, ack: &Ack) {
        let elapsed = ack.now.since(self.updated.1);
        if elapsed > Span::ZERO {
            let packets = self.acked.get() as f64 / self.segment.get().max(1) as f64;
            self.largest = self.largest.max(packets / elapsed.as_millis_f64()).min(MOST);
        }
        self.updated = (ack.round, ack.now);
        self.acked = Bytes::ZERO;
        if self.in_slow_start() || ack.recovering {
            return;
        }
        let target = (1.0 - GAMMA) * self.window + GAMMA * (self.ratio() * self.window + self.alpha());
        if target < self.window || ack.window_limited {
            self.set_window(target.min(2.0 * self.window));
            // The threshold follows the window down, so that avoidance goes on.
            self.threshold = self.threshold.min(self.window);
        }
    }

    /// Sets the pace to `gain w/RTT` if the gain, the window or the RTT has changed.
    #[inline]
    fn repace(&mut self) {
        let gain = if self.in_slow_start() { PACING.0 } else { PACING.1 };
        let (for_gain, for_window, for_rtt) = self.paced_for;
        let moved = (self.rtt - for_rtt).abs() > STALE * for_rtt;
        if self.rtt > 0.0 && (moved || gain != for_gain || self.window != for_window) {
            let rate = Rate::from_bps_f64(gain * self.window * self.segment.bits_f64() / self.rtt);
            self.pace = Some(rate.max(Rate::from_bps(1)));
            self.paced_for = (gain, self.window, self.rtt);
        }
    }

    fn set_window(&mut self, window: f64) {
        self.window = window.clamp(1.0, MOST);
        self.bytes = self.segment.scale(self.window).max(self.segment);
    }
}

impl CongestionControl for Fast {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt.latest {
            self.observe(sample);
        }
        self.acked += ack.acked;
        if self.in_slow_start() && !ack.recovering {
            if self.backlog() > QUEUE_SHOWS {
                self.threshold = self.window;
            } else if ack.window_limited {
                let acked = ack.acked.get() as f64 / self.segment.get().max(1) as f64;
                self.set_window(self.window + acked.min(1.0));
            }
        }
        if ack.round.wrapping_sub(self.updated.0) >= ROUNDS {
            self.update(ack);
        }
        self.repace();
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.kind != CongestionKind::PersistentLoss {
            self.before = (self.window, self.threshold);
            let flight = event.in_flight.get() as f64 / self.segment.get().max(1) as f64;
            self.threshold = (flight / 2.0).clamp(2.0, MOST);
        }
        self.set_window(match event.kind {
            CongestionKind::Loss | CongestionKind::EcnMark => self.threshold,
            CongestionKind::Timeout | CongestionKind::PersistentLoss => 1.0,
        });
        self.repace();
    }

    fn on_spurious(&mut self) {
        self.set_window(self.before.0);
        self.threshold = self.before.1;
        self.repace();
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.bytes, pacing: self.pace }
    }

    fn state(&self) -> CcState {
        let phase = if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance };
        CcState { phase, window: self.bytes, threshold: Some(self.segment.scale(self.threshold)) }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("backlog_packets", self.backlog());
        show("alpha_packets", self.alpha());
    }
}
