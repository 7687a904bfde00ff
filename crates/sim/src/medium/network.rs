//! Links in sequence, with a queue per direction: packets move hop by hop.
//!
//! Every link's propagation is real. The part of a flow's base RTT beyond its links' delays belongs to its access
//! lines. It lies behind the last queue of the way back, or of the way there if acknowledgements meet no queue.

mod routes;

use super::{Lines, Markings, Medium};
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::{FlowPlan, LinkPlan, Plan};
use link::{Datagram, Link, LinkReport, LinkState, LossEpisodes, SourceMeters, SourceReport};
use routes::Routes;
use units::{Bytes, Span, Time};

/// The links of a plan and the ways over them.
pub(crate) struct Network {
    links: Vec<Link<Packet>>,
    tight: usize,
    routes: Routes,
    /// The way of each flow.
    ways: Vec<FlowRoute>,
    /// The position at which each source of cross traffic begins its route.
    sources: Vec<u32>,
    /// Meters of cross traffic over its whole route.
    traffic: SourceMeters,
    markings: Markings,
    /// The access lines.
    lines: Lines,
    /// Links whose next event may have moved since the agenda was updated.
    touched: Vec<usize>,
    /// Packets dropped and not yet reported to their flows.
    dropped: Vec<Packet>,
    losses: LossEpisodes,
}

/// The positions at which a flow's segments and its acknowledgements begin their routes.
#[derive(Clone, Copy, Debug)]
struct FlowRoute {
    there: u32,
    back: u32,
}

impl Network {
    /// Creates a network of `links`, which are the plan's.
    ///
    /// # Panics
    /// If a route is empty or names a link that the plan does not have.
    pub(crate) fn new(links: Vec<Link<Packet>>, plan: &Plan) -> Self {
        let mut routes = Routes::new(links.len());
        let mut begin = |route: &[usize], name: &str| {
            assert!(!route.is_empty(), "{name} needs a route");
            routes.begin(route)
        };
        let connections: Vec<&FlowPlan> = plan.connections().collect();
        let mut links = links;
        if !plan.traffic.is_empty() {
            links.iter_mut().for_each(|link| link.meter_sources(plan.traffic.len(), Span::ZERO));
        }
        let there: Vec<u32> = connections.iter().map(|flow| begin(&flow.route, &flow.name)).collect();
        let sources = plan.traffic.iter().map(|traffic| begin(&traffic.route, &traffic.name)).collect();
        let way =
            |(flow, there): (&&FlowPlan, u32)| FlowRoute { there, back: routes.begin(&flow.return_route) };
        Self {
            ways: connections.iter().zip(there).map(way).collect(),
            sources,
            traffic: SourceMeters::new(plan.traffic.len(), Span::ZERO),
            lines: Lines::new(connections.iter().map(|flow| access(flow, plan.topology.links()))),
            links,
            markings: Markings::new(plan),
            tight: plan.topology.tight(),
            routes,
            touched: Vec::new(),
            dropped: Vec::new(),
            losses: plan.loss_episodes(),
        }
    }

    fn push(&mut self, now: Time, link: usize, packet: Packet) {
        let dropped = &mut self.dropped;
        self.links[link].push(now, packet, &mut |packet, _| dropped.push(packet));
        self.touched.push(link);
    }

    /// Returns true if acknowledgements of a flow cross queues.
    fn meets_queues_on_its_way_back(&self, flow: u32) -> bool {
        self.routes.link(self.ways[flow as usize].back).is_some()
    }

    /// Returns the time that a packet of `length` takes from position `begin` to the end of its route if it never
    /// waits.
    fn unloaded(&self, begin: u32, length: Bytes) -> Span {
        let route = (begin..).map_while(|hop| self.routes.link(hop)).map(|link| &self.links[link]);
        route.map(|link| link.delay() + link.rate().serialization(length)).sum()
    }

    /// Passes on a packet that has come out of a link: to the next link, or to its endpoint.
    fn pass_on(&mut self, now: Time, mut packet: Packet, arrived: &mut Vec<Packet>) {
        packet.hop += 1;
        if let Some(link) = self.routes.link(packet.hop) {
            self.push(now, link, packet);
            return;
        }
        match packet.kind {
            Kind::Cross => {
                let delay = now.since(packet.sent);
                let moving = self.unloaded(self.sources[packet.segment.number() as usize], packet.wire_len());
                let times = (packet.sent, delay.saturating_sub(moving), now);
                self.traffic.delivered(packet.source(), packet.wire_len(), times, false);
            }
            Kind::Acknowledgement | Kind::Probe => self.lines.push(now, packet.into()),
            Kind::Segment if self.meets_queues_on_its_way_back(packet.flow) => arrived.push(packet),
            Kind::Segment => self.lines.push(now, packet.into()),
        }
    }
}

impl Medium for Network {
    const CARRIES_ACKNOWLEDGEMENTS: bool = true;

    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        let mut packet = self.markings.mark(packet);
        packet.hop = match packet.kind {
            Kind::Segment | Kind::Probe => self.ways[packet.flow as usize].there,
            Kind::Acknowledgement => self.ways[packet.flow as usize].back,
            Kind::Cross => {
                self.traffic.settle(now);
                self.traffic.arrived(packet.source(), packet.wire_len());
                self.sources[packet.segment.number() as usize]
            }
        };
        if let Some(link) = self.routes.link(packet.hop) {
            self.push(now, link, packet);
        }
        true
    }

    fn next_arrival(&self) -> Time {
        self.lines.next()
    }

    fn pop_arrival(&mut self) -> Option<UnderWay> {
        self.lines.pop()
    }

    fn slots(&self) -> usize {
        self.links.len()
    }

    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>) {
        self.touched.push(slot);
        loop {
            let dropped = &mut self.dropped;
            let packet = self.links[slot].poll(now, &mut |packet, _| dropped.push(packet));
            let Some(packet) = packet else { return };
            self.pass_on(now, packet, arrived);
        }
    }

    fn settle(&mut self, now: Time, mut dropped: impl FnMut(u32, Kind), mut wake: impl FnMut(usize, Time)) {
        for packet in self.dropped.drain(..) {
            if packet.kind == Kind::Segment && self.routes.link(packet.hop) == Some(self.tight) {
                let delay = || self.links[self.tight].state(now).queueing_delay();
                self.losses.observe(now, packet.flow as usize, delay);
            }
            if packet.kind == Kind::Cross {
                self.traffic.dropped(packet.source(), packet.sent);
            }
            dropped(packet.flow, packet.kind);
        }
        for link in self.touched.drain(..) {
            wake(link, self.links[link].wakeup().unwrap_or(Time::NEVER));
        }
    }

    fn losses(&mut self) -> &mut LossEpisodes {
        &mut self.losses
    }

    fn begin_measuring(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.begin_measuring(now));
        self.losses.begin_measuring();
        self.traffic.begin(now);
    }

    fn state(&mut self, now: Time) -> LinkState {
        self.links[self.tight].state(now)
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        self.links.iter_mut().map(|link| link.report(end)).collect()
    }

    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        self.traffic.report(end).cross
    }
}

/// Returns the delay of a flow's access lines: the part of its base RTT that its links do not take.
fn access(flow: &FlowPlan, links: &[LinkPlan]) -> Span {
    let crossed = flow.route.iter().chain(&flow.return_route);
    flow.base_rtt.saturating_sub(crossed.map(|link| links[*link].config.delay).sum())
}
