//! The packets that links carry in a simulation.

use crate::plan::Marking;
use crate::tagged::Tagged;
use link::{Datagram, Ecn};
use units::{Bytes, Time};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of a flow.
    Segment,
    /// An acknowledgement of a flow, if these cross queues.
    Acknowledgement,
    /// A packet by which a flow's sizer measures: an echo of a probe, or a packet of a train.
    Probe,
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
    /// The packet's position on its route in a network; its station in a cell.
    pub(crate) hop: u32,
    pub(crate) kind: Kind,
    /// Its hosts and its class, which a medium sets where a queue may look at them.
    pub(crate) marking: Marking,
}

/// A packet behind the last queue: a segment or an acknowledgement that nothing can drop any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    pub(crate) segment: Tagged,
    pub(crate) sent: Time,
    pub(crate) flow: u32,
}

impl From<Packet> for UnderWay {
    fn from(packet: Packet) -> Self {
        Self { segment: packet.segment, sent: packet.sent, flow: packet.flow }
    }
}

impl Packet {
    /// The value of `flow` in a packet of cross traffic.
    pub(crate) const CROSS: u32 = u32::MAX;

    /// Makes a segment of a flow.
    #[inline]
    pub(crate) fn segment(flow: u32, length: u32, segment: Tagged, sent: Time) -> Self {
        Self { flow, length, segment, sent, hop: 0, kind: Kind::Segment, marking: Marking::default() }
    }

    /// Makes a packet of cross traffic that the source `source` sends at `sent`.
    pub(crate) fn cross(source: usize, length: Bytes, sent: Time) -> Self {
        let kind = Kind::Cross;
        let source = Tagged::plain(source as u64);
        Self { kind, ..Self::segment(Self::CROSS, length.get() as u32, source, sent) }
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(u64::from(self.length))
    }
    fn flow_key(&self) -> u64 {
        // Probes use other ports than the data, and each source of cross traffic is a flow of its own.
        let other = match self.kind {
            Kind::Segment | Kind::Acknowledgement => 0,
            Kind::Probe => 1 << 32,
            Kind::Cross => self.segment.number() << 33,
        };
        u64::from(self.flow) | other
    }
    fn hosts(&self) -> (u64, u64) {
        // A host with a number of its own differs from every flow's key.
        let host = |number: u8| match number {
            0 => self.flow_key(),
            _ => u64::from(number) << 56 | 1 << 55,
        };
        (host(self.marking.sender), host(self.marking.receiver))
    }
    fn dscp(&self) -> u8 {
        self.marking.dscp
    }
    fn source(&self) -> Option<usize> {
        (self.kind == Kind::Cross).then(|| self.segment.number() as usize)
    }
    fn ecn(&self) -> Ecn {
        self.segment.ecn()
    }
    fn mark(&mut self) {
        self.segment = self.segment.marked();
    }
}
