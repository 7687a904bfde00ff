//! The words every part of a link shares.

use units::Bytes;

/// Anything a link carries: it has a length on the wire.
pub trait Datagram {
    /// Length on the wire, headers included.
    fn wire_len(&self) -> Bytes;
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
}

impl DropReason {
    /// How many reasons there are, for tables indexed by `reason as usize`.
    pub const COUNT: usize = 2;
}

/// Data waiting in a queue. The packet being sent does not wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: Bytes,
}
