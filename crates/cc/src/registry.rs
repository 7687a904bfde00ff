//! The names of controllers and slow starts in a scenario, and what they stand for.

use crate::growth::Reno;
use crate::slow_start::Standard;
use crate::{CongestionControl, FixedWindow, LossBased, Start};

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
];

/// A slow start in the registry.
pub const SLOW_STARTS: &[Control] = &[Control {
    name: "standard",
    summary: "one segment per acknowledgement",
    source: "RFC 5681 section 3.1",
}];

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
    if !has_slow_start(slow_start) {
        return None;
    }
    let standard = Standard::new(start.segment);
    match control {
        "fixed" => Some(Box::new(FixedWindow)),
        "reno" => Some(Box::new(LossBased::new(start, standard, Reno::new(start.segment)))),
        _ => None,
    }
}
