//! DualPI2: two queues behind one link, so that scalable flows hardly wait. A PI controller on the queueing delay
//! drops or marks classic flows with the square of a probability, and marks scalable ones with a multiple of it.
//!
//! Source: RFC 9332 (DualQ Coupled AQM). Defaults, scheduling and overload are those of `sch_dualpi2` of Linux, which
//! has it since 6.17 and was read in that version. Names in quotes are Linux's.
//!
//! - **Classes.** ECT(1) and CE go to the L queue, all others to the C queue (RFC 9331).
//! - **PI.** Every `interval` the probability p moves by alpha (delay - target) + beta (delay - delay at the last
//!   update). The delay is the longer wait of the two packets at the head.
//! - **Coupling.** A packet of the C queue is dropped or marked with probability p^2, one of the L queue is marked with
//!   probability k p. Thus flows of both kinds have about the same window, and classic flows see the PI2 of RFC 9332.
//!   A packet with less than two maximum packets behind it is spared.
//! - **Step.** A packet of the L queue that has waited longer than a threshold is marked as well. The pseudocode of the
//!   RFC has a ramp there. Versions before Linux 6.17 spared a packet that found less than two in the L queue; 6.17 can,
//!   by "min_qlen_step", and does not by default. Below 12 Mbit/s a packet that waits for one other is above 1 ms.
//! - **Turns.** While both queues have packets, a weighted round robin by bytes gives the C queue the share
//!   `classic_protection`.
//! - **Overload**, which is k p > 1. With `drop_on_overload` both queues drop with probability p^2, ECN or not, and the
//!   L queue marks all others. Otherwise ("overflow") p is at most 1/k, and the queues grow up to the limit.
//!
//! Decisions are made as a packet leaves ("drop_dequeue"). Super-packets of the emulator are split before
//! ("split_gso"). Linux also limits the memory of its packets, which a link does not know.
//!
//! Updates that fell due without a call are made at the next one, with the waits that the heads had at those times.

use super::store::Store;
use super::{Context, Queue};
use crate::class_delays::is_scalable;
use crate::{Backlog, Datagram, DropReason, Ecn};
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// The most updates made after a pause. The probability of empty queues falls to zero in 417 updates by default, which
/// ends the loop.
const UPDATES: u64 = 4096;

/// The length of an L queue above which its packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum StepThreshold {
    /// The time that a packet may have waited.
    Time(Span),
    /// The packets that a packet may leave behind.
    Packets(u64),
}

/// The settings of [`DualPi2`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Parameters {
    /// The queueing delay that PI aims at in the C queue.
    pub target: Span,
    /// `tupdate`: time between updates.
    pub interval: Span,
    /// Weight of the error, per second.
    pub alpha: f64,
    /// Weight of the trend, per second.
    pub beta: f64,
    /// `coupling_factor`, the k of RFC 9332: above zero.
    pub coupling: u64,
    /// `step_thresh`: the threshold of the L queue's own marks.
    pub step_threshold: StepThreshold,
    /// `min_qlen_step`: the packets that a packet must find in the L queue as it arrives, for the threshold to apply.
    pub step_queue: u64,
    /// The share of the bytes that the C queue gets while both have packets, from 0 to 1.
    pub classic_protection: f64,
    /// True if overload drops; otherwise the queues grow.
    pub drop_on_overload: bool,
}

impl Default for DualPi2Parameters {
    /// Returns the values of Linux 6.17. Its gains are 41/256 and 819/256 a second.
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            interval: Span::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2,
            step_threshold: StepThreshold::Time(Span::from_millis(1)),
            step_queue: 0,
            classic_protection: 0.1,
            drop_on_overload: true,
        }
    }
}

/// The fate of a packet that is about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Sent,
    Marked,
    Dropped,
}

/// A packet that has left its queue.
struct Departing<P> {
    packet: P,
    waited: Span,
    /// True if it was in the L queue.
    scalable: bool,
    /// True if the step threshold applies to it.
    steps: bool,
    /// The change of the credit if it is sent.
    charge: f64,
}

/// Two coupled queues.
#[derive(Debug)]
pub struct DualPi2<P> {
    parameters: DualPi2Parameters,
    context: Context,
    classic: Store<P>,
    scalable: Store<P>,
    /// True for each packet of the L queue to which the step threshold applies.
    steps: VecDeque<bool>,
    probability: f64,
    /// The delay at the last update.
    last_delay: Span,
    next_update: Option<Time>,
    /// Above zero if it is the turn of the C queue: bytes, weighted by the other queue's share.
    credit: f64,
    /// The longest packet of the interface. A longer arrival raises it.
    mtu: Bytes,
}

impl<P> DualPi2<P> {
    /// Creates empty queues that share one limit, the context's.
    ///
    /// # Panics
    /// If the interval or the coupling is zero.
    #[must_use]
    pub fn new(parameters: DualPi2Parameters, context: Context) -> Self {
        assert!(
            parameters.interval > Span::ZERO && parameters.coupling > 0,
            "DualPI2 needs an interval and a coupling above zero"
        );
        let mut queue = Self {
            parameters,
            context,
            classic: Store::default(),
            scalable: Store::default(),
            steps: VecDeque::new(),
            probability: 0.0,
            last_delay: Span::ZERO,
            next_update: None,
            credit: 0.0,
            mtu: Context::MEAN_PACKET,
        };
        queue.reset_credit();
        queue
    }

    /// Returns the current probability p, of which the C queue uses the square.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns the backlogs of the C queue and of the L queue.
    #[must_use]
    pub fn backlogs(&self) -> (Backlog, Backlog) {
        (self.classic.backlog(), self.scalable.backlog())
    }

    /// Gives the queue with the larger share the first turn.
    fn reset_credit(&mut self) {
        let protection = self.parameters.classic_protection;
        self.credit = self.mtu.get() as f64 * (protection - (1.0 - protection));
    }

    fn waiting(&self) -> Backlog {
        let (classic, scalable) = self.backlogs();
        Backlog { packets: classic.packets + scalable.packets, bytes: classic.bytes + scalable.bytes }
    }

    /// Returns the longer wait of the two heads at `now`; zero if nothing waits.
    fn delay(&self, now: Time) -> Span {
        let oldest = self.classic.head().into_iter().chain(self.scalable.head()).min();
        oldest.map_or(Span::ZERO, |arrived| now.since(arrived))
    }

    /// Makes the updates due by `now`.
    fn catch_up(&mut self, now: Time) {
        let interval = self.parameters.interval;
        let mut due = self.next_update.unwrap_or(now + interval);
        let mut left = UPDATES;
        while due <= now && left > 0 {
            let before = (self.probability, self.last_delay);
            self.update(self.delay(due));
            left = if (self.probability, self.last_delay) == before { 0 } else { left - 1 };
            due += interval;
        }
        if due <= now {
            let missed = now.since(due).as_nanos() / interval.as_nanos() + 1;
            self.last_delay = self.delay(now);
            due += Span::from_nanos(missed.saturating_mul(interval.as_nanos()));
        }
        self.next_update = Some(due);
    }

    /// Moves the probability by the control law (RFC 9332, appendix A.1).
    fn update(&mut self, delay: Span) {
        let DualPi2Parameters { target, alpha, beta, coupling, drop_on_overload, .. } = self.parameters;
        let seconds = delay.as_secs_f64();
        let step =
            alpha * (seconds - target.as_secs_f64()) + beta * (seconds - self.last_delay.as_secs_f64());
        let most = if drop_on_overload { 1.0 } else { 1.0 / coupling as f64 };
        self.probability = (self.probability + step).clamp(0.0, most);
        self.last_delay = delay;
    }

    /// Decides by the coupled probability.
    fn coupled_verdict(&mut self, scalable: bool, ecn: Ecn) -> Verdict {
        let p = self.probability;
        if p <= 0.0 || self.waiting().bytes.get() < 2 * self.mtu.get() {
            return Verdict::Sent;
        }
        let marks = p * self.parameters.coupling as f64;
        let overload = self.parameters.drop_on_overload && marks > 1.0;
        let stream = &mut self.context.stream;
        match (scalable, overload) {
            (true, false) if stream.chance(marks) => Verdict::Marked,
            (true, false) => Verdict::Sent,
            (true, true) if stream.chance(p) && stream.chance(p) => Verdict::Dropped,
            (true, true) => Verdict::Marked,
            (false, _) if !(stream.chance(p) && stream.chance(p)) => Verdict::Sent,
            (false, _) if overload || ecn == Ecn::NotCapable => Verdict::Dropped,
            (false, _) => Verdict::Marked,
        }
    }

    /// Returns true if a packet of the L queue that has waited for `waited` is above the step.
    fn above_step(&self, waited: Span) -> bool {
        match self.parameters.step_threshold {
            StepThreshold::Time(most) => waited > most,
            StepThreshold::Packets(most) => self.scalable.backlog().packets > most,
        }
    }
}

impl<P: Datagram> DualPi2<P> {
    /// Takes the next packet by turns.
    fn next(&mut self, now: Time) -> Option<Departing<P>> {
        let (classic, scalable) = (!self.classic.is_empty(), !self.scalable.is_empty());
        let takes_scalable = scalable && (!classic || self.credit <= 0.0);
        let store = if takes_scalable { &mut self.scalable } else { &mut self.classic };
        let (arrived, packet) = store.pop()?;
        let steps = takes_scalable && self.steps.pop_front() == Some(true);
        let share = self.parameters.classic_protection;
        let weight = if takes_scalable { share } else { share - 1.0 };
        let charge = if classic && scalable { weight * packet.wire_len().get() as f64 } else { 0.0 };
        Some(Departing { packet, waited: now.since(arrived), scalable: takes_scalable, steps, charge })
    }
}

impl<P: Datagram + Send> Queue<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.catch_up(now);
        self.mtu = self.mtu.max(packet.wire_len());
        if !self.context.limit.admits(self.waiting(), packet.wire_len()) {
            drops(packet, DropReason::QueueFull);
            return;
        }
        if is_scalable(packet.ecn()) {
            self.steps.push_back(self.scalable.backlog().packets >= self.parameters.step_queue);
            self.scalable.push(now, packet);
        } else {
            self.classic.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.catch_up(now);
        while let Some(Departing { mut packet, waited, scalable, steps, charge }) = self.next(now) {
            let coupled = self.coupled_verdict(scalable, packet.ecn());
            if coupled == Verdict::Dropped {
                drops(packet, DropReason::Aqm);
                continue;
            }
            if coupled == Verdict::Marked || steps && self.above_step(waited) {
                packet.mark();
            }
            self.credit += charge;
            return Some(packet);
        }
        self.reset_credit();
        None
    }

    fn backlog(&self) -> Backlog {
        self.waiting()
    }

    fn has_classes(&self) -> bool {
        true
    }
}
