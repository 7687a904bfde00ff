//! The age of what a link has delivered: the self-inflicted delay of Winstein, Sivaraman and Balakrishnan (Sprout, NSDI
//! 2013).
//!
//! At each instant, the age is the time since the newest packet that has left arrived at the link. On a link whose
//! capacity changes, a part of it is the link's own: between two opportunities even the packet of a sender that knew
//! them all grows old. The self-inflicted delay is a quantile of the age less the same quantile of that sender's.
//! The age grows while nothing is sent, too, so the figure says something about senders that always have data.

use crate::QueueingDelay;
use units::{Span, Time};

/// The resolution of the age where it grows between two departures.
const STEP: Span = Span::from_millis(1);

/// The ages of delivered packets over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Freshness {
    /// The time from which ages count: the last departure, or the start of measuring.
    since: Time,
    /// The latest arrival at the link of a packet that has left.
    newest: Option<Time>,
    pub(crate) ages: QueueingDelay,
}

impl Freshness {
    /// Starts the measured interval.
    pub(crate) fn begin(&mut self, now: Time) {
        self.since = now;
        self.ages = QueueingDelay::default();
    }

    /// Counts the departure of a packet. Departures come in order.
    #[inline]
    pub(crate) fn departed(&mut self, arrived: Time, departs: Time) {
        match &mut self.newest {
            Some(newest) => {
                let before = *newest;
                *newest = arrived.max(before);
                self.grow(before, departs);
            }
            // The age begins when the first packet has left.
            None => {
                self.newest = Some(arrived);
                self.since = departs;
            }
        }
    }

    /// Counts the departure at `departs` of a packet that arrived just in time for it.
    pub(crate) fn expect(&mut self, departs: Time) {
        let newest = self.newest.unwrap_or(self.since);
        self.grow(newest, departs);
        self.newest = Some(departs);
    }

    /// Counts `span`, in which packets arrive and leave without a wait, one each `packet`. The age of each grows from
    /// one such time to two. If not even one packet can leave, the age of the last one grows.
    pub(crate) fn stream(&mut self, span: Span, packet: Span) {
        if packet >= span {
            let newest = *self.newest.get_or_insert(self.since);
            self.grow(newest, self.since + span);
            return;
        }
        let parts = packet.as_nanos() / STEP.as_nanos() + 1;
        for part in 0..parts {
            self.ages.held(packet + packet * (2 * part + 1) / (2 * parts), span / parts);
        }
        self.since += span;
        self.newest = Some(self.since - packet);
    }

    /// Counts the time up to `until`, in which what left last arrived at `newest`.
    fn grow(&mut self, newest: Time, until: Time) {
        while self.since < until {
            let step = until.since(self.since).min(STEP);
            self.ages.held(self.since.since(newest) + step / 2, step);
            self.since += step;
        }
    }
}
