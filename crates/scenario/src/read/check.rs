//! Checks across tables.

use super::partial::{PartialFlow, PartialLink, PartialWlan};
use crate::cursor::{Keys, ValueAt};
use crate::spec::{Direction, Limit, Spread};
use crate::tables::flow::MOST_FLOWS;
use crate::tables::top::ScenarioRead;
use units::random::pareto_quantiles;
use units::{Bytes, Span};

/// Records values that do not fit together. The checks skip tables and keys that could not be read.
pub(super) fn across(
    root: &Keys<'_>,
    read: &ScenarioRead,
    links: Option<&[PartialLink<'_>]>,
    cell: Option<&PartialWlan<'_>>,
    flows: Option<&[PartialFlow<'_>]>,
    users: &[PartialFlow<'_>],
) {
    if let (Some(Some(duration)), Some(warmup)) = (read.duration, read.warmup)
        && warmup >= duration
    {
        let found = format!("a warmup of {warmup} in a run of {duration}: nothing is left to measure");
        root.near("warmup").fault(found, format!("a time below {duration}"), None);
    }
    let flows = flows.unwrap_or_default();
    if read.duration == Some(None) {
        for flow in flows.iter().filter(|flow| flow.read.size == Some(None)) {
            flow.keys.near("size").fault(
                "never ends: a greedy flow in a run without a duration",
                "a duration for the run, or a size for this flow",
                Some("write duration = \"60s\" at the top, or size = \"100MB\" here".into()),
            );
        }
        for users in users {
            users.keys.near("users").fault(
                "never ends: users come again in a run without a duration",
                "a duration for the run",
                Some("write duration = \"60s\" at the top".into()),
            );
        }
    }
    let flows: Vec<&PartialFlow<'_>> = flows.iter().chain(users).collect();
    sums(&flows);
    if let Some(cell) = cell.filter(|cell| cell.delay == Some(None))
        && !flows.is_empty()
    {
        let help =
            "write backhaul = { rate = \"100Mbit/s\", delay = \"10ms\", queue.limit = \"1000 packets\" }";
        cell.keys.near("backhaul").fault(
            "missing: the other ends of flows",
            "a table with rate, delay, queue",
            Some(help.into()),
        );
    }
    let links = links.unwrap_or_default();
    for flow in &flows {
        let round = match cell {
            Some(cell) => cell.delay.flatten().map(|delay| delay * 2),
            None => round(flow, links),
        };
        if let (Some(round), Some(Some(rtt))) = (round, &flow.read.rtt) {
            covers(
                &flow.keys.near("rtt"),
                rtt,
                flow.flow.as_ref().map_or(1, |flow| flow.count),
                round,
                match links {
                    _ if cell.is_some() => ("the backhaul's delay", "twice the backhaul's one-way delay"),
                    [_, _, ..] => ("the links' delay", "twice the one-way delay of the flow's links"),
                    _ => ("the links' delay", "twice the links' one-way delay"),
                },
            );
        }
    }
    for (index, link) in links.iter().enumerate() {
        let crossing: Vec<&PartialFlow<'_>> =
            flows.iter().copied().filter(|flow| flow.way.links.contains(&index)).collect();
        // A flow whose path could not be read may cross the link, so the link's limits are not checked.
        if flows.iter().any(|flow| flow.way.links.is_empty()) {
            continue;
        }
        limits(&link.keys, link.limit(), Direction::Forward, &crossing, links);
        if let Some((keys, limit)) = &link.reverse {
            limits(keys, *limit, Direction::Reverse, &crossing, links);
        }
    }
}

/// The most links that all flows together may cross. A link counts once for each of its flows.
const MOST_CROSSINGS: u64 = 10_000_000;
/// The most packets that all flows together may send before any acknowledgement.
const MOST_AT_ONCE: u64 = 20_000_000;

/// Records the table with which the flows counted so far exceed a limit that keeps memory bounded.
fn sums(flows: &[&PartialFlow<'_>]) {
    let (mut transfers, mut crossings, mut at_once) = (0u64, 0u64, 0u64);
    for read in flows {
        let Some(flow) = &read.flow else { continue };
        let counted = if read.keys.get("users").is_some() { "users" } else { "count" };
        let within = |sum: &mut u64, more: u64, most: u64, key: &str, what: &str| {
            let before = *sum;
            *sum = sum.saturating_add(flow.count.saturating_mul(more));
            if *sum > most && before <= most {
                let found = format!("{what}: {sum} up to this table");
                read.keys.near(key).fault(found, format!("at most {most} in all"), None);
            }
        };
        within(&mut transfers, 1, MOST_FLOWS, counted, "flows and users");
        within(
            &mut crossings,
            read.way.links.len() as u64,
            MOST_CROSSINGS,
            counted,
            "links that flows cross",
        );
        let segment = read.read.segment.map_or(1, Bytes::get).max(1);
        let size = flow.size.map_or(u64::MAX, |size| size.get().div_ceil(segment));
        within(
            &mut at_once,
            flow.initial_window.min(size),
            MOST_AT_ONCE,
            "initial_window",
            "packets that flows send at once",
        );
    }
}

/// Returns twice the one-way delay of a flow's links, if every delay is known.
fn round(flow: &PartialFlow<'_>, links: &[PartialLink<'_>]) -> Option<Span> {
    let delays = flow.way.links.iter().map(|link| links[*link].read.delay.as_ref()?.least());
    delays.sum::<Option<Span>>().map(|delay| delay * 2)
}

/// Records a base RTT below the `round` trip of the flow's way. The last argument has the words for the delay and for
/// `round`.
fn covers(at: &ValueAt<'_>, rtt: &Spread<Span>, count: u64, round: Span, (delay, is): (&str, &str)) {
    let accepted = format!("at least {round}, {is}");
    let short = |at: &ValueAt<'_>, what: &str, least: Span| {
        if least < round {
            let found = format!("{what} of {least}, less than {delay} there and back ({round})");
            at.fault(found, accepted.clone(), None);
        }
    };
    match rtt {
        Spread::All(rtt) => short(at, "an RTT", *rtt),
        Spread::List(rtts) => at.items().iter().zip(rtts).for_each(|(at, rtt)| short(at, "an RTT", *rtt)),
        Spread::Uniform(low, _) => short(at, "a least RTT", *low),
        // The argument is the least value of a Pareto distribution with this mean.
        Spread::Pareto { shape, mean } => short(at, "a least RTT", mean.scale((shape - 1.0) / shape)),
        Spread::ParetoQuantiles { shape, mean } => {
            if let Some(least) = pareto_quantiles(*shape, mean.as_secs_f64(), count).first() {
                short(at, "a least RTT", Span::from_secs_f64(*least));
            }
        }
        Spread::Exponential(_) => short(at, "a least RTT", Span::ZERO),
    }
}

/// Records a limit with no room for a packet, and one relative to a bandwidth-delay product that is zero or undefined.
/// `crossing` are the flows that cross the link in either direction.
fn limits(
    keys: &Keys<'_>,
    limit: Option<Limit>,
    direction: Direction,
    crossing: &[&PartialFlow<'_>],
    links: &[PartialLink<'_>],
) {
    let at = || {
        let queue = keys.near("queue");
        queue.child("limit").unwrap_or(queue)
    };
    match limit {
        Some(Limit::Bytes(limit)) => {
            let segments = crossing.iter().filter(|flow| flow.way.direction == Some(direction));
            // This direction carries the acknowledgements of flows in the other one.
            let carried = crossing.iter().any(|flow| flow.way.direction != Some(direction));
            let packets =
                segments.filter_map(|flow| flow.read.segment).chain(carried.then_some(ACKNOWLEDGEMENT));
            if let Some(packet) = packets.max().filter(|packet| limit < *packet) {
                let found = format!("room for {limit}, not even one packet of {packet}");
                at().fault(found, format!("at least \"{packet}\""), None);
            }
        }
        Some(Limit::Bdp(_)) if crossing.is_empty() => {
            at().fault(
                "a share of nothing: no flow crosses this link, so it has no bandwidth-delay product",
                "packets, bytes or a time; or a flow whose path has this link",
                None,
            );
        }
        Some(Limit::Bdp(_)) if crossing.iter().all(|flow| pathless(flow, round(flow, links))) => {
            at().fault(
                "a share of nothing: every base RTT is zero, and with it the bandwidth-delay product",
                "packets, bytes or a time; or a base RTT above zero",
                Some("give the link a delay or the flows an rtt".into()),
            );
        }
        _ => {}
    }
}

/// The longest acknowledgement: IPv4 20, TCP 20, and 40 of options [rfc9293:3.1].
const ACKNOWLEDGEMENT: Bytes = Bytes::new(80);

/// Returns true if the flow's base RTT is known to be zero.
fn pathless(flow: &PartialFlow<'_>, round: Option<Span>) -> bool {
    match &flow.read.rtt {
        None => false,
        Some(None) => round == Some(Span::ZERO),
        Some(Some(Spread::All(rtt) | Spread::Uniform(_, rtt) | Spread::Exponential(rtt))) => {
            *rtt == Span::ZERO
        }
        Some(Some(Spread::List(rtts))) => rtts.iter().all(|rtt| *rtt == Span::ZERO),
        Some(Some(Spread::Pareto { mean, .. } | Spread::ParetoQuantiles { mean, .. })) => *mean == Span::ZERO,
    }
}
