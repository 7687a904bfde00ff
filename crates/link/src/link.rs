//! [`Link`]: loss, queue, serializer and delay line in one.

use crate::delay::DelayLine;
use crate::fifo::Fifo;
use crate::loss::RandomLoss;
use crate::meter::{LinkReport, LinkState, Meter, Service};
use crate::queue::{self, BuildError, PolicyConfig};
use crate::{Backlog, Datagram, DropReason, Ecn, Limit, Queue, Serializer, SourceMeters};
use serde::Serialize;
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

/// The properties of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkConfig {
    /// Capacity.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
    /// The probability with which each arriving packet is lost.
    pub loss: Fraction,
    /// The upper limit of the extra delay. Each packet's extra delay is drawn uniformly from zero to this limit, so
    /// that packets may overtake others.
    pub jitter: Span,
}

/// A link that carries packets `P`. A packet that is pushed in comes out of [`poll`](Link::poll) after queueing,
/// serialization and propagation, or goes to `drops` with a reason.
pub struct Link<P> {
    delay: Span,
    jitter: Jitter,
    loss: RandomLoss,
    discipline: Discipline<P>,
    line: DelayLine<P>,
    meter: Meter,
    /// The meters of each source of cross traffic; `None` if the link does not [count](Link::meter_sources) by source.
    sources: Option<Box<SourceMeters>>,
}

/// The random delay of a packet beyond the constant one.
struct Jitter {
    most: Span,
    stream: Stream,
}

impl Jitter {
    fn draw(&mut self) -> Span {
        if self.most == Span::ZERO { Span::ZERO } else { self.most.scale(self.stream.uniform()) }
    }
}

/// Draws from a copy of the link's own stream, so that random loss strikes the same packets with jitter or without.
fn jitter_stream(stream: &Stream) -> Stream {
    Stream::new(stream.clone().integer(0, u64::MAX), "jitter")
}

enum Discipline<P> {
    /// A queue in which departures are known on arrival.
    Fifo(Fifo),
    /// A queue that decides when the wire is free.
    Queued(Queued<P>),
}

struct Queued<P> {
    queue: Box<dyn Queue<HeldPacket<P>>>,
    serializer: Serializer,
    in_service: Option<(HeldPacket<P>, Service)>,
}

/// A packet, the time of its arrival, and its state: marked if this link's queue has marked it.
pub struct HeldPacket<P> {
    pub(crate) arrived: Time,
    pub(crate) marked: bool,
    pub(crate) packet: P,
}

impl<P: Datagram> Datagram for HeldPacket<P> {
    fn wire_len(&self) -> Bytes {
        self.packet.wire_len()
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn mark(&mut self) {
        self.marked |= self.packet.ecn() == Ecn::Capable;
        self.packet.mark();
    }

    fn flow_key(&self) -> u64 {
        self.packet.flow_key()
    }

    fn source(&self) -> Option<usize> {
        self.packet.source()
    }
}

/// The fate of a packet offered to a link that knows departures on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its last bit leaves at this time; the packet arrives one propagation delay later.
    Departs(Time),
    /// The packet does not get through.
    Dropped(DropReason),
}

impl<P: Datagram + Send + 'static> Link<P> {
    /// Creates a drop-tail link. The random loss draws from `stream`.
    #[must_use]
    pub fn drop_tail(config: LinkConfig, limit: Limit, stream: Stream) -> Self {
        let fifo = Fifo::new(limit, Serializer::new(config.rate));
        Self::with(config, Discipline::Fifo(fifo), stream)
    }

    /// Creates a link with the queue policy `queue`.
    #[must_use]
    pub fn queued(config: LinkConfig, queue: Box<dyn Queue<HeldPacket<P>>>, stream: Stream) -> Self {
        let serializer = Serializer::new(config.rate);
        Self::with(config, Discipline::Queued(Queued { queue, serializer, in_service: None }), stream)
    }

    /// Creates a link with the policy called `policy`, all its settings at their defaults; returns `None` if the
    /// registry does not have it. The random loss draws from `stream`, and the policy from a stream whose seed comes
    /// from `stream`.
    #[must_use]
    pub fn make(config: LinkConfig, policy: &str, limit: Limit, stream: Stream) -> Option<Self> {
        Self::make_with(config, &policy.into(), limit, stream).ok()
    }

    /// Creates a link as [`make`](Link::make) does, with settings.
    ///
    /// # Errors
    /// If the registry does not have the policy, or the policy does not accept a setting.
    pub fn make_with(
        config: LinkConfig,
        queue: &PolicyConfig,
        limit: Limit,
        stream: Stream,
    ) -> Result<Self, BuildError> {
        // The seed comes from a copy, so that random loss strikes the same packets whatever the policy.
        let seed = stream.clone().integer(0, u64::MAX);
        let context = queue.context(limit, config.rate, Stream::new(seed, "queue"));
        let built = queue::build_with(&queue.policy, &queue.settings, context)?;
        // A marking threshold needs the queue itself: a departure known on arrival cannot mark the packet.
        Ok(if queue.policy == queue::DROP_TAIL && queue.settings.mark_above.is_none() {
            Self::drop_tail(config, limit, stream)
        } else {
            Self::queued(config, built, stream)
        })
    }

    fn with(config: LinkConfig, discipline: Discipline<P>, stream: Stream) -> Self {
        Self {
            delay: config.delay,
            jitter: Jitter { most: config.jitter, stream: jitter_stream(&stream) },
            loss: RandomLoss::new(config.loss, stream),
            discipline,
            line: DelayLine::default(),
            meter: Meter::default(),
            sources: None,
        }
    }

    /// Counts the packets of each of `sources` sources of cross traffic separately, and all others together. Packets
    /// reach the far end `beyond` later than they come out of the link.
    pub fn meter_sources(&mut self, sources: usize, beyond: Span) {
        self.sources = Some(Box::new(SourceMeters::new(sources, beyond)));
    }

    /// Returns true if the link [counts](Link::meter_sources) packets by their source.
    #[must_use]
    pub fn meters_sources(&self) -> bool {
        self.sources.is_some()
    }

    /// Returns true if [`admit`](Link::admit) may be used: the queue is first-in, first-out at a constant rate, and
    /// packets keep their order behind it.
    #[must_use]
    pub fn knows_departures(&self) -> bool {
        matches!(self.discipline, Discipline::Fifo(_)) && self.jitter.most == Span::ZERO
    }

    /// Returns the one-way propagation delay.
    #[must_use]
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Returns the capacity.
    #[must_use]
    pub fn rate(&self) -> Rate {
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.rate(),
            Discipline::Queued(queued) => queued.serializer.rate(),
        }
    }

    /// Admits a packet that the caller keeps, and returns its departure. The packet does not come out of
    /// [`poll`](Link::poll).
    ///
    /// # Panics
    /// If the link does not know departures on arrival.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, length: Bytes) -> Admission {
        let Discipline::Fifo(fifo) = &mut self.discipline else {
            panic!("only a drop-tail link knows a departure on arrival");
        };
        self.meter.arrived();
        if self.loss.strikes() {
            self.meter.dropped(DropReason::RandomLoss);
            return Admission::Dropped(DropReason::RandomLoss);
        }
        if let Some(departs) = fifo.admit(now, length, &mut self.meter) {
            Admission::Departs(departs)
        } else {
            self.meter.dropped(DropReason::QueueFull);
            Admission::Dropped(DropReason::QueueFull)
        }
    }

    /// Admits a packet as [`admit`](Link::admit) does, and [counts](Link::meter_sources) it by its source. The returned
    /// time is the packet's arrival at the far end, not its departure.
    ///
    /// # Panics
    /// As [`admit`](Link::admit).
    pub fn admit_packet(&mut self, now: Time, packet: &P) -> Admission {
        let (length, source) = (packet.wire_len(), packet.source());
        let free_at = match &self.discipline {
            Discipline::Fifo(fifo) => fifo.free_at(),
            Discipline::Queued(_) => now,
        };
        let mut admission = self.admit(now, length);
        if let Admission::Departs(at) = &mut admission {
            *at = *at + self.delay + self.jitter.draw();
        }
        if let Some(sources) = &mut self.sources {
            sources.settle(now);
            sources.arrived(source, length);
            match admission {
                Admission::Departs(at) => {
                    sources.delivered(source, length, (now, free_at.since(now), at), false);
                }
                Admission::Dropped(_) => sources.dropped(source, now),
            }
        }
        admission
    }

    /// Takes a packet that arrives.
    pub fn push(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        if let Discipline::Fifo(_) = self.discipline {
            match self.admit_packet(now, &packet) {
                Admission::Departs(at) => self.line.push(at, packet),
                Admission::Dropped(reason) => drops(packet, reason),
            }
            return;
        }
        self.advance(now, drops);
        self.meter.arrived();
        let Self { meter, sources, .. } = self;
        if let Some(sources) = sources.as_mut() {
            sources.settle(now);
            sources.arrived(packet.source(), packet.wire_len());
        }
        let mut log = |held: HeldPacket<P>, reason| {
            meter.dropped(reason);
            if let Some(sources) = sources.as_mut() {
                sources.dropped(held.packet.source(), held.arrived);
            }
            drops(held.packet, reason);
        };
        if self.loss.strikes() {
            log(HeldPacket { arrived: now, marked: false, packet }, DropReason::RandomLoss);
            return;
        }
        let Discipline::Queued(queued) = &mut self.discipline else { return };
        let held = HeldPacket { arrived: now, marked: false, packet };
        if queued.in_service.is_none() {
            // The packet goes straight to the free wire, so the backlog does not change.
            if let Some(held) = queued.queue.pass(now, held, &mut log) {
                queued.serve(now, held);
            }
        } else {
            let before = queued.queue.backlog();
            queued.queue.enqueue(now, held, &mut log);
            meter.waiting(before, now);
        }
    }

    /// Returns the next packet that has arrived at the far end by `now`, in the order of arrival.
    pub fn poll(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.advance(now, drops);
        self.line.pop(now)
    }

    /// Returns the next time at which [`poll`](Link::poll) has something to do.
    #[must_use]
    pub fn wakeup(&self) -> Option<Time> {
        let service = match &self.discipline {
            Discipline::Fifo(_) => None,
            Discipline::Queued(queued) => queued.in_service.as_ref().map(|(_, service)| service.departs),
        };
        match (service, self.line.next()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Starts the measured interval.
    pub fn begin_measuring(&mut self, now: Time) {
        self.settle(now);
        if let Discipline::Queued(queued) = &self.discipline {
            self.meter.waiting(queued.queue.backlog(), now);
        }
        self.meter.begin(now);
        if let Some(sources) = &mut self.sources {
            sources.begin(now);
        }
    }

    /// Returns the backlog, the arrivals, the drops, and the time for which the link was sending.
    pub fn state(&mut self, now: Time) -> LinkState {
        self.settle(now);
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.state(now, &self.meter),
            Discipline::Queued(queued) => {
                let sending = queued.in_service.as_ref().map(|(_, service)| service);
                self.meter.state(now, queued.queue.backlog(), sending, queued.serializer.rate())
            }
        }
    }

    /// Returns the measurements from the start of measuring to `end`. Packets must have been [`poll`](Link::poll)ed up
    /// to `end`.
    pub fn report(&mut self, end: Time) -> LinkReport {
        self.settle(end);
        let report = match &self.discipline {
            Discipline::Fifo(fifo) => fifo.report(end, &self.meter),
            Discipline::Queued(queued) => queued.report(end, &self.meter),
        };
        LinkReport { sources: self.sources.as_mut().map(|sources| sources.report(end)), ..report }
    }

    /// Returns the current backlog, without letting time pass.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.backlog(),
            Discipline::Queued(queued) => queued.queue.backlog(),
        }
    }

    fn settle(&mut self, now: Time) {
        if let Discipline::Fifo(fifo) = &mut self.discipline {
            fifo.settle(now, &mut self.meter);
        }
    }

    /// Moves packets from the queue over the wire to the line until the wire is busy beyond `now`.
    fn advance(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) {
        let Discipline::Queued(queued) = &mut self.discipline else { return };
        let Self { meter, sources, .. } = self;
        while queued.in_service.as_ref().is_some_and(|(_, service)| service.departs <= now) {
            let Some((held, service)) = queued.in_service.take() else { return };
            meter.served(&service);
            if held.marked {
                meter.marked();
            }
            let arrives = service.departs + self.delay + self.jitter.draw();
            if let Some(sources) = sources.as_mut() {
                let times = (service.arrived, service.starts.since(service.arrived), arrives);
                sources.delivered(held.packet.source(), service.length, times, held.marked);
            }
            self.line.push(arrives, held.packet);
            let mut log = |held: HeldPacket<P>, reason| {
                meter.dropped(reason);
                if let Some(sources) = sources.as_mut() {
                    sources.dropped(held.packet.source(), held.arrived);
                }
                drops(held.packet, reason);
            };
            let before = queued.queue.backlog();
            let next = queued.queue.dequeue(service.departs, &mut log);
            meter.waiting(before, service.departs);
            if let Some(next) = next {
                queued.serve(service.departs, next);
            }
        }
    }
}

impl<P: Datagram> Queued<P> {
    /// Closes the measurement at `end`.
    fn report(&self, end: Time, meter: &Meter) -> LinkReport {
        let mut meter = meter.clone();
        meter.waiting(self.queue.backlog(), end);
        if let Some((_, service)) = &self.in_service {
            meter.sending(service, service.departs.min(end));
        }
        let held = self.queue.backlog().packets + u64::from(self.in_service.is_some());
        meter.report(end, held, self.serializer.rate())
    }

    /// Sends `held` on the free wire from `now`.
    fn serve(&mut self, now: Time, held: HeldPacket<P>) {
        let (arrived, length) = (held.arrived, held.wire_len());
        let departs = self.serializer.send(now, length);
        self.in_service = Some((held, Service { arrived, starts: now, departs, length }));
    }
}
