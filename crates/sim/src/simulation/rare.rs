//! The slots of the agenda that are seldom due: the recorder, the ends of batches, flows that leave, the pulse.

use super::Run;
use crate::agenda::Agenda;
use crate::medium::Medium;
use crate::recorder::Recorder;
use units::{Span, Time};

/// The slots behind those of the sources.
pub(super) struct RareSlots {
    /// The recorder's samples. The slots before it belong to sources.
    pub(super) recording: usize,
    pub(super) batch_ends: usize,
    /// The slot of the pulse, if there is one, and of the flows that leave, if there are any. Either may be equal to
    /// `all`.
    pub(super) pulsing: usize,
    pub(super) leaving: usize,
    /// The number of all slots.
    pub(super) all: usize,
    /// The time between two samples.
    pub(super) interval: Option<Span>,
    /// The time between two pulses.
    pub(super) pulse: Option<Span>,
}

impl<R: Recorder> Run<R> {
    /// Handles one of the rare `slots`, which is due. Returns the number of flows that finish by that, or `None` if the
    /// recorder ends the run.
    // Not inlined: it would take registers from the loop.
    #[inline(never)]
    pub(super) fn act_rarely<M: Medium>(
        &mut self,
        now: Time,
        slot: usize,
        slots: &RareSlots,
        agenda: &mut Agenda,
        medium: &mut M,
    ) -> Option<usize> {
        let mut finished = 0;
        if slot == slots.recording {
            self.record(now, &medium.state(now));
            if let Some(packets) = medium.moving_limit(now) {
                self.recorder.moving_limit(now, packets);
            }
            agenda.set(slot, slots.interval.map_or(Time::NEVER, |interval| now + interval));
        } else if slot == slots.batch_ends {
            agenda.set(slot, self.end_batch(now, medium));
        } else if slot == slots.leaving {
            while let Some((_, index)) = self.leaving.pop_if(|(at, _)| *at <= now) {
                let flow = &mut self.endpoints.flows[index];
                let was_done = flow.is_done();
                flow.leave(now);
                finished += usize::from(flow.is_done() && !was_done);
            }
            agenda.set(slot, self.next_to_leave());
        } else {
            if self.recorder.reached(now).is_break() {
                self.end = Some(now);
                return None;
            }
            agenda.set(slot, slots.pulse.map_or(Time::NEVER, |pulse| now + pulse));
        }
        Some(finished)
    }

    /// Returns the time at which the next flow leaves.
    pub(super) fn next_to_leave(&self) -> Time {
        self.leaving.last().map_or(Time::NEVER, |(at, _)| *at)
    }
}
