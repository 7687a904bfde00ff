//! Madison's parameters, and the choice of its rules.

use units::Span;

/// Table 2 of the paper, and parameters that it leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The least loss rate that counts (`p_min`). The paper has 2.55e-5; ours is `p_init` `[D]`. A sender of few
    /// packets cannot know a loss rate below that value. With the paper's value a flow's target, and its share,
    /// therefore grow with its age.
    pub least_loss: f64,
    /// The loss rate at the start (`p_init`).
    pub initial_loss: f64,
    /// The least time between changes of the rate (`T`).
    pub period: Span,
    /// Mean time between probes, in service times (`tProbe*`).
    pub probe_services: f64,
    /// The least and the largest mean time between probes.
    pub probe_spacing: (Span, Span),
    /// `[D]` The queueing delay below which a delay is the clock's noise.
    pub noise: Span,
    /// `[D]` The randomness of the packets' spacing, from 0, even as in the paper, to 1, a Poisson process. The
    /// formulas assume Poisson arrivals. On a path of few flows a simulator's arrivals, unlike those of the paper's
    /// hosts, are Poisson only if the senders make them so. Otherwise the utilization is underestimated by half.
    pub randomness: f64,
    /// The rules for the time and the value of a new rate.
    pub rules: Rules,
    /// The losses that count in `p`.
    pub losses: Losses,
}

/// The losses that the loss rate counts. The paper calls `p` the rate of loss events, but its formula has "packets
/// lost" [madison:3.1, 4.3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// Each lost packet.
    #[default]
    Packets,
    /// The lost packets of one round trip, counted as one event.
    Events,
}

/// The rules for the time and the value of a new rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// The paper's own rules, which use the utilization that six probes show at the moment.
    Printed,
    /// `[D]` A utilization that the queue's fluctuations do not bias: see `madison/averaged.rs`.
    #[default]
    Averaged,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            least_loss: 1e-4,
            initial_loss: 1e-4,
            period: Span::from_millis(200),
            probe_services: 32.0,
            probe_spacing: (Span::from_millis(15), Span::from_millis(100)),
            noise: Span::from_micros(10),
            randomness: 1.0,
            rules: Rules::Averaged,
            losses: Losses::Packets,
        }
    }
}

impl Parameters {
    /// Returns the parameters of the paper, to the letter.
    #[must_use]
    pub fn printed() -> Self {
        Self { least_loss: 2.55e-5, randomness: 0.0, rules: Rules::Printed, ..Self::default() }
    }
}
