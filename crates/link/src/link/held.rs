//! A packet in a queue.

use crate::class_delays::is_scalable;
use crate::{Datagram, Ecn};
use units::{Bytes, Time};

/// A packet, the time and the class of its arrival, and its state: marked if this link's queue has marked it.
pub struct HeldPacket<P> {
    pub(crate) arrived: Time,
    pub(crate) marked: bool,
    pub(crate) scalable: bool,
    pub(crate) packet: P,
}

impl<P: Datagram> HeldPacket<P> {
    /// Holds a packet that arrives `now`.
    pub(crate) fn new(now: Time, packet: P) -> Self {
        Self { arrived: now, marked: false, scalable: is_scalable(packet.ecn()), packet }
    }
}

impl<P: Datagram> Datagram for HeldPacket<P> {
    fn wire_len(&self) -> Bytes {
        self.packet.wire_len()
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn mark(&mut self) {
        self.marked |= matches!(self.packet.ecn(), Ecn::Capable | Ecn::Scalable);
        self.packet.mark();
    }

    fn flow_key(&self) -> u64 {
        self.packet.flow_key()
    }

    fn hosts(&self) -> (u64, u64) {
        self.packet.hosts()
    }

    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }

    fn source(&self) -> Option<usize> {
        self.packet.source()
    }
}
