//! The names of controllers and slow starts in a scenario, and what they stand for.

use crate::growth::{Africa, Bic, Cubic, Growth, HighSpeed, LowPriority, Reno, Scalable, Westwood};
use crate::slow_start::{HyStartPlusPlus, Limited, Standard};
use crate::{
    Bbr1, Bbr3, CongestionControl, Fast, FixedWindow, LossBased, Madison, MadisonParameters, MadisonRules,
    Start, Vegas,
};

/// A controller in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What that is: [`STANDARD`], [`EXPERIMENTAL`], [`PAPER`] or [`YARDSTICK`].
    pub status: &'static str,
}

/// An RFC on the standards track.
pub const STANDARD: &str = "standard";
/// An experimental RFC or a draft.
pub const EXPERIMENTAL: &str = "experimental";
/// A publication without an RFC.
pub const PAPER: &str = "paper";
/// Not for networks: to compare or validate with.
pub const YARDSTICK: &str = "yardstick";

/// Every controller that can be named in a scenario for the simulator.
pub const CONTROLS: &[Control] = &[
    Control {
        name: "fixed",
        summary: "no congestion control; the socket buffer is the window",
        source: "sobas:eq3",
        status: YARDSTICK,
    },
    Control {
        name: "reno",
        summary: "additive increase, multiplicative decrease: one segment per round trip, half on loss",
        source: "RFC 5681",
        status: STANDARD,
    },
    Control {
        name: "newreno",
        summary: "reno by the name it has with NewReno's recovery; how losses are mended is the flow's `sack` and `recovery`",
        source: "RFC 6582",
        status: STANDARD,
    },
    Control {
        name: "cubic",
        summary: "window as a cubic function of the time since the last loss, never slower than reno",
        source: "RFC 9438",
        status: STANDARD,
    },
    Control {
        name: "highspeed",
        summary: "additive increase and decrease by the size of the window; reno up to 38 segments",
        source: "RFC 3649",
        status: EXPERIMENTAL,
    },
    Control {
        name: "scalable",
        summary: "0.01 segments per segment acknowledged, an eighth on loss: recovery takes 13 round trips at any window",
        source: "Kelly 2003",
        status: PAPER,
    },
    Control {
        name: "bic",
        summary: "binary search for the window of the last loss, 0.01 to 32 segments per round trip",
        source: "Xu, Harfoush, Rhee 2004",
        status: PAPER,
    },
    Control {
        name: "westwood",
        summary: "reno that keeps the measured rate times the least RTT on loss (Westwood+)",
        source: "Grieco, Mascolo 2004",
        status: PAPER,
    },
    Control {
        name: "africa",
        summary: "highspeed while the RTT says that it has no queue, else reno (TCP-Africa)",
        source: "King, Baraniuk, Riedi 2005",
        status: PAPER,
    },
    Control {
        name: "lp",
        summary: "reno that gives way when delay rises: low priority (TCP-LP)",
        source: "Kuzmanovic, Knightly 2003",
        status: PAPER,
    },
    Control {
        name: "vegas",
        summary: "keeps 2 to 4 packets of its own in the queue, seen in the RTT; slow start of its own",
        source: "Brakmo and Peterson, JSAC 1995",
        status: PAPER,
    },
    Control {
        name: "fast",
        summary: "paced; an equation for the window keeps alpha packets in the queue; slow start of its own",
        source: "Jin, Wei and Low, INFOCOM 2004; alpha as in madison:5.1",
        status: PAPER,
    },
    Control {
        name: "bbr",
        summary: "BBR v1: paced at the largest delivery rate of ten rounds, twice rate x least RTT in flight",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        status: EXPERIMENTAL,
    },
    Control {
        name: "bbr3",
        summary: "BBR v3: as BBR, with bounds on what is in flight where probing meets more than 2 % loss",
        source: "draft-ietf-ccwg-bbr",
        status: EXPERIMENTAL,
    },
    Control {
        name: "madison",
        summary: "TCP-Madison: measures the bottleneck, sends at the rate that leaves a small target backlog there",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
    },
    Control {
        name: "madison-even",
        summary: "TCP-Madison with evenly spaced packets, nearer to the paper; wants random cross traffic",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
    },
    Control {
        name: "madison-printed",
        summary: "TCP-Madison by the letter of the paper: overflows where few flows share; there to show it",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
    },
];

/// Every slow start that can be named.
pub const SLOW_STARTS: &[Control] = &[
    Control {
        name: "standard",
        summary: "one segment per acknowledgement",
        source: "RFC 5681 section 3.1",
        status: STANDARD,
    },
    Control {
        name: LIMITED,
        summary: "above max_ssthresh segments, at most half of that per round trip",
        source: "RFC 3742",
        status: EXPERIMENTAL,
    },
    Control {
        name: "hystart++",
        summary: "slows down when a round's least RTT rises, and leaves slow start if that lasts",
        source: "RFC 9406",
        status: STANDARD,
    },
];

/// The slow start that [`Tuning::max_ssthresh`] is for.
pub const LIMITED: &str = "limited";

/// What a scenario may set of a controller beyond its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Segments one acknowledgement may count for in slow start, the L of RFC 3465. Zero: acknowledgements are
    /// counted, not bytes, in slow start and in congestion avoidance, as RFC 2581 allowed.
    pub byte_counting: u64,
    /// Where limited slow start begins to be slower, segments.
    pub max_ssthresh: u64,
}

impl Default for Tuning {
    /// RFC 5681's `min(N, SMSS)`, and what RFC 3742 recommends.
    fn default() -> Self {
        Self { byte_counting: 1, max_ssthresh: crate::slow_start::MAX_SSTHRESH }
    }
}

/// Whether a controller is called `name`.
#[must_use]
pub fn has_control(name: &str) -> bool {
    CONTROLS.iter().any(|control| control.name == name)
}

/// Whether a slow start is called `name`.
#[must_use]
pub fn has_slow_start(name: &str) -> bool {
    SLOW_STARTS.iter().any(|slow_start| slow_start.name == name)
}

/// The controller called `control` with the slow start called `slow_start`, or `None` if the registry lacks
/// either.
#[must_use]
pub fn build(control: &str, slow_start: &str, start: Start) -> Option<Box<dyn CongestionControl>> {
    tuned(control, slow_start, start, Tuning::default())
}

/// The same with other than the usual settings.
#[must_use]
pub fn tuned(
    control: &str,
    slow_start: &str,
    start: Start,
    tuning: Tuning,
) -> Option<Box<dyn CongestionControl>> {
    if !has_slow_start(slow_start) {
        return None;
    }
    match control {
        "fixed" => Some(Box::new(FixedWindow)),
        "vegas" => Some(Box::new(Vegas::new(start))),
        "fast" => Some(Box::new(Fast::new(start))),
        "bbr" => Some(Box::new(Bbr1::new(start))),
        "bbr3" => Some(Box::new(Bbr3::new(start))),
        "madison" => Some(Box::new(Madison::new(start))),
        "madison-even" => {
            let even = MadisonParameters { randomness: 0.0, ..MadisonParameters::default() };
            Some(Box::new(Madison::with(start, even)))
        }
        "madison-printed" => {
            let rules = MadisonRules::Printed;
            let printed = MadisonParameters { randomness: 0.0, rules, ..MadisonParameters::default() };
            Some(Box::new(Madison::with(start, printed)))
        }
        "reno" | "newreno" => loss_based(slow_start, start, tuning, Reno::new(start.segment)),
        "cubic" => loss_based(slow_start, start, tuning, Cubic::new(start.segment)),
        "highspeed" => loss_based(slow_start, start, tuning, HighSpeed::new(start.segment)),
        "scalable" => loss_based(slow_start, start, tuning, Scalable::new(start.segment)),
        "bic" => loss_based(slow_start, start, tuning, Bic::new(start.segment)),
        "westwood" => loss_based(slow_start, start, tuning, Westwood::new(start.segment)),
        "africa" => loss_based(slow_start, start, tuning, Africa::new(start.segment)),
        "lp" => loss_based(slow_start, start, tuning, LowPriority::new(start.segment)),
        _ => None,
    }
}

/// A growth function with the slow start called `slow_start`: one monomorphised controller for each pair.
fn loss_based<G: Growth + 'static>(
    slow_start: &str,
    start: Start,
    tuning: Tuning,
    growth: G,
) -> Option<Box<dyn CongestionControl>> {
    let counting = tuning.byte_counting;
    Some(match slow_start {
        "standard" => Box::new(LossBased::new(start, counting, Standard, growth)),
        LIMITED => {
            let limited = Limited::new(start.segment, tuning.max_ssthresh);
            Box::new(LossBased::new(start, counting, limited, growth))
        }
        "hystart++" => Box::new(LossBased::new(start, counting, HyStartPlusPlus::default(), growth)),
        _ => return None,
    })
}
