//! Any medium, with a record of the packets that enter and leave it.
//!
//! It is a medium of its own, so that a run whose recorder does not ask for packets spends nothing on it.

use super::Medium;
use crate::outcome::CellReport;
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::{FlowPlan, Plan};
use crate::tagged::Tagged;
use crate::tcp::{Acknowledgement, SackBlocks};
use crate::watched::{AckView, PathEnd};
use link::assist::CongestionHeader;
use link::{LinkReport, LinkState, LossEpisodes, SourceReport};
use units::{Span, Time};

/// Something that happened to a flow's packets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    /// A segment or a SYN at one end.
    Segment { at: Time, end: PathEnd, segment: UnderWay, answer: bool },
    /// An acknowledgement at one end. `left` is the time at which it left the receiver.
    Acknowledgement {
        at: Time,
        end: PathEnd,
        flow: u32,
        left: Time,
        acknowledgement: Acknowledgement,
        blocks: SackBlocks,
    },
    /// An acknowledgement that the sender has taken.
    Taken(AckView),
    /// A fresh connection of a user.
    Opened { at: Time, flow: u32 },
}

/// Returns the time from the receiver of each flow or user of `plan` to its sender. It is half of the base RTT, or the
/// part of that beyond the links' delay if this is less. `None`: its acknowledgements are packets of the medium.
pub(crate) fn ways_back(plan: &Plan) -> Vec<Option<Span>> {
    let links = plan.topology.links();
    let back = |flow: &FlowPlan| {
        let there: Span = flow.route.iter().map(|link| links[*link].config.delay).sum();
        let lumped = flow.base_rtt.saturating_sub(there).min(flow.base_rtt / 2);
        (!flow.acknowledgements_wait()).then_some(lumped)
    };
    plan.connections().map(back).collect()
}

/// A medium whose packets are recorded.
pub(crate) struct Watched<M> {
    medium: M,
    /// The time from the receiver to the sender, by flow; `None` if acknowledgements are packets of the medium.
    back: Vec<Option<Span>>,
    /// The time at which the packet left that arrived last.
    left: Time,
    seen: Vec<Seen>,
}

impl<M: Medium> Watched<M> {
    /// Records the packets of `medium`; `back` is [`ways_back`] of the plan.
    pub(crate) fn new(medium: M, back: Vec<Option<Span>>) -> Self {
        Self { medium, back, left: Time::ZERO, seen: Vec::new() }
    }

    fn see(&mut self, at: Time, end: PathEnd, segment: UnderWay, answer: bool) {
        self.seen.push(Seen::Segment { at, end, segment, answer });
    }

    /// Records a segment that was on its line for all of its propagation, so that its acknowledgement arrives at `at`,
    /// after the time `back`.
    fn see_lumped(&mut self, at: Time, back: Span, segment: UnderWay) {
        let left = at - back;
        self.see(left, PathEnd::Receiver, segment, false);
        if segment.segment.is_syn() {
            self.see(left, PathEnd::Receiver, segment, true);
            self.see(at, PathEnd::Sender, segment, true);
        }
    }

    fn back_of(&self, flow: u32) -> Option<Span> {
        self.back.get(flow as usize).copied().flatten()
    }
}

impl<M: Medium> Medium for Watched<M> {
    const CARRIES_ACKNOWLEDGEMENTS: bool = M::CARRIES_ACKNOWLEDGEMENTS;
    const ASSISTS: bool = M::ASSISTS;
    const WATCHED: bool = true;

    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        match packet.kind {
            Kind::Segment => self.see(now, PathEnd::Sender, packet.into(), false),
            Kind::Acknowledgement if packet.segment.is_syn() => {
                self.see(now, PathEnd::Receiver, packet.into(), true);
            }
            // The flow shows the content of its acknowledgements.
            Kind::Acknowledgement | Kind::Probe | Kind::Cross => {}
        }
        self.medium.offer(now, packet)
    }

    fn offer_with(&mut self, now: Time, packet: Packet, header: CongestionHeader) -> bool {
        self.see(now, PathEnd::Sender, packet.into(), false);
        self.medium.offer_with(now, packet, header)
    }

    fn feedback(&mut self, flow: u32, segment: Tagged, sent: Time) -> Option<f64> {
        self.medium.feedback(flow, segment, sent)
    }

    fn next_arrival(&self) -> Time {
        self.medium.next_arrival()
    }

    fn pop_arrival(&mut self) -> Option<UnderWay> {
        let at = self.medium.next_arrival();
        let arrival = self.medium.pop_arrival()?;
        self.left = arrival.sent;
        match self.back_of(arrival.flow) {
            Some(back) => self.see_lumped(at, back, arrival),
            None if arrival.segment.is_syn() => self.see(at, PathEnd::Sender, arrival, true),
            None => {}
        }
        Some(arrival)
    }

    fn arrives_later(&self, places: usize) -> Option<u32> {
        self.medium.arrives_later(places)
    }

    fn take_ahead(&mut self, flow: u32, mut takes: impl FnMut(Time, &UnderWay) -> bool) {
        let back = self.back_of(flow).unwrap_or_default();
        let seen = &mut self.seen;
        self.medium.take_ahead(flow, |at, segment| {
            let taken = takes(at, segment);
            if taken {
                let (at, end) = (at - back, PathEnd::Receiver);
                seen.push(Seen::Segment { at, end, segment: *segment, answer: false });
            }
            taken
        });
    }

    fn brings_nothing(&self, flow: u32, now: Time, until: Time) -> bool {
        self.medium.brings_nothing(flow, now, until)
    }

    fn slots(&self) -> usize {
        self.medium.slots()
    }

    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>) {
        let known = arrived.len();
        self.medium.act(now, slot, arrived);
        for packet in &arrived[known..] {
            if packet.kind == Kind::Segment {
                let (end, segment) = (PathEnd::Receiver, UnderWay::from(*packet));
                self.seen.push(Seen::Segment { at: now, end, segment, answer: false });
            }
        }
    }

    fn settle(&mut self, now: Time, dropped: impl FnMut(u32, Kind), wake: impl FnMut(usize, Time)) {
        self.medium.settle(now, dropped, wake);
    }

    fn losses(&mut self) -> &mut LossEpisodes {
        self.medium.losses()
    }

    fn begin_measuring(&mut self, now: Time) {
        self.medium.begin_measuring(now);
    }

    fn is_settled(&self) -> bool {
        self.medium.is_settled()
    }

    fn state(&mut self, now: Time) -> LinkState {
        self.medium.state(now)
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        self.medium.reports(end)
    }

    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        self.medium.traffic(end)
    }

    fn moving_limit(&mut self, now: Time) -> Option<u64> {
        self.medium.moving_limit(now)
    }

    fn cell_report(&mut self, end: Time) -> Option<CellReport> {
        self.medium.cell_report(end)
    }

    fn show(&mut self, seen: Seen) {
        let Seen::Acknowledgement { at, end: PathEnd::Sender, flow, acknowledgement, blocks, .. } = seen
        else {
            return self.seen.push(seen);
        };
        let back = self.back_of(flow);
        let left = back.map_or(self.left, |back| at - back);
        let here = |at, end| Seen::Acknowledgement { at, end, flow, left, acknowledgement, blocks };
        if back.is_some() {
            self.seen.push(here(left, PathEnd::Receiver));
        }
        self.seen.push(here(at, PathEnd::Sender));
    }

    fn take_seen(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.seen)
    }

    fn give_back(&mut self, mut seen: Vec<Seen>) {
        seen.clear();
        self.seen = seen;
    }
}
