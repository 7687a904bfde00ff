//! Queues of flows, served in turn by deficit round robin. A queue that was empty goes first for one quantum, so that
//! sparse flows hardly wait. FQ-CoDel and FQ-PIE have them, each with a controller of its own per queue.
//!
//! Source: RFC 8290 section 4.2, which Linux's `fq_codel` and `fq_pie` follow. Departures are from the head of the list
//! of new queues, or else of the list of old ones. A queue without credit gets a quantum and moves to the end of the
//! old list. A queue found empty leaves. A new queue that is found empty moves to the old list first, so that short
//! gaps do not keep a flow new.

use super::Context;
use super::store::Store;
use crate::{Backlog, Datagram};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// One flow's queue, and its controller.
#[derive(Debug)]
pub(super) struct FlowQueue<P, C> {
    pub(super) store: Store<P>,
    pub(super) control: C,
    /// Bytes it may still send in this turn; a packet may overdraw it.
    credit: i64,
    /// True if it is on one of the lists.
    listed: bool,
}

/// The queues, and the lists of those that may send.
#[derive(Debug)]
pub(super) struct FlowQueues<P, C> {
    /// Bytes a queue may send in a turn.
    quantum: Bytes,
    /// A random number that enters the hash, so that the seed decides which flows share a queue.
    salt: u64,
    queues: Box<[FlowQueue<P, C>]>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    total: Backlog,
}

impl<P, C: Clone> FlowQueues<P, C> {
    /// Creates `count` empty queues, each with a copy of `control`. The salt comes from the stream of `context`.
    ///
    /// # Panics
    /// If there are no queues or the quantum is zero.
    pub(super) fn new(count: usize, quantum: Bytes, control: &C, context: &mut Context) -> Self {
        assert!(count > 0 && quantum > Bytes::ZERO, "queues of flows need a count and a quantum");
        let queue =
            |_| FlowQueue { store: Store::default(), control: control.clone(), credit: 0, listed: false };
        Self {
            quantum,
            salt: context.stream.integer(0, u64::MAX),
            queues: (0..count).map(queue).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            total: Backlog::default(),
        }
    }
}

impl<P, C> FlowQueues<P, C> {
    /// Returns the number of the queue of the flow with `key`: its hash, scaled to the number of queues.
    pub(super) fn number_of(&self, key: u64) -> usize {
        ((u128::from(hash(key, self.salt)) * self.queues.len() as u128) >> 64) as usize
    }

    /// Returns the backlog of all queues.
    pub(super) fn backlog(&self) -> Backlog {
        self.total
    }

    /// Returns the queue with this number.
    pub(super) fn queue_mut(&mut self, number: usize) -> &mut FlowQueue<P, C> {
        &mut self.queues[number]
    }

    /// Returns the number of the queue with the most bytes.
    pub(super) fn longest(&self) -> Option<usize> {
        let size = |number: &usize| {
            let Backlog { bytes, packets } = self.queues[*number].store.backlog();
            (bytes, packets)
        };
        (0..self.queues.len()).max_by_key(size)
    }
}

impl<P: Datagram, C> FlowQueues<P, C> {
    /// Adds a packet to the end of queue `number`.
    pub(super) fn push(&mut self, now: Time, number: usize, packet: P) {
        self.total.packets += 1;
        self.total.bytes += packet.wire_len();
        let queue = &mut self.queues[number];
        queue.store.push(now, packet);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.quantum.get() as i64;
            self.new.push_back(number);
        }
    }

    /// Takes the oldest packet of queue `number`, which is not sent.
    pub(super) fn take(&mut self, number: usize) -> Option<P> {
        let (_, packet) = self.queues[number].store.pop()?;
        self.total.packets -= 1;
        self.total.bytes -= packet.wire_len();
        Some(packet)
    }

    /// Returns the next packet to send. `dequeue` takes it from a queue, and may drop others of the same queue.
    pub(super) fn serve(&mut self, mut dequeue: impl FnMut(&mut C, &mut Store<P>) -> Option<P>) -> Option<P> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = &mut self.queues[number];
            if queue.credit <= 0 {
                queue.credit += self.quantum.get() as i64;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let before = queue.store.backlog();
            let packet = dequeue(&mut queue.control, &mut queue.store);
            let after = queue.store.backlog();
            self.total.packets -= before.packets - after.packets;
            self.total.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                queue.credit -= packet.wire_len().get() as i64;
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(number);
            } else {
                queue.listed = false;
            }
        }
    }
}

/// Returns the hash of a key: SplitMix64's finalizer of key and salt.
#[inline]
pub(super) fn hash(key: u64, salt: u64) -> u64 {
    let mut hash = key ^ salt;
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
