//! The times at which a host's processor is away: for other work, or for another virtual machine on it.

use transport::Host;
use units::random::Stream;
use units::{Span, Time};

/// The pauses of a processor. Their lengths and the intervals between them have exponential distributions.
#[derive(Debug)]
pub(crate) struct Pauses {
    /// The mean length of a pause.
    length: Span,
    /// The mean interval between two pauses.
    interval: Span,
    from: Time,
    until: Time,
    stream: Stream,
}

impl Pauses {
    pub(super) fn new(host: &Host, stream: Stream) -> Self {
        let (length, interval) = (host.pause, host.pause_interval);
        let mut pauses = Self { length, interval, from: Time::ZERO, until: Time::ZERO, stream };
        pauses.next();
        pauses
    }

    fn next(&mut self) {
        self.from = self.until + self.interval.scale(self.stream.exponential(1.0));
        self.until = self.from + self.length.scale(self.stream.exponential(1.0));
    }

    /// Returns the end of the pause in which `now` lies, if it lies in one.
    #[inline]
    pub(super) fn end(&mut self, now: Time) -> Option<Time> {
        while self.until <= now {
            self.next();
        }
        (self.from <= now).then_some(self.until)
    }
}
