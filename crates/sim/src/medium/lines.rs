//! The lines behind the tight link: packets that the link has sent return as acknowledgements a base RTT later.
//!
//! Flows of the same base RTT share a line. Packets that depart in order return in order. So only the head of a line
//! matters, however many flows it serves. The next arrival is found among one head per distinct base RTT, not among one
//! per flow.

use crate::agenda::Agenda;
use crate::packet::UnderWay;
use prefetch_index::prefetch_index;
use std::collections::{HashMap, VecDeque};
use units::{Span, Time};

/// The most segments of a line that [`Lines::bring_nothing`] looks at.
const LOOKED_AT: usize = 40;

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
    /// The line from which the last arrival was taken.
    taken: usize,
    /// The first flow of each line.
    first_of: Vec<u32>,
}

impl Lines {
    /// Creates the lines for flows with these base RTTs.
    pub(crate) fn new(base_rtts: impl Iterator<Item = Span>) -> Self {
        let (mut lines, mut first_of) = (Vec::new(), Vec::new());
        let mut known = HashMap::new();
        let line_of = base_rtts
            .zip(0..)
            .map(|(base_rtt, flow)| {
                *known.entry(base_rtt).or_insert_with(|| {
                    first_of.push(flow);
                    lines.push(Line { base_rtt, under_way: VecDeque::new() });
                    lines.len() as u32 - 1
                })
            })
            .collect();
        let heads = Agenda::new(lines.len());
        Self { lines, line_of, heads, taken: 0, first_of }
    }

    /// Adds a segment that leaves the tight link at `departs`. Segments of one line must be added in the order of
    /// departure.
    #[inline(always)]
    pub(crate) fn push(&mut self, departs: Time, segment: UnderWay) {
        let index = self.line(segment.flow);
        let line = &mut self.lines[index];
        let arrives = departs + line.base_rtt;
        debug_assert!(line.under_way.back().is_none_or(|(last, _)| *last <= arrives), "a line is FIFO");
        if line.under_way.is_empty() {
            self.heads.set(index, arrives);
        }
        line.under_way.push_back((arrives, segment));
    }

    /// Gives the next segments on the line of `flow` to `takes` before their time, with the times of their arrivals. It
    /// ends with the first that is not of `flow` or that `takes` does not take.
    #[inline(always)]
    pub(crate) fn take_ahead(&mut self, flow: u32, mut takes: impl FnMut(Time, &UnderWay) -> bool) {
        let index = self.line(flow);
        let line = &mut self.lines[index];
        let mut taken = false;
        while let Some((arrives, next)) = line.under_way.front()
            && next.flow == flow
            && takes(*arrives, next)
        {
            line.under_way.pop_front();
            taken = true;
        }
        if taken {
            self.heads.set(index, line.under_way.front().map_or(Time::NEVER, |(at, _)| *at));
        }
    }

    /// Returns true if it is certain at `now` that no segment of `flow` arrives by `until`. None of the flow is among the
    /// next ones on its line then, and one that departs from now on arrives later.
    #[inline]
    pub(crate) fn bring_nothing(&self, flow: u32, now: Time, until: Time) -> bool {
        let line = &self.lines[self.line_of[flow as usize] as usize];
        if until >= now + line.base_rtt {
            return false;
        }
        let (front, back) = line.under_way.as_slices();
        for part in [front, back] {
            for (arrives, next) in &part[..part.len().min(LOOKED_AT)] {
                if *arrives > until {
                    return true;
                }
                if next.flow == flow {
                    return false;
                }
            }
            if part.len() > LOOKED_AT {
                return false;
            }
        }
        true
    }

    /// Returns the time at which the next acknowledgement arrives; [`Time::NEVER`] if nothing is under way.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heads.next().0
    }

    /// Returns the flow of an arrival about `places` behind the last one taken. With few lines it is an arrival of the
    /// same line. With many it is the first flow of the line that comes so much later.
    #[inline]
    pub(crate) fn arrives_later(&self, places: usize) -> Option<u32> {
        if let Some(line) = self.heads.later(places) {
            prefetch_index(&self.lines, line);
            return self.first_of.get(line).copied();
        }
        let (_, segment) = self.lines.get(self.taken)?.under_way.get(places)?;
        if self.lines.len() > 1 {
            prefetch_index(&self.line_of, segment.flow as usize);
        }
        Some(segment.flow)
    }

    /// Returns the index of a flow's line.
    #[inline]
    fn line(&self, flow: u32) -> usize {
        if self.lines.len() == 1 { 0 } else { self.line_of[flow as usize] as usize }
    }

    /// Takes the segment that arrives at [`Lines::next`].
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<UnderWay> {
        let (_, index) = self.heads.next();
        let line = self.lines.get_mut(index)?;
        let (_, segment) = line.under_way.pop_front()?;
        self.taken = index;
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
