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
//! `madison/loss_rate.rs`, and when packets leave in `madison/schedule.rs`.
//!
//! What the paper leaves open is marked `[D]` at [`Parameters`] and in `docs/papers/madison.md`.

mod loss_rate;
mod schedule;
mod transient;

use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, Start, Wants,
};
use estimate::{Bottleneck, PAIRS};
use loss_rate::LossRate;
use model::bottleneck::{Measures, adapted, shared_rate, starting_rate, target_backlog};
use schedule::Schedule;
use units::{Bytes, Rate, Span, Time};

/// Start-up's estimates come from so many probes [madison:4.2].
const FIRST_PROBES: usize = 4;
/// Where the spacing of start-up is shorter than so many service times, they come from every second of twice as many.
const FIRST_SPACING: (f64, f64) = (20.0, 0.015);
/// The backlog is the target within this: `n_D` is `n` [madison:4.3].
const NEAR: f64 = 0.2;
/// Two successive backlogs further off than this ask for another rate [madison:4.3].
const FAR: f64 = 0.3;
/// No more flows adapt together than this `[D]`.
const MOST_FLOWS: f64 = 1e6;
/// No rate is below a packet in this time, seconds `[D]`.
const SLOWEST: f64 = 1.0;

/// Table 2 of the paper, and what it leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The least loss rate that counts (`p_min`).
    pub least_loss: f64,
    /// The loss rate at the start (`p_init`).
    pub initial_loss: f64,
    /// The least time between changes of the rate (`T`).
    pub period: Span,
    /// Mean time between probes, in service times (`tProbe*`).
    pub probe_services: f64,
    /// But no less than the first of these, and no more than the second.
    pub probe_spacing: (Span, Span),
    /// `[D]` A queueing delay below this is the clock's noise.
    pub noise: Span,
    /// `[D]` A requested acknowledgement is missing if it comes so much later than a smoothed RTT: the sender is
    /// quiet until the next one.
    pub patience: Span,
    /// `[D]` A rate is judged by six probes that left under it, not by those that were under way as it changed. The
    /// paper's 200 ms are to let a change show; over longer paths they do not.
    pub fresh: bool,
    /// `[D]` Two successive backlogs, each over six probes of its own, do not ask for another rate if the second is
    /// off the target by less than this part of the first: the last change is still at work.
    pub approach: f64,
    /// `[D]` A change takes `n_D` down to no less than this part of it. An `n_D` too small by half makes the flows ask
    /// for twice the link.
    pub caution: f64,
    /// `[D]` How random the spacing of packets is, from 0, even as in the paper, to 1, a Poisson process. The formulas
    /// take arrivals for Poisson; on a path of few flows those of a simulator, unlike those of the paper's hosts, are
    /// not unless the senders make them so, and the utilization is underestimated by half.
    pub randomness: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            least_loss: 2.55e-5,
            initial_loss: 1e-4,
            period: Span::from_millis(200),
            probe_services: 32.0,
            probe_spacing: (Span::from_millis(15), Span::from_millis(100)),
            noise: Span::from_micros(10),
            patience: Span::from_millis(100),
            fresh: true,
            approach: 0.9,
            caution: 0.95,
            randomness: 1.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    StartUp,
    Starting,
    Later,
}

/// The bottleneck as it was when the rate changed last.
#[derive(Clone, Copy, Debug)]
struct Change {
    own: f64,
    cross: f64,
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
    /// Packets per second (`S`).
    rate: f64,
    changed: Time,
    change: Option<Change>,
    /// The rate is to be computed anew as soon as the period allows.
    due: bool,
    measures: Measures,
    /// The backlog by the probe before.
    previous: Option<f64>,
    /// `n_D`.
    adapting: f64,
    smoothed: Span,
    /// A timeout: quiet until an acknowledgement comes.
    quiet: bool,
    round: u64,
    transient: transient::Transient,
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
            loss: LossRate::new(parameters.initial_loss, parameters.least_loss),
            first: Vec::new(),
            rate: 0.0,
            changed: Time::ZERO,
            change: None,
            due: false,
            measures: Measures::default(),
            previous: None,
            adapting: 1.0,
            smoothed: Span::ZERO,
            quiet: false,
            round: 0,
            transient: transient::Transient::default(),
        }
    }

    /// The backlog it wants, packets.
    fn target(&self) -> f64 {
        target_backlog(self.loss.value())
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.segment.get().max(1) as f64
    }

    fn on_first_probe(&mut self, now: Time, rtt: Span) {
        self.path.observe_least(rtt);
        self.first.push(rtt);
        let Some(service) = self.path.service() else { return };
        let (services, spacing) = FIRST_SPACING;
        let apart = spacing >= services * service;
        if self.first.len() < if apart { FIRST_PROBES } else { 2 * FIRST_PROBES } {
            return;
        }
        for rtt in self.first.iter().step_by(if apart { 1 } else { 2 }) {
            self.path.observe(*rtt);
        }
        let (least, most) = self.parameters.probe_spacing;
        let wanted = self.parameters.probe_services * service;
        self.schedule.begin(now, wanted.min(most.as_secs_f64()).max(least.as_secs_f64()));
        self.stage = Stage::Starting;
        self.retarget(now);
    }

    fn on_probe(&mut self, now: Time, sent: Time, rtt: Span) {
        self.path.observe(rtt);
        if let Some(measures) = self.path.measures(self.rate, self.parameters.noise) {
            self.path.note(&measures);
            self.measures = measures;
        }
        self.loss.recompute();
        let window = self.transient.observe(sent, rtt, self.parameters.period);
        if !window {
            return;
        }
        let (Some(service), Some(least)) = (self.path.service(), self.path.least_rtt()) else { return };
        let target = self.target();
        let (share, near) = self.transient.decide(least, service, target, self.stage == Stage::Starting);
        self.adapting = self.transient.flows;
        if near {
            self.stage = Stage::Later;
        }
        if let Some(share) = share {
            self.set_share(now, service, share);
        }
    }

    fn set_share(&mut self, now: Time, service: f64, share: f64) {
        self.changed = now;
        let least = 1.0 / self.smoothed.as_secs_f64().clamp(1e-6, SLOWEST);
        self.rate = (share / service).max(least).min(1.0 / service);
        self.transient.changed(now, self.rate);
        self.schedule.set_gap(1.0 / self.rate);
    }

    /// Whether the backlog is what it should be [madison:4.3, 2d].
    fn judge(&mut self) {
        let Some(measures) = self.path.measures(self.rate, self.parameters.noise) else { return };
        self.path.note(&measures);
        self.measures = measures;
        let target = self.target();
        let off = |backlog: f64| backlog / target - 1.0;
        let now = off(measures.backlog);
        self.path.next_window();
        let previous = self.previous.replace(measures.backlog).map(off);
        if now.abs() <= NEAR {
            self.stage = Stage::Later;
            self.adapting = measures.flows;
        } else if let Some(previous) = previous
            && (now.min(previous) > FAR || now.max(previous) < -FAR)
            && now.abs() > self.parameters.approach * previous.abs()
        {
            self.due = true;
        }
    }

    /// Computes the rate that reaches the target backlog, and sends at it.
    fn retarget(&mut self, now: Time) {
        let Some(service) = self.path.service() else { return };
        if let Some(measures) = self.path.settled_measures(self.rate, self.parameters.noise) {
            self.measures = measures;
        }
        let Measures { backlog, own, cross, .. } = self.measures;
        let share = if self.stage == Stage::Later {
            // The backlog tells how many had adapted to the last change.
            let told = self.change.and_then(|change| adapted(backlog, change.cross, change.own, own));
            let least = self.adapting * self.parameters.caution;
            let told = told.map(|told| told.max(least));
            self.adapting = told.unwrap_or(self.adapting).clamp(1.0, MOST_FLOWS);
            shared_rate(self.target(), cross, own, self.adapting)
        } else {
            starting_rate(self.target(), cross)
        };
        self.change = Some(Change { own, cross });
        self.due = false;
        self.previous = None;
        self.changed = now;
        if self.parameters.fresh {
            self.path.forget();
        }
        // A segment per round trip is the least that a window allows.
        let least = 1.0 / self.smoothed.as_secs_f64().clamp(1e-6, SLOWEST);
        self.rate = (share / service).max(least).min(1.0 / service);
        self.transient.changed(now, self.rate);
        self.schedule.set_gap(1.0 / self.rate);
    }
}

impl CongestionControl for Madison {
    fn on_ack(&mut self, ack: &Ack) {
        self.quiet = false;
        self.smoothed = ack.rtt.smoothed;
        let delivered = ack.rate.map_or(ack.acked, |rate| rate.newly_delivered);
        self.loss.on_delivered(self.segments(delivered));
        let (is_probe, pair) = self.schedule.on_ack(ack.now, ack.newest_sent, self.segments(delivered));
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
                if ack.round != self.round && self.path.pairs() < PAIRS {
                    self.schedule.want_pair();
                }
            }
        }
        self.round = ack.round;
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            // Counted packet by packet.
            CongestionKind::Loss => {}
            CongestionKind::EcnMark => self.loss.on_lost(),
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.quiet = true;
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
        Wants { rate: true, departures: true }
    }

    fn allowance(&self) -> Allowance {
        let segments = match self.stage {
            _ if self.quiet => 1.0,
            Stage::StartUp => self.schedule.script_len() as f64,
            Stage::Starting | Stage::Later => {
                self.rate * (self.smoothed + self.parameters.patience).as_secs_f64() + 2.0
            }
        };
        let window = self.segment.scale(segments.min(1e12)).max(self.segment);
        let pacing = match self.stage {
            Stage::StartUp if self.schedule.is_held() => None,
            // Departures are placed; the rate is said for who reads it.
            Stage::StartUp => Some(Rate::from_bps_f64(self.segment.bits_f64() / FIRST_SPACING.1)),
            Stage::Starting | Stage::Later => Some(Rate::from_bps_f64(self.segment.bits_f64() * self.rate)),
        };
        Allowance { window, pacing: pacing.map(|rate| rate.max(Rate::from_bps(1))) }
    }

    fn state(&self) -> CcState {
        let phase = if self.stage == Stage::Later { Phase::Avoidance } else { Phase::SlowStart };
        CcState { phase, window: self.allowance().window, threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let Measures { total_backlog, backlog, utilization, own, cross, flows } = self.measures;
        show("queueing_delay_s", total_backlog * self.path.service().unwrap_or(0.0));
        show("backlog_packets", backlog);
        show("total_backlog_packets", total_backlog);
        show("utilization", utilization);
        show("own_share", own);
        show("cross_share", cross);
        show("equivalent_flows", flows);
        show("adapting_flows", self.adapting);
        show("buffer_packets", self.path.largest_backlog());
        show("loss_rate", self.loss.value());
        show("target_backlog_packets", self.target());
        show("rate_packets_per_s", self.rate);
    }
}
