//! BBR, version 3 [draft-ietf-ccwg-bbr, 2026]. Its model is the largest delivery rate of two probing cycles and the
//! least RTT. Losses beyond 2 % teach it bounds on the data in flight.
//!
//! | state | pacing gain | window gain | bounded by |
//! |---|---|---|---|
//! | startup | 2.77 | 2 | |
//! | drain | 0.5 | 2 | the short-term bounds, from recent losses |
//! | probe bandwidth: down | 0.9 | 2 | the same, and the long-term bound |
//! | … cruise | 1 | 2 | the same with headroom |
//! | … refill | 1 | 2 | the long-term bound |
//! | … up | 1.25 | 2.25 | the long-term bound |
//! | probe RTT | 1 | 0.5 | |
//!
//! The parts: `bbr3/state.rs` has the states, each with its own memory (`bbr3/rise.rs` has the memory of probing
//! upwards), and their gains. `bbr3/max_rate.rs` knows the path's rate, `bbr3/aggregation.rs` the data that arrive
//! together, and `bbr.rs` the rest of the model. `bbr3/signals.rs` has the losses of a round, and `bbr3/bounds.rs` the
//! bounds from them. `bbr3/cycle.rs` decides when to probe for bandwidth. `bbr3/pace.rs` and `bbr3/window.rs` derive
//! the pace and the window from the model. `bbr3/fast_path.rs` knows when only the window can change, and
//! `bbr3/transitions.rs` leads from state to state. Data are not sent in aggregates here, so the offload budget is
//! zero. A transport that is never idle does not restart.

mod aggregation;
mod bounds;
mod cycle;
mod fast_path;
mod max_rate;
mod pace;
mod rise;
mod signals;
mod state;
mod transitions;
mod window;

use crate::controls::bbr::{FullPipe, MinRtt, Rounds};
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, RateSample,
    Start, Wants,
};
use aggregation::{Aggregation, Delivery};
use bounds::{Bounds, in_flight_at_threshold, is_too_high, smaller};
use cycle::Cycle;
use fast_path::FastPath;
use max_rate::MaxRate;
use pace::Pace;
use signals::Signals;
use state::{EndedState, Gains, Probe, State};
use units::{Bytes, Span, Time};
use window::{MOST, Window};

/// BBR v3. Amounts in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    window: Window,
    pace: Pace,
    state: State,
    /// The gains of the state.
    gains: Gains,
    fast_path: FastPath,
    now: Time,
    /// Bytes delivered between the start and the last acknowledgement.
    delivered: Bytes,
    rounds: Rounds,
    max_rate: MaxRate,
    /// The largest rate, unless losses bound it.
    rate: f64,
    min_rtt: MinRtt,
    full: FullPipe,
    aggregation: Aggregation,
    signals: Signals,
    bounds: Bounds,
    cycle: Cycle,
    recovering: bool,
    undo: Option<EndedState>,
    /// True in the test that compares with a controller without the fast path.
    #[cfg(test)]
    looks_always: bool,
}

/// Converts bytes below 2^63 to a float: a signed integer takes one instruction, an unsigned one seven.
#[inline]
fn amount(bytes: Bytes) -> f64 {
    bytes.get() as i64 as f64
}

/// Converts a span to seconds, by way of a signed integer, too.
#[inline]
fn seconds(span: Span) -> f64 {
    span.as_nanos() as i64 as f64 * 1e-9
}

impl Bbr3 {
    /// Creates a controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = Window::new(start);
        Self {
            pace: Pace::new(window.initial()),
            window,
            state: State::Startup,
            gains: State::Startup.gains(window.segment()),
            fast_path: FastPath::CLOSED,
            now: Time::ZERO,
            delivered: Bytes::ZERO,
            rounds: Rounds::default(),
            max_rate: MaxRate::new(),
            rate: 0.0,
            min_rtt: MinRtt::new(),
            full: FullPipe::default(),
            aggregation: Aggregation::new(),
            signals: Signals::default(),
            bounds: Bounds::new(),
            cycle: Cycle::new(),
            recovering: false,
            undo: None,
            #[cfg(test)]
            looks_always: false,
        }
    }

    /// Returns `BDPMultiple` at `rate`.
    fn bdp(&self, rate: f64) -> f64 {
        if self.min_rtt.is_known() { rate * self.min_rtt.seconds() } else { self.window.initial() }
    }

    /// Returns `Inflight(1.0)` at `rate`.
    fn inflight_at(&self, rate: f64) -> f64 {
        self.window.with_quanta(self.bdp(rate), self.gains.quanta)
    }

    fn target_inflight(&self) -> f64 {
        smaller(self.bdp(self.rate), self.window.size())
    }

    /// Returns the amount in flight at which the queue of a probe has drained.
    fn drained(&self) -> f64 {
        smaller(self.bounds.with_headroom(&self.window), self.inflight_at(self.max_rate.largest()))
    }

    fn restart_round(&mut self) {
        self.rounds.restart(self.delivered);
    }

    fn save_window(&mut self) {
        self.window.save(self.recovering || self.state.probes_rtt());
    }

    /// Returns true if `ack` can change only the window, provided that its rate is not new to the round.
    #[inline]
    fn is_on_fast_path(&self, ack: &Ack, sample: &RateSample) -> bool {
        #[cfg(test)]
        if self.looks_always {
            return false;
        }
        self.fast_path.is_open(ack.now, amount(ack.in_flight), self.window.size())
            && !self.rounds.starts(sample)
            && !self.signals.round_starts(sample)
            && (!self.recovering || ack.recovering)
            && ack.rtt.latest.is_none_or(|rtt| rtt >= self.min_rtt.least())
            && (amount(sample.sent_in_flight) <= self.bounds.inflight_long()
                || is_too_high(sample.lost, sample.sent_in_flight))
    }

    /// Takes an acknowledgement of the fast path whose rate is new to this round. Usually an earlier round has seen
    /// such a rate, and the model does not change.
    #[inline(never)]
    fn on_faster(&mut self, ack: &Ack, sample: &RateSample) {
        let before = self.max_rate.largest();
        let rate = self.rate_of(sample);
        self.signals.observe_rate(rate);
        if self.max_rate.largest() == before {
            self.carry_on(sample);
        } else {
            self.update_model(ack, sample);
        }
    }

    /// Takes an acknowledgement on the fast path: it counts the delivered data, and the window follows.
    #[inline]
    fn carry_on(&mut self, sample: &RateSample) {
        self.signals.observe_within_round(sample);
        self.aggregation.observe_within_round(&self.delivery(sample));
        self.window.grow(sample, self.aggregation.largest(), self.gains.quanta);
    }

    #[inline]
    fn delivery<'a>(&self, sample: &'a RateSample) -> Delivery<'a> {
        Delivery { now: self.now, sample, rate: self.rate, window: self.window.size() }
    }

    /// Updates the model of the path, the state, and all that follows from both.
    #[inline(never)]
    fn update_model(&mut self, ack: &Ack, sample: &RateSample) {
        if !self.min_rtt.is_known() {
            self.cycle.seed(ack.now);
        }
        self.rounds.on_ack(sample);
        self.signals.observe(sample);
        let rate = self.rate_of(sample);
        self.signals.observe_rate(rate);
        self.cycle.count_round(self.rounds.started);
        let round_started = self.signals.round_started();
        // `UpdateCongestionSignals`.
        if round_started && self.signals.has_loss() && !self.state.accelerates() {
            self.bounds.adapt(&self.signals, self.max_rate.largest(), self.window.size());
        }
        let filled = self.full.was_reached();
        self.aggregation.observe(&self.delivery(sample), self.rounds.count, filled);
        self.check_startup(ack, sample, rate);
        if round_started {
            self.signals.end_losses();
        }
        self.update_cycle(ack, sample, rate);
        self.check_probe_rtt(ack, sample);
        if round_started {
            self.signals.advance(sample, rate);
            self.max_rate.begin_round();
        }
        self.rate = smaller(self.max_rate.largest(), self.bounds.rate_short());
        self.pace.on_rtt(ack.rtt.smoothed, self.window.initial());
        self.pace.follow(self.gains.pacing * self.rate, self.full.was_reached());
        self.aim();
        self.foresee();
        self.set_window(ack, sample);
    }

    /// Returns the rate of `sample` in bytes per second; zero if the sample has no rate or cannot be used.
    fn rate_of(&mut self, sample: &RateSample) -> f64 {
        let asked = self.rounds.started || self.signals.round_started() || self.state.probes_up();
        if !asked && self.max_rate.has_seen(sample) {
            return 0.0;
        }
        self.max_rate.take(sample, &self.rounds)
    }

    /// Sets the window's target to the amount that the model wants in flight, within the bounds that losses have
    /// taught.
    fn aim(&mut self) {
        let long = match self.state {
            State::ProbeRtt { .. } | State::Probe(Probe::Cruise) => self.bounds.with_headroom(&self.window),
            State::Probe(_) => self.bounds.inflight_long(),
            State::Startup | State::Drain { .. } => f64::INFINITY,
        };
        let bound = smaller(long, self.bounds.inflight_short());
        self.window.aim(self.gains.window * self.bdp(self.rate), bound);
    }

    fn set_window(&mut self, ack: &Ack, sample: &RateSample) {
        if self.recovering && !ack.recovering {
            self.recovering = false;
            self.window.restore();
        }
        let (extra, quanta) = (self.aggregation.largest(), self.gains.quanta);
        if self.full.was_reached() {
            self.window.grow(sample, extra, quanta);
        } else {
            self.window.grow_in_startup(sample, extra, quanta);
        }
        if let State::ProbeRtt { window, .. } = self.state {
            self.window.cap(window);
        }
    }

    /// Computes the conditions that end the fast path.
    fn foresee(&mut self) {
        let is_settled = self.min_rtt.is_known() && self.aggregation.is_long();
        self.fast_path = match self.state {
            // While BBR probes upwards, each acknowledgement may raise the bound, so the fast path is closed.
            State::Probe(probe) if is_settled && !matches!(probe, Probe::Up(_)) => self.fast_path_in(probe),
            _ => FastPath::CLOSED,
        };
    }

    fn fast_path_in(&self, probe: Probe) -> FastPath {
        let until = self.min_rtt.expires_at();
        if matches!(probe, Probe::Refill) {
            return FastPath::until(until);
        }
        let grown = self.cycle.grown_meanwhile(&self.window);
        if grown >= self.bdp(self.rate) {
            return FastPath::CLOSED;
        }
        let path = FastPath::until(until.min(self.cycle.probe_at())).while_window_above(grown);
        if matches!(probe, Probe::Down) { path.while_in_flight_above(self.drained()) } else { path }
    }

    fn note_loss(&mut self) {
        if self.signals.note_loss(self.delivered) {
            self.bounds.save();
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.cycle.seed(now);
        self.min_rtt.set(rtt.max(Span::from_nanos(1)), now);
        self.pace.on_rtt(rtt, self.window.initial());
    }

    fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = &ack.rate else { return };
        (self.now, self.delivered) = (ack.now, sample.delivered_total);
        if !self.is_on_fast_path(ack, sample) {
            self.update_model(ack, sample);
        } else if self.max_rate.has_seen(sample) {
            self.carry_on(sample);
        } else {
            self.on_faster(ack, sample);
        }
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.note_loss();
        if self.cycle.is_probe_sample() && is_too_high(lost.lost, lost.sent_in_flight) {
            self.handle_too_high(in_flight_at_threshold(lost));
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::Loss => {
                self.save_window();
                self.bounds.save();
                self.undo = None;
                self.recovering = true;
            }
            // A mark counts as a loss does.
            CongestionKind::EcnMark => self.note_loss(),
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.save_window();
                self.bounds.save();
                // Everything is lost; the window grows back with the data that arrive.
                self.recovering = false;
                self.window.collapse();
            }
        }
    }

    fn on_spurious(&mut self) {
        self.recovering = false;
        self.fast_path = FastPath::CLOSED;
        self.window.restore();
        self.full.reset();
        self.signals.forgive();
        self.bounds.restore();
        self.resume();
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, deliveries: true, ..Wants::default() }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.allowed(), pacing: Some(self.pace.allowed()) }
    }

    fn state(&self) -> CcState {
        let phase = match self.state {
            State::Startup => Phase::SlowStart,
            State::Drain { .. } => Phase::Drain,
            State::Probe(_) => Phase::Avoidance,
            State::ProbeRtt { .. } => Phase::ProbeRtt,
        };
        CcState { phase, window: self.window.allowed(), threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bandwidth_bps", self.max_rate.largest() * 8.0);
        show("least_rtt_s", self.min_rtt.seconds());
        show("inflight_longterm_bytes", self.bounds.inflight_long().min(MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::Bbr3;
    use crate::random_events::{compare_with_fast_path, start};

    #[test]
    fn what_the_fast_path_leaves_alone_would_not_have_changed() {
        let share = compare_with_fast_path(
            || Bbr3::new(start()),
            |own| own.looks_always = true,
            Bbr3::is_on_fast_path,
        );
        assert!(share > 0.3, "{share}");
    }
}
