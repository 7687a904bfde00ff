//! The terms that all parts of a link share.

use units::Bytes;

/// The ECN field of a packet's IP header: it may be marked instead of dropped, or has been marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not-ECT: the transport understands drops only.
    #[default]
    NotCapable,
    /// ECT(0): the transport understands marks as RFC 3168 defines them.
    Capable,
    /// ECT(1): the transport is scalable, and answers frequent marks by their share (RFC 9331). Queues without a class of
    /// their own for it treat the packet as `Capable`.
    Scalable,
    /// CE: some queue on the path has marked it. It stays capable.
    Marked,
}

/// Anything a link carries: it has a length on the wire, and may take part in ECN (RFC 3168) and belong to a
/// flow.
pub trait Datagram {
    /// Length on the wire, headers included.
    fn wire_len(&self) -> Bytes;

    /// Returns its ECN field. A packet without one is dropped, never marked.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }

    /// Sets CE. Called only on packets that are not [`Ecn::NotCapable`].
    fn mark(&mut self) {}

    /// Returns a key that all packets of a flow share and that differs between flows; policies that queue per flow hash
    /// it.
    fn flow_key(&self) -> u64 {
        0
    }

    /// Returns the keys of the hosts that send and receive it. Packets with the same key come from, or go to, the same
    /// host. By default every flow has two hosts of its own.
    fn hosts(&self) -> (u64, u64) {
        (self.flow_key(), self.flow_key())
    }

    /// Returns its DSCP (RFC 2474), 0 to 63; 0 is best effort.
    fn dscp(&self) -> u8 {
        0
    }

    /// Returns the index of the source of cross traffic that sent it; `None` if it is not cross traffic.
    fn source(&self) -> Option<usize> {
        None
    }
}

/// A bare length is the simplest datagram.
impl Datagram for Bytes {
    fn wire_len(&self) -> Bytes {
        *self
    }
}

/// The reason why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue had no room.
    QueueFull,
    /// The link lost it, whatever the queue held.
    RandomLoss,
    /// Active queue management dropped it while there was room.
    Aqm,
}

impl DropReason {
    /// The number of reasons, for tables indexed by `reason as usize`.
    pub const COUNT: usize = 3;
}

/// Data waiting in a queue. The packet being sent does not wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: Bytes,
}
