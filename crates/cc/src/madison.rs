//! TCP-Madison: measure the bottleneck, compute the sending rate that leaves a small backlog of one's own there, and
//! send at it [kola:elsevier07].
//!
//! | stage | what happens |
//! |---|---|
//! | start-up | two packet pairs and eight probes, 15 ms apart: first estimates of RTT and capacity |
//! | starting | the rate that reaches the target backlog if nobody else answers, until it is first reached within 20 % |
//! | later | the rate that reaches it if `n_D` equivalent flows do the same |
//!
//! The target falls with the loss rate, as Reno's backlog does; there is no additive increase and no multiplicative
//! decrease. The formulas are `model::bottleneck`'s, the measures `estimate::Bottleneck`'s, the loss rate is in
//! `madison/loss_rate.rs`, when packets leave in `madison/schedule.rs`, and when the rate changes, and to what, in
//! `madison/averaged.rs`, or by the letter of the paper in `madison/printed.rs`.
//!
//! What the paper leaves open is marked `[D]` at [`Parameters`] (`madison/parameters.rs`) and in `docs/papers/madison.md`.

mod averaged;
mod loss_rate;
mod parameters;
mod printed;
mod schedule;
#[cfg(test)]
mod tests;

use crate::in_flight::InFlight;
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, Start, Wants,
};
use averaged::Averaged;
use estimate::{Bottleneck, PAIRS, ProbeWindows};
use loss_rate::LossRate;
use model::bottleneck::{Measures, starting_rate, target_backlog, utilization};
pub use parameters::{Losses, Parameters, Rules};
use printed::Printed;
use schedule::Schedule;
use units::{Bytes, Rate, Span, Time};

/// Start-up's estimates come from so many probes [madison:4.2]; ours, by the largest delay of twice as many `[D]`.
const FIRST_PROBES: usize = 4;
/// Where the spacing of start-up is shorter than so many service times, they come from every second of twice as many.
const FIRST_SPACING: (f64, f64) = (20.0, 0.015);
/// The backlog is the target within this: `n_D` is `n` [madison:4.3].
const NEAR: f64 = 0.2;
/// A requested acknowledgement is missing if it comes so much later than a smoothed RTT: the sender is quiet until the
/// next one comes [madison:4.3]. How late is not printed: the longest mean time between probes `[D]`.
const PATIENCE: Span = Span::from_millis(100);
/// No rate is below a packet in this time, seconds `[D]`.
const SLOWEST: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    StartUp,
    Starting,
    Later,
}

/// By which of the rules, with what they remember.
#[derive(Clone, Debug)]
enum Deciding {
    Printed(Printed),
    Averaged(Averaged),
}

/// TCP-Madison.
#[derive(Clone, Debug)]
pub struct Madison {
    segment: Bytes,
    parameters: Parameters,
    stage: Stage,
    path: Bottleneck,
    schedule: Schedule,
    loss: LossRate,
    /// Round-trip times of start-up's probes.
    first: Vec<Span>,
    /// Packets per second (`S`), and as a pace.
    rate: f64,
    pace: Rate,
    /// The same for the window, and that.
    in_flight: InFlight,
    window: Bytes,
    changed: Time,
    /// The rate is to be computed anew as soon as the period allows.
    due: bool,
    measures: Measures,
    rules: Deciding,
    windows: ProbeWindows,
    smoothed: Span,
    /// A timeout: quiet until an acknowledgement comes.
    quiet: bool,
    round: u64,
}

impl Madison {
    /// A controller at its start, with the paper's parameters.
    #[must_use]
    pub fn new(start: Start) -> Self {
        Self::with(start, Parameters::default())
    }

    /// The same with other parameters.
    #[must_use]
    pub fn with(start: Start, parameters: Parameters) -> Self {
        Self {
            segment: start.segment,
            parameters,
            stage: Stage::StartUp,
            path: Bottleneck::default(),
            schedule: Schedule::new(parameters.randomness.clamp(0.0, 1.0)),
            loss: LossRate::new(parameters.initial_loss, parameters.least_loss, parameters.losses),
            first: Vec::new(),
            rate: 0.0,
            pace: Rate::from_bps(1),
            in_flight: InFlight::default(),
            window: start.segment,
            changed: Time::ZERO,
            due: false,
            measures: Measures::default(),
            rules: match parameters.rules {
                Rules::Printed => Deciding::Printed(Printed::default()),
                Rules::Averaged => Deciding::Averaged(Averaged::default()),
            },
            windows: ProbeWindows::default(),
            smoothed: Span::ZERO,
            quiet: false,
            round: 0,
        }
    }

    /// The backlog it wants, packets.
    fn target(&self) -> f64 {
        target_backlog(self.loss.value())
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        if bytes == self.segment { 1.0 } else { self.part_of_segment(bytes) }
    }

    #[cold]
    fn part_of_segment(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.segment.get().max(1) as f64
    }

    fn on_first_probe(&mut self, now: Time, rtt: Span) {
        self.path.observe_least(rtt);
        self.first.push(rtt);
        let Some(service) = self.path.service() else { return };
        let (services, spacing) = FIRST_SPACING;
        let apart = spacing >= services * service;
        // Four probes often all meet an empty queue, at 42 % of load one time in nine, eight one time in eighty [D].
        let few = apart && self.parameters.rules == Rules::Printed;
        if self.first.len() < if few { FIRST_PROBES } else { 2 * FIRST_PROBES } {
            return;
        }
        for rtt in self.first.iter().step_by(if apart { 1 } else { 2 }) {
            self.path.observe(*rtt);
        }
        let (least, most) = self.parameters.probe_spacing;
        let wanted = self.parameters.probe_services * service;
        self.schedule.begin(now, wanted.min(most.as_secs_f64()).max(least.as_secs_f64()));
        self.stage = Stage::Starting;
        let Some(measures) = self.path.measures(0.0, self.parameters.noise) else { return };
        self.measures = measures;
        let utilization = match self.rules {
            Deciding::Printed(_) => measures.utilization,
            // So few probes, a moment apart, see one length of the queue, and the least of them is taken for an empty one:
            // what they differ by says more than their mean. And if all of n met an empty queue, the next would meet another
            // with a chance of 1 in n + 2 (the rule of succession) [D].
            Deciding::Averaged(_) => {
                let most = self.first.iter().copied().max().unwrap_or(rtt).as_secs_f64();
                let seen = utilization((most - self.path.least_rtt().unwrap_or(most)) / service);
                seen.max(1.0 / (self.first.len() as f64 + 2.0))
            }
        };
        self.send(now, service, starting_rate(self.target(), utilization));
    }

    /// A probe sent at `sent` has returned.
    fn on_probe(&mut self, now: Time, sent: Time, rtt: Span) {
        self.path.observe(rtt);
        let another = self.loss.recompute();
        let (Some(measures), Some(service), Some(least)) = (
            self.path.measures(self.rate, self.parameters.noise),
            self.path.service(),
            self.path.least_rtt(),
        ) else {
            return;
        };
        self.path.note(&measures);
        self.measures = measures;
        let (target, starting) = (self.target(), self.stage == Stage::Starting);
        let share = match &mut self.rules {
            Deciding::Printed(rules) => {
                let (near, far) = rules.judge(&measures, target, NEAR);
                if near {
                    self.stage = Stage::Later;
                }
                self.due |= another || far;
                if !self.due || now.since(self.changed) < self.parameters.period {
                    return;
                }
                rules.share(&measures, target, starting && !near)
            }
            Deciding::Averaged(rules) => {
                if !self.windows.observe(sent, rtt, least, self.parameters.period) {
                    return;
                }
                let Some((share, near)) = rules.share(&self.windows, service, target, starting, NEAR) else {
                    return;
                };
                if near {
                    self.stage = Stage::Later;
                }
                share
            }
        };
        self.send(now, service, share);
    }

    /// Sends at the `share` of the capacity from `now` on.
    fn send(&mut self, now: Time, service: f64, share: f64) {
        self.due = false;
        self.changed = now;
        // A segment per round trip is the least that a window allows.
        let least = 1.0 / self.smoothed.as_secs_f64().clamp(1e-6, SLOWEST);
        self.rate = (share / service).max(least).min(1.0 / service);
        self.pace = Rate::from_bps_f64(self.segment.bits_f64() * self.rate).max(Rate::from_bps(1));
        self.windows.send_at(now, self.rate);
        self.schedule.set_gap(1.0 / self.rate);
        self.in_flight = InFlight::at(self.rate * self.segment.get() as f64);
    }

    /// What is sent until an acknowledgement is missing, and two segments.
    #[inline]
    fn resize(&mut self) {
        self.window = self.in_flight.over(self.smoothed + PATIENCE) + self.segment + self.segment;
    }

    /// An acknowledgement that ends a round trip, tells of a probe or a pair, or comes during start-up.
    #[inline(never)]
    fn learn(&mut self, ack: &Ack, delivered: f64) {
        let (is_probe, pair) = self.schedule.on_ack(ack.now, ack.newest_sent, delivered);
        if let Some(dispersion) = pair {
            self.path.observe_pair(dispersion);
        }
        let rtt = ack.now.since(ack.newest_sent);
        match self.stage {
            Stage::StartUp => {
                if is_probe {
                    self.on_first_probe(ack.now, rtt);
                }
                if self.stage == Stage::StartUp && self.schedule.is_held() && ack.in_flight == Bytes::ZERO {
                    self.first.clear();
                    self.schedule.restart();
                }
            }
            Stage::Starting | Stage::Later => {
                if is_probe {
                    self.on_probe(ack.now, ack.newest_sent, rtt);
                }
                if ack.round != self.round {
                    self.schedule.want_pair(PAIRS);
                }
            }
        }
        self.round = ack.round;
        self.resize();
    }

    /// During start-up, as much as its script has, at the least spacing.
    #[cold]
    fn first_allowance(&self) -> Allowance {
        let segments = if self.quiet { 1 } else { self.schedule.script_len() as u64 };
        // The rate is said for who reads it: departures are placed.
        let spaced = Rate::from_bps_f64(self.segment.bits_f64() / FIRST_SPACING.1).max(Rate::from_bps(1));
        let pacing = (!self.schedule.is_held()).then_some(spaced);
        Allowance { window: (self.segment * segments).max(self.segment), pacing }
    }
}

impl CongestionControl for Madison {
    fn on_ack(&mut self, ack: &Ack) {
        self.quiet = false;
        self.smoothed = ack.rtt.smoothed;
        let delivered = self.segments(ack.delivered);
        self.loss.on_delivered(delivered);
        let is_calm = self.stage != Stage::StartUp && ack.round == self.round;
        if !is_calm || self.schedule.awaits(ack.newest_sent) {
            self.learn(ack, delivered);
        } else {
            self.resize();
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::Loss => self.loss.on_event(),
            CongestionKind::EcnMark => self.loss.on_mark(),
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.loss.on_event();
                self.quiet = true;
                self.window = self.segment;
                if self.stage == Stage::StartUp {
                    self.first.clear();
                    self.schedule.restart();
                }
            }
        }
    }

    fn on_lost(&mut self, _lost: &LostSegment) {
        self.loss.on_lost();
    }

    fn gap_after(&mut self, now: Time) -> Option<Span> {
        Some(self.schedule.left(now))
    }

    fn wants(&self) -> Wants {
        Wants { rate: false, deliveries: true, departures: true }
    }

    fn allowance(&self) -> Allowance {
        if self.stage == Stage::StartUp {
            return self.first_allowance();
        }
        Allowance { window: self.window, pacing: Some(self.pace) }
    }

    fn state(&self) -> CcState {
        let phase = if self.stage == Stage::Later { Phase::Avoidance } else { Phase::SlowStart };
        CcState { phase, window: self.allowance().window, threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let adapting = match &self.rules {
            Deciding::Printed(rules) => rules.adapting,
            Deciding::Averaged(rules) => rules.adapting,
        };
        let Measures { total_backlog, backlog, utilization, own, cross, flows } = self.measures;
        show("queueing_delay_s", total_backlog * self.path.service().unwrap_or(0.0));
        show("backlog_packets", backlog);
        show("total_backlog_packets", total_backlog);
        show("utilization", utilization);
        show("own_share", own);
        show("cross_share", cross);
        show("equivalent_flows", flows);
        show("adapting_flows", adapting);
        show("buffer_packets", self.path.largest_backlog());
        show("loss_rate", self.loss.value());
        show("target_backlog_packets", self.target());
        show("rate_packets_per_s", self.rate);
    }
}
