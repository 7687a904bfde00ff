//! FQ-CoDel: flows are hashed to queues, each under its own CoDel. Queues take turns by bytes (`flows.rs`).
//!
//! Source: RFC 8290; section numbers are its own. Arrivals (section 4.1): when the room is full, the queue with the
//! most bytes drops half of them from its head, at most 64 packets at a time. Departures are those of section 4.2.
//!
//! Each queue's CoDel uses its own backlog (Linux uses the sum). With one flow this is CoDel.

use super::codel::{CodelParameters, Control};
use super::flows::FlowQueues;
use super::{Context, Limit, Queue};
use crate::{Backlog, Datagram, DropReason};
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

/// Queues per flow under CoDel, served in turn.
#[derive(Debug)]
pub struct FqCodel<P> {
    codel: CodelParameters,
    limit: Limit,
    flows: FlowQueues<P, Control>,
}

impl<P> FqCodel<P> {
    /// Creates empty queues that share one limit, the context's.
    ///
    /// # Panics
    /// If there are no queues or the quantum is zero.
    #[must_use]
    pub fn new(parameters: FqCodelParameters, mut context: Context) -> Self {
        let FqCodelParameters { codel, quantum, flows } = parameters;
        let flows = FlowQueues::new(flows, quantum, &Control::default(), &mut context);
        Self { codel, limit: context.limit, flows }
    }

    /// Returns the number of the queue of the flow with `key`.
    #[must_use]
    pub fn queue_of(&self, key: u64) -> usize {
        self.flows.number_of(key)
    }
}

impl<P: Datagram> FqCodel<P> {
    fn add(&mut self, now: Time, packet: P) {
        self.codel.mtu = self.codel.mtu.max(packet.wire_len());
        self.flows.push(now, self.flows.number_of(packet.flow_key()), packet);
    }

    /// Drops half the bytes of the longest queue.
    fn shrink(&mut self, drops: &mut dyn FnMut(P, DropReason)) {
        let Some(longest) = self.flows.longest() else { return };
        let half = self.flows.queue_mut(longest).store.bytes().get() / 2;
        for _ in 0..BATCH {
            let Some(packet) = self.flows.take(longest) else { break };
            drops(packet, DropReason::QueueFull);
            if self.flows.queue_mut(longest).store.bytes().get() <= half {
                break;
            }
        }
    }

    fn serve(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let Self { codel, flows, .. } = self;
        flows.serve(|control, store| control.dequeue(now, store, codel, drops))
    }
}

impl<P: Datagram + Send> Queue<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.add(now, packet);
        while !self.limit.holds(self.flows.backlog()) {
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
        self.flows.backlog()
    }
}
