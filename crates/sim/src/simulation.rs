//! The loop: take the earliest slot of the agenda, let it act, put it back.

use crate::agenda::Agenda;
use crate::flow::Flow;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::recorder::Recorder;
use link::traffic::Source;
use link::{Admission, Link};
use units::random::Stream;
use units::{Bytes, Span, Time};

/// A run that has not happened yet. An owned value: many run side by side in one process.
pub struct Simulation<R> {
    flows: Vec<Flow>,
    sources: Vec<Source>,
    link: Link<Bytes>,
    end: Option<Time>,
    warmup: Time,
    recorder: R,
}

impl<R: Recorder> Simulation<R> {
    /// Sets the run up.
    #[must_use]
    pub fn new(plan: Plan, recorder: R) -> Self {
        let seed = plan.seed;
        let loss = Stream::new(seed, "link loss");
        let source = |traffic: &crate::TrafficPlan| {
            Source::new(traffic.config, Stream::new(seed, &format!("traffic {}", traffic.name)))
        };
        Self {
            sources: plan.traffic.iter().map(source).collect(),
            flows: plan.flows.into_iter().map(|flow| Flow::new(flow, seed)).collect(),
            link: Link::drop_tail(plan.link.config, plan.link.limit, loss),
            end: plan.end,
            warmup: plan.warmup,
            recorder,
        }
    }

    /// Runs to the end. Slots of the agenda: the flows, the sources, the recorder, the end of the warm-up.
    pub fn run(mut self) -> Outcome<R> {
        let first_source = self.flows.len();
        let recording = first_source + self.sources.len();
        let warming_up = recording + 1;
        let mut agenda = Agenda::new(warming_up + 1);
        for (slot, flow) in self.flows.iter().enumerate() {
            agenda.set(slot, flow.wakeup());
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
            let (now, slot) = agenda.next();
            if now > end || now == Time::NEVER || (self.end.is_none() && unfinished == 0) {
                break;
            }
            (events, last) = (events + 1, now);
            if slot < first_source {
                let flow = &mut self.flows[slot];
                let was_done = flow.is_done();
                flow.step(now, &mut self.link);
                unfinished -= usize::from(flow.is_done() && !was_done);
                agenda.set(slot, flow.wakeup());
            } else if slot < recording {
                let source = &mut self.sources[slot - first_source];
                let _: Admission = self.link.admit(now, source.emit());
                agenda.set(slot, source.wakeup().unwrap_or(Time::NEVER));
            } else if slot == recording {
                self.record(now);
                agenda.set(slot, interval.map_or(Time::NEVER, |interval| now + interval));
            } else {
                self.link.begin_measuring(now);
                self.flows.iter_mut().for_each(|flow| flow.begin_measuring(now));
                agenda.set(slot, Time::NEVER);
            }
        }
        self.finish(events, last)
    }

    fn record(&mut self, now: Time) {
        let state = self.link.state(now);
        self.recorder.link(now, &state);
        for (index, flow) in self.flows.iter().enumerate() {
            self.recorder.flow(now, index, &flow.view());
        }
    }

    fn finish(mut self, events: u64, last: Time) -> Outcome<R> {
        let ended = self.end.unwrap_or(last);
        Outcome {
            ended,
            link: self.link.report(ended),
            flows: self.flows.into_iter().map(|flow| flow.report(ended)).collect(),
            events,
            recorder: self.recorder,
        }
    }
}
