//! BBR v1's states, each with its own memory, and their gains.

use crate::controls::bbr::RttProbe;
use units::random::Stream;
use units::{Span, Time};

/// `BBRHighGain`: 2/ln 2, the smallest gain that doubles the rate each round.
pub(super) const HIGH_GAIN: f64 = 2.885;
/// The window after startup, in BDPs: acknowledgements may come late and together.
const WINDOW_GAIN: f64 = 2.0;
/// `BBRGainCycle`.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBandwidth(Cycle),
    ProbeRtt(RttProbe),
}

impl State {
    /// Returns the pacing gain and the window gain.
    pub(super) fn gains(&self) -> (f64, f64) {
        match self {
            Self::Startup => (HIGH_GAIN, HIGH_GAIN),
            Self::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Self::ProbeBandwidth(cycle) => (cycle.gain(), WINDOW_GAIN),
            Self::ProbeRtt(_) => (1.0, 1.0),
        }
    }

    pub(super) fn probes_rtt(&self) -> bool {
        matches!(self, Self::ProbeRtt(_))
    }
}

/// A phase of the cycle, and the time at which it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    phase: usize,
    since: Time,
}

impl Cycle {
    /// Begins the cycle at a random phase, except the one that drains.
    pub(super) fn begin(stream: &mut Stream, now: Time) -> Self {
        let others = CYCLE.len() as u64 - 1;
        let phase = (stream.integer(2, others + 1) % (others + 1)) as usize;
        Self { phase, since: now }
    }

    /// Returns the phase after this one.
    pub(super) fn next(self, now: Time) -> Self {
        Self { phase: (self.phase + 1) % CYCLE.len(), since: now }
    }

    /// Returns the pacing gain.
    pub(super) fn gain(self) -> f64 {
        CYCLE[self.phase]
    }

    /// Returns true in the phase that probes for bandwidth.
    pub(super) fn probes(self) -> bool {
        self.phase == 0
    }

    /// Returns the time at which the phase has lasted for `span`.
    pub(super) fn after(self, span: Span) -> Time {
        self.since + span
    }

    /// Returns true if the phase has lasted for more than `span`.
    pub(super) fn lasts_longer(self, now: Time, span: Span) -> bool {
        now.since(self.since) > span
    }
}
