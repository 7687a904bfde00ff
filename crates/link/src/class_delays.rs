//! The queueing delays of a queue's two classes, if its policy has classes.

use crate::{Ecn, QueueingDelay};
use units::{Span, Time};

/// The queueing delay of each class over the transmission times of its own packets.
#[derive(Clone, Debug, Default)]
pub struct ClassDelays {
    /// Packets of classic flows.
    pub classic: QueueingDelay,
    /// Packets of scalable flows (RFC 9331).
    pub scalable: QueueingDelay,
    since: Time,
}

impl ClassDelays {
    /// Starts the measured interval. A packet whose transmission began before `now` does not count.
    pub(crate) fn begin(&mut self, now: Time) {
        *self = Self { since: now, ..Self::default() };
    }

    /// Counts a packet that left: it `arrived`, its transmission began at `starts`, and took `sent`.
    pub(crate) fn served(&mut self, scalable: bool, arrived: Time, starts: Time, sent: Span) {
        if starts >= self.since {
            let class = if scalable { &mut self.scalable } else { &mut self.classic };
            class.held(starts.since(arrived), sent);
        }
    }
}

/// Returns true if a packet that arrives with this field belongs to the class of scalable flows (RFC 9331, 5.1).
pub(crate) fn is_scalable(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Scalable | Ecn::Marked)
}
