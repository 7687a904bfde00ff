//! How a scenario differs from what a theory is about.

use crate::run::engine::{no_users, one_queue};
use crate::run::record::Engine;
use crate::run::resolve::{Resolved, ResolvedFlow};
use units::{Complaint, Span};

/// One part of a scenario that a theory takes otherwise than it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// The key and why its value does not fit; what would, and what to do.
    pub(super) complaint: Complaint,
    /// What is assumed in its place: a plain sentence without a full stop.
    pub(super) assumption: String,
    /// How much it can move the answer.
    pub(super) weight: Weight,
}

/// How much a departure can move an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// A part of the traffic or of the path is left out.
    Part,
    /// The theory is about something else: another control, another queue policy.
    Core,
}

impl Weight {
    /// Of a sum in which one core outweighs two parts.
    pub(super) const fn value(self) -> u32 {
        match self {
            Self::Part => 3,
            Self::Core => 7,
        }
    }
}

impl Departure {
    pub(super) fn new(weight: Weight, complaint: Complaint, assumption: impl Into<String>) -> Self {
        Self { complaint, assumption: assumption.into(), weight }
    }
}

/// More than one queue: the tight link's is the only one looked at.
pub(super) fn network(resolved: &Resolved) -> Option<Departure> {
    let misfit = one_queue(Engine::Model, resolved).err()?;
    let tight = &resolved.links[resolved.tight].name;
    let assumption =
        format!("only the queue of the tight link, {tight}, is counted, the others are taken to be empty");
    Some(Departure::new(Weight::Part, misfit.complaint, assumption))
}

/// Packets that overtake others: they are taken to keep their order.
pub(super) fn jitter(resolved: &Resolved) -> Option<Departure> {
    let complaint = Complaint::new("link.jitter", "no closed form for packets that overtake others")
        .accepted("no jitter")
        .help("ask the simulator or the kernel");
    (resolved.link.jitter > Span::ZERO).then(|| {
        Departure::new(Weight::Part, complaint, "packets are taken to keep their order, without jitter")
    })
}

/// Users that come and go: they are left out.
pub(super) fn users(resolved: &Resolved) -> Option<Departure> {
    let misfit = no_users(Engine::Model, resolved, "ask the simulator").err()?;
    let names: Vec<&str> = resolved.sessions.iter().map(|users| users.name.as_str()).collect();
    let assumption = format!("users that come and go ({}) are left out", names.join(", "));
    Some(Departure::new(Weight::Part, misfit.complaint, assumption))
}

/// A queue that marks before it drops, and flows that answer marks.
pub(super) fn marks(resolved: &Resolved) -> Option<Departure> {
    let marked =
        resolved.queue.settings.mark_above.is_some() && resolved.flows.iter().any(|flow| flow.transport.ecn);
    let complaint =
        Complaint::new("link.queue.mark_above", "no closed form for a queue that marks before it drops")
            .accepted("flows without ecn, or a queue that does not mark")
            .help("ask the simulator");
    marked.then(|| {
        Departure::new(Weight::Part, complaint, "the queue is taken to drop when it is full, without marks")
    })
}

/// A queue policy other than drop-tail.
pub(super) fn not_drop_tail(resolved: &Resolved) -> Option<Departure> {
    let policy = &resolved.queue.policy;
    let complaint = Complaint::new("link.queue.kind", format!("no closed form for queue \"{policy}\" here"))
        .accepted(link::queue::DROP_TAIL)
        .help("ask the simulator or the kernel");
    let assumption = format!("a {policy} queue is taken for drop-tail");
    (policy != link::queue::DROP_TAIL).then(|| Departure::new(Weight::Core, complaint, assumption))
}

/// A flow that leaves.
pub(super) fn leaves(resolved: &Resolved) -> Option<Departure> {
    let leaves = resolved.flows.iter().find(|flow| flow.stop.is_some())?;
    let complaint =
        Complaint::new(leaves.key("stop"), "a flow that leaves: the closed forms are of a steady state")
            .accepted("flows without a stop")
            .help("ask the simulator");
    Some(Departure::new(Weight::Part, complaint, "every flow is taken to be there all the time"))
}

/// A control that none of `known` is, among `flows`.
pub(super) fn control<'a>(
    flows: impl IntoIterator<Item = &'a ResolvedFlow>,
    known: &[&str],
    taken_for: &str,
) -> Option<Departure> {
    let mut others: Vec<&ResolvedFlow> =
        flows.into_iter().filter(|flow| !known.contains(&flow.control.as_str())).collect();
    let first = *others.first()?;
    others.sort_by_key(|flow| &flow.control);
    others.dedup_by_key(|flow| &flow.control);
    let names: Vec<&str> = others.iter().map(|flow| flow.control.as_str()).collect();
    let complaint = Complaint::new(
        first.key("control"),
        format!("no closed form for control \"{}\" here", first.control),
    )
    .accepted(known.join(", "))
    .help("choose another control or another engine");
    let is = if names.len() == 1 { "is" } else { "are" };
    let assumption = format!("{} {is} taken for {taken_for}", names.join(", "));
    Some(Departure::new(Weight::Core, complaint, assumption))
}
