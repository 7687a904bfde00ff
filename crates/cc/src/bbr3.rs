//! BBR, version 3: the largest delivery rate of two probing cycles, the least RTT, and bounds on what may be in flight
//! that losses beyond 2 % teach [draft-ietf-ccwg-bbr, 2026].
//!
//! | state | pacing gain | window gain | bounded by |
//! |---|---|---|---|
//! | startup | 2.77 | 2 | |
//! | drain | 0.5 | 2 | what losses of late teach |
//! | probe bandwidth: down | 0.9 | 2 | the same, and the long-term bound |
//! | … cruise | 1 | 2 | the same with headroom |
//! | … refill | 1 | 2 | the long-term bound |
//! | … up | 1.25 | 2.25 | the long-term bound |
//! | probe RTT | 1 | 0.5 | |
//!
//! `bbr3/cycle.rs` has the probing of bandwidth, `bbr3/probe_rtt.rs` that of the RTT,
//! `bbr3/signals.rs` what each acknowledgement tells of the path, `bbr3/bounds.rs` what losses teach,
//! `bbr3/full_pipe.rs` when the pipe is full, `bbr3/control_parameters.rs` the pace and the window, and `bbr3/calm.rs` when
//! nothing else needs to be looked at. Data are not sent in aggregates here, so the offload budget is nothing; a transport that
//! is never idle does not restart.

mod bounds;
mod calm;
mod control_parameters;
mod cycle;
mod full_pipe;
mod probe_rtt;
mod signals;

use crate::round_trips::{Rounds, WindowedMax};
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, RateSample,
    Start, Wants,
};
use bounds::{Bounds, LOSS_THRESHOLD, larger, smaller};
use calm::Calm;
use cycle::is_too_high;
use full_pipe::FullPipe;
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// `BBR.StartupPacingGain`: 4 ln 2.
const STARTUP_GAIN: f64 = 2.77;
/// `BBR.DrainPacingGain`.
const DRAIN_GAIN: f64 = 0.5;
/// Of the states down, cruise, refill, up.
const PROBE_GAINS: [f64; 4] = [0.9, 1.0, 1.0, 1.25];
/// `BBR.DefaultCwndGain`, and that of probing upwards, and of probing the RTT.
const WINDOW_GAINS: (f64, f64, f64) = (2.0, 2.25, 0.5);
/// `BBR.PacingMarginPercent`.
const PACING_MARGIN: f64 = 0.99;
/// `BBR.MinPipeCwnd`, segments.
const LEAST_WINDOW: f64 = 4.0;
/// `BBR.MaxBwFilterLen`, cycles.
const RATE_CYCLES: usize = 2;
/// `BBR.ExtraAckedFilterLen`, rounds.
const EXTRA_ROUNDS: usize = 10;
/// `BBRStartupFullLossCnt`.
const STARTUP_LOSSES: u32 = 6;
/// No window is larger, bytes.
const MOST: f64 = 1e15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Probe(Probe),
    ProbeRtt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    Down,
    Cruise,
    Refill,
    Up,
}

/// What acknowledgements now tell of (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Idle,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// BBR v3. Amounts in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    segment: Bytes,
    /// The same as a number, and the least window.
    segment_bytes: f64,
    least_window: f64,
    initial_window: f64,
    /// Also as it is allowed.
    window: f64,
    whole_window: Bytes,
    prior_window: f64,
    /// What the model wants in flight, and the most that losses have taught allows.
    wanted: f64,
    most_window: f64,
    /// Bytes per second; and as it is allowed.
    pacing: f64,
    pace: Rate,
    seen_rtt: bool,
    state: State,
    /// Of pacing and of the window, as the state has them.
    gains: (f64, f64),
    /// Room for segments that leave together, where the state has any.
    quanta: f64,
    calm: Calm,
    now: Time,
    rounds: Rounds,
    /// Delivered since the start, as of the last acknowledgement.
    delivered: Bytes,
    filter: WindowedMax<RATE_CYCLES>,
    cycles: u64,
    max_rate: f64,
    /// Rates from this one on are new to the filter in this round.
    unseen: Rate,
    rate: f64,
    /// The longest span before there is one.
    min_rtt: Span,
    /// The same in seconds; zero before there is one.
    min_rtt_seconds: f64,
    min_rtt_at: Time,
    probe_rtt_window: f64,
    probe_rtt_until: Option<Time>,
    probe_rtt_round: bool,
    full: FullPipe,
    drain_from: u64,
    bounds: Bounds,
    acks: Acks,
    is_probe_sample: bool,
    last_was_too_high: bool,
    probed_with_care: bool,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    probe_up_acked_per_increase: f64,
    rounds_since_probe: u64,
    /// When bandwidth is probed again at the latest.
    probe_at: Time,
    extra: WindowedMax<EXTRA_ROUNDS>,
    extra_from: Time,
    extra_delivered: f64,
    recovering: bool,
    undo: Option<State>,
    stream: Stream,
    /// For the test that what is calm may be left alone.
    #[cfg(test)]
    looks_always: bool,
}

/// Bytes as a number, below 2^63: a signed one becomes a fraction in one step, an unsigned in seven.
#[inline]
fn amount(bytes: Bytes) -> f64 {
    bytes.get() as i64 as f64
}

/// The same of a time.
#[inline]
fn seconds(span: Span) -> f64 {
    span.as_nanos() as i64 as f64 * 1e-9
}

impl Bbr3 {
    /// A controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = start.window.max(start.segment).get() as f64;
        let segment_bytes = start.segment.get().max(1) as f64;
        let mut own = Self {
            segment: start.segment,
            segment_bytes,
            least_window: LEAST_WINDOW * segment_bytes,
            initial_window: window.min(MOST),
            window: 0.0,
            whole_window: start.segment,
            prior_window: 0.0,
            wanted: 0.0,
            most_window: MOST,
            pacing: 0.0,
            pace: Rate::ZERO,
            seen_rtt: false,
            state: State::Startup,
            gains: (STARTUP_GAIN, WINDOW_GAINS.0),
            quanta: 0.0,
            calm: Calm::NOT,
            now: Time::ZERO,
            rounds: Rounds::default(),
            delivered: Bytes::ZERO,
            filter: WindowedMax::new(),
            cycles: 0,
            max_rate: 0.0,
            unseen: Rate::ZERO,
            rate: 0.0,
            min_rtt: Span::MAX,
            min_rtt_seconds: 0.0,
            min_rtt_at: Time::ZERO,
            probe_rtt_window: window,
            probe_rtt_until: None,
            probe_rtt_round: false,
            full: FullPipe::default(),
            drain_from: 0,
            bounds: Bounds::new(),
            acks: Acks::Idle,
            is_probe_sample: false,
            last_was_too_high: false,
            probed_with_care: false,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_acked_per_increase: f64::INFINITY,
            rounds_since_probe: 0,
            probe_at: Time::ZERO,
            extra: WindowedMax::new(),
            extra_from: Time::ZERO,
            extra_delivered: 0.0,
            recovering: false,
            undo: None,
            stream: Stream::new(0, "bbr probes"),
            #[cfg(test)]
            looks_always: false,
        };
        own.resize(window.min(MOST));
        // Before a round-trip time is known it counts for 1 ms.
        own.pace_at(STARTUP_GAIN * window / 1e-3);
        own
    }

    /// `BDPMultiple` at `rate`.
    fn bdp(&self, rate: f64) -> f64 {
        if self.min_rtt != Span::MAX { rate * self.min_rtt_seconds } else { self.initial_window }
    }

    /// `Inflight(1.0)` at `rate`.
    fn inflight_at(&self, rate: f64) -> f64 {
        self.with_quanta(self.bdp(rate))
    }

    /// `QuantizationBudget`.
    fn with_quanta(&self, inflight: f64) -> f64 {
        larger(inflight, self.least_window) + self.quanta
    }

    fn with_headroom(&self) -> f64 {
        self.bounds.with_headroom(self.segment_bytes, self.least_window)
    }

    fn target_inflight(&self) -> f64 {
        smaller(self.bdp(self.rate), self.window)
    }

    fn restart_round(&mut self) {
        self.rounds.restart(self.delivered);
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.calm = Calm::NOT;
        self.quanta = if state == State::Probe(Probe::Up) { 2.0 * self.segment_bytes } else { 0.0 };
        self.gains = match state {
            State::Startup => (STARTUP_GAIN, WINDOW_GAINS.0),
            State::Drain => (DRAIN_GAIN, WINDOW_GAINS.0),
            State::Probe(Probe::Up) => (PROBE_GAINS[Probe::Up as usize], WINDOW_GAINS.1),
            State::Probe(probe) => (PROBE_GAINS[probe as usize], WINDOW_GAINS.0),
            State::ProbeRtt => (1.0, WINDOW_GAINS.2),
        };
    }

    fn check_startup(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        if !self.full.now && self.rounds.started && !self.rounds.is_limited(sample) {
            self.full.on_round(rate);
        }
        let losses = self.bounds.loss_events;
        if self.state == State::Startup
            && self.bounds.round_started
            && self.recovering
            && ack.recovering
            && losses >= STARTUP_LOSSES
            && is_too_high(sample.lost, sample.sent_in_flight)
        {
            self.undo = Some(State::Startup);
            self.full.reached = true;
            self.bounds.inflight_long = self.bdp(self.rate).max(amount(self.bounds.inflight_latest));
        }
        if self.state == State::Startup && self.full.reached {
            self.enter(State::Drain);
            self.drain_from = self.rounds.count;
        }
        if self.state == State::Drain {
            let drained = amount(ack.in_flight) <= self.inflight_at(self.rate);
            if drained || self.rounds.count > self.drain_from + 3 {
                self.enter_probe_bandwidth();
            }
        }
    }

    /// What the acknowledgement tells of the path, the state, and what follows of both.
    #[inline(never)]
    fn update_model(&mut self, ack: &Ack, sample: &RateSample) {
        if self.min_rtt == Span::MAX {
            // Flows that begin at different times do not probe in step.
            self.stream = Stream::new(ack.now.as_nanos(), "bbr probes");
        }
        self.rounds.on_ack(sample);
        self.bounds.observe(sample);
        let rate = self.rate_of(sample);
        self.bounds.observe_rate(rate);
        self.update_signals();
        self.update_aggregation(sample);
        self.check_startup(ack, sample, rate);
        if self.bounds.round_started {
            (self.bounds.lost_in_round, self.bounds.loss_events) = (false, 0);
        }
        self.update_cycle(ack, sample, rate);
        self.check_probe_rtt(ack, sample);
        if self.bounds.round_started {
            self.bounds.advance(sample, rate);
            self.unseen = Rate::ZERO;
        }
        self.rate = smaller(self.max_rate, self.bounds.rate_short);
        self.set_pacing(ack);
        self.set_bounds();
        self.foresee();
        self.set_window(ack, sample);
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = &ack.rate else { return };
        (self.now, self.delivered) = (ack.now, sample.delivered_total);
        if !self.is_calm(ack, sample) {
            self.update_model(ack, sample);
        } else if sample.falls_short_of(self.unseen) {
            self.carry_on(sample);
        } else {
            self.on_faster(ack, sample);
        }
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.bounds.note_loss(self.delivered);
        if !self.is_probe_sample || !is_too_high(lost.lost, lost.sent_in_flight) {
            return;
        }
        // What was in flight as losses crossed the threshold, `InflightAtLoss`.
        let size = amount(lost.size);
        let (in_flight, lost) = (amount(lost.sent_in_flight) - size, amount(lost.lost) - size);
        let prefix = (LOSS_THRESHOLD * in_flight - lost) / (1.0 - LOSS_THRESHOLD);
        self.handle_too_high((in_flight + prefix).max(0.0));
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
            CongestionKind::EcnMark => self.bounds.note_loss(self.delivered),
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.save_window();
                self.bounds.save();
                // Everything is lost; the window grows back with what arrives.
                self.recovering = false;
                self.resize(self.segment_bytes);
            }
        }
    }

    fn on_spurious(&mut self) {
        self.recovering = false;
        self.calm = Calm::NOT;
        self.resize(self.window.max(self.prior_window));
        self.full.reset();
        self.bounds.restore();
        self.resume();
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, deliveries: true, departures: false }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.whole_window, pacing: Some(self.pace) }
    }

    fn state(&self) -> CcState {
        let phase = match self.state {
            State::Startup => Phase::SlowStart,
            State::Drain => Phase::Drain,
            State::Probe(_) => Phase::Avoidance,
            State::ProbeRtt => Phase::ProbeRtt,
        };
        CcState { phase, window: self.allowance().window, threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bandwidth_bps", self.max_rate * 8.0);
        show("least_rtt_s", self.min_rtt_seconds);
        show("inflight_longterm_bytes", self.bounds.inflight_long.min(MOST));
    }
}
