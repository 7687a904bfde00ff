//! Helpers that several theories share: the flows at the tight link, their round trips, RED.

use crate::run::resolve::{Resolved, ResolvedFlow};
use link::queue::RedParameters;
use model::red::Red;
use units::{Complaint, Span};

/// Returns the flows that share the queue, at least one.
pub(super) fn crossing(resolved: &Resolved) -> Result<Vec<&ResolvedFlow>, Complaint> {
    let crossing: Vec<&ResolvedFlow> =
        resolved.flows.iter().filter(|flow| flow.route.contains(&resolved.tight)).collect();
    if crossing.is_empty() {
        let nothing = Complaint::new("flow", "no flow crosses the tight link: nothing to predict");
        return Err(nothing.accepted("one or more"));
    }
    Ok(crossing)
}

/// Returns the round trip of a flow with an empty queue, including the transmission of a segment at the tight link.
pub(super) fn empty_rtt(resolved: &Resolved, flow: &ResolvedFlow) -> Span {
    flow.base_rtt + resolved.link.rate.serialization(flow.segment())
}

/// Returns RED as the theory sees it, and all of its parameters.
pub(super) fn red(resolved: &Resolved) -> Option<(Red, RedParameters)> {
    let knobs = resolved.queue.red(resolved.limit, resolved.link.rate)?;
    // Thresholds count waiting packets; lengths in the theory include the packet being sent.
    let red = Red {
        min_threshold: knobs.min_threshold + 1.0,
        max_threshold: knobs.max_threshold + 1.0,
        max_probability: knobs.max_probability,
    };
    Some((red, knobs))
}
