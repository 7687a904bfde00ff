//! The loop: it takes the earlier of the next arrival and the earliest slot of the agenda, and lets it act.

#[cfg(test)]
#[path = "../tests/within/foreign_parts.rs"]
mod foreign_parts;
mod links;
mod rare;
mod showing;
mod timer;
mod turn_into;

use links::{loss, lumped};
use rare::RareSlots;
pub(crate) use timer::Timer;
use turn_into::turn_into;

use crate::agenda::Agenda;
use crate::endpoints::Endpoints;
use crate::flow::Flow;
use crate::medium::{AssistedLink, Lines, Medium, Network, TightLink, Watched, WirelessCell, ways_back};
use crate::outcome::{BATCHES, Outcome, TooLarge};
use crate::packet::Packet;
use crate::plan::{LinkPlan, Plan, Topology, TrafficPlan};
use crate::population::Population;
use crate::recorder::{Recorder, WEIGHED_EVERY};
use link::traffic::Source;
use link::{Link, LinkState};
use units::random::Stream;
use units::{Span, Time};

/// The number of flows from which their state is loaded before their packets arrive. Fewer flows stay in the processor's
/// cache.
const MANY: usize = 4096;

/// A run that has not happened yet. It is an owned value, so that many can run at the same time in one process.
pub struct Simulation<R> {
    course: Run<R>,
    carrier: AnyMedium,
}

/// The medium of a run.
enum AnyMedium {
    Tight(Box<TightLink>),
    Assisted(Box<AssistedLink>),
    Network(Box<Network>),
    Cell(Box<WirelessCell>),
}

/// All parts of a run except its medium.
struct Run<R> {
    endpoints: Endpoints,
    sources: Vec<Source>,
    tight: usize,
    end: Option<Time>,
    warmup: Time,
    batches: Vec<(Time, LinkState)>,
    /// Flows that leave and the times at which they do, the latest first.
    leaving: Vec<(Time, usize)>,
    /// The way back of each connection, if the recorder watches packets: see [`ways_back`].
    watched: Option<Vec<Option<Span>>>,
    recorder: R,
}

impl<R: Recorder> Simulation<R> {
    /// Sets the run up.
    ///
    /// # Panics
    /// If a registry lacks a queue with its settings, an assist, a controller, a slow start or a sizer that the plan
    /// names. If a link of a network has an assist. If a route is empty or names a link that the plan does not have. If
    /// a plan with one link has other routes, or acknowledgements that cross queues. If a cell is not accepted by
    /// [`air::config::CellConfig::check`], has traffic, or has a flow without a place or at one without a queue.
    #[must_use]
    pub fn new(plan: Plan, recorder: R) -> Self {
        match &plan.topology {
            Topology::OneLink(only) => {
                let (config, loss) = lumped(&plan, only);
                let link = Link::make_with(&config, &only.queue, only.limit, loss)
                    .expect("the plan names a queue of the registry and its settings");
                Self::over(link, plan, recorder)
            }
            Topology::Network { links, tight } => {
                assert!(*tight < links.len(), "the tight link is one of the links");
                assert!(
                    links.iter().all(|link| link.queue.assist.is_none()),
                    "routers assist on single links only"
                );
                let make = |link: &LinkPlan| {
                    let link = Link::make_with(&link.config, &link.queue, link.limit, loss(&plan, link));
                    link.expect("the plan names queues of the registry and their settings")
                };
                let network = Network::new(links.iter().map(make).collect(), &plan);
                Self { course: Run::new(plan, recorder), carrier: AnyMedium::Network(Box::new(network)) }
            }
            Topology::Cell(cell) => {
                let make = |link: &LinkPlan| {
                    let link = Link::make_with(&link.config, &link.queue, link.limit, loss(&plan, link));
                    link.expect("the plan names queues of the registry and their settings")
                };
                let medium = WirelessCell::new(cell, cell.backhaul.each_ref().map(make), &plan);
                Self { course: Run::new(plan, recorder), carrier: AnyMedium::Cell(Box::new(medium)) }
            }
        }
    }

    /// Sets a run up as [`Simulation::new`] does, but with the link's departures as events, even behind a drop-tail
    /// queue. This is slower, and exists to show that it makes no difference.
    ///
    /// # Panics
    /// As [`Simulation::new`], and if the plan is not [one link](Topology::OneLink).
    #[must_use]
    pub fn with_link_events(plan: Plan, recorder: R) -> Self {
        let Topology::OneLink(only) = &plan.topology else {
            panic!("one link, and no acknowledgement that waits")
        };
        let (config, loss) = lumped(&plan, only);
        let context = only.queue.context(only.limit, config.rate, Stream::new(plan.seed, "queue"));
        let queue = link::queue::build_with(&only.queue.policy, &only.queue.settings, context)
            .expect("the plan names a queue of the registry and its settings");
        Self::over(Link::queued(&config, queue, loss), plan, recorder)
    }

    fn over(mut link: Link<Packet>, plan: Plan, recorder: R) -> Self {
        assert!(plan.crosses_one_link(), "one link, and no acknowledgement that waits");
        if !plan.traffic.is_empty() {
            link.meter_sources(plan.traffic.len(), plan.topology.links()[0].config.delay);
        }
        let lines = Lines::new(plan.connections().map(|flow| flow.base_rtt));
        let tight = TightLink::new(link, lines, &plan);
        let LinkPlan { queue, config, .. } = &plan.topology.links()[0];
        let router = queue.assist.as_deref().map(|name| {
            link::assist::build(name, config.rate).expect("the plan names an assist of the registry")
        });
        let course = Run::new(plan, recorder);
        let carrier = match router {
            None => AnyMedium::Tight(Box::new(tight)),
            Some(router) => {
                let flows = course.endpoints.flows.len() + course.endpoints.population.len();
                AnyMedium::Assisted(Box::new(AssistedLink::new(tight, router, flows)))
            }
        };
        Self { course, carrier }
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// If the recorder ends the run because of its memory: see [`Self::try_run`].
    pub fn run(self) -> Outcome<R> {
        self.try_run().unwrap_or_else(|TooLarge { at, .. }| panic!("it takes too much memory at {at:?}"))
    }

    /// Runs to the end, or until the [recorder](Recorder::is_too_large) says that it takes too much memory.
    ///
    /// # Errors
    /// Returns [`TooLarge`] once all memory of the run is free again.
    pub fn try_run(mut self) -> Result<Outcome<R>, TooLarge<R>> {
        match (self.carrier, self.course.watched.take()) {
            (AnyMedium::Tight(link), None) => self.course.run(*link),
            (AnyMedium::Assisted(link), None) => self.course.run(*link),
            (AnyMedium::Network(network), None) => self.course.run(*network),
            (AnyMedium::Cell(cell), None) => self.course.run(*cell),
            (AnyMedium::Tight(link), Some(back)) => self.course.run(Watched::new(*link, back)),
            (AnyMedium::Assisted(link), Some(back)) => self.course.run(Watched::new(*link, back)),
            (AnyMedium::Network(network), Some(back)) => self.course.run(Watched::new(*network, back)),
            (AnyMedium::Cell(cell), Some(back)) => self.course.run(Watched::new(*cell, back)),
        }
    }
}

/// The events of a flow that acted while nobody else did.
struct Acted {
    /// The flow's next deadline.
    next: Time,
    /// The time of the last event.
    last: Time,
    events: u64,
    /// True if its transfer has ended.
    finished: bool,
}

impl<R: Recorder> Run<R> {
    fn new(plan: Plan, recorder: R) -> Self {
        let seed = plan.seed;
        let source = |traffic: &TrafficPlan| Source::named(traffic.config.clone(), seed, &traffic.name);
        let mut leaving: Vec<(Time, usize)> = plan.leaving().collect();
        leaving.sort_unstable_by(|a, b| b.cmp(a));
        let tight = plan.topology.tight();
        let watches = recorder.watches();
        let watched = watches.any().then(|| ways_back(&plan));
        let population = Population::new(plan.sessions, plan.flows.len(), seed);
        let flows = turn_into(plan.flows, |index, flow| Flow::new(index as u32, flow, seed));
        let mut endpoints = Endpoints { flows, population };
        if watches.packets {
            endpoints.keep_blocks();
        }
        Self {
            endpoints,
            sources: plan.traffic.iter().map(source).collect(),
            tight,
            end: plan.end,
            warmup: plan.warmup,
            batches: Vec::new(),
            leaving,
            watched,
            recorder,
        }
    }

    /// Runs to the end. Slots of the agenda are the links, the flows' and users' deadlines, the sources and the
    /// recorder. Further slots are the ends of the warm-up and of the batches, the recorder's pulse if it has one, and
    /// flows that leave. At equal times links go first, because packets that leave them may arrive at once; then
    /// arrivals, then lower slots.
    // Not inlined: within `Simulation::try_run` the copies for all media would be one function, too large for the
    // compiler to inline the calls of each event.
    #[inline(never)]
    fn run<M: Medium>(mut self, mut medium: M) -> Result<Outcome<R>, TooLarge<R>> {
        let first_owner = medium.slots();
        let owners = self.endpoints.flows.len() + self.endpoints.population.len();
        let first_source = first_owner + owners;
        let recording = first_source + self.sources.len();
        let pulse = self.recorder.pulse().filter(|pulse| *pulse > Span::ZERO);
        let interval = self.recorder.interval().filter(|interval| *interval > Span::ZERO);
        let (batch_ends, pulsing) = (recording + 1, recording + 2);
        let leaving = pulsing + usize::from(pulse.is_some());
        let all = leaving + usize::from(!self.leaving.is_empty());
        let rare = RareSlots { recording, batch_ends, pulsing, leaving, all, interval, pulse };
        let mut agenda = Agenda::new(all);
        if !self.leaving.is_empty() {
            agenda.set(leaving, self.next_to_leave());
        }
        let mut timers: Vec<Timer> = (0..owners).map(|index| self.endpoints.deadline(index).into()).collect();
        let many = self.endpoints.flows.len() >= MANY;
        for (index, timer) in timers.iter().enumerate() {
            agenda.set(first_owner + index, timer.armed);
        }
        for (index, source) in self.sources.iter().enumerate() {
            agenda.set(first_source + index, source.wakeup().unwrap_or(Time::NEVER));
        }
        agenda.set(recording, interval.map_or(Time::NEVER, |interval| Time::ZERO + interval));
        if let Some(pulse) = pulse {
            agenda.set(pulsing, Time::ZERO + pulse);
        }
        // Without a warm-up measuring begins here, before anyone acts, because the slot of batch ends comes after those
        // of flows that start at once.
        let begun = self.warmup == Time::ZERO;
        agenda.set(batch_ends, if begun { self.end_batch(Time::ZERO, &mut medium) } else { self.warmup });

        // A run with an end goes on after its last flow: its count never reaches zero, so that the loop need not ask
        // for the end.
        let mut unfinished = if self.end.is_some() { usize::MAX } else { self.endpoints.flows.len() };
        let end = self.end.unwrap_or(Time::NEVER);
        // At `NEVER` nobody acts any more.
        let last_time = end.min(Time::NEVER - Span::from_nanos(1));
        // Until then nobody looks at flows.
        let quiet_until =
            |agenda: &Agenda| (recording..rare.all).map(|slot| agenda.at(slot)).fold(end, Time::min);
        let mut quiet = quiet_until(&agenda);
        let (mut events, mut last) = (0u64, Time::ZERO);
        let mut weighed = WEIGHED_EVERY;
        let mut arrived = Vec::new();
        loop {
            let (at, slot) = agenda.next();
            let arrival = medium.next_arrival();
            let now = arrival.min(at);
            if now > last_time || unfinished == 0 {
                break;
            }
            (events, last) = (events + 1, now);
            if events >= weighed {
                weighed = events + WEIGHED_EVERY;
                if self.recorder.is_too_large() {
                    return Err(TooLarge { at: now, recorder: self.recorder });
                }
            }
            if arrival < at || arrival == at && slot >= first_owner {
                let Some(segment) = medium.pop_arrival() else { break };
                let index = segment.flow as usize;
                if many {
                    self.endpoints.load_arriving(&timers, |places| medium.arrives_later(places));
                }
                let deadline = if let Some(flow) = self.endpoints.flows.get_mut(index) {
                    let was_done = flow.is_done();
                    flow.on_arrival(now, &segment, quiet, &mut medium);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                    flow.deadline()
                } else {
                    self.endpoints.population.on_arrival(index, now, &segment, &mut medium)
                };
                if timers[index].move_to(deadline) {
                    agenda.set(first_owner + index, deadline);
                }
            } else if slot < first_owner {
                medium.act(now, slot, &mut arrived);
                if M::CARRIES_ACKNOWLEDGEMENTS {
                    self.hand_over(now, &mut arrived, &mut medium, |index, deadline| {
                        if timers[index].move_to(deadline) {
                            agenda.set(first_owner + index, deadline);
                        }
                    });
                }
            } else if slot < first_source {
                let index = slot - first_owner;
                if many {
                    let later = |places| agenda.later(places)?.checked_sub(first_owner);
                    self.endpoints.load_due(&timers, later);
                }
                if timers[index].due > now {
                    // A deadline that was put off costs no look at its owner.
                    timers[index].armed = timers[index].due;
                    agenda.set(slot, timers[index].armed);
                    continue;
                }
                let owner = self.endpoints.flows.get_mut(index);
                let deadline = if owner.as_ref().is_some_and(|flow| flow.sends_in_bursts()) {
                    let done = self.act(now, index, &mut agenda, &mut medium);
                    (last, events) = (done.last, events + done.events - 1);
                    unfinished -= usize::from(done.finished);
                    done.next
                } else if let Some(flow) = owner {
                    let was_done = flow.is_done();
                    flow.on_deadline(now, Time::ZERO, &mut medium);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                    flow.deadline()
                } else {
                    self.endpoints.population.on_deadline(index, now, &mut medium)
                };
                timers[index] = deadline.into();
                agenda.set(slot, deadline);
            } else if slot < recording {
                let index = slot - first_source;
                let source = &mut self.sources[index];
                medium.offer(now, Packet::cross(index, source.emit(), now));
                agenda.set(slot, source.wakeup().unwrap_or(Time::NEVER));
            } else {
                // A pulse is not counted, so that a watched run has as many events as one that is not watched.
                events -= u64::from(slot == rare.pulsing && rare.pulse.is_some());
                let Some(finished) = self.act_rarely(now, slot, &rare, &mut agenda, &mut medium) else {
                    break;
                };
                unfinished -= finished;
                quiet = quiet_until(&agenda);
            }
            let endpoints = &mut self.endpoints;
            medium.settle(
                now,
                |owner, kind| endpoints.on_drop(owner as usize, kind),
                |slot, at| agenda.set(slot, at),
            );
            if M::WATCHED {
                self.show(now, &mut medium);
            }
        }
        Ok(self.finish(medium, events, last))
    }

    /// Lets the flow of `index` act at `now`. It goes on if nobody else acts before its next deadline, as within a burst on
    /// its own line.
    #[inline(never)]
    fn act<M: Medium>(&mut self, now: Time, index: usize, agenda: &mut Agenda, medium: &mut M) -> Acted {
        let after_end = self.end.map_or(Time::NEVER, |end| end + Span::from_nanos(1));
        let mut others = agenda.second().min(after_end);
        let mut acted = Acted { next: now, last: now, events: 0, finished: false };
        let was_done = self.endpoints.flows[index].is_done();
        while !acted.finished {
            let flow = &mut self.endpoints.flows[index];
            let (last, more) = flow.on_deadline(acted.next, others, medium);
            let finished = flow.is_done() && !was_done;
            acted = Acted { next: flow.deadline(), last, events: acted.events + 1 + more, finished };
            let endpoints = &mut self.endpoints;
            medium.settle(
                last,
                |owner, kind| endpoints.on_drop(owner as usize, kind),
                |slot, at| {
                    others = others.min(at);
                    agenda.set(slot, at);
                },
            );
            if acted.next >= others.min(medium.next_arrival()) {
                break;
            }
        }
        acted
    }

    /// Ends the warm-up or a batch; returns the time at which the next batch ends.
    fn end_batch(&mut self, now: Time, medium: &mut impl Medium) -> Time {
        if self.batches.is_empty() {
            medium.begin_measuring(now);
            self.endpoints.begin_measuring(now);
        }
        self.batches.push((now, medium.state(now)));
        let ended = self.batches.len() as u64;
        match self.end {
            Some(end) if ended < BATCHES => self.warmup + end.since(self.warmup) / BATCHES * ended,
            _ => Time::NEVER,
        }
    }

    fn finish<M: Medium>(mut self, mut medium: M, events: u64, last: Time) -> Outcome<R> {
        let ended = self.end.unwrap_or(last);
        if self.batches.len() as u64 == BATCHES {
            self.batches.push((ended, medium.state(ended)));
        }
        let links = medium.reports(ended);
        Outcome {
            ended,
            link: links[self.tight].clone(),
            links,
            traffic: medium.traffic(ended),
            cell: medium.cell_report(ended),
            losses: medium.losses().counts(),
            batches: self.batches,
            flows: turn_into(self.endpoints.flows, |_, flow| flow.report(ended)),
            sessions: self.endpoints.population.report(ended),
            events,
            recorder: self.recorder,
        }
    }
}
