//! One tight link whose router advises senders: the tight link, the router's part, and the headers under way.
//!
//! It is a medium of its own, so that a run without an assisting link spends nothing on it. Headers are kept apart from
//! the packets. A flow's packets keep their order on one link. So headers in front of the header of an arriving packet
//! belong to dropped packets.

use super::{Medium, TightLink};
use crate::packet::{Kind, Packet, UnderWay};
use crate::tagged::Tagged;
use link::assist::{Assist, CongestionHeader};
use link::{Datagram, LinkReport, LinkState, LossEpisodes, SourceReport};
use std::collections::VecDeque;
use units::Time;

/// A tight link that assists.
pub(crate) struct AssistedLink {
    link: TightLink,
    router: Box<dyn Assist>,
    /// The headers of each flow, in the order sent.
    headers: Vec<VecDeque<Attached>>,
}

#[derive(Clone, Copy, Debug)]
struct Attached {
    number: u64,
    sent: Time,
    feedback: f64,
}

impl AssistedLink {
    /// Adds the router's part `router` to `link`, for `flows` flows and users.
    pub(crate) fn new(link: TightLink, router: Box<dyn Assist>, flows: usize) -> Self {
        Self { link, router, headers: vec![VecDeque::new(); flows] }
    }

    /// Passes a packet to the link, and then to the router.
    fn pass(&mut self, now: Time, packet: Packet, header: Option<&mut CongestionHeader>) -> bool {
        let admitted = self.link.offer(now, packet);
        // The backlog that the packet found is the backlog now, less the packet itself.
        let found = self.link.backlog().saturating_sub(packet.wire_len());
        self.router.on_arrival(now, packet.wire_len(), found, header);
        admitted
    }
}

impl Medium for AssistedLink {
    const CARRIES_ACKNOWLEDGEMENTS: bool = false;
    const ASSISTS: bool = true;

    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        self.pass(now, packet, None)
    }

    #[inline]
    fn offer_with(&mut self, now: Time, packet: Packet, mut header: CongestionHeader) -> bool {
        let admitted = self.pass(now, packet, Some(&mut header));
        if admitted && let Some(headers) = self.headers.get_mut(packet.flow as usize) {
            let number = packet.segment.number();
            headers.push_back(Attached { number, sent: packet.sent, feedback: header.feedback });
        }
        admitted
    }

    #[inline]
    fn feedback(&mut self, flow: u32, segment: Tagged, sent: Time) -> Option<f64> {
        let headers = self.headers.get_mut(flow as usize)?;
        let number = segment.number();
        let is_its = |header: &Attached| header.sent == sent && header.number == number;
        let first = headers.front()?;
        if !is_its(first) {
            // A segment that is not found was sent without a header.
            let place = headers.iter().position(is_its)?;
            headers.drain(..place);
        }
        headers.pop_front().map(|header| header.feedback)
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.link.next_arrival()
    }

    #[inline]
    fn pop_arrival(&mut self) -> Option<UnderWay> {
        self.link.pop_arrival()
    }

    fn slots(&self) -> usize {
        self.link.slots()
    }

    fn act(&mut self, now: Time, slot: usize, arrived: &mut Vec<Packet>) {
        self.link.act(now, slot, arrived);
    }

    #[inline]
    fn settle(&mut self, now: Time, dropped: impl FnMut(u32, Kind), wake: impl FnMut(usize, Time)) {
        self.link.settle(now, dropped, wake);
    }

    fn losses(&mut self) -> &mut LossEpisodes {
        self.link.losses()
    }

    fn begin_measuring(&mut self, now: Time) {
        self.link.begin_measuring(now);
    }

    fn state(&mut self, now: Time) -> LinkState {
        self.link.state(now)
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        self.link.reports(end)
    }

    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        self.link.traffic(end)
    }
}
