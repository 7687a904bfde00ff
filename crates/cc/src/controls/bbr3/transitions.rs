//! The transitions between BBR v3's states: the conditions that end each, and the start of the next
//! [draft-ietf-ccwg-bbr:5.3].

use super::bounds::is_too_high;
use super::fast_path::FastPath;
use super::rise::Rise;
use super::state::{EndedState, PROBE_RTT_GAIN, Probe, State};
use super::{Bbr3, amount};
use crate::controls::bbr::{Progress, RttProbe};
use crate::{Ack, RateSample};
use units::Time;

/// `BBRStartupFullLossCnt`.
const STARTUP_LOSSES: u32 = 6;
/// The number of rounds after which a drain ends, for any amount in flight.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    fn enter(&mut self, state: State) {
        self.state = state;
        self.fast_path = FastPath::CLOSED;
        self.gains = state.gains(self.window.segment());
    }

    fn start_down(&mut self) {
        self.signals.reset();
        self.max_rate.begin_round();
        self.cycle.start_down(self.now);
        self.restart_round();
        self.enter(State::Probe(Probe::Down));
    }

    fn start_refill(&mut self) {
        self.bounds.reset_short();
        self.cycle.start_refill();
        self.restart_round();
        self.enter(State::Probe(Probe::Refill));
    }

    fn start_up(&mut self, rate: f64) {
        self.cycle.start_up();
        self.restart_round();
        self.full.reset_at(rate);
        self.enter(State::Probe(Probe::Up(Rise::new(&self.window))));
    }

    pub(super) fn check_startup(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        if !self.full.is_full() && self.rounds.started && !self.rounds.is_limited(sample) {
            self.full.on_round(rate);
        }
        if self.state.is_startup()
            && self.signals.round_started()
            && self.recovering
            && ack.recovering
            && self.signals.loss_events() >= STARTUP_LOSSES
            && is_too_high(sample.lost, sample.sent_in_flight)
        {
            self.undo = Some(EndedState::Startup);
            self.full.set_reached(true);
            self.bounds.learn_long(self.bdp(self.rate).max(amount(self.signals.inflight_latest())));
        }
        if self.state.is_startup() && self.full.was_reached() {
            self.enter(State::Drain { since: self.rounds.count });
        }
        if let State::Drain { since } = self.state {
            let drained = amount(ack.in_flight) <= self.inflight_at(self.rate);
            if drained || self.rounds.count > since + DRAIN_ROUNDS {
                self.start_down();
            }
        }
    }

    /// Moves the bandwidth probing from state to state: `UpdateProbeBWCyclePhase`. `rate` is the sample's, bytes per
    /// second.
    pub(super) fn update_cycle(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        if !self.full.was_reached() || self.adapt_long_term(ack, sample) {
            return;
        }
        let State::Probe(probe) = self.state else { return };
        match probe {
            Probe::Down if self.is_time_to_probe() => self.start_refill(),
            Probe::Down if amount(ack.in_flight) <= self.drained() => {
                self.enter(State::Probe(Probe::Cruise));
            }
            Probe::Cruise if self.is_time_to_probe() => self.start_refill(),
            Probe::Refill if self.rounds.started => self.start_up(rate),
            Probe::Up(_) if self.is_time_to_go_down(ack, rate) => {
                self.cycle.end();
                self.start_down();
            }
            _ => {}
        }
    }

    fn is_time_to_probe(&self) -> bool {
        self.cycle.is_time_to_probe(self.now, &self.window, self.target_inflight())
    }

    fn is_time_to_go_down(&mut self, ack: &Ack, rate: f64) -> bool {
        let bound = self.bounds.inflight_long();
        if self.cycle.last_was_too_high() && amount(ack.in_flight) >= bound {
            self.cycle.end_with_care();
            return true;
        }
        if ack.window_limited && self.window.size() >= bound {
            self.full.reset_at(rate);
            return false;
        }
        self.full.is_full()
    }

    /// Updates the long-term bound, `AdaptLongTermModel`; returns true if this has entered another state.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        let probes = self.state.probes_bandwidth();
        if self.rounds.started && self.cycle.on_round() && probes {
            if !self.rounds.is_limited(sample) {
                self.max_rate.begin_cycle();
            }
            if self.cycle.may_go_on() {
                self.start_refill();
                return true;
            }
        }
        if self.bounds.inflight_long().is_finite() && !is_too_high(sample.lost, sample.sent_in_flight) {
            self.bounds.raise_long_to(amount(sample.sent_in_flight));
            self.raise_long_term(ack, sample);
        }
        false
    }

    /// Raises the long-term bound while it probes upwards: `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, ack: &Ack, sample: &RateSample) {
        let State::Probe(Probe::Up(rise)) = &mut self.state else { return };
        if !ack.window_limited || self.window.size() < self.bounds.inflight_long() {
            return;
        }
        let segments = rise.on_delivered(amount(sample.newly_delivered));
        self.bounds.raise_long_by(segments * self.window.segment());
        if self.rounds.started {
            rise.steepen(&self.window);
        }
    }

    /// Updates the least RTT and probes for it: `UpdateMinRTT`, `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        let expired = self.min_rtt.has_expired(ack.now);
        let begins = expired && !self.state.probes_rtt();
        // The product uses the RTT from before this acknowledgement.
        let window = if begins { PROBE_RTT_GAIN * self.bdp(self.rate) } else { 0.0 };
        if let Some(rtt) = ack.rtt.latest
            && (expired || rtt < self.min_rtt.least())
        {
            self.min_rtt.set(rtt, ack.now);
        }
        if begins {
            self.save_window();
            self.enter(State::ProbeRtt {
                probe: RttProbe::default(),
                window: window.max(self.window.least()),
            });
            self.cycle.stop();
            self.restart_round();
        }
        let State::ProbeRtt { probe, window } = &mut self.state else { return };
        self.rounds.limit(sample, ack.in_flight);
        match probe.on_ack(ack.now, amount(ack.in_flight) <= *window, self.rounds.started) {
            Progress::Waits => {}
            Progress::Low => self.restart_round(),
            Progress::Over => self.exit_probe_rtt(ack.now),
        }
    }

    fn exit_probe_rtt(&mut self, now: Time) {
        self.min_rtt.renew(now);
        self.window.restore();
        self.bounds.reset_short();
        if self.full.was_reached() {
            self.start_down();
            self.enter(State::Probe(Probe::Cruise));
        } else {
            self.enter(State::Startup);
        }
    }

    /// Lowers the long-term bound after losses with `in_flight` bytes under way: `HandleInflightTooHigh`.
    pub(super) fn handle_too_high(&mut self, in_flight: f64) {
        self.cycle.end_too_high();
        self.fast_path = FastPath::CLOSED;
        self.bounds.cut_long(in_flight, self.target_inflight());
        if self.state.probes_up() {
            self.undo = Some(EndedState::Up);
            self.start_down();
        }
    }

    /// Begins again the state that a false alarm ended.
    pub(super) fn resume(&mut self) {
        match self.undo.take() {
            Some(EndedState::Startup) if !self.state.is_startup() => {
                self.full.set_reached(false);
                if !self.state.probes_rtt() {
                    self.enter(State::Startup);
                }
            }
            Some(EndedState::Up) if !self.state.probes_up() && !self.state.probes_rtt() => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
