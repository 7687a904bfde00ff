//! BBR v3's bandwidth probing: down, cruise, refill, up [draft-ietf-ccwg-bbr:5.3.3].

use super::bounds::{BETA, LOSS_THRESHOLD, larger, smaller};
use super::calm::Calm;
use super::{Acks, Bbr3, Probe, State, amount};
use crate::{Ack, RateSample};
use units::{Bytes, Rate, Span};

/// `T_bbr`: the time between probes is this and a random part of a second more.
const LEAST_WAIT: f64 = 2.0;
/// `T_reno_bound`: at most so many rounds, lest Reno be starved of probing as often.
const MOST_ROUNDS: f64 = 63.0;

impl Bbr3 {
    pub(super) fn enter_probe_bandwidth(&mut self) {
        self.start_down();
    }

    pub(super) fn start_down(&mut self) {
        self.bounds.reset_signals();
        self.unseen = Rate::ZERO;
        self.probe_up_acked_per_increase = f64::INFINITY;
        self.rounds_since_probe = self.stream.integer(0, 1);
        self.probe_at = self.now + Span::from_secs_f64(LEAST_WAIT + self.stream.uniform());
        self.acks = Acks::Stopping;
        self.restart_round();
        self.enter(State::Probe(Probe::Down));
    }

    fn start_refill(&mut self) {
        self.bounds.reset_short();
        self.probe_up_rounds = 0;
        self.probe_up_acked = 0.0;
        self.probed_with_care = false;
        self.acks = Acks::Refilling;
        self.restart_round();
        self.enter(State::Probe(Probe::Refill));
    }

    fn start_up(&mut self, rate: f64) {
        self.acks = Acks::Starting;
        self.restart_round();
        self.full.reset();
        self.full.rate = rate;
        self.enter(State::Probe(Probe::Up));
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase`; `rate` is the sample's, bytes per second.
    pub(super) fn update_cycle(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        if !self.full.reached || self.adapt_long_term(ack, sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Probe(Probe::Down) => {
                if self.is_time_to_probe() {
                    self.start_refill();
                } else if amount(ack.in_flight) <= self.drained() {
                    self.enter(State::Probe(Probe::Cruise));
                }
            }
            State::Probe(Probe::Cruise) if self.is_time_to_probe() => self.start_refill(),
            State::Probe(Probe::Refill) if self.rounds.started => {
                self.is_probe_sample = true;
                self.start_up(rate);
            }
            State::Probe(Probe::Up) if self.is_time_to_go_down(ack, rate) => {
                self.last_was_too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// No more in flight than this ends the draining of what a probe has left.
    pub(super) fn drained(&self) -> f64 {
        smaller(self.with_headroom(), self.inflight_at(self.max_rate))
    }

    /// What Reno's window has grown by since the last probe, bytes; infinite if that is long enough ago.
    pub(super) fn grown_meanwhile(&self) -> f64 {
        let rounds = amount(Bytes::new(self.rounds_since_probe));
        if rounds >= MOST_ROUNDS { f64::INFINITY } else { rounds * self.segment_bytes }
    }

    fn is_time_to_probe(&self) -> bool {
        self.now > self.probe_at || self.grown_meanwhile() >= self.target_inflight()
    }

    fn is_time_to_go_down(&mut self, ack: &Ack, rate: f64) -> bool {
        if self.last_was_too_high && amount(ack.in_flight) >= self.bounds.inflight_long {
            self.probed_with_care = true;
            return true;
        }
        if ack.window_limited && self.window >= self.bounds.inflight_long {
            self.full.reset();
            self.full.rate = rate;
            return false;
        }
        self.full.now
    }

    fn raise_slope(&mut self) {
        let growth = (1u64 << self.probe_up_rounds) as f64;
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_increase = (self.window / growth).max(self.segment_bytes);
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, ack: &Ack, sample: &RateSample) {
        if !ack.window_limited || self.window < self.bounds.inflight_long {
            return;
        }
        self.probe_up_acked += amount(sample.newly_delivered);
        let steps = (self.probe_up_acked / self.probe_up_acked_per_increase).floor();
        if steps >= 1.0 {
            self.probe_up_acked -= steps * self.probe_up_acked_per_increase;
            self.bounds.inflight_long += steps * self.segment_bytes;
        }
        if self.rounds.started {
            self.raise_slope();
        }
    }

    /// `AdaptLongTermModel`: true if it has decided on a state.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        let probing = matches!(self.state, State::Probe(_));
        if self.rounds.started {
            match self.acks {
                Acks::Starting => self.acks = Acks::Feedback,
                Acks::Stopping => {
                    self.is_probe_sample = false;
                    self.acks = Acks::Idle;
                    if probing && !self.rounds.is_limited(sample) {
                        self.cycles += 1;
                        self.unseen = Rate::ZERO;
                    }
                    if probing && self.probed_with_care && !self.last_was_too_high {
                        self.start_refill();
                        return true;
                    }
                }
                _ => {}
            }
        }
        if self.bounds.inflight_long.is_finite() && !is_too_high(sample.lost, sample.sent_in_flight) {
            let sent_in_flight = amount(sample.sent_in_flight);
            self.bounds.inflight_long = larger(self.bounds.inflight_long, sent_in_flight);
            if self.state == State::Probe(Probe::Up) {
                self.raise_long_term(ack, sample);
            }
        }
        false
    }

    /// `HandleInflightTooHigh`, with so much in flight.
    pub(super) fn handle_too_high(&mut self, in_flight: f64) {
        self.last_was_too_high = true;
        self.is_probe_sample = false;
        self.calm = Calm::NOT;
        self.bounds.inflight_long = in_flight.max(self.target_inflight() * BETA);
        if self.state == State::Probe(Probe::Up) {
            self.undo = Some(State::Probe(Probe::Up));
            self.start_down();
        }
    }

    /// What a false alarm ended is begun again.
    pub(super) fn resume(&mut self) {
        match self.undo.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup);
                }
            }
            Some(State::Probe(_)) if !matches!(self.state, State::Probe(Probe::Up) | State::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}

/// `IsInflightTooHigh`.
pub(super) fn is_too_high(lost: Bytes, in_flight: Bytes) -> bool {
    lost > Bytes::ZERO && amount(lost) > amount(in_flight) * LOSS_THRESHOLD
}
