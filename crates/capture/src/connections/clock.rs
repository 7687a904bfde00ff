//! Packets in order of time, for each interface.
//!
//! Processors stamp packets with clocks that differ by microseconds, so packets wait a little for those before them. A
//! clock that is set back, and a capture that was appended to another, would put everything behind the last packet; time
//! goes on from there instead. A single time far ahead of the packets around it is damage, and is not taken.

use super::segment::Segment;
use std::collections::VecDeque;

/// The time for which a packet waits, and by which it may be late.
const WINDOW: u64 = 10_000_000;
/// The most packets that wait.
const MOST_WAITING: usize = 2048;
/// The most interfaces with an order of their own; more of them share.
const MOST_INTERFACES: usize = 64;
/// The step from which a clock was set: packets that overtake each other make smaller ones.
const STEP: u64 = 1_000_000_000;

/// The packets of one interface that wait.
#[derive(Debug, Default)]
struct Queue {
    interface: u32,
    waiting: VecDeque<Segment>,
    /// A packet whose time is far ahead, until the next one confirms it.
    ahead: Option<Segment>,
    latest: u64,
    /// The time of the last packet that was handed on.
    released: u64,
    /// The time that is added since the clock was set back.
    added: u64,
}

/// The packets that wait to be sorted.
#[derive(Debug, Default)]
pub(super) struct Clock {
    queues: Vec<Queue>,
    /// The number of steps back, and the largest in nanoseconds.
    pub steps: u64,
    pub largest_step: u64,
    /// The packets whose time is far ahead of those around it.
    pub wrong: u64,
}

impl Clock {
    /// Takes a packet, and hands those on before which none can come any more.
    pub(super) fn push(&mut self, segment: Segment, mut hand: impl FnMut(&Segment)) {
        let place = self.queues.iter().position(|queue| queue.interface == segment.interface);
        let place = place.unwrap_or_else(|| {
            if self.queues.len() == MOST_INTERFACES {
                return segment.interface as usize % MOST_INTERFACES;
            }
            self.queues.push(Queue { interface: segment.interface, ..Queue::default() });
            self.queues.len() - 1
        });
        let queue = &mut self.queues[place];
        if let Some(mut before) = queue.ahead.take() {
            if before.at.saturating_sub(segment.at) >= STEP {
                self.wrong += 1;
                before.at = queue.latest.saturating_sub(queue.added);
            }
            self.sort(place, before, &mut hand);
        }
        let queue = &mut self.queues[place];
        let at = segment.at.saturating_add(queue.added);
        if queue.latest > 0 && at.saturating_sub(queue.latest) >= STEP {
            queue.ahead = Some(segment);
        } else {
            self.sort(place, segment, hand);
        }
    }

    /// Puts a packet in its place among those that wait.
    fn sort(&mut self, place: usize, mut segment: Segment, mut hand: impl FnMut(&Segment)) {
        let queue = &mut self.queues[place];
        let mut at = segment.at.saturating_add(queue.added);
        if at < queue.latest {
            let back = queue.latest - at;
            if back >= STEP {
                self.steps += 1;
                self.largest_step = self.largest_step.max(back);
                queue.added = queue.added.saturating_add(back);
                at = queue.latest;
            }
        }
        segment.at = at.max(queue.released);
        queue.latest = queue.latest.max(segment.at);
        let mut index = queue.waiting.len();
        while index > 0 && queue.waiting[index - 1].at > segment.at {
            index -= 1;
        }
        if index == queue.waiting.len() {
            queue.waiting.push_back(segment);
        } else {
            queue.waiting.insert(index, segment);
        }
        while let Some(first) = queue.waiting.front()
            && (queue.latest - first.at >= WINDOW || queue.waiting.len() > MOST_WAITING)
        {
            queue.released = first.at;
            if let Some(first) = queue.waiting.pop_front() {
                hand(&first);
            }
        }
    }

    /// Hands on the packets that still wait.
    pub(super) fn finish(&mut self, mut hand: impl FnMut(&Segment)) {
        for place in 0..self.queues.len() {
            if let Some(last) = self.queues[place].ahead.take() {
                self.sort(place, last, &mut hand);
            }
        }
        for queue in &mut self.queues {
            queue.waiting.drain(..).for_each(|segment| hand(&segment));
        }
    }
}
