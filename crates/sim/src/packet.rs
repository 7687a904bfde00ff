//! What links carry in a simulation, and what carries it.

use crate::endpoints::Endpoints;
use crate::lines::UnderWay;
use crate::tagged::Tagged;
use link::assist::CongestionHeader;
use link::{Datagram, Ecn, LinkReport, LinkState, LossEpisodes};
use units::{Bytes, Time};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of a flow.
    Segment,
    /// An acknowledgement of a flow, where these cross queues.
    Acknowledgement,
    /// What a flow's sizer measures by: an echo of a probe, or a packet of a train.
    Measure,
    /// Cross traffic.
    Cross,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The flow's index; [`Packet::CROSS`] for cross traffic.
    pub(crate) flow: u32,
    pub(crate) length: u32,
    /// The number of the segment, or of the acknowledgement; the index of cross traffic's source.
    pub(crate) segment: Tagged,
    pub(crate) sent: Time,
    /// Where on its route it is; the network's.
    pub(crate) hop: u32,
    pub(crate) kind: Kind,
}

impl From<Packet> for UnderWay {
    fn from(packet: Packet) -> Self {
        Self { segment: packet.segment, sent: packet.sent, flow: packet.flow }
    }
}

impl Packet {
    /// The owner of cross traffic.
    pub(crate) const CROSS: u32 = u32::MAX;

    /// A segment of a flow.
    #[inline]
    pub(crate) fn segment(flow: u32, length: u32, segment: Tagged, sent: Time) -> Self {
        Self { flow, length, segment, sent, hop: 0, kind: Kind::Segment }
    }

    /// A packet of cross traffic from the source `source`.
    pub(crate) fn cross(source: usize, length: Bytes) -> Self {
        let kind = Kind::Cross;
        let source = Tagged::plain(source as u64);
        Self { kind, ..Self::segment(Self::CROSS, length.get() as u32, source, Time::ZERO) }
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(u64::from(self.length))
    }
    fn flow_key(&self) -> u64 {
        // Other ports than the data's.
        u64::from(self.flow) | if self.kind == Kind::Measure { 1 << 32 } else { 0 }
    }
    fn ecn(&self) -> Ecn {
        self.segment.ecn()
    }
    fn mark(&mut self) {
        self.segment = self.segment.marked();
    }
}

/// What carries packets between endpoints: one tight link, or a network of links. It has slots in the agenda of its
/// own.
pub(crate) trait Medium {
    /// Whether acknowledgements may cross queues. Where they may not, nothing is spent on it.
    const CARRIES_ACKNOWLEDGEMENTS: bool;

    /// Whether its router reads headers and answers. Where it does not, nothing is spent on it.
    const ASSISTS: bool = false;

    /// A packet enters; false if it is known to be dropped.
    fn offer(&mut self, now: Time, packet: Packet) -> bool;

    /// The same with a header for the router.
    fn offer_with(&mut self, now: Time, packet: Packet, header: CongestionHeader) -> bool {
        let _ = header;
        self.offer(now, packet)
    }

    /// What the router granted to a segment that arrives, if it had a header.
    fn feedback(&mut self, flow: u32, segment: Tagged, sent: Time) -> Option<f64> {
        let _ = (flow, segment, sent);
        None
    }

    /// When something next reaches a sender.
    fn next_arrival(&self) -> Time;

    /// Takes what does then: a segment whose acknowledgement is worked out only now, or the number of an
    /// acknowledgement that crossed queues.
    fn pop_arrival(&mut self) -> Option<UnderWay>;

    /// How many slots of the agenda are its.
    fn slots(&self) -> usize;

    /// Its slot number `slot` is due. Flows whose deadlines may have moved are put into `moved`.
    fn act(&mut self, now: Time, slot: usize, endpoints: &mut Endpoints, moved: &mut Vec<usize>);

    /// After anything has happened: tells flows of their dropped packets, whoever's arrival made a queue drop them,
    /// and calls `wake` with each slot of its own whose time may have moved.
    fn settle(&mut self, now: Time, endpoints: &mut Endpoints, wake: impl FnMut(usize, Time));

    /// The tight link's drops of greedy flows.
    fn losses(&mut self) -> &mut LossEpisodes;

    /// Starts the measured interval.
    fn begin_measuring(&mut self, now: Time);

    /// The tight link now.
    fn state(&mut self, now: Time) -> LinkState;

    /// Every link from the start of measurement to `end`.
    fn reports(&mut self, end: Time) -> Vec<LinkReport>;
}
