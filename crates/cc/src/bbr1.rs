//! BBR, version 1: the largest delivery rate of ten round trips and the least RTT of ten seconds make a model of the
//! path; send at that rate, with twice their product in flight [draft-cardwell-iccrg-bbr-congestion-control-00].
//!
//! | state | pacing | in flight, of the BDP | until |
//! |---|---|---|---|
//! | startup | 2.885 | 2.885 | three rounds grew by less than a quarter |
//! | drain | 1/2.885 | 2.885 | no more than the BDP is in flight |
//! | probe bandwidth | 1.25, 0.75, and six times 1, each for a least RTT | 2 | |
//! | probe RTT | 1 | 4 segments | 200 ms and a round, every 10 s without a new least RTT |
//!
//! Linux departs from the draft in two points, which [`Tuning::linux_bbr`] turns on (`net/ipv4/tcp_bbr.c` of 6.18). It paces
//! 1 % below the rate that it aims at (`bbr_pacing_margin_percent`), so that a standing queue drains. And only a lower RTT
//! renews the least one: an equal RTT does not put off the next probe for the RTT.
//!
//! Loss ends nothing: it holds the window to what is in flight for a round (packet conservation), and the window from
//! before returns with the end of recovery. Long-term sampling of token-bucket policers is left out, as the draft does.

mod control_parameters;

use crate::registry::Tuning;
use crate::round_trips::{Rounds, WindowedMax};
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, RateSample, Start, Wants,
};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// `BBRHighGain`: 2/ln 2, the least that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// The window beyond startup, in BDPs: acknowledgements may come late and together.
const WINDOW_GAIN: f64 = 2.0;
/// `BBRGainCycle`.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BtlBwFilterLen`, rounds.
const RATE_ROUNDS: usize = 10;
/// `RTpropFilterLen`.
const RTT_AGE: Span = Span::from_secs(10);
/// 1 minus Linux's `bbr_pacing_margin_percent`.
const LINUX_MARGIN: f64 = 0.99;
/// `BBRMinPipeCwnd`, segments.
const LEAST_WINDOW: u64 = 4;
/// `ProbeRTTDuration`.
const PROBE_RTT: Span = Span::from_millis(200);
/// The pipe is full when the rate did not grow by this for so many rounds.
const FULL: (f64, u32) = (1.25, 3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR v1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    segment: Bytes,
    least_window: Bytes,
    initial_window: Bytes,
    window: Bytes,
    prior_window: Bytes,
    seen_rtt: bool,
    /// Bits per second; zero before there is a sample. And as it is allowed.
    pacing: f64,
    pace: Rate,
    state: State,
    /// Of pacing and of the window, as the state has them.
    gains: (f64, f64),
    rounds: Rounds,
    filter: WindowedMax<RATE_ROUNDS>,
    /// Rates from this one on are new to the filter in this round.
    unseen: Rate,
    /// The filter's largest, bits per second (`BtlBw`).
    bandwidth: f64,
    /// `RTprop`, and when it was seen.
    min_rtt: Span,
    min_rtt_at: Time,
    full_bandwidth: f64,
    full_rounds: u32,
    filled: bool,
    cycle: usize,
    cycle_at: Time,
    probe_rtt_until: Option<Time>,
    probe_rtt_round: bool,
    /// In recovery, and its first round is over when this many rounds have begun.
    recovering: bool,
    conserving_until: u64,
    stream: Stream,
    /// The host sends super-packets.
    offload: bool,
    /// Linux's version, where it differs from the draft.
    linux: bool,
    /// For the test that what is calm may be left alone.
    #[cfg(test)]
    looks_always: bool,
    /// Gains, bandwidth or RTT have changed since the pace and the window's target were computed from them.
    moved: bool,
    target: Bytes,
    /// Until then, and with more than this in flight, only a round, a new rate or a lower RTT has anything looked at.
    calm_until: Time,
    calm_above: Bytes,
}

impl Bbr1 {
    /// A controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = start.window.max(start.segment);
        let mut own = Self {
            segment: start.segment,
            least_window: start.segment * LEAST_WINDOW,
            initial_window: window,
            window,
            prior_window: Bytes::ZERO,
            seen_rtt: false,
            pacing: 0.0,
            pace: Rate::ZERO,
            state: State::Startup,
            gains: (HIGH_GAIN, HIGH_GAIN),
            rounds: Rounds::default(),
            filter: WindowedMax::new(),
            unseen: Rate::ZERO,
            bandwidth: 0.0,
            min_rtt: Span::MAX,
            min_rtt_at: Time::ZERO,
            full_bandwidth: 0.0,
            full_rounds: 0,
            filled: false,
            cycle: 0,
            cycle_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round: false,
            recovering: false,
            conserving_until: 0,
            stream: Stream::new(0, "bbr cycle"),
            offload: false,
            linux: false,
            #[cfg(test)]
            looks_always: false,
            moved: true,
            target: window,
            calm_until: Time::ZERO,
            calm_above: Bytes::MAX,
        };
        // Before a round-trip time is known it counts for 1 ms.
        own.pace_at(HIGH_GAIN * window.bits_f64() / 1e-3);
        own
    }

    /// The same controller on a host with these settings.
    #[must_use]
    pub fn on(self, tuning: Tuning) -> Self {
        Self { offload: tuning.offload, linux: tuning.linux_bbr, ..self }
    }

    #[inline(never)]
    fn enter(&mut self, state: State) {
        self.state = state;
        self.gains = match state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            State::ProbeBandwidth => (CYCLE[self.cycle], WINDOW_GAIN),
            State::ProbeRtt => (1.0, 1.0),
        };
        self.moved = true;
    }

    /// Whether nothing but the window follows of `ack`, unless its rate is a new one: in a phase of the cycle nothing
    /// happens before it is over, what it drains is drained, or the least RTT is too old.
    #[inline]
    fn is_calm(&self, ack: &Ack, sample: &RateSample) -> bool {
        #[cfg(test)]
        if self.looks_always {
            return false;
        }
        ack.now <= self.calm_until
            && ack.in_flight > self.calm_above
            && !self.rounds.starts(sample)
            && ack.rtt.latest.is_none_or(|rtt| rtt > self.min_rtt)
    }

    /// All is calm but for a rate that the round has not seen: mostly another round has.
    #[inline(never)]
    fn on_faster(&mut self, ack: &Ack, sample: &RateSample) {
        self.take_rate(sample);
        if self.moved { self.update_model(ack, sample) } else { self.set_window(ack, sample) }
    }

    /// What the acknowledgement tells of the path, the state, and what follows of both.
    #[inline(never)]
    fn update_model(&mut self, ack: &Ack, sample: &RateSample) {
        if self.min_rtt == Span::MAX {
            // Flows that begin at different times do not cycle in step.
            self.stream = Stream::new(ack.now.as_nanos(), "bbr cycle");
        }
        self.update_bandwidth(sample);
        self.check_cycle(ack, sample);
        self.check_full(sample);
        self.check_drain(ack);
        self.check_probe_rtt(ack, sample);
        self.set_pacing(ack);
        self.foresee();
        self.set_window(ack, sample);
    }

    /// What ends the calm.
    fn foresee(&mut self) {
        if self.state != State::ProbeBandwidth || !self.filled || !self.seen_rtt {
            self.calm_above = Bytes::MAX;
            return;
        }
        self.calm_until = (self.cycle_at + self.min_rtt).min(self.min_rtt_at + RTT_AGE);
        self.calm_above = if self.gains.0 < 1.0 { self.target(1.0) } else { Bytes::ZERO };
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.rounds.on_ack(sample);
        if self.rounds.started {
            self.unseen = Rate::ZERO;
        }
        if !sample.falls_short_of(self.unseen) {
            self.take_rate(sample);
        }
    }

    #[inline(never)]
    fn take_rate(&mut self, sample: &RateSample) {
        let Some(rate) = sample.rate() else { return };
        let bits = rate.as_bps_f64();
        if bits >= self.bandwidth || !self.rounds.is_limited(sample) {
            let bandwidth = self.filter.update(self.rounds.count, bits, RATE_ROUNDS as u64);
            self.moved |= bandwidth != self.bandwidth;
            self.bandwidth = bandwidth;
            self.unseen = rate + Rate::from_bps(1);
        }
    }

    fn check_cycle(&mut self, ack: &Ack, sample: &RateSample) {
        if self.state != State::ProbeBandwidth {
            return;
        }
        let elapsed = ack.now.since(self.cycle_at) > self.min_rtt;
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
            self.next_phase(ack.now);
        }
    }

    #[inline(never)]
    fn next_phase(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = now;
        self.enter(State::ProbeBandwidth);
    }

    fn check_full(&mut self, sample: &RateSample) {
        if !self.filled && self.rounds.started && !self.rounds.is_limited(sample) {
            self.judge_growth();
        }
    }

    fn judge_growth(&mut self) {
        if self.bandwidth >= self.full_bandwidth * FULL.0 {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth, 0);
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= FULL.1;
    }

    fn check_drain(&mut self, ack: &Ack) {
        if matches!(self.state, State::ProbeBandwidth | State::ProbeRtt) {
            return;
        }
        if self.state == State::Startup && self.filled {
            self.enter(State::Drain);
        }
        if self.state == State::Drain && ack.in_flight <= self.target(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Begins at any phase but the one that drains.
    fn probe_bandwidth(&mut self, now: Time) {
        let others = CYCLE.len() as u64 - 1;
        self.cycle = (self.stream.integer(2, others + 1) % (others + 1)) as usize;
        self.cycle_at = now;
        self.enter(State::ProbeBandwidth);
    }

    fn check_probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        let expired = ack.now.since(self.min_rtt_at) > RTT_AGE;
        if let Some(rtt) = ack.rtt.latest
            && (rtt < self.min_rtt || (rtt == self.min_rtt && !self.linux) || expired)
        {
            (self.min_rtt, self.min_rtt_at) = (rtt.max(Span::from_nanos(1)), ack.now);
            self.moved = true;
        }
        if expired && self.state != State::ProbeRtt {
            self.enter(State::ProbeRtt);
            self.save_window();
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack, sample);
        }
    }

    #[inline(never)]
    fn probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        self.rounds.limit(sample, ack.in_flight);
        match self.probe_rtt_until {
            None if ack.in_flight <= self.least_window => {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT);
                self.probe_rtt_round = false;
                self.rounds.restart(sample.delivered_total);
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round && ack.now > until {
                    self.min_rtt_at = ack.now;
                    self.window = self.window.max(self.prior_window);
                    if self.filled { self.probe_bandwidth(ack.now) } else { self.enter(State::Startup) }
                }
            }
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = &ack.rate else { return };
        if !self.is_calm(ack, sample) {
            self.update_model(ack, sample);
        } else if sample.falls_short_of(self.unseen) {
            self.set_window(ack, sample);
        } else {
            self.on_faster(ack, sample);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::EcnMark => {}
            CongestionKind::Loss => {
                if !self.recovering {
                    self.save_window();
                }
                self.recovering = true;
                self.conserving_until = self.rounds.count + 1;
                let lost = event.lost.min(event.in_flight);
                self.window = (event.in_flight.saturating_sub(lost) + self.segment).max(self.segment);
            }
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.save_window();
                // Everything is lost; the window grows back with what arrives.
                self.recovering = false;
                self.window = self.segment;
            }
        }
    }

    fn on_spurious(&mut self) {
        self.recovering = false;
        self.window = self.window.max(self.prior_window);
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, deliveries: true, departures: false }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: Some(self.pace) }
    }

    fn state(&self) -> CcState {
        let phase = match self.state {
            State::Startup => Phase::SlowStart,
            State::Drain => Phase::Drain,
            State::ProbeBandwidth => Phase::Avoidance,
            State::ProbeRtt => Phase::ProbeRtt,
        };
        CcState { phase, window: self.allowance().window, threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bandwidth_bps", self.bandwidth);
        show("least_rtt_s", if self.min_rtt == Span::MAX { 0.0 } else { self.min_rtt.as_secs_f64() });
    }
}

#[cfg(test)]
mod tests {
    use super::Bbr1;
    use crate::lives::{compare, start};

    #[test]
    fn what_is_left_alone_while_all_is_calm_would_not_have_changed() {
        let calm = compare(|| Bbr1::new(start()), |own| own.looks_always = true, Bbr1::is_calm);
        assert!(calm > 0.3, "{calm}");
    }
}
