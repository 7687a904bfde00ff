//! The names of controllers and slow starts in a scenario, and what they stand for.

use crate::growth::{Growth, Reno};
use crate::slow_start::{HyStartPlusPlus, Limited, Standard};
use crate::{CongestionControl, Fast, FixedWindow, LossBased, Start, Vegas};

/// A controller in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Every controller that can be named in a scenario for the simulator.
pub const CONTROLS: &[Control] = &[
    Control {
        name: "fixed",
        summary: "no congestion control; the socket buffer is the window",
        source: "sobas:eq3",
    },
    Control {
        name: "reno",
        summary: "additive increase, multiplicative decrease: one segment per round trip, half on loss",
        source: "RFC 5681, RFC 6582",
    },
    Control {
        name: "vegas",
        summary: "keeps 2 to 4 packets of its own in the queue, seen in the RTT; slow start of its own",
        source: "Brakmo and Peterson, JSAC 1995",
    },
    Control {
        name: "fast",
        summary: "paced; an equation for the window keeps alpha packets in the queue; slow start of its own",
        source: "Jin, Wei and Low, INFOCOM 2004; alpha as in madison:5.1",
    },
];

/// Every slow start that can be named.
pub const SLOW_STARTS: &[Control] = &[
    Control { name: "standard", summary: "one segment per acknowledgement", source: "RFC 5681 section 3.1" },
    Control {
        name: LIMITED,
        summary: "above max_ssthresh segments, at most half of that per round trip",
        source: "RFC 3742",
    },
    Control {
        name: "hystart++",
        summary: "slows down when a round's least RTT rises, and leaves slow start if that lasts",
        source: "RFC 9406",
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
        "reno" => loss_based(slow_start, start, tuning, Reno::new(start.segment)),
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
