//! FQ-PIE: flows are hashed to queues, each under its own PIE. Queues take turns by bytes (`flows.rs`).
//!
//! Source: `sch_fq_pie` of Linux, read in version 6.18; the controller is RFC 8033's, as in `pie.rs`. An arrival is
//! dropped or marked by its own flow's probability, which is spared while that flow's queue is nearly empty. An arrival
//! that finds all queues together full is dropped itself, unlike in FQ-CoDel, where the longest queue pays.
//!
//! Linux differs in three points. It does not mark by default. Its `memory_limit` only counts the packets above it, and
//! drops none, so that it is not here. Its probability rises by 2 % more at delays above 250 ms, and decays by 1/64
//! instead of 1/50.

use super::flows::FlowQueues;
use super::pie::{Control, PieParameters};
use super::{Context, FqCodelParameters, Queue};
use crate::{Backlog, Datagram, DropReason};
use units::{Bytes, Span, Time};

/// The settings of [`FqPie`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqPieParameters {
    /// The settings of each queue's PIE.
    pub pie: PieParameters,
    /// Bytes a queue may send in a turn, above zero.
    pub quantum: Bytes,
    /// Number of queues, above zero.
    pub flows: usize,
}

impl Default for FqPieParameters {
    /// Returns the values of Linux: those of PIE, and the same queues and turns as FQ-CoDel.
    fn default() -> Self {
        let FqCodelParameters { quantum, flows, .. } = FqCodelParameters::default();
        Self { pie: PieParameters::default(), quantum, flows }
    }
}

/// Queues per flow under PIE, served in turn.
#[derive(Debug)]
pub struct FqPie<P> {
    pie: PieParameters,
    context: Context,
    flows: FlowQueues<P, Control>,
}

impl<P> FqPie<P> {
    /// Creates empty queues that share one limit, the context's.
    ///
    /// # Panics
    /// If there are no queues, or the quantum or the interval is zero.
    #[must_use]
    pub fn new(parameters: FqPieParameters, mut context: Context) -> Self {
        let FqPieParameters { pie, quantum, flows } = parameters;
        assert!(pie.interval > Span::ZERO, "PIE needs an interval above zero");
        let flows = FlowQueues::new(flows, quantum, &Control::new(&pie), &mut context);
        Self { pie, context, flows }
    }

    /// Returns the number of the queue of the flow with `key`.
    #[must_use]
    pub fn queue_of(&self, key: u64) -> usize {
        self.flows.number_of(key)
    }

    /// Returns the current drop probability of the flow with `key`.
    #[must_use]
    pub fn probability(&mut self, key: u64) -> f64 {
        let number = self.flows.number_of(key);
        self.flows.queue_mut(number).control.probability()
    }
}

impl<P: Datagram> FqPie<P> {
    /// Adds an arrival to its flow's queue, unless the flow's PIE drops it.
    fn add(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        let Self { pie, context, flows } = self;
        let number = flows.number_of(packet.flow_key());
        let queue = flows.queue_mut(number);
        queue.control.catch_up(now, pie);
        let waiting = queue.store.bytes();
        if let Some(packet) = queue.control.admitted(packet, waiting, pie, context, drops) {
            flows.push(now, number, packet);
        }
    }

    fn serve(&mut self, now: Time) -> Option<P> {
        let Self { pie, flows, .. } = self;
        flows.serve(|control, store| {
            control.catch_up(now, pie);
            let (arrived, packet) = store.pop()?;
            control.departed((!store.is_empty()).then(|| now.since(arrived)));
            Some(packet)
        })
    }
}

impl<P: Datagram + Send> Queue<P> for FqPie<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        if self.context.limit.admits(self.flows.backlog(), packet.wire_len()) {
            self.add(now, packet, drops);
        } else {
            let number = self.flows.number_of(packet.flow_key());
            self.flows.queue_mut(number).control.refused();
            drops(packet, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.serve(now)
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        // The packet leaves at once and takes no room, but it spends its flow's credit. Its flow's queue is empty, so
        // PIE spares it.
        self.add(now, packet, drops);
        self.serve(now)
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }
}
