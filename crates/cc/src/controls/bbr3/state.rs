//! BBR v3's states, each with its own memory, and their gains.

use super::rise::Rise;
use crate::controls::bbr::RttProbe;

/// `BBR.StartupPacingGain`: 4 ln 2.
pub(super) const STARTUP_GAIN: f64 = 2.77;
/// `BBR.DrainPacingGain`.
const DRAIN_GAIN: f64 = 0.5;
/// The pacing gains of the states down and up.
const PROBE_GAINS: (f64, f64) = (0.9, 1.25);
/// `BBR.DefaultCwndGain`, and the window gain of probing upwards.
const WINDOW_GAINS: (f64, f64) = (2.0, 2.25);
/// The window gain during a probe for the RTT.
pub(super) const PROBE_RTT_GAIN: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Startup,
    /// The queue of startup has been draining since the round of this number.
    Drain {
        since: u64,
    },
    Probe(Probe),
    /// A probe for the RTT with at most `window` in flight, bytes.
    ProbeRtt {
        probe: RttProbe,
        window: f64,
    },
}

/// The state of the bandwidth probing within its cycle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Probe {
    Down,
    Cruise,
    Refill,
    Up(Rise),
}

/// The state that a false alarm has ended, and that is to begin again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndedState {
    Startup,
    Up,
}

/// The effect of the state on the pace and the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    pub(super) pacing: f64,
    pub(super) window: f64,
    /// Room for segments that leave together, bytes.
    pub(super) quanta: f64,
}

impl State {
    /// Returns the gains for segments with `segment` bytes.
    pub(super) fn gains(&self, segment: f64) -> Gains {
        let (pacing, window, quanta) = match self {
            Self::Startup => (STARTUP_GAIN, WINDOW_GAINS.0, 0.0),
            Self::Drain { .. } => (DRAIN_GAIN, WINDOW_GAINS.0, 0.0),
            Self::Probe(Probe::Down) => (PROBE_GAINS.0, WINDOW_GAINS.0, 0.0),
            Self::Probe(Probe::Cruise | Probe::Refill) => (1.0, WINDOW_GAINS.0, 0.0),
            Self::Probe(Probe::Up(_)) => (PROBE_GAINS.1, WINDOW_GAINS.1, 2.0 * segment),
            Self::ProbeRtt { .. } => (1.0, PROBE_RTT_GAIN, 0.0),
        };
        Gains { pacing, window, quanta }
    }

    pub(super) fn is_startup(&self) -> bool {
        matches!(self, Self::Startup)
    }

    pub(super) fn probes_bandwidth(&self) -> bool {
        matches!(self, Self::Probe(_))
    }

    pub(super) fn probes_up(&self) -> bool {
        matches!(self, Self::Probe(Probe::Up(_)))
    }

    pub(super) fn probes_rtt(&self) -> bool {
        matches!(self, Self::ProbeRtt { .. })
    }

    /// Returns true if it sends faster to find room: losses then say nothing about the rate.
    pub(super) fn accelerates(&self) -> bool {
        matches!(self, Self::Startup | Self::Probe(Probe::Refill | Probe::Up(_)))
    }
}
