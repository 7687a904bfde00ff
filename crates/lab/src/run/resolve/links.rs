//! Links and routes in numbers: a queue per direction, and the routes of flows and traffic over them.

use super::flow::ResolvedFlow;
use super::queue;
use super::room::{RoomScale, mean_rtt};
use super::shaper;
use super::ways::{Directions, Route};
use link::queue::PolicyConfig;
use link::{Limit, LinkConfig};
use scenario::spec::Direction;
use sim::TrafficPlan;
use units::{Bytes, Complaint, Rate, Span};

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct ResolvedLink {
    /// The link's name.
    pub name: String,
    /// The direction of the link.
    pub direction: Direction,
    /// Rate, delay, random loss.
    pub config: LinkConfig,
    /// The queue policy.
    pub queue: PolicyConfig,
    /// The queue's room.
    pub limit: Limit,
    /// Mean base RTT of the flows that cross the link either way.
    pub mean_rtt: Span,
    /// The key of the scenario's table that defines it: `link[1].reverse`.
    pub table: String,
}

impl ResolvedLink {
    /// Returns the scale that converts the room of its queue between units.
    #[must_use]
    pub const fn room_scale(&self) -> RoomScale {
        RoomScale { rate: self.config.rate, mean_rtt: self.mean_rtt, packet: self.queue.mean_packet }
    }
}

/// Resolves every direction into numbers.
pub(super) fn resolve(
    ways: &Directions<'_>,
    flows: &[&ResolvedFlow],
    traffic: &[TrafficPlan],
) -> Vec<ResolvedLink> {
    let table = |place| if ways.links.len() == 1 { "link".to_owned() } else { format!("link[{place}]") };
    let forward = ways.links.iter().enumerate().map(|(place, link)| {
        let of = &ways.numbers[place].0;
        let scale = carried(place, ways.reverse[place], of.rate, flows, traffic);
        ResolvedLink {
            name: link.name.clone(),
            direction: Direction::Forward,
            config: LinkConfig {
                jitter: link.jitter,
                shaper: link.shaper.as_ref().map(|of| Box::new(shaper::shaper(of, &scale))),
                ..of.config()
            },
            queue: PolicyConfig { assist: link.assist.clone(), ..queue::policy(&link.queue, &scale) },
            limit: scale.limit(link.queue.limit),
            mean_rtt: scale.mean_rtt,
            table: table(place),
        }
    });
    let reverse = ways.links.iter().enumerate().filter_map(|(place, link)| {
        let (back, index) = (link.reverse.as_ref()?, ways.reverse[place]?);
        let of = ways.numbers[place].1.as_ref()?;
        let scale = carried(index, Some(place), of.rate, flows, traffic);
        Some(ResolvedLink {
            name: link.name.clone(),
            direction: Direction::Reverse,
            config: LinkConfig {
                shaper: back.shaper.as_ref().map(|of| Box::new(shaper::shaper(of, &scale))),
                ..of.config()
            },
            queue: queue::policy(&back.queue, &scale),
            limit: scale.limit(back.queue.limit),
            mean_rtt: scale.mean_rtt,
            table: format!("{}.reverse", table(place)),
        })
    });
    forward.chain(reverse).collect()
}

/// Returns the scale that converts a queue's room between units, for a direction of `rate`. It holds the mean base RTT
/// of the flows that cross the link in either direction, and the mean size of a packet.
fn carried(
    direction: usize,
    other: Option<usize>,
    rate: Rate,
    flows: &[&ResolvedFlow],
    traffic: &[TrafficPlan],
) -> RoomScale {
    let crosses =
        |route: &Route| route.contains(&direction) || other.is_some_and(|other| route.contains(&other));
    let crossing = flows.iter().filter(|flow| crosses(&flow.route));
    let mean_rtt = mean_rtt(crossing.map(|flow| flow.base_rtt));
    let sending = flows.iter().filter(|flow| flow.route.contains(&direction));
    let mut packets: Vec<Bytes> = sending.map(|flow| flow.segment()).collect();
    let crossing: Vec<&TrafficPlan> =
        traffic.iter().filter(|traffic| traffic.route.contains(&direction)).collect();
    if packets.is_empty() && crossing.is_empty() {
        let answering = flows.iter().filter(|flow| flow.return_route.contains(&direction));
        packets = answering.map(|flow| flow.header).collect();
    }
    RoomScale { rate, mean_rtt, packet: queue::mean_packet(rate, &packets, &crossing) }
}

/// Returns the direction that a summary is about. Of the directions that carry the flows' data, forward ones if there
/// are any, it is the one with the least available rate. In a tie it is the first.
pub(super) fn tight(links: &[ResolvedLink], flows: &[&ResolvedFlow], traffic: &[TrafficPlan]) -> usize {
    let mut carrying = vec![false; links.len()];
    flows.iter().flat_map(|flow| &flow.route).for_each(|link| carrying[*link] = true);
    let forward = |index: &usize| links[*index].direction == Direction::Forward;
    let candidates: Vec<usize> = (0..links.len()).filter(|index| carrying[*index]).collect();
    let any_forward = candidates.iter().any(forward);
    let candidates = candidates.into_iter().filter(|index| forward(index) || !any_forward);
    candidates.min_by_key(|index| available(*index, links[*index].config.rate, traffic)).unwrap_or(0)
}

/// Returns the part of a direction's rate that unresponsive traffic leaves.
pub(super) fn available(index: usize, rate: Rate, traffic: &[TrafficPlan]) -> Rate {
    rate.saturating_sub(unresponsive(index, traffic))
}

/// Returns the mean rate of the unresponsive traffic over a direction.
pub(super) fn unresponsive(index: usize, traffic: &[TrafficPlan]) -> Rate {
    let crossing = traffic.iter().filter(|traffic| traffic.route.contains(&index));
    crossing.fold(Rate::ZERO, |sum, traffic| sum + traffic.config.rate)
}

/// Checks that every queue has room for the packets that cross it, and has settings that its policy accepts.
///
/// # Errors
/// Returns the complaints about the first queue that fails.
pub(super) fn check(links: &[ResolvedLink], flows: &[&ResolvedFlow]) -> Result<(), Vec<Complaint>> {
    for (index, link) in links.iter().enumerate() {
        let sending = flows.iter().filter(|flow| flow.route.contains(&index));
        let segment = sending.map(|flow| flow.segment()).max().unwrap_or_default();
        queue::holds(&link.table, link.limit, segment)?;
        queue::check(&link.table, &link.queue, link.limit, link.config.rate)?;
        shaper::check(&link.table, &link.config, segment)?;
    }
    Ok(())
}
