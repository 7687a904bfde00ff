//! The senders: the flows, then the users of all populations, by one index.

use crate::early::{FAR, NEAR, NEXT};
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
use crate::population::Population;
use crate::simulation::Timer;
use prefetch_index::prefetch_index;
use units::Time;

/// All senders and receivers. An index below the number of flows is a flow's; a higher one is a user's.
pub(crate) struct Endpoints {
    pub(crate) flows: Vec<Flow>,
    pub(crate) population: Population,
}

impl Endpoints {
    /// Returns the time at which the owner of `index` next acts on its own.
    #[inline]
    pub(crate) fn deadline(&self, index: usize) -> Time {
        match self.flows.get(index) {
            Some(flow) => flow.deadline(),
            None => self.population.deadline(index),
        }
    }

    /// Begins to load the state of flows whose packets arrive soon into the processor's cache; `later` gives the flow of
    /// the arrival so many places behind the last.
    #[inline]
    pub(crate) fn load_arriving(&self, timers: &[Timer], later: impl Fn(usize) -> Option<u32>) {
        if let Some(index) = later(FAR)
            && let Some(flow) = self.flows.get(index as usize)
        {
            flow.load_early();
            prefetch_index(timers, index as usize);
        }
        let flow = |places| self.flows.get(later(places)? as usize);
        if let Some(flow) = flow(NEAR) {
            flow.load_boxes();
        }
        if let Some(flow) = flow(NEXT) {
            flow.load_behind();
        }
    }

    /// Begins to load the state of flows whose deadlines come soon; `later` gives the owner whose slot is so many places
    /// behind the one at hand.
    #[inline]
    pub(crate) fn load_due(&self, timers: &[Timer], later: impl Fn(usize) -> Option<usize>) {
        if let Some(index) = later(FAR) {
            prefetch_index(timers, index);
        }
        let due = |places| {
            let index = later(places)?;
            let flow = self.flows.get(index)?;
            (timers[index].due <= timers[index].armed).then_some(flow)
        };
        if let Some(flow) = due(NEAR) {
            flow.load_early();
        }
        if let Some(flow) = due(NEXT) {
            flow.load_boxes();
        }
    }

    /// Returns the flow of `index`, or the connection of that user.
    pub(crate) fn flow(&self, index: usize) -> Option<&Flow> {
        self.flows.get(index).or_else(|| self.population.flow(index))
    }

    /// Lets acknowledgements list their blocks as on the wire.
    pub(crate) fn keep_blocks(&mut self) {
        self.flows.iter_mut().for_each(Flow::keep_blocks);
        self.population.keep_blocks();
    }

    /// Hands a packet to its receiver as it leaves its last queue. Called only if acknowledgements cross queues.
    /// Returns the packet with which the receiver answers.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        let index = packet.flow as usize;
        match self.flows.get_mut(index) {
            Some(flow) => flow.receive(now, packet),
            None => self.population.receive(index, now, packet),
        }
    }

    /// Takes the acknowledgement that leaves before the answer of [`receive`](Self::receive), or in its place.
    pub(crate) fn first(&mut self, index: usize) -> Option<Packet> {
        match self.flows.get_mut(index) {
            Some(flow) => flow.first(),
            None => self.population.first(index),
        }
    }

    /// Records that a link dropped a packet of the owner of `index`, if there is one.
    pub(crate) fn on_drop(&mut self, index: usize, kind: Kind) {
        match (self.flows.get_mut(index), kind) {
            (Some(flow), Kind::Acknowledgement) => flow.on_acknowledgement_drop(),
            (Some(flow), Kind::Segment | Kind::Cross) => flow.on_drop(),
            (_, Kind::Probe) => {}
            (None, _) => self.population.on_drop(index, kind),
        }
    }

    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.flows.iter_mut().for_each(|flow| flow.begin_measuring(now));
        self.population.begin_measuring(now);
    }
}
