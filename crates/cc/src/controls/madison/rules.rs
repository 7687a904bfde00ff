//! The choice between two sets of rules by which a flow decides when to change its rate, and to what.

use super::averaged::Averaged;
use super::parameters;
use super::printed::Printed;
use model::bottleneck::Measures;
use units::{Span, Time};

/// The distance from the target within which the backlog counts as the target, and `n_D` as `n` [madison:4.3].
pub(super) const NEAR: f64 = 0.2;

/// The rules and their memory.
#[derive(Clone, Debug)]
pub(super) enum Rules {
    Printed(Printed),
    Averaged(Averaged),
}

/// A probe that has returned, and the state of the flow at that time.
pub(super) struct Probe {
    pub(super) now: Time,
    pub(super) sent: Time,
    pub(super) rtt: Span,
    /// The least RTT, seconds.
    pub(super) least: f64,
    /// The bottleneck's time for a packet, seconds.
    pub(super) service: f64,
    pub(super) measures: Measures,
    /// The target backlog, packets.
    pub(super) target: f64,
    /// True until the target has been reached.
    pub(super) starting: bool,
    /// True if the loss rate has changed.
    pub(super) other_loss: bool,
    /// The least time between changes of the rate.
    pub(super) period: Span,
}

/// The decision at a probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decision {
    /// True if the backlog is nearly the target.
    pub(super) is_near: bool,
    /// Another share of the capacity to send at.
    pub(super) share: Option<f64>,
}

impl Rules {
    pub(super) fn new(rules: parameters::Rules) -> Self {
        match rules {
            parameters::Rules::Printed => Self::Printed(Printed::default()),
            parameters::Rules::Averaged => Self::Averaged(Averaged::default()),
        }
    }

    pub(super) fn on_probe(&mut self, probe: &Probe) -> Decision {
        match self {
            Self::Printed(rules) => rules.on_probe(probe),
            Self::Averaged(rules) => rules.on_probe(probe).unwrap_or_default(),
        }
    }

    /// Notes that packets leave at `rate` per second from `now` on.
    pub(super) fn send_at(&mut self, now: Time, rate: f64) {
        match self {
            Self::Printed(rules) => rules.changed(now),
            Self::Averaged(rules) => rules.send_at(now, rate),
        }
    }

    /// Returns `n_D`, the number of flows that adapt.
    pub(super) fn adapting(&self) -> f64 {
        match self {
            Self::Printed(rules) => rules.adapting(),
            Self::Averaged(rules) => rules.adapting(),
        }
    }
}
