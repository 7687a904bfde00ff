//! The links of a run as its media have them.

use crate::plan::{LinkPlan, Plan};
use link::LinkConfig;
use units::Span;
use units::random::Stream;

/// Returns the configuration and the losses of the one link. All propagation belongs to the flows: see the crate's map.
pub(super) fn lumped(plan: &Plan, link: &LinkPlan) -> (LinkConfig, Stream) {
    (LinkConfig { delay: Span::ZERO, ..link.config.clone() }, loss(plan, link))
}

/// Creates the stream for a link's random losses.
pub(super) fn loss(plan: &Plan, link: &LinkPlan) -> Stream {
    let only = plan.topology.links().len() == 1;
    Stream::new(plan.seed, &if only { "link loss".to_owned() } else { format!("link loss {}", link.name) })
}
