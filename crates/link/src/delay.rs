//! A delay line: only the item that comes out first has a timer. With a constant delay it is first in, first out.

use std::collections::VecDeque;
use units::Time;

/// Items on their way, in the order in which they come out.
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
    /// Puts `item` on the line, to come out at `arrives`, after all others that come out then.
    pub fn push(&mut self, arrives: Time, item: P) {
        let later = self.under_way.iter().rev().take_while(|(at, _)| *at > arrives).count();
        self.under_way.insert(self.under_way.len() - later, (arrives, item));
    }

    /// Returns the next item that has come out by `now`, if there is one.
    pub fn pop(&mut self, now: Time) -> Option<P> {
        if self.under_way.front()?.0 > now {
            return None;
        }
        self.under_way.pop_front().map(|(_, item)| item)
    }

    /// Returns the time at which the next item comes out.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// Returns the number of items under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Returns true if nothing is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}
