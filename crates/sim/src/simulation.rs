//! The loop: take the earlier of the next arrival and the earliest slot of the agenda, let it act.

use crate::agenda::Agenda;
use crate::flow::Flow;
use crate::lines::Lines;
use crate::outcome::Outcome;
use crate::packet::{Packet, TightLink};
use crate::plan::{LinkPlan, Plan, SessionsPlan};
use crate::population::Population;
use crate::recorder::Recorder;
use link::traffic::Source;
use link::{Link, LinkConfig};
use units::random::Stream;
use units::{Span, Time};

/// A run that has not happened yet. An owned value: many run side by side in one process.
pub struct Simulation<R> {
    flows: Vec<Flow>,
    population: Population,
    sources: Vec<Source>,
    link: TightLink,
    end: Option<Time>,
    warmup: Time,
    recorder: R,
}

impl<R: Recorder> Simulation<R> {
    /// Sets the run up.
    ///
    /// # Panics
    /// If the registry of `link` does not have the plan's queue with its settings.
    #[must_use]
    pub fn new(plan: Plan, recorder: R) -> Self {
        let (config, loss) = link_of(&plan);
        let link = Link::make_with(config, &plan.link.queue, plan.link.limit, loss);
        Self::over(link.expect("the plan names a queue of the registry and its settings"), plan, recorder)
    }

    /// The same run with the link's departures as events even behind a drop-tail queue: slower, and there to show
    /// that it makes no difference.
    ///
    /// # Panics
    /// If the registry of `link` does not have the plan's queue with its settings.
    #[must_use]
    pub fn with_link_events(plan: Plan, recorder: R) -> Self {
        let (config, loss) = link_of(&plan);
        let LinkPlan { queue, limit, .. } = &plan.link;
        let context = queue.context(*limit, config.rate, Stream::new(plan.seed, "queue"));
        let queue = link::queue::build_with(&queue.policy, &queue.settings, context)
            .expect("the plan names a queue of the registry and its settings");
        Self::over(Link::queued(config, queue, loss), plan, recorder)
    }

    fn over(link: Link<Packet>, plan: Plan, recorder: R) -> Self {
        let seed = plan.seed;
        let source = |traffic: &crate::TrafficPlan| {
            Source::new(traffic.config.clone(), Stream::new(seed, &format!("traffic {}", traffic.name)))
        };
        let users = plan.sessions.iter().flat_map(SessionsPlan::base_rtts);
        let lines = Lines::new(plan.flows.iter().map(|flow| flow.base_rtt).chain(users));
        Self {
            population: Population::new(plan.sessions, plan.flows.len(), seed),
            sources: plan.traffic.iter().map(source).collect(),
            flows: (plan.flows.into_iter().zip(0..))
                .map(|(flow, index)| Flow::new(index, flow, seed))
                .collect(),
            link: TightLink::new(link, lines),
            end: plan.end,
            warmup: plan.warmup,
            recorder,
        }
    }

    /// Runs to the end. Slots of the agenda: the flows' and users' deadlines, the sources, the link, the recorder, the
    /// end of the warm-up. At equal times arrivals go first, then lower slots.
    pub fn run(mut self) -> Outcome<R> {
        let first_user = self.flows.len();
        let first_source = first_user + self.population.len();
        let link_slot = first_source + self.sources.len();
        let recording = link_slot + 1;
        let warming_up = recording + 1;
        let mut agenda = Agenda::new(warming_up + 1);
        // Deadlines are mostly put off before they come, so a slot is moved only when its flow's comes nearer.
        let mut armed: Vec<Time> = self.flows.iter().map(Flow::deadline).collect();
        for (slot, at) in armed.iter().enumerate() {
            agenda.set(slot, *at);
        }
        for slot in first_user..first_source {
            agenda.set(slot, self.population.deadline(slot));
        }
        for (index, source) in self.sources.iter().enumerate() {
            agenda.set(first_source + index, source.wakeup().unwrap_or(Time::NEVER));
        }
        let interval = self.recorder.interval().filter(|interval| *interval > Span::ZERO);
        agenda.set(recording, interval.map_or(Time::NEVER, |interval| Time::ZERO + interval));
        agenda.set(warming_up, self.warmup);

        let mut unfinished = self.flows.len();
        let end = self.end.unwrap_or(Time::NEVER);
        let (mut events, mut last) = (0u64, Time::ZERO);
        loop {
            let (at, slot) = agenda.next();
            let arrival = self.link.next_arrival();
            let now = arrival.min(at);
            if now > end || now == Time::NEVER || (self.end.is_none() && unfinished == 0) {
                break;
            }
            (events, last) = (events + 1, now);
            if arrival <= at {
                let Some(segment) = self.link.lines().pop() else { break };
                let index = segment.flow as usize;
                if let Some(flow) = self.flows.get_mut(index) {
                    let was_done = flow.is_done();
                    flow.on_arrival(now, &segment, &mut self.link);
                    unfinished -= usize::from(flow.is_done() && !was_done);
                    let deadline = flow.deadline();
                    if deadline < armed[index] {
                        armed[index] = deadline;
                        agenda.set(index, deadline);
                    }
                } else {
                    agenda.set(index, self.population.on_arrival(index, now, &segment, &mut self.link));
                }
            } else if slot < first_user {
                let flow = &mut self.flows[slot];
                let was_done = flow.is_done();
                flow.on_deadline(now, &mut self.link);
                unfinished -= usize::from(flow.is_done() && !was_done);
                armed[slot] = flow.deadline();
                agenda.set(slot, armed[slot]);
            } else if slot < first_source {
                agenda.set(slot, self.population.on_deadline(slot, now, &mut self.link));
            } else if slot < link_slot {
                let source = &mut self.sources[slot - first_source];
                self.link.offer(now, Packet::cross(source.emit()));
                agenda.set(slot, source.wakeup().unwrap_or(Time::NEVER));
            } else if slot == link_slot {
                self.link.deliver(now);
            } else if slot == recording {
                self.record(now);
                agenda.set(slot, interval.map_or(Time::NEVER, |interval| now + interval));
            } else {
                self.link.link().begin_measuring(now);
                self.flows.iter_mut().for_each(|flow| flow.begin_measuring(now));
                self.population.begin_measuring(now);
                agenda.set(slot, Time::NEVER);
            }
            if self.link.delivers() {
                self.settle_drops();
                agenda.set(link_slot, self.link.wakeup());
            }
        }
        self.finish(events, last)
    }

    /// Tells flows of their packets that the queue dropped, whoever's arrival it was that made it.
    fn settle_drops(&mut self) {
        while let Some(owner) = self.link.take_dropped() {
            match self.flows.get_mut(owner as usize) {
                Some(flow) => flow.on_drop(),
                None => self.population.on_drop(owner as usize),
            }
        }
    }

    fn record(&mut self, now: Time) {
        let state = self.link.link().state(now);
        self.recorder.link(now, &state);
        for (index, flow) in self.flows.iter().enumerate() {
            self.recorder.flow(now, index, &flow.view());
        }
    }

    fn finish(mut self, events: u64, last: Time) -> Outcome<R> {
        let ended = self.end.unwrap_or(last);
        Outcome {
            ended,
            link: self.link.link().report(ended),
            flows: self.flows.into_iter().map(|flow| flow.report(ended)).collect(),
            sessions: self.population.report(ended),
            events,
            recorder: self.recorder,
        }
    }
}

/// The link's own part of a plan. All propagation is the flows': see the crate's map.
fn link_of(plan: &Plan) -> (LinkConfig, Stream) {
    (LinkConfig { delay: Span::ZERO, ..plan.link.config }, Stream::new(plan.seed, "link loss"))
}
