//! How fast BBR v3 sends, and how much it has in flight [draft-ietf-ccwg-bbr:5.6].

use super::bounds::{larger, smaller};
use super::{Bbr3, MOST, PACING_MARGIN, Probe, STARTUP_GAIN, State, amount};
use crate::{Ack, RateSample};
use units::{Bytes, Rate, Span};

impl Bbr3 {
    pub(super) fn pace_at(&mut self, pacing: f64) {
        if pacing != self.pacing {
            self.pacing = pacing;
            self.pace = Rate::from_bps_f64(pacing * 8.0).max(Rate::from_bps(1));
        }
    }

    pub(super) fn set_pacing(&mut self, ack: &Ack) {
        if !self.seen_rtt && ack.rtt.smoothed > Span::ZERO {
            // Until now the round-trip time counted for 1 ms.
            self.seen_rtt = true;
            self.pace_at(STARTUP_GAIN * self.initial_window / ack.rtt.smoothed.as_secs_f64());
        }
        let rate = self.gains.0 * self.rate * PACING_MARGIN;
        if self.full.reached || rate > self.pacing {
            self.pace_at(rate.min(MOST));
        }
    }

    /// What the model wants in flight, and what losses have taught allows.
    pub(super) fn set_bounds(&mut self) {
        self.wanted = self.gains.1 * self.bdp(self.rate);
        let long = match self.state {
            State::ProbeRtt | State::Probe(Probe::Cruise) => self.with_headroom(),
            State::Probe(_) => self.bounds.inflight_long,
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = larger(smaller(long, self.bounds.inflight_short), self.least_window);
        self.most_window = smaller(bound, MOST);
    }

    pub(super) fn set_window(&mut self, ack: &Ack, sample: &RateSample) {
        let mut window = self.window;
        if self.recovering && !ack.recovering {
            self.recovering = false;
            window = window.max(self.prior_window);
        }
        let most = self.with_quanta(self.wanted + self.extra.largest());
        let grown = window + amount(sample.newly_delivered);
        if self.full.reached {
            window = smaller(grown, most);
        } else if window < most || amount(sample.delivered_total) < self.initial_window {
            window = grown;
        }
        window = larger(window, self.least_window);
        if self.state == State::ProbeRtt {
            window = window.min(self.probe_rtt_window);
        }
        self.resize(smaller(window, self.most_window));
    }

    /// The window is `window`, which mostly it was before.
    #[inline]
    pub(super) fn resize(&mut self, window: f64) {
        if window != self.window {
            self.window = window;
            // Far below 2^63, see `amount`.
            self.whole_window = Bytes::new(window as i64 as u64).max(self.segment);
        }
    }

    pub(super) fn save_window(&mut self) {
        let keeps = self.recovering || self.state == State::ProbeRtt;
        self.prior_window = if keeps { self.prior_window.max(self.window) } else { self.window };
    }
}
