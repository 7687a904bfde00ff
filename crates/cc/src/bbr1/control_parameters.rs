//! How fast BBR v1 sends, and how much it has in flight [draft-cardwell-iccrg-bbr-congestion-control-00:4.2].

use super::{Bbr1, HIGH_GAIN, LINUX_MARGIN, State};
use crate::{Ack, RateSample, send_quantum, super_packet};
use units::{Bytes, Rate, Span};

impl Bbr1 {
    pub(super) fn pace_at(&mut self, pacing: f64) {
        if pacing != self.pacing {
            self.pacing = pacing;
            self.pace = Rate::from_bps_f64(pacing).max(Rate::from_bps(1));
        }
    }

    /// `gain` times the bandwidth-delay product, and room for three of the draft's quanta: segments, or super-packets.
    #[inline(never)]
    pub(super) fn target(&self, gain: f64) -> Bytes {
        if self.min_rtt == Span::MAX || self.bandwidth == 0.0 {
            return self.initial_window;
        }
        let bits = gain * self.bandwidth * self.min_rtt.as_secs_f64();
        let super_packet = || super_packet(self.pace, None, self.segment, send_quantum(self.pace));
        let quantum = if self.offload { super_packet() } else { 1 };
        Bytes::new((bits / 8.0).ceil() as u64) + self.segment * (3 * quantum)
    }

    pub(super) fn save_window(&mut self) {
        let keeps = self.recovering || self.state == State::ProbeRtt;
        self.prior_window = if keeps { self.prior_window.max(self.window) } else { self.window };
    }

    pub(super) fn set_pacing(&mut self, ack: &Ack) {
        if !self.seen_rtt && ack.rtt.smoothed > Span::ZERO {
            // The first acknowledgement: the initial window over the RTT it took, not over 1 ms.
            self.seen_rtt = true;
            self.moved = true;
            let first = self.initial_window.bits_f64() / ack.rtt.smoothed.as_secs_f64();
            self.pace_at(HIGH_GAIN * first * self.margin());
        }
        if self.moved {
            self.follow_model();
        }
    }

    /// How much of the rate that it aims at the pace is.
    fn margin(&self) -> f64 {
        if self.linux { LINUX_MARGIN } else { 1.0 }
    }

    /// Pace and target are those of the gains, the bandwidth and the RTT.
    #[inline(never)]
    pub(super) fn follow_model(&mut self) {
        self.moved = false;
        let rate = self.gains.0 * self.bandwidth * self.margin();
        if self.filled || rate > self.pacing {
            self.pace_at(rate);
        }
        self.target = self.target(self.gains.1);
    }

    #[inline]
    pub(super) fn set_window(&mut self, ack: &Ack, sample: &RateSample) {
        let acked = sample.newly_delivered;
        let mut window = self.window;
        let mut conserves = false;
        if self.recovering && ack.recovering {
            window = window.saturating_sub(sample.newly_lost).max(self.segment);
            conserves = self.rounds.count < self.conserving_until;
        } else if self.recovering {
            self.recovering = false;
            window = window.max(self.prior_window);
        }
        if conserves {
            window = window.max(ack.in_flight + acked);
        } else {
            if self.filled {
                window = (window + acked).min(self.target);
            } else if window < self.target || sample.delivered_total < self.initial_window {
                window += acked;
            }
            window = window.max(self.least_window);
        }
        if self.state == State::ProbeRtt {
            window = window.min(self.least_window);
        }
        self.window = window;
    }
}
