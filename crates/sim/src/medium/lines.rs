//! The lines behind the tight link: packets that the link has sent return as acknowledgements a base RTT later.
//!
//! Flows of the same base RTT share a line. Packets that depart in order return in order. So only the head of a line
//! matters, however many flows it serves. The next arrival is found among one head per distinct base RTT, not among one
//! per flow.

use crate::agenda::Agenda;
use crate::packet::UnderWay;
use std::collections::{HashMap, VecDeque};
use units::{Span, Time};

#[derive(Debug)]
struct Line {
    base_rtt: Span,
    under_way: VecDeque<(Time, UnderWay)>,
}

/// All lines, and the order of their heads.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    /// The index of each flow's line.
    line_of: Vec<u32>,
    /// The arrival time of each line's head.
    heads: Agenda,
}

impl Lines {
    /// Creates the lines for flows with these base RTTs.
    pub(crate) fn new(base_rtts: impl Iterator<Item = Span>) -> Self {
        let mut lines = Vec::new();
        let mut known = HashMap::new();
        let line_of = base_rtts
            .map(|base_rtt| {
                *known.entry(base_rtt).or_insert_with(|| {
                    lines.push(Line { base_rtt, under_way: VecDeque::new() });
                    lines.len() as u32 - 1
                })
            })
            .collect();
        let heads = Agenda::new(lines.len());
        Self { lines, line_of, heads }
    }

    /// Adds a segment that leaves the tight link at `departs`. Segments of one line must be added in the order of
    /// departure.
    #[inline(always)]
    pub(crate) fn push(&mut self, departs: Time, segment: UnderWay) {
        let index = self.line_of[segment.flow as usize] as usize;
        let line = &mut self.lines[index];
        let arrives = departs + line.base_rtt;
        debug_assert!(line.under_way.back().is_none_or(|(last, _)| *last <= arrives), "a line is FIFO");
        if line.under_way.is_empty() {
            self.heads.set(index, arrives);
        }
        line.under_way.push_back((arrives, segment));
    }

    /// Returns the time at which the next acknowledgement arrives; [`Time::NEVER`] if nothing is under way.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heads.next().0
    }

    /// Takes the segment that arrives at [`Lines::next`].
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<UnderWay> {
        let (_, index) = self.heads.next();
        let line = self.lines.get_mut(index)?;
        let (_, segment) = line.under_way.pop_front()?;
        self.heads.set(index, line.under_way.front().map_or(Time::NEVER, |(at, _)| *at));
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagged::Tagged;

    #[test]
    fn what_departs_returns_in_the_order_of_departure_plus_rtt() {
        let ms = Span::from_millis;
        let mut lines = Lines::new([ms(50), ms(10), ms(50)].into_iter());
        assert_eq!((lines.next(), lines.pop().is_none()), (Time::NEVER, true));
        for (at, flow) in [(1, 0), (2, 1), (3, 2), (40, 1), (41, 0)] {
            let sent = Time::ZERO;
            lines.push(Time::ZERO + ms(at), UnderWay { flow, segment: Tagged::plain(at), sent });
        }
        let mut seen = Vec::new();
        while lines.next() < Time::NEVER {
            let at = lines.next();
            let segment = lines.pop().expect("something is next");
            seen.push((at.as_nanos() / 1_000_000, segment.flow));
        }
        assert_eq!(seen, [(12, 1), (50, 1), (51, 0), (53, 2), (91, 0)]);
    }
}
