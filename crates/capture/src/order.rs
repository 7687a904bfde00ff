//! Packets in order of time: those that are out of order by less than a second are sorted.
//!
//! Two processors stamp packets with clocks that differ by microseconds, and a capture of several interfaces has
//! buffers for each. So the packets of the last second wait, in a heap with a limit.

use crate::error::{Place, TraceError};
use crate::packet::Packet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time by which packets may be out of order.
const WINDOW_NANOS: u64 = 1_000_000_000;
/// The most packets that wait, each of which takes 48 bytes.
const MOST_WAITING: usize = 1 << 20;

/// A packet that waits for its place in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PendingPacket {
    pub nanos: u64,
    /// The packet's number in the file, so that packets of one instant keep their order.
    number: u64,
    pub size: u32,
    pub headers: u16,
    pub kind: crate::packet::Kind,
}

/// The packets that wait to be sorted.
#[derive(Debug, Default)]
pub(crate) struct Order {
    waiting: BinaryHeap<Reverse<PendingPacket>>,
    latest: u64,
    before: u64,
    released: u64,
    number: u64,
    /// The number of packets whose time is before the time of the previous packet in the file.
    early: u64,
    /// The longest time by which a packet's time was before the latest time, in nanoseconds.
    most: u64,
}

impl Order {
    /// Records the time of the next packet of the file, taken or not.
    ///
    /// # Errors
    /// If it is out of order by more than can be sorted.
    pub(crate) fn see(&mut self, nanos: u64, place: Place) -> Result<(), TraceError> {
        self.early += u64::from(nanos < self.before);
        self.before = nanos;
        self.latest = self.latest.max(nanos);
        let by = self.latest - nanos;
        self.most = self.most.max(by);
        if by < WINDOW_NANOS && nanos >= self.released {
            return Ok(());
        }
        let found = format!("time runs backwards: it comes {} s before an earlier packet", by as f64 / 1e9);
        let help = match place {
            Place::Line(_) => "sort the lines by their time",
            Place::Packet(..) | Place::Whole => "sort the capture: reordercap IN OUT",
        };
        Err(TraceError::new(place, found, "packets in order of time, or out of it by less than 1 s")
            .help(help))
    }

    /// Adds the packet whose time was recorded last.
    pub(crate) fn push(&mut self, nanos: u64, packet: &Packet) {
        let Packet { size, headers, kind, .. } = *packet;
        self.number += 1;
        self.waiting.push(Reverse(PendingPacket { nanos, number: self.number, size, headers, kind }));
    }

    /// Returns the next packet if none can come before it any more, or if too many packets wait. With `ended`, returns
    /// the next of those that are left.
    pub(crate) fn pop(&mut self, ended: bool) -> Option<PendingPacket> {
        let Reverse(next) = self.waiting.peek()?;
        let sure = self.latest.saturating_sub(next.nanos) >= WINDOW_NANOS;
        if !(sure || ended || self.waiting.len() > MOST_WAITING) {
            return None;
        }
        self.released = next.nanos;
        self.waiting.pop().map(|Reverse(next)| next)
    }

    /// Returns a note on the packets that were sorted.
    pub(crate) fn note(&self) -> Option<String> {
        let (early, most) = (self.early, self.most as f64 / 1e6);
        (early > 0).then(|| {
            let were = if early == 1 { "packet was" } else { "packets were" };
            format!("{early} {were} out of order, by {most} ms at most; all are sorted by time")
        })
    }
}
