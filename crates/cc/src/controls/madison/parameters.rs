//! Madison's parameters, and by which of its rules.

use units::Span;

/// Table 2 of the paper, and what it leaves open.
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
    /// But no less than the first of these, and no more than the second.
    pub probe_spacing: (Span, Span),
    /// `[D]` A queueing delay below this is the clock's noise.
    pub noise: Span,
    /// `[D]` How random the spacing of packets is, from 0, even as in the paper, to 1, a Poisson process. The
    /// formulas take arrivals for Poisson. On a path of few flows a simulator's arrivals, unlike those of the paper's
    /// hosts, are Poisson only if the senders make them so. Otherwise the utilization is underestimated by half.
    pub randomness: f64,
    /// When to change the rate, and to what.
    pub rules: Rules,
    /// What counts as a loss in `p`.
    pub losses: Losses,
}

/// What the loss rate counts. The paper calls `p` the rate of loss events, and its formula has "packets lost"
/// [madison:3.1, 4.3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// Each packet.
    #[default]
    Packets,
    /// The packets of one round trip as one.
    Events,
}

/// When the rate changes, and to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// By the letter of the paper: by the utilization that six probes show at the moment.
    Printed,
    /// `[D]` By one that the queue's fluctuations do not bias: see `madison/averaged.rs`.
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
    /// By the letter of the paper.
    #[must_use]
    pub fn printed() -> Self {
        Self { least_loss: 2.55e-5, randomness: 0.0, rules: Rules::Printed, ..Self::default() }
    }
}
