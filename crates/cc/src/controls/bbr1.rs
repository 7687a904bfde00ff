//! BBR, version 1. The largest delivery rate of ten round trips and the least RTT of ten seconds make a model of the
//! path. BBR sends at that rate, with twice their product in flight [draft-cardwell-iccrg-bbr-congestion-control-00].
//!
//! | state | pacing | in flight, of the BDP | until |
//! |---|---|---|---|
//! | startup | 2.885 | 2.885 | three rounds grew by less than a quarter |
//! | drain | 1/2.885 | 2.885 | no more than the BDP is in flight |
//! | probe bandwidth | 1.25, 0.75, and six times 1, each for a least RTT | 2 | |
//! | probe RTT | 1 | 4 segments | 200 ms and a round, every 10 s without a new least RTT |
//!
//! Linux departs from the draft in six points, which [`Tuning::linux_bbr`] turns on (`net/ipv4/tcp_bbr.c` of 6.18).
//! It paces 1 % below the rate that it aims at (`bbr_pacing_margin_percent`), so that a standing queue drains. Only a
//! lower RTT renews the least one: an equal RTT does not put off the next probe for the RTT. And an even number of
//! segments is in flight, two more while it probes for bandwidth (`bbr_quantization_budget`). The window has room for
//! data that acknowledgements report together (`bbr1/aggregation.rs`). A path that looks policed gets the rate that the
//! policer seems to allow (`bbr1/long_term.rs`). And after a timeout the earlier window returns, too, once all that was
//! outstanding is acknowledged.
//!
//! Loss ends no state. It limits the window to the data in flight for a round (packet conservation), and the earlier
//! window returns at the end of recovery.
//!
//! The parts: `bbr1/state.rs` has the states, each with its own memory, and their gains. `bbr1/bandwidth.rs` has the
//! largest rate, and `bbr.rs` the least RTT and the other common parts of both BBRs. `bbr1/pace.rs` and
//! `bbr1/window.rs` derive the pace and the window from the model. `bbr1/fast_path.rs` knows when only the window can
//! change. This file makes the transitions between states.

mod aggregation;
mod bandwidth;
mod fast_path;
mod long_term;
mod pace;
mod recovery;
mod state;
mod window;

use crate::controls::bbr::{FullPipe, MinRtt, Progress, Rounds, RttProbe};
use crate::registry::Tuning;
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, RateSample, Start, Wants,
    send_quantum, super_packet,
};
use aggregation::Aggregation;
use bandwidth::Bandwidth;
use fast_path::FastPath;
use long_term::LongTerm;
use pace::Pace;
use recovery::Recovery;
use state::{Cycle, State};
use units::random::Stream;
use units::{Bytes, Span, Time};
use window::Window;

/// 1 minus Linux's `bbr_pacing_margin_percent`.
const LINUX_MARGIN: f64 = 0.99;
/// Segments that Linux adds to the data in flight while it probes for bandwidth.
const LINUX_PROBE_SEGMENTS: u64 = 2;

/// BBR v1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    window: Window,
    pace: Pace,
    state: State,
    /// The pacing gain and the window gain of the state.
    gains: (f64, f64),
    fast_path: FastPath,
    rounds: Rounds,
    bandwidth: Bandwidth,
    /// The data that acknowledgements report together; used only by Linux's version.
    aggregation: Aggregation,
    /// The rate of a path that looks policed; used only by Linux's version.
    long_term: LongTerm,
    min_rtt: MinRtt,
    full: FullPipe,
    /// True if gains, bandwidth or RTT have changed since the pace and the window's target were computed from them.
    moved: bool,
    recovering: Option<Recovery>,
    stream: Stream,
    /// True if the host sends super-packets.
    offload: bool,
    /// True for Linux's version, where it differs from the draft.
    linux: bool,
    /// True in the test that compares with a controller without the fast path.
    #[cfg(test)]
    looks_always: bool,
}

impl Bbr1 {
    /// Creates a controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = Window::new(start);
        Self {
            window,
            pace: Pace::new(window.initial()),
            state: State::Startup,
            gains: State::Startup.gains(),
            fast_path: FastPath::CLOSED,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::new(),
            aggregation: Aggregation::default(),
            long_term: LongTerm::default(),
            min_rtt: MinRtt::new(),
            full: FullPipe::default(),
            moved: true,
            recovering: None,
            stream: Stream::new(0, "bbr cycle"),
            offload: false,
            linux: false,
            #[cfg(test)]
            looks_always: false,
        }
    }

    /// Returns the same controller on a host with these settings.
    #[must_use]
    pub fn on(self, tuning: Tuning) -> Self {
        let pace = if tuning.linux_bbr { self.pace.with_margin(LINUX_MARGIN) } else { self.pace };
        Self { offload: tuning.offload, linux: tuning.linux_bbr, pace, ..self }
    }

    #[inline(never)]
    fn enter(&mut self, state: State) {
        self.state = state;
        self.gains = state.gains();
        if self.long_term.rate().is_some() && matches!(state, State::ProbeBandwidth(_)) {
            self.gains.0 = 1.0;
        }
        self.moved = true;
    }

    /// Returns the rate that the model aims at, in bits per second.
    fn rate(&self) -> f64 {
        self.long_term.rate().unwrap_or(self.bandwidth.largest())
    }

    /// Returns `gain` times the bandwidth-delay product as an amount in flight ([`quantized`](Self::quantized)).
    #[inline(never)]
    fn target(&self, gain: f64) -> Bytes {
        let product = self.product(gain, self.bandwidth.largest());
        product.map_or(self.window.initial(), |product| self.quantized(product))
    }

    /// Returns the window for `gain` times the bandwidth-delay product. Once the pipe is full, Linux's version leaves
    /// room for data that arrive together.
    fn window_target(&self, gain: f64) -> Bytes {
        let Some(product) = self.product(gain, self.rate()) else { return self.window.initial() };
        let together = if self.linux && self.full.was_reached() {
            self.aggregation.room(self.rate())
        } else {
            Bytes::ZERO
        };
        self.quantized(product + together)
    }

    /// Returns `gain` times the product of `bandwidth` and the least RTT; `None` before they are known.
    fn product(&self, gain: f64, bandwidth: f64) -> Option<Bytes> {
        let known = self.min_rtt.is_known() && bandwidth != 0.0;
        known.then(|| Bytes::new((gain * bandwidth * self.min_rtt.seconds() / 8.0).ceil() as u64))
    }

    /// Returns `product` with room for three of the draft's quanta: segments, or super-packets. Linux rounds it up to
    /// an even number of segments, and adds two while it probes for bandwidth, so that even a small product grows
    /// (`bbr_quantization_budget`).
    fn quantized(&self, product: Bytes) -> Bytes {
        let (segment, pace) = (self.window.segment(), self.pace.allowed());
        let quantum = if self.offload { super_packet(pace, None, segment, send_quantum(pace)) } else { 1 };
        let target = product + segment * (3 * quantum);
        if !self.linux {
            return target;
        }
        let probes = matches!(self.state, State::ProbeBandwidth(cycle) if cycle.probes());
        let segments = target.get().div_ceil(segment.get()).next_multiple_of(2);
        segment * (segments + if probes { LINUX_PROBE_SEGMENTS } else { 0 })
    }

    /// Returns true if `ack` can change only the window, provided that its rate is not new to the round.
    #[inline]
    fn is_on_fast_path(&self, ack: &Ack, sample: &RateSample) -> bool {
        #[cfg(test)]
        if self.looks_always {
            return false;
        }
        self.fast_path.is_open(ack.now, ack.in_flight)
            && !self.rounds.starts(sample)
            && ack.rtt.latest.is_none_or(|rtt| rtt > self.min_rtt.least())
    }

    /// Takes an acknowledgement of the fast path whose rate is new to this round. Usually an earlier round has seen
    /// such a rate, and the model does not change.
    #[inline(never)]
    fn on_faster(&mut self, ack: &Ack, sample: &RateSample) {
        self.moved |= self.bandwidth.take(sample, &self.rounds);
        if self.moved { self.update_model(ack, sample) } else { self.carry_on(ack, sample) }
    }

    /// Takes an acknowledgement on the fast path: the window follows the delivered data.
    #[inline]
    fn carry_on(&mut self, ack: &Ack, sample: &RateSample) {
        if self.linux {
            if self.long_term.must_see(sample, self.rounds.is_limited(sample)) {
                return self.update_model(ack, sample);
            }
            self.long_term.count(ack.now, sample);
            if self.observe_aggregation(ack, sample) {
                self.aim();
            }
        }
        self.set_window(ack, sample);
    }

    /// Adds an acknowledgement to the filter of aggregation. Returns true if the filter's maximum has changed.
    fn observe_aggregation(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        let rate = self.rate();
        let before = self.aggregation;
        self.aggregation.observe(ack.now, sample.newly_delivered, rate, self.window.size())
            && self.aggregation.room(rate) != before.room(rate)
    }

    /// Updates the model of the path, the state, and all that follows from both.
    #[inline(never)]
    fn update_model(&mut self, ack: &Ack, sample: &RateSample) {
        if !self.min_rtt.is_known() {
            // The seed is the time, so that flows that begin at different times do not cycle in step.
            self.stream = Stream::new(ack.now.as_nanos(), "bbr cycle");
        }
        self.rounds.on_ack(sample);
        if self.linux {
            self.observe_long_term(ack, sample);
        }
        self.update_bandwidth(sample);
        if self.linux {
            if self.rounds.started {
                self.aggregation.begin_round();
            }
            self.moved |= self.observe_aggregation(ack, sample);
        }
        self.check_cycle(ack, sample);
        if !self.full.was_reached() && self.rounds.started && !self.rounds.is_limited(sample) {
            self.full.on_round(self.bandwidth.largest());
        }
        self.check_drain(ack);
        self.check_probe_rtt(ack, sample);
        self.moved |= self.pace.on_rtt(ack.rtt.smoothed, self.window.initial());
        if self.moved {
            self.follow_model();
        }
        self.foresee();
        self.set_window(ack, sample);
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        if self.rounds.started {
            self.bandwidth.begin_round();
        }
        if !self.bandwidth.has_seen(sample) {
            self.moved |= self.bandwidth.take(sample, &self.rounds);
        }
    }

    fn check_cycle(&mut self, ack: &Ack, sample: &RateSample) {
        let State::ProbeBandwidth(cycle) = self.state else { return };
        let elapsed = cycle.lasts_longer(ack.now, self.min_rtt.least());
        let before = || ack.in_flight + sample.newly_delivered + sample.newly_lost;
        let gain = self.gains.0;
        let over = if gain == 1.0 {
            elapsed
        } else if gain > 1.0 {
            elapsed && (sample.newly_lost > Bytes::ZERO || before() >= self.target(gain))
        } else {
            elapsed || before() <= self.target(1.0)
        };
        if over {
            self.enter(State::ProbeBandwidth(cycle.next(ack.now)));
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        if matches!(self.state, State::Startup) && self.full.was_reached() {
            self.enter(State::Drain);
        }
        if matches!(self.state, State::Drain) && ack.in_flight <= self.target(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    fn probe_bandwidth(&mut self, now: Time) {
        let cycle = Cycle::begin(&mut self.stream, now);
        self.enter(State::ProbeBandwidth(cycle));
    }

    fn check_probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        let (expired, least) = (self.min_rtt.has_expired(ack.now), self.min_rtt.least());
        if let Some(rtt) = ack.rtt.latest
            && (rtt < least || (rtt == least && !self.linux) || expired)
        {
            self.min_rtt.set(rtt.max(Span::from_nanos(1)), ack.now);
            self.moved = true;
        }
        if expired && !self.state.probes_rtt() {
            self.window.save(true);
            self.enter(State::ProbeRtt(RttProbe::default()));
        }
        if self.state.probes_rtt() {
            self.probe_rtt(ack, sample);
        }
    }

    #[inline(never)]
    fn probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        let State::ProbeRtt(probe) = &mut self.state else { return };
        self.rounds.limit(sample, ack.in_flight);
        match probe.on_ack(ack.now, ack.in_flight <= self.window.least(), self.rounds.started) {
            Progress::Waits => {}
            Progress::Low => self.rounds.restart(sample.delivered_total),
            Progress::Over => {
                self.min_rtt.renew(ack.now);
                self.window.restore();
                if self.full.was_reached() {
                    self.probe_bandwidth(ack.now);
                } else {
                    self.enter(State::Startup);
                }
            }
        }
    }

    /// Sets the pace and the window's target from the gains, the bandwidth and the RTT.
    #[inline(never)]
    fn follow_model(&mut self) {
        self.moved = false;
        self.pace.follow(self.gains.0 * self.rate(), self.full.was_reached());
        self.aim();
    }

    fn aim(&mut self) {
        self.window.aim(self.window_target(self.gains.1));
    }

    /// Computes the conditions that end the fast path.
    fn foresee(&mut self) {
        self.fast_path = match self.state {
            State::ProbeBandwidth(cycle) if self.pace.has_seen_rtt() => {
                let until = cycle.after(self.min_rtt.least()).min(self.min_rtt.expires_at());
                let drained = if self.gains.0 < 1.0 { self.target(1.0) } else { Bytes::ZERO };
                FastPath::until(until, drained)
            }
            _ => FastPath::CLOSED,
        };
    }

    #[inline]
    fn set_window(&mut self, ack: &Ack, sample: &RateSample) {
        if self.recovering.is_some() && self.recover(ack, sample) {
            self.window.conserve(ack.in_flight + sample.newly_delivered);
        } else {
            self.window.grow(sample, self.full.was_reached());
        }
        if self.state.probes_rtt() {
            self.window.cap_at_least();
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.stream = Stream::new(now.as_nanos(), "bbr cycle");
        self.min_rtt.set(rtt.max(Span::from_nanos(1)), now);
        self.pace.on_rtt(rtt, self.window.initial());
    }

    fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = &ack.rate else { return };
        if !self.is_on_fast_path(ack, sample) {
            self.update_model(ack, sample);
        } else if self.bandwidth.has_seen(sample) {
            self.carry_on(ack, sample);
        } else {
            self.on_faster(ack, sample);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::EcnMark => {}
            // A repair that is lost as well does not begin a second recovery.
            CongestionKind::Loss if matches!(self.recovering, Some(Recovery::Fast { .. })) => {}
            CongestionKind::Loss => {
                self.window.save(self.recovering.is_some() || self.state.probes_rtt());
                self.recovering = Some(Recovery::Fast { conserves_until: self.rounds.count + 1 });
                self.window.begin_recovery(event.in_flight.saturating_sub(event.lost));
            }
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.time_out(event);
            }
        }
    }

    fn on_spurious(&mut self) {
        self.recovering = None;
        self.window.restore();
        if self.linux {
            self.undo();
        }
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, deliveries: true, ..Wants::default() }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.size(), pacing: Some(self.pace.allowed()) }
    }

    fn state(&self) -> CcState {
        let phase = match self.state {
            State::Startup => Phase::SlowStart,
            State::Drain => Phase::Drain,
            State::ProbeBandwidth(_) => Phase::Avoidance,
            State::ProbeRtt(_) => Phase::ProbeRtt,
        };
        CcState { phase, window: self.window.size(), threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bandwidth_bps", self.bandwidth.largest());
        show("least_rtt_s", self.min_rtt.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::Bbr1;
    use crate::random_events::{compare_with_fast_path, start};

    #[test]
    fn what_the_fast_path_leaves_alone_would_not_have_changed() {
        let share = compare_with_fast_path(
            || Bbr1::new(start()),
            |own| own.looks_always = true,
            Bbr1::is_on_fast_path,
        );
        assert!(share > 0.3, "{share}");
    }
}
