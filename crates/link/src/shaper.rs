//! A shaper in front of a link: a queue of its own, from which packets go on at a rate below the link's. So they wait
//! here and not in the link's queue.
//!
//! The first packet goes on at once, and the next one when the first would have been sent at the shaper's rate, as in
//! Linux `sch_cake`. A shaper that was idle saves nothing up. A packet counts with its length on the medium
//! ([`Framing`]).

use crate::link::HeldPacket;
use crate::queue::{self, BuildError, PolicyConfig};
use crate::{Backlog, Datagram, DropReason, Framing, Limit, Occupancy, Queue, Serializer};
use serde::Serialize;
use units::random::Stream;
use units::{Rate, Span, Time};

/// The properties of a shaper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShaperConfig {
    /// The rate at which packets go on, in bytes on the medium.
    pub rate: Rate,
    /// The rule for the length of a packet on the medium.
    pub framing: Framing,
    /// Its queue's policy.
    pub queue: PolicyConfig,
    /// The room in its queue.
    pub limit: Limit,
}

impl ShaperConfig {
    /// Checks that the registry has the policy and that the settings suit it.
    ///
    /// # Errors
    /// If the registry does not have the policy, or a setting does not suit it.
    pub fn check(&self) -> Result<(), BuildError> {
        self.queue.check(self.limit, self.rate)
    }
}

/// The two queues of a link with a shaper, between the start of measuring and the end of the run.
#[derive(Clone, Debug)]
pub struct ShaperReport {
    /// Packets waiting in the shaper, weighted by time.
    pub queue_length: Occupancy,
    /// Packets waiting in the link's own queue behind it, weighted by time.
    pub link_queue_length: Occupancy,
    /// Packets that the shaper's queue dropped.
    pub drops: u64,
}

/// A shaper, with the meters of both queues.
pub(crate) struct Shaper<P> {
    queue: Box<dyn Queue<HeldPacket<P>>>,
    pace: Serializer,
    framing: Framing,
    /// The time from which the next packet may go on; `None` if nothing waits and nothing was sent just before.
    next: Option<Time>,
    length: Occupancy,
    link_length: Occupancy,
    drops: u64,
}

impl<P: Datagram + Send + 'static> Shaper<P> {
    /// Makes an idle shaper, whose queue draws from `stream`.
    ///
    /// # Errors
    /// If the registry does not have the policy, or the policy does not accept a setting.
    pub(crate) fn make(config: &ShaperConfig, stream: Stream) -> Result<Self, BuildError> {
        let context = config.queue.context(config.limit, config.rate, stream);
        let context = queue::Context { framing: config.framing, ..context };
        Ok(Self {
            queue: queue::build_with(&config.queue.policy, &config.queue.settings, context)?,
            pace: Serializer::new(config.rate),
            framing: config.framing,
            next: None,
            length: Occupancy::default(),
            link_length: Occupancy::default(),
            drops: 0,
        })
    }
}

impl<P: Datagram> Shaper<P> {
    /// Returns true if its queue has a class for scalable flows.
    pub(crate) fn has_classes(&self) -> bool {
        self.queue.has_classes()
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Returns the time at which a packet may go on.
    pub(crate) fn due(&self) -> Option<Time> {
        self.next
    }

    /// Counts the packets in the shaper and those that `wait` in the link's queue up to `now`. Called just before
    /// either number changes.
    pub(crate) fn held(&mut self, waiting: u64, now: Time) {
        self.length.held(self.queue.backlog().packets, now);
        self.link_length.held(waiting, now);
    }

    /// Takes a packet that arrives. Returns it if it goes on at once.
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        held: HeldPacket<P>,
        drops: &mut dyn FnMut(HeldPacket<P>, DropReason),
    ) -> Option<HeldPacket<P>> {
        let count = &mut self.drops;
        let mut log = |held: HeldPacket<P>, reason| {
            *count += 1;
            drops(held, reason);
        };
        if self.next.is_some() {
            self.queue.enqueue(now, held, &mut log);
            return None;
        }
        let held = self.queue.pass(now, held, &mut log)?;
        self.sent(now, &held);
        Some(held)
    }

    /// Returns the packet that goes on at `now`, which is [due](Self::due).
    pub(crate) fn release(
        &mut self,
        now: Time,
        drops: &mut dyn FnMut(HeldPacket<P>, DropReason),
    ) -> Option<HeldPacket<P>> {
        self.next = None;
        let count = &mut self.drops;
        let held = self.queue.dequeue(now, &mut |held, reason| {
            *count += 1;
            drops(held, reason);
        })?;
        self.sent(now, &held);
        Some(held)
    }

    fn sent(&mut self, now: Time, held: &HeldPacket<P>) {
        self.next = Some(self.pace.send(now, self.framing.length(held.wire_len())));
    }

    /// Returns the time for which a packet of this length keeps the shaper busy.
    pub(crate) fn slot(&self, length: units::Bytes) -> Span {
        self.pace.rate().serialization(self.framing.length(length))
    }

    /// Returns the time that it takes to send the backlog.
    pub(crate) fn drains(&self) -> Span {
        let Backlog { packets, bytes } = self.queue.backlog();
        let mean = units::Bytes::new(bytes.get() / packets.max(1));
        self.pace.rate().serialization(self.framing.length(mean) * packets)
    }

    /// Starts the measured interval, with `waiting` packets in the link's queue.
    pub(crate) fn begin(&mut self, now: Time, waiting: u64) {
        self.held(waiting, now);
        self.length.begin(now);
        self.link_length.begin(now);
        self.drops = 0;
    }

    /// Closes the measurement at `end`, with `waiting` packets in the link's queue.
    pub(crate) fn report(&self, end: Time, waiting: u64) -> ShaperReport {
        let (mut length, mut link_length) = (self.length.clone(), self.link_length.clone());
        length.held(self.queue.backlog().packets, end);
        link_length.held(waiting, end);
        ShaperReport { queue_length: length, link_queue_length: link_length, drops: self.drops }
    }
}
