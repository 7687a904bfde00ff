//! What BBR v3 remembers from one state of its bandwidth probing to the next [draft-ietf-ccwg-bbr:5.3.3].

use super::amount;
use super::window::Window;
use units::random::Stream;
use units::{Bytes, Span, Time};

/// `T_bbr`: the time between probes is this and a random part of a second more.
const LEAST_WAIT: f64 = 2.0;
/// `T_reno_bound`: at most this many rounds, so that Reno, which probes as often, is not starved.
const MOST_ROUNDS: f64 = 63.0;

/// What acknowledgements now tell of (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Idle,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The cycle of probes: when the next one comes, and what the last one said.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    acks: Acks,
    is_probe_sample: bool,
    last_was_too_high: bool,
    ended_with_care: bool,
    rounds_since_probe: u64,
    /// When bandwidth is probed again at the latest.
    probe_at: Time,
    stream: Stream,
}

impl Cycle {
    pub(super) fn new() -> Self {
        Self {
            acks: Acks::Idle,
            is_probe_sample: false,
            last_was_too_high: false,
            ended_with_care: false,
            rounds_since_probe: 0,
            probe_at: Time::ZERO,
            stream: Stream::new(0, "bbr probes"),
        }
    }

    /// The flow begins at `now`: flows that begin at different times do not probe in step.
    pub(super) fn seed(&mut self, now: Time) {
        self.stream = Stream::new(now.as_nanos(), "bbr probes");
    }

    /// The state is down: what a probe has left drains, and the next one is waited for.
    pub(super) fn start_down(&mut self, now: Time) {
        self.rounds_since_probe = self.stream.integer(0, 1);
        self.probe_at = now + Span::from_secs_f64(LEAST_WAIT + self.stream.uniform());
        self.acks = Acks::Stopping;
    }

    pub(super) fn start_refill(&mut self) {
        self.ended_with_care = false;
        self.acks = Acks::Refilling;
    }

    /// The state is up: what acknowledgements tell from here on is of a probe.
    pub(super) fn start_up(&mut self) {
        self.is_probe_sample = true;
        self.acks = Acks::Starting;
    }

    /// The probing of bandwidth is left for that of the RTT.
    pub(super) fn stop(&mut self) {
        self.acks = Acks::Stopping;
    }

    /// A round begins: true if what the last probe did to the path has been told by now.
    pub(super) fn on_round(&mut self) -> bool {
        match self.acks {
            Acks::Starting => self.acks = Acks::Feedback,
            Acks::Stopping => {
                self.is_probe_sample = false;
                self.acks = Acks::Idle;
                return true;
            }
            Acks::Idle | Acks::Refilling | Acks::Feedback => {}
        }
        false
    }

    /// A round begins, by the count of rounds since the last probe.
    pub(super) fn count_round(&mut self, begins: bool) {
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(u64::from(begins));
    }

    /// The probe ends before it does harm, as the last one did.
    pub(super) fn end_with_care(&mut self) {
        self.ended_with_care = true;
    }

    /// Losses show that too much was in flight.
    pub(super) fn end_too_high(&mut self) {
        self.last_was_too_high = true;
        self.is_probe_sample = false;
    }

    /// The probe has ended, without too much loss.
    pub(super) fn end(&mut self) {
        self.last_was_too_high = false;
    }

    /// Whether losses are to be held against what was in flight.
    pub(super) fn is_probe_sample(&self) -> bool {
        self.is_probe_sample
    }

    pub(super) fn last_was_too_high(&self) -> bool {
        self.last_was_too_high
    }

    /// Whether the probe that ended with care has shown no loss: there may be room yet.
    pub(super) fn may_go_on(&self) -> bool {
        self.ended_with_care && !self.last_was_too_high
    }

    /// What Reno's window has grown by since the last probe, bytes; infinite if that is long enough ago.
    pub(super) fn grown_meanwhile(&self, window: &Window) -> f64 {
        let rounds = amount(Bytes::new(self.rounds_since_probe));
        if rounds >= MOST_ROUNDS { f64::INFINITY } else { rounds * window.segment() }
    }

    /// Whether bandwidth is probed now, where the model aims at `target` in flight.
    pub(super) fn is_time_to_probe(&self, now: Time, window: &Window, target: f64) -> bool {
        now > self.probe_at || self.grown_meanwhile(window) >= target
    }

    /// When bandwidth is probed again at the latest.
    pub(super) fn probe_at(&self) -> Time {
        self.probe_at
    }
}
