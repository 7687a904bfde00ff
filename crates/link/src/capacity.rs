//! A capacity that changes: when packets leave a link, and how many bytes could have left it.

mod instants;
mod outages;
mod pieces;

use crate::QueueingDelay;
use crate::changes::{Capacity, Changes, Opportunities, Steps};
use crate::freshness::Freshness;
use crate::meter::Service as Sent;
use instants::Instants;
use outages::Outages;
use pieces::Pieces;
use std::sync::Arc;
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// The server of a link whose rate changes. It gives the departure of each packet, in the order of service.
#[derive(Clone, Debug)]
pub(crate) struct ChangingServer {
    service: Service,
    /// The same capacity from the start, for what it offers.
    offers: Service,
    /// The bytes offered up to the last call of [`offered`](ChangingServer::offered), in [`UNITS`].
    offered: u128,
    mean: Rate,
    /// The bytes taken by packets that have left since measuring began.
    taken: u64,
    /// The bytes offered before measuring began.
    offered_before: f64,
    freshness: Freshness,
    /// The capacity at the start of measuring.
    at_begin: (Time, Service),
}

#[derive(Clone, Debug)]
enum Service {
    Instants(Instants),
    Pieces(Pieces),
}

/// The bytes of a full packet.
const FULL_PACKET: Bytes = Bytes::new(Opportunities::CARRIES - Opportunities::HEADER);

/// The number of units in one byte of an offer: bits times nanoseconds per second.
const UNITS: u128 = 8_000_000_000;

impl Service {
    /// Returns the earliest time at which bytes that come `now` can begin to leave, behind all before them.
    #[inline]
    fn opens(&mut self, now: Time) -> Time {
        match self {
            Self::Instants(instants) => instants.opens_after(now),
            Self::Pieces(pieces) => pieces.opens(now),
        }
    }

    /// Sends bytes from the time that was returned last as opening; returns the time at which the last has left.
    #[inline]
    fn send(&mut self, bytes: u64) -> Time {
        match self {
            Self::Instants(instants) => instants.send(bytes),
            Self::Pieces(pieces) => pieces.send(bytes),
        }
    }

    /// Returns the bytes that a packet takes beyond its own length.
    #[inline]
    const fn header(&self) -> u64 {
        match self {
            Self::Instants(_) => Opportunities::HEADER,
            Self::Pieces(_) => 0,
        }
    }
}

impl ChangingServer {
    /// Creates the server of a link of the mean rate `rate` with these changes, which count from `origin`; returns
    /// `None` if its rate does not change. The lengths of outages are drawn from a copy of `stream`.
    pub(crate) fn new(rate: Rate, changes: &Changes, stream: &Stream, origin: Time) -> Option<Self> {
        if !changes.changes_rate() {
            return None;
        }
        let outages = changes.outage.map(|outage| Outages::new(outage, stream, origin));
        let service = match &changes.capacity {
            Some(Capacity::Opportunities(all)) => {
                Service::Instants(Instants::new(Arc::clone(all), outages, origin))
            }
            Some(Capacity::Rates(rates)) => Service::Pieces(Pieces::new(Arc::clone(rates), outages, origin)),
            None => {
                let rates = Steps::new(vec![(Span::ZERO, rate)], None).ok()?;
                Service::Pieces(Pieces::new(Arc::new(rates), outages, origin))
            }
        };
        Some(Self {
            offers: service.clone(),
            at_begin: (origin, service.clone()),
            service,
            offered: 0,
            mean: rate,
            taken: 0,
            offered_before: 0.0,
            freshness: Freshness::default(),
        })
    }

    /// Returns the long-run mean rate.
    pub(crate) const fn mean_rate(&self) -> Rate {
        self.mean
    }

    /// Returns the earliest time at which a packet that arrives `now` can begin to leave, behind all packets before
    /// it. An opportunity at `now` itself has passed.
    #[inline]
    pub(crate) fn opens(&mut self, now: Time) -> Time {
        self.service.opens(now)
    }

    /// Returns the earliest time, not before `now`, at which a packet that waits can begin to leave.
    #[inline]
    pub(crate) fn opens_for_waiting(&mut self, now: Time) -> Time {
        match &mut self.service {
            Service::Instants(instants) => instants.opens_at(now),
            Service::Pieces(pieces) => pieces.opens(now),
        }
    }

    /// Sends `length` bytes from the time that was returned last as opening; returns the time at which the last of them
    /// has left, [`Time::NEVER`] if the capacity ends before.
    #[inline]
    pub(crate) fn send(&mut self, length: Bytes) -> Time {
        self.service.send(length.get() + self.service.header())
    }

    /// Counts a packet that has left; returns the time for which its delay counts. At a rate it is the time
    /// for which the packet `was_sent`. An opportunity takes no time, so it is the packet's share of the mean rate.
    #[inline]
    pub(crate) fn served(&mut self, packet: &Sent, was_sent: Span) -> Span {
        self.freshness.departed(packet.arrived, packet.departs);
        let taken = packet.length.get() + self.service.header();
        self.taken += taken;
        match &self.service {
            Service::Instants(instants) if taken == Opportunities::CARRIES => instants.mean_gap,
            Service::Instants(instants) => instants.mean_gap * taken / Opportunities::CARRIES,
            Service::Pieces(_) => was_sent,
        }
    }

    /// Starts the measured interval.
    pub(crate) fn begin(&mut self, now: Time) {
        self.taken = 0;
        self.offered_before = self.offered(now);
        self.at_begin = (now, self.offers.clone());
        self.freshness.begin(now);
    }

    /// Returns the ages of what has left since measuring began.
    pub(crate) const fn ages(&self) -> &QueueingDelay {
        &self.freshness.ages
    }

    /// Returns the ages that a sender has up to `end` whose packets arrive just in time for all capacity.
    pub(crate) fn least_ages(&self, end: Time) -> QueueingDelay {
        let (begin, mut service) = self.at_begin.clone();
        let mut freshness = Freshness::default();
        freshness.begin(begin);
        match &mut service {
            Service::Instants(instants) => {
                let mut now = begin;
                while now < end {
                    now = instants.opens_after(now);
                    freshness.expect(now.min(end));
                }
            }
            Service::Pieces(pieces) => {
                while let Some((rate, span)) = pieces.pass_piece(end) {
                    let packet =
                        if rate > 0 { Rate::from_bps(rate).serialization(FULL_PACKET) } else { span };
                    freshness.stream(span, packet);
                }
            }
        }
        freshness.ages
    }

    /// Returns the bytes that packets have taken since measuring began, and the bytes that were offered.
    pub(crate) fn used(&mut self, now: Time) -> (f64, f64) {
        (self.taken as f64, self.offered(now) - self.offered_before)
    }

    /// Returns the time that it takes from `now` on to send `backlog`.
    pub(crate) fn drains(&self, now: Time, backlog: Bytes) -> Span {
        let mut ahead = self.service.clone();
        let left = if ahead.opens(now) < Time::NEVER { ahead.send(backlog.get()) } else { Time::NEVER };
        left.since(now)
    }

    /// Returns the bytes that could have left by `now`, used or not. Calls come in the order of time.
    fn offered(&mut self, now: Time) -> f64 {
        self.offered += match &mut self.offers {
            Service::Instants(instants) => {
                u128::from(instants.pass(now)) * u128::from(Opportunities::CARRIES) * UNITS
            }
            Service::Pieces(pieces) => pieces.pass(now),
        };
        self.offered as f64 / UNITS as f64
    }
}
