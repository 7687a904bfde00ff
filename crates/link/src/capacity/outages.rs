//! The outages of a link, one after the other.

use crate::changes::Outage;
use units::random::Stream;
use units::{Span, Time};

/// The outages in the order of time. Questions about them come in the order of time, too.
#[derive(Clone, Debug)]
pub(super) struct Outages {
    outage: Outage,
    stream: Stream,
    /// The start and the end of the outage that is under way or comes next.
    next: (Time, Time),
}

impl Outages {
    /// Creates the outages, which count from `origin`. Their lengths are drawn from a copy of `stream`.
    pub(super) fn new(outage: Outage, stream: &Stream, origin: Time) -> Self {
        let mut stream = Stream::new(stream.clone().integer(0, u64::MAX), "outage");
        let first = origin + outage.first;
        let next = (first, first + draw(&outage, &mut stream));
        Self { outage, stream, next }
    }

    /// Returns the start and the end of the first outage that ends after `now`.
    #[inline]
    pub(super) fn from(&mut self, now: Time) -> (Time, Time) {
        while self.next.1 <= now {
            let start = self.next.0 + self.outage.every;
            self.next = (start, start + draw(&self.outage, &mut self.stream));
        }
        self.next
    }

    /// Returns the end of the outage at `now`, if there is one.
    #[inline]
    pub(super) fn at(&mut self, now: Time) -> Option<Time> {
        let (start, end) = self.from(now);
        (start <= now).then_some(end)
    }
}

fn draw(outage: &Outage, stream: &mut Stream) -> Span {
    let (least, most) = outage.length;
    Span::from_nanos(stream.integer(least.as_nanos(), most.as_nanos()))
}
