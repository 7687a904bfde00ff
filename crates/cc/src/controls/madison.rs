//! TCP-Madison: it measures the bottleneck, computes the sending rate that leaves a small backlog of its own there, and
//! sends at that rate [kola:elsevier07].
//!
//! | stage | what happens |
//! |---|---|
//! | start-up | two packet pairs and eight probes, 15 ms apart: first estimates of RTT and capacity |
//! | starting | the rate that reaches the target backlog if nobody else answers, until it is first reached within 20 % |
//! | later | the rate that reaches it if `n_D` equivalent flows do the same |
//!
//! The target falls with the loss rate, as Reno's backlog does; Madison has neither additive increase nor
//! multiplicative decrease. The formulas are `model::bottleneck`'s, the measures `estimate::Bottleneck`'s.
//!
//! The parts: `madison/start_up.rs` is the first stage. `madison/schedule.rs` decides when packets leave, by the gaps
//! of `madison/gaps.rs`; `madison/replies.rs` recognizes the acknowledgements of probes and pairs.
//! `madison/loss_rate.rs` has the loss rate. `madison/rules.rs` decides on the time and value of a new rate: by
//! `madison/averaged.rs`, or by the paper's own rules in `madison/printed.rs`. `madison/sending.rs` derives the pace
//! and the window from the rate.
//!
//! `[D]` marks decisions that the paper leaves open, at [`Parameters`] (`madison/parameters.rs`) and in
//! `docs/papers/madison.md`.

mod averaged;
mod gaps;
mod loss_rate;
mod parameters;
mod printed;
mod replies;
mod rules;
mod schedule;
mod sending;
mod start_up;
#[cfg(test)]
#[path = "../../tests/within/madison.rs"]
mod tests;

use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, Start, Wants,
};
use estimate::{Bottleneck, PAIRS};
use loss_rate::LossRate;
use model::bottleneck::{Measures, starting_rate, target_backlog};
pub use parameters::{Losses, Parameters, Rules};
use rules::Probe;
use schedule::Schedule;
use sending::Sending;
use start_up::StartUp;
use units::{Bytes, Span, Time};

#[derive(Clone, Debug)]
enum Stage {
    StartUp(StartUp),
    Starting,
    Later,
}

/// TCP-Madison.
#[derive(Clone, Debug)]
pub struct Madison {
    parameters: Parameters,
    stage: Stage,
    path: Bottleneck,
    measures: Measures,
    schedule: Schedule,
    loss: LossRate,
    rules: rules::Rules,
    sending: Sending,
    smoothed: Span,
    round: u64,
}

impl Madison {
    /// Creates a controller at its start, with the paper's parameters.
    #[must_use]
    pub fn new(start: Start) -> Self {
        Self::with(start, Parameters::default())
    }

    /// Creates one with other parameters.
    #[must_use]
    pub fn with(start: Start, parameters: Parameters) -> Self {
        Self {
            parameters,
            stage: Stage::StartUp(StartUp::default()),
            path: Bottleneck::default(),
            measures: Measures::default(),
            schedule: Schedule::new(parameters.randomness.clamp(0.0, 1.0)),
            loss: LossRate::new(parameters.initial_loss, parameters.least_loss, parameters.losses),
            rules: rules::Rules::new(parameters.rules),
            sending: Sending::new(start.segment),
            smoothed: Span::ZERO,
            round: 0,
        }
    }

    /// Returns the target backlog, packets.
    fn target(&self) -> f64 {
        target_backlog(self.loss.value())
    }

    fn on_first_probe(&mut self, now: Time, rtt: Span) {
        let as_printed = self.parameters.rules == Rules::Printed;
        let Stage::StartUp(start_up) = &mut self.stage else { return };
        let Some(service) = start_up.observe(rtt, &mut self.path, as_printed) else { return };
        let (least, most) = self.parameters.probe_spacing;
        let wanted = self.parameters.probe_services * service;
        self.schedule.begin(now, wanted.min(most.as_secs_f64()).max(least.as_secs_f64()));
        let averaged = start_up.utilization(&self.path, service);
        self.stage = Stage::Starting;
        let Some(measures) = self.path.measures(0.0, self.parameters.noise) else { return };
        self.measures = measures;
        let utilization = if as_printed { measures.utilization } else { averaged };
        self.send(now, service, starting_rate(self.target(), utilization));
    }

    /// Takes a probe sent at `sent` that has returned.
    fn on_probe(&mut self, now: Time, sent: Time, rtt: Span) {
        self.path.observe(rtt);
        let other_loss = self.loss.recompute();
        let (Some(measures), Some(service), Some(least)) = (
            self.path.measures(self.sending.rate(), self.parameters.noise),
            self.path.service(),
            self.path.least_rtt(),
        ) else {
            return;
        };
        self.path.note(&measures);
        self.measures = measures;
        let (target, starting) = (self.target(), matches!(self.stage, Stage::Starting));
        let period = self.parameters.period;
        let probe = Probe { now, sent, rtt, least, service, measures, target, starting, other_loss, period };
        let decision = self.rules.on_probe(&probe);
        if decision.is_near {
            self.stage = Stage::Later;
        }
        if let Some(share) = decision.share {
            self.send(now, service, share);
        }
    }

    /// Sends at the `share` of the capacity from `now` on.
    fn send(&mut self, now: Time, service: f64, share: f64) {
        self.sending.set_share(share, service, self.smoothed);
        let rate = self.sending.rate();
        self.rules.send_at(now, rate);
        self.schedule.set_gap(1.0 / rate);
    }

    /// Takes an acknowledgement that ends a round trip, belongs to a probe or a pair, or comes during start-up.
    #[inline(never)]
    fn learn(&mut self, ack: &Ack, delivered: f64) {
        let (is_probe, pair) = self.schedule.on_ack(ack.now, ack.newest_sent, delivered);
        if let Some(dispersion) = pair {
            self.path.observe_pair(dispersion);
        }
        let rtt = ack.now.since(ack.newest_sent);
        if let Stage::StartUp(start_up) = &mut self.stage {
            start_up.is_quiet = false;
            if is_probe {
                self.on_first_probe(ack.now, rtt);
            }
            let all_sent = self.schedule.is_held() && ack.in_flight == Bytes::ZERO;
            if let Stage::StartUp(start_up) = &mut self.stage
                && all_sent
            {
                start_up.restart();
                self.schedule.restart();
            }
        } else {
            if is_probe {
                self.on_probe(ack.now, ack.newest_sent, rtt);
            }
            if ack.round != self.round {
                self.schedule.want_pair(PAIRS);
            }
        }
        self.round = ack.round;
        self.sending.resize(self.smoothed);
    }
}

impl CongestionControl for Madison {
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed = ack.rtt.smoothed;
        let delivered = self.sending.segments(ack.delivered);
        self.loss.on_delivered(delivered);
        let starts_up = matches!(self.stage, Stage::StartUp(_));
        if starts_up || ack.round != self.round || self.schedule.awaits(ack.newest_sent) {
            self.learn(ack, delivered);
        } else {
            self.sending.resize(self.smoothed);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.kind {
            CongestionKind::Loss => self.loss.on_event(),
            CongestionKind::EcnMark => self.loss.on_mark(),
            CongestionKind::Timeout | CongestionKind::PersistentLoss => {
                self.loss.on_event();
                self.sending.quiet();
                if let Stage::StartUp(start_up) = &mut self.stage {
                    start_up.is_quiet = true;
                    start_up.restart();
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
        Wants { deliveries: true, departures: true, ..Wants::default() }
    }

    fn allowance(&self) -> Allowance {
        let Stage::StartUp(start_up) = &self.stage else { return self.sending.allowance() };
        let segments = if start_up.is_quiet { 1 } else { self.schedule.script_len() as u64 };
        self.sending.first_allowance(segments, !self.schedule.is_held())
    }

    fn state(&self) -> CcState {
        let phase = if matches!(self.stage, Stage::Later) { Phase::Avoidance } else { Phase::SlowStart };
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
        show("adapting_flows", self.rules.adapting());
        show("buffer_packets", self.path.largest_backlog());
        show("loss_rate", self.loss.value());
        show("target_backlog_packets", self.target());
        show("rate_packets_per_s", self.sending.rate());
    }
}
