//! The time from a packet's departure to its arrival.

use crate::changes::Walk;
use crate::link::LinkConfig;
use std::sync::Arc;
use units::random::Stream;
use units::{Span, Time};

/// The delay behind a link: a constant part, a random one, and one that changes.
pub(super) struct Propagation {
    pub(super) delay: Span,
    /// The upper limit of the random delay of a packet beyond the constant one.
    jitter: Span,
    stream: Stream,
    /// `None` if the delay is constant.
    changing: Option<Box<ChangingDelay>>,
}

/// The part of a delay that changes.
struct ChangingDelay {
    steps: Walk<Span>,
    reorder: bool,
    /// The latest arrival so far.
    last: Time,
}

impl Propagation {
    /// Creates the delay behind a link with this configuration, whose random losses draw from `stream`. Jitter draws
    /// from a stream of its own, so that random loss strikes the same packets with jitter or without.
    pub(super) fn new(config: &LinkConfig, stream: &Stream, origin: Time) -> Self {
        let changing = config.changes.delay.as_ref().map(|delay| {
            let steps = Walk::new(Arc::clone(&delay.steps), origin);
            Box::new(ChangingDelay { steps, reorder: delay.reorder, last: Time::ZERO })
        });
        let stream = Stream::new(stream.clone().integer(0, u64::MAX), "jitter");
        Self { delay: config.delay, jitter: config.jitter, stream, changing }
    }

    /// Returns true if every packet has the same delay.
    pub(super) fn is_constant(&self) -> bool {
        self.jitter == Span::ZERO && self.changing.is_none()
    }

    /// Returns the arrival of a packet that leaves at `departs`. Departures come in order.
    pub(super) fn arrival(&mut self, departs: Time) -> Time {
        let random =
            if self.jitter == Span::ZERO { Span::ZERO } else { self.jitter.scale(self.stream.uniform()) };
        let arrives = departs + self.delay + random;
        match &mut self.changing {
            Some(changing) => changing.arrival(departs, arrives),
            None => arrives,
        }
    }
}

impl ChangingDelay {
    fn arrival(&mut self, departs: Time, arrives: Time) -> Time {
        // A packet that never leaves must not move the place in the steps to the end of time.
        if departs == Time::NEVER {
            return departs;
        }
        let arrives = arrives + self.steps.at(departs);
        if self.reorder {
            return arrives;
        }
        self.last = self.last.max(arrives);
        self.last
    }
}
