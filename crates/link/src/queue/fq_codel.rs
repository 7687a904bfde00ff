//! FQ-CoDel: flows are hashed to queues, each under its own CoDel. Queues take turns by bytes. A queue that was empty
//! goes first for one quantum, so that sparse flows hardly wait.
//!
//! Source: RFC 8290; section numbers are its own. Arrivals (section 4.1): when the room is full, the queue with the
//! most bytes drops half of them from its head, at most 64 packets at a time. Departures (section 4.2) are from the
//! head of the list of new queues, or else of the list of old ones. A queue without credit gets a quantum and moves to
//! the end of the old list. A queue found empty leaves. A new queue that is found empty moves to the old list first, so
//! that short gaps do not keep a flow new.
//!
//! Each queue's CoDel uses its own backlog (Linux uses the sum). With one flow this is CoDel.

use super::codel::{CodelParameters, Control};
use super::store::Store;
use super::{Context, Limit, Queue};
use crate::{Backlog, Datagram, DropReason};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// The most packets that the longest queue drops at once: sections 4.1 and 5.2.8, so that one search for that queue
/// serves many drops.
const BATCH: u64 = 64;

/// The settings of [`FqCodel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParameters {
    /// The settings of each queue's CoDel.
    pub codel: CodelParameters,
    /// Bytes a queue may send in a turn, above zero.
    pub quantum: Bytes,
    /// Number of queues, above zero.
    pub flows: usize,
}

impl Default for FqCodelParameters {
    /// Returns the values of RFC 8290 sections 5.2.4 (quantum: one Ethernet frame) and 5.2.5 (1024 queues).
    fn default() -> Self {
        Self { codel: CodelParameters::default(), quantum: Bytes::new(1514), flows: 1024 }
    }
}

#[derive(Debug)]
struct Flow<P> {
    store: Store<P>,
    control: Control,
    /// Bytes it may still send in this turn; a packet may overdraw it.
    credit: i64,
    /// True if it is on one of the lists.
    listed: bool,
}

impl<P> Default for Flow<P> {
    fn default() -> Self {
        Self { store: Store::default(), control: Control::default(), credit: 0, listed: false }
    }
}

/// Queues per flow under CoDel, served in turn.
#[derive(Debug)]
pub struct FqCodel<P> {
    parameters: FqCodelParameters,
    limit: Limit,
    /// A random number that enters the hash, so that the seed decides which flows share a queue.
    salt: u64,
    flows: Box<[Flow<P>]>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    total: Backlog,
}

impl<P> FqCodel<P> {
    /// Creates empty queues that share one limit, the context's.
    ///
    /// # Panics
    /// If there are no queues or the quantum is zero.
    #[must_use]
    pub fn new(parameters: FqCodelParameters, mut context: Context) -> Self {
        assert!(
            parameters.flows > 0 && parameters.quantum > Bytes::ZERO,
            "FQ-CoDel needs flows and a quantum"
        );
        Self {
            parameters,
            limit: context.limit,
            salt: context.stream.integer(0, u64::MAX),
            flows: (0..parameters.flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            total: Backlog::default(),
        }
    }

    /// Returns the queue of the flow with `key`: SplitMix64's finalizer of key and salt, scaled to the number of
    /// queues.
    #[must_use]
    pub fn queue_of(&self, key: u64) -> usize {
        let mut hash = key ^ self.salt;
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }
}

impl<P: Datagram> FqCodel<P> {
    fn add(&mut self, now: Time, packet: P) {
        let length = packet.wire_len();
        let index = self.queue_of(packet.flow_key());
        self.parameters.codel.mtu = self.parameters.codel.mtu.max(length);
        self.total.packets += 1;
        self.total.bytes += length;
        let flow = &mut self.flows[index];
        flow.store.push(now, packet);
        if !flow.listed {
            flow.listed = true;
            flow.credit = self.parameters.quantum.get() as i64;
            self.new.push_back(index);
        }
    }

    fn forget(&mut self, length: Bytes) {
        self.total.packets -= 1;
        self.total.bytes -= length;
    }

    /// Drops half the bytes of the longest queue.
    fn shrink(&mut self, drops: &mut dyn FnMut(P, DropReason)) {
        let size = |index: &usize| {
            let Backlog { bytes, packets } = self.flows[*index].store.backlog();
            (bytes, packets)
        };
        let Some(index) = (0..self.flows.len()).max_by_key(size) else { return };
        let half = self.flows[index].store.bytes().get() / 2;
        for _ in 0..BATCH {
            let Some((_, packet)) = self.flows[index].store.pop() else { break };
            self.forget(packet.wire_len());
            drops(packet, DropReason::QueueFull);
            if self.flows[index].store.bytes().get() <= half {
                break;
            }
        }
    }

    fn serve(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.credit <= 0 {
                flow.credit += self.parameters.quantum.get() as i64;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = flow.store.backlog();
            let packet = flow.control.dequeue(now, &mut flow.store, &self.parameters.codel, drops);
            let after = flow.store.backlog();
            self.total.packets -= before.packets - after.packets;
            self.total.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                flow.credit -= packet.wire_len().get() as i64;
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(index);
            } else {
                flow.listed = false;
            }
        }
    }
}

impl<P: Datagram + Send> Queue<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.add(now, packet);
        while !self.limit.holds(self.total) {
            self.shrink(drops);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.serve(now, drops)
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        // The packet leaves at once and takes no room, but it passes through its flow's queue, so that it spends the
        // flow's credit.
        self.add(now, packet);
        self.serve(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
}
