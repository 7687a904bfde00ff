//! Queue policies: the [`Queue`] trait, the room they have ([`Limit`]), and the registry that makes one from
//! its name. One file per policy in `queue/`.

mod drop_tail;

pub use drop_tail::DropTail;

use crate::{Backlog, Datagram, DropReason};
use units::{Bytes, Time};

/// A queue policy. Every packet given to [`enqueue`](Queue::enqueue) leaves exactly once: by
/// [`dequeue`](Queue::dequeue) or through `drops` with a reason.
pub trait Queue<P: Datagram>: Send {
    /// A packet arrives. The policy may drop it or another.
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason));
    /// The serializer is free: the next packet to send. The policy may drop some on the way.
    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P>;
    /// What waits now.
    fn backlog(&self) -> Backlog;
}

/// The room in a queue. Waiting packets count, the one being sent does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many packets wait.
    Packets(u64),
    /// At most this many bytes wait.
    Bytes(Bytes),
}

impl Limit {
    /// Whether `arriving` still fits behind `backlog`.
    #[must_use]
    pub fn admits(self, backlog: Backlog, arriving: Bytes) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + arriving <= limit,
        }
    }
}

/// A policy in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Every policy that can be named in a scenario.
pub const POLICIES: &[Policy] = &[Policy {
    name: "drop-tail",
    summary: "first in, first out; an arrival that does not fit is dropped",
    source: "RFC 7567 section 2",
}];

/// The policy called `name` with room for `limit`, or `None` if the registry does not have it.
#[must_use]
pub fn build<P: Datagram + Send + 'static>(name: &str, limit: Limit) -> Option<Box<dyn Queue<P>>> {
    match name {
        "drop-tail" => Some(Box::new(DropTail::new(limit))),
        _ => None,
    }
}
