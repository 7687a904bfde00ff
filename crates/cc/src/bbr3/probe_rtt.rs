//! BBR v3's probing of the round-trip time: less in flight for a while, so that the queue empties
//! [draft-ietf-ccwg-bbr:5.3.4].

use super::{Acks, Bbr3, Probe, State, WINDOW_GAINS, amount};
use crate::{Ack, RateSample};
use units::{Span, Time};

/// `BBR.MinRTTFilterLen`: without a lower RTT for so long, one is looked for.
pub(super) const EVERY: Span = Span::from_secs(10);
/// `BBR.ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

impl Bbr3 {
    /// `UpdateMinRTT`, `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        let expired = ack.now > self.min_rtt_at + EVERY && self.min_rtt != Span::MAX;
        if expired && self.state != State::ProbeRtt {
            self.probe_rtt_window = (WINDOW_GAINS.2 * self.bdp(self.rate)).max(self.least_window);
        }
        if let Some(rtt) = ack.rtt.latest
            && (expired || rtt < self.min_rtt)
        {
            (self.min_rtt, self.min_rtt_at) = (rtt, ack.now);
            self.min_rtt_seconds = rtt.as_secs_f64();
        }
        if expired && self.state != State::ProbeRtt {
            self.save_window();
            self.enter(State::ProbeRtt);
            self.probe_rtt_until = None;
            self.acks = Acks::Stopping;
            self.restart_round();
        }
        if self.state != State::ProbeRtt {
            return;
        }
        self.rounds.limit(sample, ack.in_flight);
        match self.probe_rtt_until {
            None if amount(ack.in_flight) <= self.probe_rtt_window => {
                self.probe_rtt_until = Some(ack.now + DURATION);
                self.probe_rtt_round = false;
                self.restart_round();
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round && ack.now > until {
                    self.exit_probe_rtt(ack.now);
                }
            }
        }
    }

    fn exit_probe_rtt(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.resize(self.window.max(self.prior_window));
        self.bounds.reset_short();
        if self.full.reached {
            self.start_down();
            self.enter(State::Probe(Probe::Cruise));
        } else {
            self.enter(State::Startup);
        }
    }
}
