//! A queue that decides when the wire is free, and the wire behind it.

use super::HeldPacket;
use crate::capacity::ChangingServer;
use crate::changes::Changes;
use crate::class_delays::ClassDelays;
use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::{Datagram, Queue, Serializer};
use units::random::Stream;
use units::{Rate, Time};

/// A queue, its wire, and the packet being sent.
pub(super) struct Queued<P> {
    pub(super) queue: Box<dyn Queue<HeldPacket<P>>>,
    wire: Wire,
    pub(super) in_service: Option<(HeldPacket<P>, Service)>,
    /// The time at which the next packet can begin to leave, if packets wait only for capacity.
    opens: Option<Time>,
    /// The delays of each class, if the policy has classes.
    classes: Option<Box<ClassDelays>>,
}

/// The wire behind a queue.
enum Wire {
    Constant(Serializer),
    Changing(Box<ChangingServer>),
}

impl<P: Datagram> Queued<P> {
    /// Puts `queue` in front of a wire of `rate` with these changes.
    pub(super) fn new(
        queue: Box<dyn Queue<HeldPacket<P>>>,
        rate: Rate,
        changes: &Changes,
        stream: &Stream,
    ) -> Self {
        let wire = match ChangingServer::new(rate, changes, stream, Time::ZERO) {
            None => Wire::Constant(Serializer::new(rate)),
            Some(server) => Wire::Changing(Box::new(server)),
        };
        let classes = queue.has_classes().then(Box::default);
        Self { queue, wire, in_service: None, opens: None, classes }
    }

    /// Returns the rate of the wire. If it changes, this is its mean.
    pub(super) fn rate(&self) -> Rate {
        match &self.wire {
            Wire::Constant(serializer) => serializer.rate(),
            Wire::Changing(server) => server.mean_rate(),
        }
    }

    /// Returns the next time at which a packet has left, or can begin to.
    pub(super) fn due(&self) -> Option<Time> {
        self.in_service.as_ref().map(|(_, service)| service.departs).or(self.opens)
    }

    /// Returns true if a packet that arrives `now` goes straight to the wire.
    pub(super) fn is_free(&mut self, now: Time) -> bool {
        self.in_service.is_none()
            && match &mut self.wire {
                Wire::Constant(_) => true,
                Wire::Changing(server) => self.opens.is_none() && server.opens(now) == now,
            }
    }

    /// Returns true if the wire can take a packet that waits at `now`. If not, and packets wait, it is due again when
    /// it can.
    pub(super) fn takes_next(&mut self, now: Time) -> bool {
        self.opens = None;
        let Wire::Changing(server) = &mut self.wire else { return true };
        let opens = server.opens_for_waiting(now);
        if opens > now && self.queue.backlog().packets > 0 {
            self.opens = Some(opens);
            return false;
        }
        true
    }

    /// Notes that a packet has joined the queue at `now`, so that it leaves when there is capacity.
    pub(super) fn joined(&mut self, now: Time) {
        if let Wire::Changing(server) = &mut self.wire
            && self.in_service.is_none()
            && self.opens.is_none()
            && self.queue.backlog().packets > 0
        {
            self.opens = Some(server.opens(now));
        }
    }

    /// Sends `held` on the free wire from `now`.
    pub(super) fn serve(&mut self, now: Time, held: HeldPacket<P>) {
        let (arrived, length) = (held.arrived, held.wire_len());
        let departs = match &mut self.wire {
            Wire::Constant(serializer) => serializer.send(now, length),
            Wire::Changing(server) => server.send(length),
        };
        self.in_service = Some((held, Service { arrived, starts: now, departs, length }));
    }

    /// Counts a packet that has left, of this class.
    pub(super) fn served(&mut self, service: &Service, scalable: bool, meter: &mut Meter) {
        if let Some(classes) = &mut self.classes {
            let sent = service.departs.since(service.starts);
            classes.served(scalable, service.arrived, service.starts, sent);
        }
        match &mut self.wire {
            Wire::Constant(_) => meter.served(service),
            Wire::Changing(server) => meter.served_by(service, server),
        }
    }

    /// Goes on with `server` from `now` on.
    pub(super) fn replace(&mut self, now: Time, server: ChangingServer) {
        self.wire = Wire::Changing(Box::new(server));
        if self.opens.take().is_some() {
            self.joined(now);
        }
    }

    /// Starts the measured interval.
    pub(super) fn begin(&mut self, now: Time, meter: &mut Meter) {
        meter.waiting(self.queue.backlog(), now);
        if let Some(classes) = &mut self.classes {
            classes.begin(now);
        }
        if let Wire::Changing(server) = &mut self.wire {
            server.begin(now);
        }
    }

    /// Returns the link's state at `now`.
    pub(super) fn state(&mut self, now: Time, meter: &Meter) -> LinkState {
        let backlog = self.queue.backlog();
        match &mut self.wire {
            Wire::Constant(serializer) => {
                let sending = self.in_service.as_ref().map(|(_, service)| service);
                meter.state(now, backlog, sending, serializer.rate())
            }
            Wire::Changing(server) => {
                let drains = server.drains(now, backlog.bytes);
                meter.changing_state(now, backlog, drains, server)
            }
        }
    }

    /// Closes the measurement at `end`.
    pub(super) fn report(&mut self, end: Time, meter: &Meter) -> LinkReport {
        let mut meter = meter.clone();
        meter.waiting(self.queue.backlog(), end);
        let held = self.queue.backlog().packets + u64::from(self.in_service.is_some());
        let report = match &mut self.wire {
            Wire::Constant(serializer) => {
                if let Some((_, service)) = &self.in_service {
                    meter.sending(service, service.departs.min(end));
                }
                meter.report(end, held, serializer.rate())
            }
            Wire::Changing(server) => meter.changing_report(end, held, server),
        };
        LinkReport { classes: self.classes.as_deref().cloned(), ..report }
    }
}
