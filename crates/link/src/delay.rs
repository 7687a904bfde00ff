//! A line of constant delay: first in, first out; only its head needs a timer.

use std::collections::VecDeque;
use units::Time;

/// Things on their way, in order of arrival.
#[derive(Clone, Debug)]
pub struct DelayLine<P> {
    under_way: VecDeque<(Time, P)>,
}

impl<P> Default for DelayLine<P> {
    fn default() -> Self {
        Self { under_way: VecDeque::new() }
    }
}

impl<P> DelayLine<P> {
    /// Puts `item` on the line, to come out at `arrives`: not before what is already on it.
    pub fn push(&mut self, arrives: Time, item: P) {
        debug_assert!(self.under_way.back().is_none_or(|(last, _)| *last <= arrives), "the line is FIFO");
        self.under_way.push_back((arrives, item));
    }

    /// What has come out by `now`, one at a time.
    pub fn pop(&mut self, now: Time) -> Option<P> {
        if self.under_way.front()?.0 > now {
            return None;
        }
        self.under_way.pop_front().map(|(_, item)| item)
    }

    /// When the next item comes out.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// How many are under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}
