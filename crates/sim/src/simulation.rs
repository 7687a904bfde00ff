//! The loop: take the earlier of the next arrival and the earliest slot of the agenda, let it act.

use crate::agenda::Agenda;
use crate::endpoints::Endpoints;
use crate::flow::Flow;
use crate::medium::{AssistedLink, Lines, Medium, Network, TightLink};
use crate::outcome::{BATCHES, Outcome};
use crate::packet::Packet;
use crate::plan::{LinkPlan, Plan, SessionsPlan, TrafficPlan};
use crate::population::Population;
use crate::recorder::Recorder;
use link::traffic::Source;
use link::{Link, LinkConfig, LinkState};
use units::random::Stream;
use units::{Span, Time};

/// A run that has not happened yet. An owned value: many run side by side in one process.
pub struct Simulation<R> {
    course: Course<R>,
    carrier: Carrier,
}

/// What carries the packets.
enum Carrier {
    Tight(Box<TightLink>),
    Assisted(Box<AssistedLink>),
    Network(Box<Network>),
}

/// All but what carries the packets.
struct Course<R> {
    endpoints: Endpoints,
    sources: Vec<Source>,
    tight: usize,
    end: Option<Time>,
    warmup: Time,
    batches: Vec<(Time, LinkState)>,
    /// Flows that leave and when, the latest first.
    leaving: Vec<(Time, usize)>,
    recorder: R,
}

impl<R: Recorder> Simulation<R> {
    /// Sets the run up: the fast way if all packets cross one link and no acknowledgement waits, hop by hop otherwise.
    ///
    /// # Panics
    /// If the registries of `link` do not have a queue of the plan with its settings or its assist, a link of several has an
    /// assist, a route is empty, or a route or [`Plan::tight`] names a link that the plan does not have.
    #[must_use]
    pub fn new(plan: Plan, recorder: R) -> Self {
        if !plan.is_single() {
            return Self::hop_by_hop(plan, recorder);
        }
        let (config, loss) = lumped(&plan);
        let link = Link::make_with(config, &plan.links[0].queue, plan.links[0].limit, loss);
        Self::over(link.expect("the plan names a queue of the registry and its settings"), plan, recorder)
    }

    /// The same run with the link's departures as events even behind a drop-tail queue: slower, and there to show
    /// that it makes no difference.
    ///
    /// # Panics
    /// As [`Simulation::new`], and if the plan [is not single](Plan::is_single).
    #[must_use]
    pub fn with_link_events(plan: Plan, recorder: R) -> Self {
        assert!(plan.is_single(), "one link, and no acknowledgement that waits");
        let (config, loss) = lumped(&plan);
        let LinkPlan { queue, limit, .. } = &plan.links[0];
        let context = queue.context(*limit, config.rate, Stream::new(plan.seed, "queue"));
        let queue = link::queue::build_with(&queue.policy, &queue.settings, context)
            .expect("the plan names a queue of the registry and its settings");
        Self::over(Link::queued(config, queue, loss), plan, recorder)
    }

    /// The same run as a network of links, each with its own propagation, even if there is only one.
    ///
    /// # Panics
    /// As [`Simulation::new`].
    #[must_use]
    pub fn hop_by_hop(plan: Plan, recorder: R) -> Self {
        assert!(plan.tight < plan.links.len(), "the tight link is one of the links");
        assert!(
            plan.links.iter().all(|link| link.queue.assist.is_none()),
            "routers assist on single links only"
        );
        let make = |link: &LinkPlan| {
            let link = Link::make_with(link.config, &link.queue, link.limit, loss(&plan, link));
            link.expect("the plan names queues of the registry and their settings")
        };
        let network = Network::new(plan.links.iter().map(make).collect(), &plan);
        Self { course: Course::new(plan, recorder), carrier: Carrier::Network(Box::new(network)) }
    }

    fn over(link: Link<Packet>, plan: Plan, recorder: R) -> Self {
        let users = plan.sessions.iter().flat_map(SessionsPlan::base_rtts);
        let lines = Lines::new(plan.flows.iter().map(|flow| flow.base_rtt).chain(users));
        let tight = TightLink::new(link, lines, plan.loss_episodes());
        let LinkPlan { queue, config, .. } = &plan.links[0];
        let router = queue.assist.as_deref().map(|name| {
            link::assist::build(name, config.rate).expect("the plan names an assist of the registry")
        });
        let course = Course::new(plan, recorder);
        let carrier = match router {
            None => Carrier::Tight(Box::new(tight)),
            Some(router) => {
                let flows = course.endpoints.flows.len() + course.endpoints.population.len();
                Carrier::Assisted(Box::new(AssistedLink::new(tight, router, flows)))
            }
        };
        Self { course, carrier }
    }

    /// The same run with flows that leave: of each its number in the plan and when. From then on it sends nothing new;
    /// what it has sent is still delivered, and mended where it was lost.
    ///
    /// # Panics
    /// If the plan has no such flow.
    #[must_use]
    pub fn leaving(mut self, flows: impl IntoIterator<Item = (usize, Time)>) -> Self {
        let leaving = &mut self.course.leaving;
        leaving.extend(flows.into_iter().map(|(flow, at)| (at, flow)));
        assert!(
            leaving.iter().all(|(_, flow)| *flow < self.course.endpoints.flows.len()),
            "a flow of the plan"
        );
        leaving.sort_unstable_by(|a, b| b.cmp(a));
        self
    }

    /// Runs to the end.
    pub fn run(self) -> Outcome<R> {
        match self.carrier {
            Carrier::Tight(link) => self.course.run(*link),
            Carrier::Assisted(link) => self.course.run(*link),
            Carrier::Network(network) => self.course.run(*network),
        }
    }
}

impl<R: Recorder> Course<R> {
    fn new(plan: Plan, recorder: R) -> Self {
        let seed = plan.seed;
        let source = |traffic: &TrafficPlan| {
            Source::new(traffic.config.clone(), Stream::new(seed, &format!("traffic {}", traffic.name)))
        };
        let population = Population::new(plan.sessions, plan.flows.len(), seed);
        let flows = plan.flows.into_iter().zip(0..).map(|(flow, index)| Flow::new(index, flow, seed));
        Self {
            endpoints: Endpoints { flows: flows.collect(), population },
            sources: plan.traffic.iter().map(source).collect(),
            tight: plan.tight,
            end: plan.end,
            warmup: plan.warmup,
            batches: Vec::new(),
            leaving: Vec::new(),
            recorder,
        }
    }

    /// Runs to the end. Slots of the agenda: the flows' and users' deadlines, the sources, the links, the recorder, the
    /// ends of the warm-up and of the batches, the recorder's pulse if it has one, and flows that leave. At equal times arrivals go first, then lower slots.
    // On its own: within `Simulation::run` the three of them are one function, too large for what is called at each event to be inlined.
    #[inline(never)]
    fn run<M: Medium>(mut self, mut medium: M) -> Outcome<R> {
        for (at, flow) in &self.leaving {
            medium.losses().leave(*flow, *at);
        }
        let first_source = self.endpoints.flows.len() + self.endpoints.population.len();
        let first_link = first_source + self.sources.len();
        let recording = first_link + medium.slots();
        let measuring = recording + 1;
        let pulse = self.recorder.pulse().filter(|pulse| *pulse > Span::ZERO);
        let pulsing = measuring + 1;
        let leaving = pulsing + usize::from(pulse.is_some());
        let mut agenda = Agenda::new(leaving + usize::from(!self.leaving.is_empty()));
        let next_to_leave = |course: &Self| course.leaving.last().map_or(Time::NEVER, |(at, _)| *at);
        if !self.leaving.is_empty() {
            agenda.set(leaving, next_to_leave(&self));
        }
        // Deadlines are mostly put off before they come, so a slot is moved only when its flow's comes nearer.
        let mut armed: Vec<Time> = (0..first_source).map(|index| self.endpoints.deadline(index)).collect();
        for (slot, at) in armed.iter().enumerate() {
            agenda.set(slot, *at);
        }
        for (index, source) in self.sources.iter().enumerate() {
            agenda.set(first_source + index, source.wakeup().unwrap_or(Time::NEVER));
        }
        let interval = self.recorder.interval().filter(|interval| *interval > Span::ZERO);
        agenda.set(recording, interval.map_or(Time::NEVER, |interval| Time::ZERO + interval));
        if let Some(pulse) = pulse {
            agenda.set(pulsing, Time::ZERO + pulse);
        }
        // Without a warm-up measuring begins before anyone acts: its slot is behind those of flows that start at once.
        let begun = self.warmup == Time::ZERO;
        agenda.set(measuring, if begun { self.measure(Time::ZERO, &mut medium) } else { self.warmup });

        let mut unfinished = self.endpoints.flows.len();
        let end = self.end.unwrap_or(Time::NEVER);
        let (mut events, mut last) = (0u64, Time::ZERO);
        let mut moved = Vec::new();
        loop {
            let (at, slot) = agenda.next();
            let arrival = medium.next_arrival();
            let now = arrival.min(at);
            if now > end || now == Time::NEVER || (self.end.is_none() && unfinished == 0) {
                break;
            }
            (events, last) = (events + 1, now);
            if arrival <= at {
                let Some(segment) = medium.pop_arrival() else { break };
                let index = segment.flow as usize;
                let deadline = if let Some(flow) = self.endpoints.flows.get_mut(index) {
                    let was_done = flow.is_done();
                    flow.on_arrival(now, &segment, &mut medium);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                    flow.deadline()
                } else {
                    self.endpoints.population.on_arrival(index, now, &segment, &mut medium)
                };
                if deadline < armed[index] {
                    armed[index] = deadline;
                    agenda.set(index, deadline);
                }
            } else if slot < first_source {
                armed[slot] = if let Some(flow) = self.endpoints.flows.get_mut(slot) {
                    let was_done = flow.is_done();
                    flow.on_deadline(now, &mut medium);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                    flow.deadline()
                } else {
                    self.endpoints.population.on_deadline(slot, now, &mut medium)
                };
                agenda.set(slot, armed[slot]);
            } else if slot < first_link {
                let index = slot - first_source;
                let source = &mut self.sources[index];
                medium.offer(now, Packet::cross(index, source.emit()));
                agenda.set(slot, source.wakeup().unwrap_or(Time::NEVER));
            } else if slot < recording {
                medium.act(now, slot - first_link, &mut self.endpoints, &mut moved);
                for index in moved.drain(..) {
                    let deadline = self.endpoints.deadline(index);
                    if deadline < armed[index] {
                        armed[index] = deadline;
                        agenda.set(index, deadline);
                    }
                }
            } else if slot == recording {
                self.record(now, &medium.state(now));
                agenda.set(slot, interval.map_or(Time::NEVER, |interval| now + interval));
            } else if slot == measuring {
                agenda.set(slot, self.measure(now, &mut medium));
            } else if slot == leaving {
                while let Some((_, index)) = self.leaving.pop_if(|(at, _)| *at <= now) {
                    let flow = &mut self.endpoints.flows[index];
                    let was_done = flow.is_done();
                    flow.leave(now);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                }
                agenda.set(slot, next_to_leave(&self));
            } else {
                // Not the run's own: a run that is watched is the same run.
                events -= 1;
                self.recorder.reached(now);
                agenda.set(slot, pulse.map_or(Time::NEVER, |pulse| now + pulse));
            }
            medium.settle(now, &mut self.endpoints, |slot, at| agenda.set(first_link + slot, at));
        }
        self.finish(medium, events, last)
    }

    /// The warm-up or a batch ends; returns when the next does.
    fn measure(&mut self, now: Time, medium: &mut impl Medium) -> Time {
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

    fn record(&mut self, now: Time, link: &LinkState) {
        self.recorder.link(now, link);
        let mut index = self.recorder.next_flow(now, 0);
        while let Some(flow) = self.endpoints.flows.get(index) {
            self.recorder.flow(now, index, &flow.view());
            if self.recorder.wants_measures() {
                flow.measures(&mut |name, value| self.recorder.measure(now, index, name, value));
            }
            index = self.recorder.next_flow(now, index + 1);
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
            losses: medium.losses().counts(),
            batches: self.batches,
            flows: self.endpoints.flows.into_iter().map(|flow| flow.report(ended)).collect(),
            sessions: self.endpoints.population.report(ended),
            events,
            recorder: self.recorder,
        }
    }
}

/// The one link's own part of a plan. All propagation is the flows': see the crate's map.
fn lumped(plan: &Plan) -> (LinkConfig, Stream) {
    (LinkConfig { delay: Span::ZERO, ..plan.links[0].config }, loss(plan, &plan.links[0]))
}

/// What a link's random loss is drawn from.
fn loss(plan: &Plan, link: &LinkPlan) -> Stream {
    let only = plan.links.len() == 1;
    Stream::new(plan.seed, &if only { "link loss".to_owned() } else { format!("link loss {}", link.name) })
}
