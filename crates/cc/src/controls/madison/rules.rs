//! By which of the two rules a flow decides when to change its rate, and to what.

use super::averaged::Averaged;
use super::parameters;
use super::printed::Printed;
use model::bottleneck::Measures;
use units::{Span, Time};

/// The backlog is the target within this: `n_D` is `n` [madison:4.3].
pub(super) const NEAR: f64 = 0.2;

/// The rules, with what they remember.
#[derive(Clone, Debug)]
pub(super) enum Rules {
    Printed(Printed),
    Averaged(Averaged),
}

/// A probe that has returned, and the flow as it is by then.
pub(super) struct Probe {
    pub(super) now: Time,
    pub(super) sent: Time,
    pub(super) rtt: Span,
    /// The least RTT, and the time that the bottleneck needs for a packet, seconds.
    pub(super) least: f64,
    pub(super) service: f64,
    pub(super) measures: Measures,
    /// The backlog that the flow wants, packets.
    pub(super) target: f64,
    /// The target has not been reached yet.
    pub(super) starting: bool,
    /// The loss rate is another one than before.
    pub(super) other_loss: bool,
    /// The least time between changes of the rate.
    pub(super) period: Span,
}

/// What a probe decides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decision {
    /// The backlog is the target, nearly.
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

    /// Packets leave at `rate` per second from `now` on.
    pub(super) fn send_at(&mut self, now: Time, rate: f64) {
        match self {
            Self::Printed(rules) => rules.changed(now),
            Self::Averaged(rules) => rules.send_at(now, rate),
        }
    }

    /// `n_D`, flows that adapt.
    pub(super) fn adapting(&self) -> f64 {
        match self {
            Self::Printed(rules) => rules.adapting(),
            Self::Averaged(rules) => rules.adapting(),
        }
    }
}
