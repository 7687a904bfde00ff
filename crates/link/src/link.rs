//! [`Link`]: loss, queue, serializer and delay line in one. `link/queued.rs` has the queue with its wire,
//! `link/propagation.rs` the delay behind it.

mod held;
mod propagation;
mod queued;

use crate::capacity::ChangingServer;
use crate::changes::Changes;
use crate::changing_fifo::ChangingFifo;
use crate::delay::DelayLine;
use crate::fifo::Fifo;
use crate::loss::RandomLoss;
use crate::meter::{LinkReport, LinkState, Meter};
use crate::queue::{self, BuildError, PolicyConfig};
use crate::shaper::Shaper;
use crate::{Backlog, Datagram, DropReason, Limit, Queue, Serializer, ShaperConfig, SourceMeters};
pub use held::HeldPacket;
use propagation::Propagation;
use queued::Queued;
use serde::Serialize;
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

/// The properties of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkConfig {
    /// Capacity. If it changes, its mean; with outages only, the rate between them.
    pub rate: Rate,
    /// One-way propagation delay. If it changes, its least value.
    pub delay: Span,
    /// The probability with which each arriving packet is lost.
    pub loss: Fraction,
    /// The upper limit of the extra delay. Each packet's extra delay is drawn uniformly from zero to this limit, so
    /// that packets may overtake others.
    pub jitter: Span,
    /// The changes over time.
    pub changes: Changes,
    /// The shaper in front of the link's queue; `None`: packets come straight to the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Box<ShaperConfig>>,
}

impl LinkConfig {
    /// Creates the properties of a link that loses nothing and never changes.
    #[must_use]
    pub fn constant(rate: Rate, delay: Span) -> Self {
        let (loss, jitter, changes) = (Fraction::ZERO, Span::ZERO, Changes::default());
        Self { rate, delay, loss, jitter, changes, shaper: None }
    }
}

/// A link that carries packets `P`. A packet that is pushed in comes out of [`poll`](Link::poll) after queueing,
/// serialization and propagation, or goes to `drops` with a reason.
pub struct Link<P> {
    propagation: Propagation,
    loss: RandomLoss,
    discipline: Discipline<P>,
    line: DelayLine<P>,
    meter: Meter,
    /// The beginning of the changes over time; `None` if nothing changes.
    changes: Option<Box<Beginning>>,
    /// The meters of each source of cross traffic; `None` if the link does not [count](Link::meter_sources) by source.
    sources: Option<Box<SourceMeters>>,
}

/// The configuration of a link that changes, and its random stream at the start.
struct Beginning {
    config: LinkConfig,
    stream: Stream,
}

enum Discipline<P> {
    /// A queue in which departures are known on arrival.
    Fifo(Fifo),
    /// The same at a rate that changes.
    ChangingFifo(Box<ChangingFifo>),
    /// A queue that decides when the wire is free.
    Queued(Queued<P>),
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
    /// Creates a drop-tail link. The random loss draws from `stream`. Only [`make_with`](Link::make_with) puts a shaper
    /// in front.
    #[must_use]
    pub fn drop_tail(config: &LinkConfig, limit: Limit, stream: Stream) -> Self {
        let discipline = match ChangingServer::new(config.rate, &config.changes, &stream, Time::ZERO) {
            None => Discipline::Fifo(Fifo::new(limit, Serializer::new(config.rate))),
            Some(server) => Discipline::ChangingFifo(Box::new(ChangingFifo::new(limit, server))),
        };
        Self::with(config, discipline, stream)
    }

    /// Creates a link with the queue policy `queue`.
    #[must_use]
    pub fn queued(config: &LinkConfig, queue: Box<dyn Queue<HeldPacket<P>>>, stream: Stream) -> Self {
        let queued = Queued::new(queue, config, &stream);
        Self::with(config, Discipline::Queued(queued), stream)
    }

    /// Creates a link with the policy called `policy`, all its settings at their defaults; returns `None` if the
    /// registry does not have it. The random loss draws from `stream`, and the policy from a stream whose seed comes
    /// from `stream`.
    #[must_use]
    pub fn make(config: &LinkConfig, policy: &str, limit: Limit, stream: Stream) -> Option<Self> {
        Self::make_with(config, &policy.into(), limit, stream).ok()
    }

    /// Creates a link as [`make`](Link::make) does, with settings.
    ///
    /// # Errors
    /// If the registry does not have the policy, or the policy does not accept a setting.
    pub fn make_with(
        config: &LinkConfig,
        queue: &PolicyConfig,
        limit: Limit,
        stream: Stream,
    ) -> Result<Self, BuildError> {
        // The seed comes from a copy, so that random loss strikes the same packets whatever the policy.
        let seed = stream.clone().integer(0, u64::MAX);
        let context = queue.context(limit, config.rate, Stream::new(seed, "queue"));
        let built = queue::build_with(&queue.policy, &queue.settings, context)?;
        if let Some(shaper) = &config.shaper {
            let shaper = Shaper::make(shaper, Stream::new(seed, "shaper"))?;
            let queued = Queued::new(built, config, &stream).behind(shaper);
            return Ok(Self::with(config, Discipline::Queued(queued), stream));
        }
        // A marking threshold needs the queue itself: a departure known on arrival cannot mark the packet.
        Ok(if queue.policy == queue::DROP_TAIL && queue.settings.mark_above.is_none() {
            Self::drop_tail(config, limit, stream)
        } else {
            Self::queued(config, built, stream)
        })
    }

    fn with(config: &LinkConfig, discipline: Discipline<P>, stream: Stream) -> Self {
        let changes = (config.changes != Changes::default())
            .then(|| Box::new(Beginning { config: config.clone(), stream: stream.clone() }));
        Self {
            changes,
            propagation: Propagation::new(config, &stream, Time::ZERO),
            loss: RandomLoss::new(config.loss, config.changes.loss.as_ref(), stream, Time::ZERO),
            discipline,
            line: DelayLine::default(),
            meter: Meter::default(),
            sources: None,
        }
    }

    /// Lets all changes over time begin again at `now`, such as when a run begins after its link has started.
    pub fn begin_changes(&mut self, now: Time) {
        self.settle(now);
        let Some(Beginning { config, stream }) = self.changes.as_deref() else { return };
        self.propagation = Propagation::new(config, stream, now);
        self.loss = RandomLoss::new(config.loss, config.changes.loss.as_ref(), stream.clone(), now);
        if let Some(server) = ChangingServer::new(config.rate, &config.changes, stream, now) {
            match &mut self.discipline {
                Discipline::Fifo(_) => {}
                Discipline::ChangingFifo(fifo) => fifo.replace(server),
                Discipline::Queued(queued) => queued.replace(now, server),
            }
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

    /// Returns true if [`admit`](Link::admit) may be used: the queue is first-in, first-out, and packets have a constant
    /// delay behind it.
    #[must_use]
    pub fn knows_departures(&self) -> bool {
        !matches!(self.discipline, Discipline::Queued(_)) && self.propagation.is_constant()
    }

    /// Returns true if packets leave at a rate that changes.
    #[must_use]
    pub fn changes_rate(&self) -> bool {
        self.changes.as_ref().is_some_and(|beginning| beginning.config.changes.changes_rate())
    }

    /// Returns the one-way propagation delay.
    #[must_use]
    pub fn delay(&self) -> Span {
        self.propagation.delay
    }

    /// Returns the capacity. If it changes, this is its mean.
    #[must_use]
    pub fn rate(&self) -> Rate {
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.rate(),
            Discipline::ChangingFifo(fifo) => fifo.rate(),
            Discipline::Queued(queued) => queued.rate(),
        }
    }

    /// Admits a packet that the caller keeps, and returns its departure. The packet does not come out of
    /// [`poll`](Link::poll).
    ///
    /// # Panics
    /// If the link does not know departures on arrival, or its rate [changes](Link::changes_rate).
    #[inline(always)]
    pub fn admit(&mut self, now: Time, length: Bytes) -> Admission {
        let Discipline::Fifo(fifo) = &mut self.discipline else {
            panic!("only a drop-tail link of a constant rate admits at once");
        };
        self.meter.arrived();
        if self.loss.strikes(now) {
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

    /// Admits a packet as [`admit`](Link::admit) does, at a rate that may change.
    ///
    /// # Panics
    /// If the link does not know departures on arrival.
    #[inline(never)]
    pub fn admit_any(&mut self, now: Time, length: Bytes) -> Admission {
        let fifo = match &mut self.discipline {
            Discipline::Fifo(_) => return self.admit(now, length),
            Discipline::ChangingFifo(fifo) => fifo,
            Discipline::Queued(_) => panic!("only a drop-tail link knows a departure on arrival"),
        };
        self.meter.arrived();
        let fate = match self.loss.strikes(now) {
            true => Err(DropReason::RandomLoss),
            false => fifo.admit(now, length, &mut self.meter).ok_or(DropReason::QueueFull),
        };
        match fate {
            Ok(departs) => Admission::Departs(departs),
            Err(reason) => {
                self.meter.dropped(reason);
                Admission::Dropped(reason)
            }
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
            Discipline::ChangingFifo(fifo) => fifo.free_at(),
            Discipline::Queued(_) => now,
        };
        let mut admission = self.admit_any(now, length);
        if let Admission::Departs(at) = &mut admission {
            *at = self.propagation.arrival(*at);
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
        if let Discipline::Fifo(_) | Discipline::ChangingFifo(_) = self.discipline {
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
        if self.loss.strikes(now) {
            log(HeldPacket::new(now, packet), DropReason::RandomLoss);
            return;
        }
        let Discipline::Queued(queued) = &mut self.discipline else { return };
        let before = queued.backlog();
        queued.arrive(now, HeldPacket::new(now, packet), &mut log);
        meter.waiting(before, now);
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
            Discipline::Fifo(_) | Discipline::ChangingFifo(_) => None,
            Discipline::Queued(queued) => queued.due(),
        };
        // A packet that never leaves, because the capacity has ended, needs no wakeup.
        service.into_iter().chain(self.line.next()).min().filter(|at| *at < Time::NEVER)
    }

    /// Starts the measured interval.
    pub fn begin_measuring(&mut self, now: Time) {
        self.settle(now);
        match &mut self.discipline {
            Discipline::Fifo(_) => {}
            Discipline::ChangingFifo(fifo) => fifo.begin(now),
            Discipline::Queued(queued) => queued.begin(now, &mut self.meter),
        }
        self.meter.begin(now);
        if let Some(sources) = &mut self.sources {
            sources.begin(now);
        }
    }

    /// Returns the backlog, the arrivals, the drops, and the time for which the link was sending.
    pub fn state(&mut self, now: Time) -> LinkState {
        self.settle(now);
        match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.state(now, &self.meter),
            Discipline::ChangingFifo(fifo) => fifo.state(now, &self.meter),
            Discipline::Queued(queued) => queued.state(now, &self.meter),
        }
    }

    /// Returns the measurements from the start of measuring to `end`. Packets must have been [`poll`](Link::poll)ed up
    /// to `end`.
    pub fn report(&mut self, end: Time) -> LinkReport {
        self.settle(end);
        let report = match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.report(end, &self.meter),
            Discipline::ChangingFifo(fifo) => fifo.report(end, &self.meter),
            Discipline::Queued(queued) => queued.report(end, &self.meter),
        };
        LinkReport { sources: self.sources.as_mut().map(|sources| sources.report(end)), ..report }
    }

    /// Returns the current backlog, without letting time pass.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.backlog(),
            Discipline::ChangingFifo(fifo) => fifo.backlog(),
            Discipline::Queued(queued) => queued.backlog(),
        }
    }

    fn settle(&mut self, now: Time) {
        match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.settle(now, &mut self.meter),
            Discipline::ChangingFifo(fifo) => fifo.settle(now, &mut self.meter),
            Discipline::Queued(_) => {}
        }
    }

    /// Moves packets from the queue over the wire to the line until the wire is busy beyond `now`. They come out of
    /// [`poll`](Link::poll) later.
    pub fn advance(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) {
        let Discipline::Queued(queued) = &mut self.discipline else { return };
        let Self { meter, sources, .. } = self;
        while let Some(due) = queued.due().filter(|due| *due <= now) {
            let left = queued.departed(due);
            let departed = left.is_some();
            if let Some((held, service)) = left {
                queued.served(&service, held.scalable, meter);
                if held.marked {
                    meter.marked();
                }
                let arrives = self.propagation.arrival(service.departs);
                if let Some(sources) = sources.as_mut() {
                    let times = (service.arrived, service.starts.since(service.arrived), arrives);
                    sources.delivered(held.packet.source(), service.length, times, held.marked);
                }
                self.line.push(arrives, held.packet);
            }
            let mut log = |held: HeldPacket<P>, reason| {
                meter.dropped(reason);
                if let Some(sources) = sources.as_mut() {
                    sources.dropped(held.packet.source(), held.arrived);
                }
                drops(held.packet, reason);
            };
            let before = queued.backlog();
            queued.go_on(due, departed, &mut log);
            meter.waiting(before, due);
        }
    }
}
