//! The words every part of a link shares.

use units::Bytes;

/// Whether a packet may be marked instead of dropped, and whether it is: the ECN field of its IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not-ECT: the transport understands drops only.
    #[default]
    NotCapable,
    /// ECT: the transport understands marks.
    Capable,
    /// CE: some queue on the path has marked it. It stays capable.
    Marked,
}

/// Anything a link carries: it has a length on the wire, and may take part in ECN (RFC 3168) and belong to a
/// flow.
pub trait Datagram {
    /// Length on the wire, headers included.
    fn wire_len(&self) -> Bytes;

    /// Its ECN field. A packet that says nothing about ECN is dropped, never marked.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }

    /// Sets CE. Called only on packets that are not [`Ecn::NotCapable`].
    fn mark(&mut self) {}

    /// The same for all packets of a flow and different between flows; policies that queue per flow hash it.
    fn flow_key(&self) -> u64 {
        0
    }

    /// The index of the source of cross traffic that sent it; `None`: it is not cross traffic.
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

/// Why a packet did not get through.
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
    /// How many reasons there are, for tables indexed by `reason as usize`.
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
