//! The part of BBR v3's bandwidth probing that lasts from state to state [draft-ietf-ccwg-bbr:5.3.3].

use super::amount;
use super::window::Window;
use units::random::Stream;
use units::{Bytes, Span, Time};

/// `T_bbr`: the least time between probes, in seconds; up to a second more is random.
const LEAST_WAIT: f64 = 2.0;
/// `T_reno_bound`: the most rounds between probes, so that Reno, which probes as often, is not starved.
const MOST_ROUNDS: f64 = 63.0;

/// The part of a probe that current acknowledgements belong to (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Idle,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The cycle of probes: the time of the next one, and the outcome of the last.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    acks: Acks,
    is_probe_sample: bool,
    last_was_too_high: bool,
    ended_with_care: bool,
    rounds_since_probe: u64,
    /// The latest time of the next probe for bandwidth.
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

    /// Seeds the random waits with the start of the flow, so that flows that begin at different times do not probe in
    /// step.
    pub(super) fn seed(&mut self, now: Time) {
        self.stream = Stream::new(now.as_nanos(), "bbr probes");
    }

    /// Enters ProbeBW_DOWN, in which the probe's queue drains. Schedules the next probe.
    pub(super) fn start_down(&mut self, now: Time) {
        self.rounds_since_probe = self.stream.integer(0, 1);
        self.probe_at = now + Span::from_secs_f64(LEAST_WAIT + self.stream.uniform());
        self.acks = Acks::Stopping;
    }

    pub(super) fn start_refill(&mut self) {
        self.ended_with_care = false;
        self.acks = Acks::Refilling;
    }

    /// Enters ProbeBW_UP: acknowledgements from now on belong to a probe.
    pub(super) fn start_up(&mut self) {
        self.is_probe_sample = true;
        self.acks = Acks::Starting;
    }

    /// Stops probing for bandwidth, because a probe for the RTT begins.
    pub(super) fn stop(&mut self) {
        self.acks = Acks::Stopping;
    }

    /// Starts a round. Returns true once the feedback on the last probe is complete.
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

    /// Counts the rounds since the last probe.
    pub(super) fn count_round(&mut self, begins: bool) {
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(u64::from(begins));
    }

    /// Notes that the probe ends early, because the last one met too much loss.
    pub(super) fn end_with_care(&mut self) {
        self.ended_with_care = true;
    }

    /// Notes that too much was in flight, as losses show.
    pub(super) fn end_too_high(&mut self) {
        self.last_was_too_high = true;
        self.is_probe_sample = false;
    }

    /// Notes that the probe has ended without too much loss.
    pub(super) fn end(&mut self) {
        self.last_was_too_high = false;
    }

    /// Returns true if losses belong to a probe, and so show that it had too much in flight.
    pub(super) fn is_probe_sample(&self) -> bool {
        self.is_probe_sample
    }

    pub(super) fn last_was_too_high(&self) -> bool {
        self.last_was_too_high
    }

    /// Returns true if the last probe ended early and did not meet too much loss, so that there may be more room.
    pub(super) fn may_go_on(&self) -> bool {
        self.ended_with_care && !self.last_was_too_high
    }

    /// Returns the bytes by which Reno's window has grown since the last probe; infinite after [`MOST_ROUNDS`].
    pub(super) fn grown_meanwhile(&self, window: &Window) -> f64 {
        let rounds = amount(Bytes::new(self.rounds_since_probe));
        if rounds >= MOST_ROUNDS { f64::INFINITY } else { rounds * window.segment() }
    }

    /// Returns true if it is time for a probe, where the model aims at `target` in flight.
    pub(super) fn is_time_to_probe(&self, now: Time, window: &Window, target: f64) -> bool {
        now > self.probe_at || self.grown_meanwhile(window) >= target
    }

    /// Returns the latest time of the next probe for bandwidth.
    pub(super) fn probe_at(&self) -> Time {
        self.probe_at
    }
}
