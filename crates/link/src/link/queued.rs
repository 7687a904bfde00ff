//! A queue that decides when the wire is free, the wire behind it, and perhaps a shaper in front.

use super::HeldPacket;
use crate::capacity::ChangingServer;
use crate::class_delays::ClassDelays;
use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::shaper::Shaper;
use crate::{Backlog, Datagram, DropReason, LinkConfig, Queue, Serializer};
use units::random::Stream;
use units::{Rate, Time};

/// A function that takes dropped packets.
type Drops<'a, P> = &'a mut dyn FnMut(HeldPacket<P>, DropReason);

/// A queue, its wire, and the packet being sent.
pub(super) struct Queued<P> {
    queue: Box<dyn Queue<HeldPacket<P>>>,
    wire: Wire,
    in_service: Option<(HeldPacket<P>, Service)>,
    /// The time at which the next packet can begin to leave, if packets wait only for capacity.
    opens: Option<Time>,
    /// The delays of each class, if the policy has classes.
    classes: Option<Box<ClassDelays>>,
    /// The shaper that packets pass before they come to the queue.
    shaper: Option<Box<Shaper<P>>>,
}

/// The wire behind a queue.
enum Wire {
    Constant(Serializer),
    Changing(Box<ChangingServer>),
}

impl<P: Datagram> Queued<P> {
    /// Puts `queue` in front of the wire of a link.
    pub(super) fn new(queue: Box<dyn Queue<HeldPacket<P>>>, config: &LinkConfig, stream: &Stream) -> Self {
        let wire = match ChangingServer::new(config.rate, &config.changes, stream, Time::ZERO) {
            None => Wire::Constant(Serializer::new(config.rate)),
            Some(server) => Wire::Changing(Box::new(server)),
        };
        let classes = queue.has_classes().then(Box::default);
        Self { queue, wire, in_service: None, opens: None, classes, shaper: None }
    }

    /// Puts a shaper in front.
    pub(super) fn behind(mut self, shaper: Shaper<P>) -> Self {
        // The classes of the shaper's queue count, because packets wait there.
        self.classes = shaper.has_classes().then(Box::default).or(self.classes);
        Self { shaper: Some(Box::new(shaper)), ..self }
    }

    /// Returns the packets that wait.
    pub(super) fn backlog(&self) -> Backlog {
        let own = self.queue.backlog();
        let Some(shaper) = &self.shaper else { return own };
        let before = shaper.backlog();
        Backlog { packets: own.packets + before.packets, bytes: own.bytes + before.bytes }
    }

    /// Returns the rate of the wire. If it changes, this is its mean.
    pub(super) fn rate(&self) -> Rate {
        match &self.wire {
            Wire::Constant(serializer) => serializer.rate(),
            Wire::Changing(server) => server.mean_rate(),
        }
    }

    /// Returns the next time at which a packet has left, can begin to, or goes from the shaper to the queue.
    pub(super) fn due(&self) -> Option<Time> {
        let wire = self.in_service.as_ref().map(|(_, service)| service.departs).or(self.opens);
        match &self.shaper {
            None => wire,
            Some(shaper) => wire.into_iter().chain(shaper.due()).min(),
        }
    }

    /// Takes a packet that arrives.
    pub(super) fn arrive(&mut self, now: Time, held: HeldPacket<P>, drops: Drops<'_, P>) {
        let Some(shaper) = &mut self.shaper else { return self.offer(now, held, drops) };
        shaper.held(self.queue.backlog().packets, now);
        if let Some(held) = shaper.arrive(now, held, drops) {
            self.offer(now, held, drops);
        }
    }

    /// Takes a packet that comes to the queue. If the wire is free it goes straight there.
    fn offer(&mut self, now: Time, held: HeldPacket<P>, drops: Drops<'_, P>) {
        if self.is_free(now) {
            if let Some(held) = self.queue.pass(now, held, drops) {
                self.serve(now, held);
            }
        } else {
            self.queue.enqueue(now, held, drops);
            self.joined(now);
        }
    }

    /// Returns the packet whose last bit has left by `now`.
    pub(super) fn departed(&mut self, now: Time) -> Option<(HeldPacket<P>, Service)> {
        self.in_service.take_if(|(_, service)| service.departs <= now)
    }

    /// Does what is due at `now`: the wire takes the next packet if one has `departed` or if it opens, and the shaper
    /// lets one go on.
    pub(super) fn go_on(&mut self, now: Time, departed: bool, drops: Drops<'_, P>) {
        if let Some(shaper) = &mut self.shaper {
            shaper.held(self.queue.backlog().packets, now);
        }
        if (departed || self.opens.is_some_and(|opens| opens <= now))
            && self.takes_next(now)
            && let Some(next) = self.queue.dequeue(now, drops)
        {
            self.serve(now, next);
        }
        if let Some(shaper) = &mut self.shaper
            && shaper.due().is_some_and(|due| due <= now)
            && let Some(next) = shaper.release(now, drops)
        {
            self.offer(now, next, drops);
        }
    }

    /// Returns true if a packet that comes to the queue `now` goes straight to the wire.
    fn is_free(&mut self, now: Time) -> bool {
        self.in_service.is_none()
            && match &mut self.wire {
                Wire::Constant(_) => true,
                Wire::Changing(server) => self.opens.is_none() && server.opens(now) == now,
            }
    }

    /// Returns true if the wire can take a packet that waits at `now`. If not, and packets wait, it is due again when
    /// it can.
    fn takes_next(&mut self, now: Time) -> bool {
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
    fn joined(&mut self, now: Time) {
        if let Wire::Changing(server) = &mut self.wire
            && self.in_service.is_none()
            && self.opens.is_none()
            && self.queue.backlog().packets > 0
        {
            self.opens = Some(server.opens(now));
        }
    }

    /// Sends `held` on the free wire from `now`.
    fn serve(&mut self, now: Time, held: HeldPacket<P>) {
        let (arrived, length) = (held.arrived, held.wire_len());
        let departs = match &mut self.wire {
            Wire::Constant(serializer) => serializer.send(now, length),
            Wire::Changing(server) => server.send(length),
        };
        self.in_service = Some((held, Service { arrived, starts: now, departs, length }));
    }

    /// Counts a packet that has left, of this class.
    pub(super) fn served(&mut self, service: &Service, scalable: bool, meter: &mut Meter) {
        let sent = service.departs.since(service.starts);
        // Behind a shaper the next packet waits for longer than the wire is busy.
        let kept_busy = self.shaper.as_ref().map_or(sent, |shaper| shaper.slot(service.length).max(sent));
        if let Some(classes) = &mut self.classes {
            classes.served(scalable, service.arrived, service.starts, kept_busy);
        }
        match &mut self.wire {
            Wire::Constant(_) => meter.served(service),
            Wire::Changing(server) => meter.served_by(service, server),
        }
        if kept_busy > sent {
            meter.kept_busy(service, kept_busy.saturating_sub(sent));
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
        meter.waiting(self.backlog(), now);
        if let Some(classes) = &mut self.classes {
            classes.begin(now);
        }
        if let Some(shaper) = &mut self.shaper {
            shaper.begin(now, self.queue.backlog().packets);
        }
        if let Wire::Changing(server) = &mut self.wire {
            server.begin(now);
        }
    }

    /// Returns the link's state at `now`.
    pub(super) fn state(&mut self, now: Time, meter: &Meter) -> LinkState {
        let backlog = self.backlog();
        let state = match &mut self.wire {
            Wire::Constant(serializer) => {
                let sending = self.in_service.as_ref().map(|(_, service)| service);
                meter.state(now, backlog, sending, serializer.rate())
            }
            Wire::Changing(server) => {
                let drains = server.drains(now, backlog.bytes);
                meter.changing_state(now, backlog, drains, server)
            }
        };
        LinkState { shaped: self.shaper.as_ref().map(|shaper| shaper.drains()), ..state }
    }

    /// Closes the measurement at `end`.
    pub(super) fn report(&mut self, end: Time, meter: &Meter) -> LinkReport {
        let mut meter = meter.clone();
        meter.waiting(self.backlog(), end);
        let held = self.backlog().packets + u64::from(self.in_service.is_some());
        let report = match &mut self.wire {
            Wire::Constant(serializer) => {
                if let Some((_, service)) = &self.in_service {
                    meter.sending(service, service.departs.min(end));
                }
                meter.report(end, held, serializer.rate())
            }
            Wire::Changing(server) => meter.changing_report(end, held, server),
        };
        let waiting = self.queue.backlog().packets;
        let shaper = self.shaper.as_ref().map(|shaper| shaper.report(end, waiting));
        LinkReport { classes: self.classes.as_deref().cloned(), shaper, ..report }
    }
}
