//! The differences between a scenario and the subject of a theory.

use super::offered::OfferedLoad;
use super::tight::red;
use crate::run::engine::{no_users, one_queue};
use crate::run::record::Engine;
use crate::run::resolve::{Resolved, ResolvedFlow};
use units::{Complaint, Fraction, Span, Time};

/// The words for the control that a theory assumes if it knows Reno only.
pub(super) const RENO: &str = "Reno, which adds a segment per round trip and halves at a loss";

/// The number of flows in the fixed point's source. Fewer flows lose packets together, and their arrivals are not a
/// random process.
pub(super) const ENOUGH: usize = 10;

/// One part of a scenario that a theory treats otherwise than the scenario describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// The key and the reason for which its value does not fit, the values that would, and the remedy.
    pub(super) complaint: Complaint,
    /// The theory's assumption about that part of the scenario: a plain sentence without a full stop.
    pub(super) assumption: String,
    /// The extent to which the departure can change the answer.
    pub(super) weight: Severity,
}

/// The extent to which a departure can change an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// A part of the traffic or of the path is left out.
    Part,
    /// The theory is about something else: another control, another queue policy.
    Core,
    /// The theory misses the whole subject of the scenario: it is about a steady state, and every flow is a file.
    All,
}

impl Severity {
    /// Returns the number by which weights are added: one `Core` outweighs two `Part`s, and `All` outweighs any other
    /// departures.
    pub(super) const fn value(self) -> u32 {
        match self {
            Self::Part => 3,
            Self::Core => 7,
            Self::All => 100,
        }
    }
}

impl Departure {
    pub(super) fn new(weight: Severity, complaint: Complaint, assumption: impl Into<String>) -> Self {
        Self { complaint, assumption: assumption.into(), weight }
    }
}

/// Lists the departures that all theories of links share, such as controls of `flows` that are not `known`. Each theory
/// passes its own departure for the queue `policy`, because some know several policies.
pub(super) fn of_links<'a>(
    resolved: &Resolved,
    flows: impl IntoIterator<Item = &'a ResolvedFlow>,
    known: &[&str],
    taken_for: &str,
    policy: Option<Departure>,
) -> Vec<Departure> {
    let departures = [
        network(resolved),
        users(resolved),
        control(flows, known, taken_for),
        policy,
        marks(resolved),
        jitter(resolved),
        comes_or_leaves(resolved),
        OfferedLoad::new(resolved).departure,
    ];
    departures.into_iter().flatten().collect()
}

/// Lists the departures that theories of many flows share: flows that end, marks of RED, fewer than [`ENOUGH`] flows,
/// and flows that lose together. For too few flows, `found` and `assumption` are the words of the departure.
pub(super) fn of_many(
    resolved: &Resolved,
    crossing: &[&ResolvedFlow],
    found: &str,
    assumption: &str,
) -> Vec<Departure> {
    let few = (crossing.len() < ENOUGH).then(|| {
        let complaint = Complaint::new(crossing[0].key("count"), found)
            .accepted(format!("{ENOUGH} or more"))
            .help("ask the simulator");
        let weight = if crossing.len() == 1 { Severity::Core } else { Severity::Part };
        Departure::new(weight, complaint, assumption)
    });
    [sized(crossing), early_marks(resolved), few, together(resolved)].into_iter().flatten().collect()
}

/// Describes flows that lose together behind drop-tail, although the theory lets each flow lose by itself. A published
/// result is exempt, because its claims state the error of the theory.
fn together(resolved: &Resolved) -> Option<Departure> {
    let complaint = Complaint::new("link.queue.kind", "flows behind drop-tail: they lose together")
        .accepted("red")
        .help("ask the simulator");
    let is_so = resolved.source.is_none() && resolved.queue.policy == link::queue::DROP_TAIL;
    is_so.then(|| Departure::new(Severity::Part, complaint, "flows are taken to lose one by one, at random"))
}

/// Describes losses of the link itself, which theories take as zero.
pub(super) fn random_loss(resolved: &Resolved) -> Option<Departure> {
    let complaint = Complaint::new("link.loss", "losses that the queue does not cause")
        .accepted("0")
        .help("ask the simulator");
    (resolved.link.loss > Fraction::ZERO)
        .then(|| Departure::new(Severity::Part, complaint, "the link loses nothing by itself"))
}

/// Describes cross traffic. Theories assume that it needs no room in the queue.
pub(super) fn cross_traffic(resolved: &Resolved) -> Option<Departure> {
    let complaint = Complaint::new("traffic", "cross traffic, for which the equations have no queue")
        .accepted("none")
        .help("ask the simulator");
    let assumption = "cross traffic takes its mean rate from the link, and no room in the queue";
    (!resolved.traffic.is_empty()).then(|| Departure::new(Severity::Part, complaint, assumption))
}

/// Describes a socket buffer of fewer than `enough` segments, or one that a sizer moves. Theories assume that it never
/// limits the flow.
pub(super) fn held_back<'a>(
    flows: impl IntoIterator<Item = &'a ResolvedFlow>,
    weight: Severity,
    enough: f64,
    accepted: &str,
) -> Option<Departure> {
    let segments =
        |flow: &ResolvedFlow| Some(flow.per_round_trip()?.get() as f64 / flow.payload.get() as f64);
    let is_held = |flow: &&ResolvedFlow| {
        segments(flow).is_some_and(|segments| segments < enough) || flow.asked_sizer().is_some()
    };
    let flow = flows.into_iter().find(is_held)?;
    let complaint = Complaint::new(flow.key("socket_buffer"), "the receiver may hold the window back")
        .accepted(accepted)
        .help("ask the simulator");
    Some(Departure::new(weight, complaint, "the receive window is never the limit"))
}

/// Describes further queues. Theories consider only the queue of the tight link.
fn network(resolved: &Resolved) -> Option<Departure> {
    let misfit = one_queue(Engine::Model, resolved).err()?;
    let tight = &resolved.links[resolved.tight].name;
    let assumption =
        format!("only the queue of the tight link, {tight}, is counted, the others are taken to be empty");
    Some(Departure::new(Severity::Part, misfit.complaint, assumption))
}

/// Describes packets that overtake others on any link of the scenario. Theories assume that packets keep their order.
fn jitter(resolved: &Resolved) -> Option<Departure> {
    let link = resolved.links.iter().find(|link| link.config.jitter > Span::ZERO)?;
    let complaint =
        Complaint::new(format!("{}.jitter", link.table), "no closed form for packets that overtake others")
            .accepted("no jitter")
            .help("ask the simulator or the kernel");
    let assumption = "packets are taken to keep their order, without jitter";
    Some(Departure::new(Severity::Part, complaint, assumption))
}

/// Describes users that come and go. Theories leave them out.
pub(super) fn users(resolved: &Resolved) -> Option<Departure> {
    let misfit = no_users(Engine::Model, resolved, "ask the simulator").err()?;
    let names: Vec<&str> = resolved.sessions.iter().map(|users| users.name.as_str()).collect();
    let assumption = format!("users that come and go ({}) are left out", names.join(", "));
    Some(Departure::new(Severity::Part, misfit.complaint, assumption))
}

/// Describes a queue that marks before it drops, and flows that answer marks.
fn marks(resolved: &Resolved) -> Option<Departure> {
    let marked = resolved.queue.settings.mark_above.is_some()
        && resolved.flows.iter().any(|flow| flow.transport.ecn.is_on());
    let complaint =
        Complaint::new("link.queue.mark_above", "no closed form for a queue that marks before it drops")
            .accepted("flows without ecn, or a queue that does not mark")
            .help("ask the simulator");
    marked.then(|| {
        Departure::new(Severity::Part, complaint, "the queue is taken to drop when it is full, without marks")
    })
}

/// Describes a queue policy other than drop-tail.
pub(super) fn not_drop_tail(resolved: &Resolved) -> Option<Departure> {
    let policy = &resolved.queue.policy;
    let complaint = Complaint::new("link.queue.kind", format!("no closed form for queue \"{policy}\" here"))
        .accepted(link::queue::DROP_TAIL)
        .help("ask the simulator or the kernel");
    let assumption = format!("a {policy} queue is taken for drop-tail");
    (policy != link::queue::DROP_TAIL).then(|| Departure::new(Severity::Core, complaint, assumption))
}

/// Describes a flow that comes or leaves while the run is measured. A file may begin at any time, because it has no
/// steady state anyway.
fn comes_or_leaves(resolved: &Resolved) -> Option<Departure> {
    let leaves = |flow: &&ResolvedFlow| {
        flow.stop.is_some_and(|stop| resolved.end.is_none_or(|end| stop < Time::ZERO + end))
    };
    let comes = |flow: &&ResolvedFlow| flow.size.is_none() && flow.start > Time::ZERO + resolved.warmup;
    let leaver = resolved.flows.iter().find(leaves).map(|flow| {
        (
            flow.key("stop"),
            "a flow that leaves: the closed forms are of a steady state",
            "flows without a stop",
        )
    });
    let comer = || {
        let flow = resolved.flows.iter().find(comes)?;
        let found = "a flow that comes after the warm-up: the closed forms are of a steady state";
        Some((flow.key("start"), found, "flows that start in the warm-up"))
    };
    let (place, found, accepted) = leaver.or_else(comer)?;
    let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
    Some(Departure::new(Severity::Part, complaint, "every flow is taken to be there all the time"))
}

/// Describes a control among `flows` that is not in `known`.
pub(super) fn control<'a>(
    flows: impl IntoIterator<Item = &'a ResolvedFlow>,
    known: &[&str],
    taken_for: &str,
) -> Option<Departure> {
    let mut others: Vec<&ResolvedFlow> =
        flows.into_iter().filter(|flow| !known.contains(&flow.control.name.as_str())).collect();
    let first = *others.first()?;
    others.sort_by_key(|flow| &flow.control.name);
    others.dedup_by_key(|flow| &flow.control.name);
    let names: Vec<&str> = others.iter().map(|flow| flow.control.name.as_str()).collect();
    let complaint = Complaint::new(
        first.key("control"),
        format!("no closed form for control \"{}\" here", first.control.name),
    )
    .accepted(known.join(", "))
    .help("choose another control or another engine");
    let is = if names.len() == 1 { "is" } else { "are" };
    let assumption = format!("{} {is} taken for {taken_for}", names.join(", "));
    Some(Departure::new(Severity::Core, complaint, assumption))
}

/// Describes a queue that is neither drop-tail nor RED.
pub(super) fn not_drop_tail_or_red(resolved: &Resolved) -> Option<Departure> {
    if red(resolved).is_some() { None } else { not_drop_tail(resolved) }
}

/// Describes flows that end, for theories of a steady state.
pub(super) fn sized(crossing: &[&ResolvedFlow]) -> Option<Departure> {
    let flow = crossing.iter().find(|flow| flow.size.is_some())?;
    let complaint = Complaint::new(
        flow.key("size"),
        "a flow that ends: the theories of a steady state have flows that always have data",
    )
    .accepted("greedy flows, without a size")
    .help("ask the simulator");
    let weight = if crossing.iter().all(|flow| flow.size.is_some()) { Severity::All } else { Severity::Part };
    Some(Departure::new(weight, complaint, "every flow is taken to have data all the time"))
}

/// Describes RED that marks instead of dropping.
fn early_marks(resolved: &Resolved) -> Option<Departure> {
    let marks = red(resolved)?.1.ecn && resolved.flows.iter().any(|flow| flow.transport.ecn.is_on());
    let complaint =
        Complaint::new("link.queue.ecn", "packets that are marked, where the theory has them dropped")
            .accepted("flows without ecn, or a queue with ecn = false")
            .help("ask the simulator");
    marks.then(|| {
        Departure::new(Severity::Part, complaint, "packets that would be marked are taken to be dropped")
    })
}
