//! Limits of a queue that follow the medium, in packets.
//!
//! A [`MovingLimit`] takes each service time and each time at which the queue becomes empty or not, and returns the
//! number of packets that may wait now. It holds no packets: the owner of the queue asks before it admits one. Source:
//! Li, Leith and Malone, "Buffer Sizing for 802.11-Based Networks", IEEE/ACM Trans. Networking 19(1), 2011 `[li2011]`;
//! P4 section III.

mod alt;
mod ebdp;

pub use alt::{Alt, AltParameters};
pub use ebdp::{Ebdp, EbdpParameters};

use serde::Serialize;
use units::{Span, Time};

/// The kind of a moving limit, and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MovingLimitConfig {
    /// eBDP.
    Ebdp(EbdpParameters),
    /// ALT, starting from a limit of this many packets.
    Alt(AltParameters, u64),
    /// A*: the lesser of both, ALT starting from a limit of this many packets.
    Lesser(EbdpParameters, AltParameters, u64),
}

/// A limit that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MovingLimit {
    /// A limit that follows the mean service time.
    Ebdp(Ebdp),
    /// A limit that follows the share of time for which the queue is empty.
    Alt(Alt),
    /// A*: the lesser of both.
    Lesser(Ebdp, Alt),
}

impl MovingLimit {
    /// Creates a limit for a queue that is empty at time zero.
    ///
    /// # Panics
    /// As [`Alt::new`].
    #[must_use]
    pub fn new(config: MovingLimitConfig) -> Self {
        match config {
            MovingLimitConfig::Ebdp(ebdp) => Self::Ebdp(Ebdp::new(ebdp)),
            MovingLimitConfig::Alt(alt, start) => Self::Alt(Alt::new(alt, start)),
            MovingLimitConfig::Lesser(ebdp, alt, start) => {
                Self::Lesser(Ebdp::new(ebdp), Alt::new(alt, start))
            }
        }
    }

    /// Takes the time `service` of a packet from the head of the queue to the end of its transmission.
    pub fn served(&mut self, service: Span) {
        match self {
            Self::Ebdp(ebdp) | Self::Lesser(ebdp, _) => ebdp.served(service),
            Self::Alt(_) => {}
        }
    }

    /// Records that from `now` on the queue is `empty`, or not.
    pub fn set_empty(&mut self, now: Time, empty: bool) {
        match self {
            Self::Alt(alt) | Self::Lesser(_, alt) => alt.set_empty(now, empty),
            Self::Ebdp(_) => {}
        }
    }

    /// Returns the number of packets that may wait at `now`.
    pub fn packets(&mut self, now: Time) -> u64 {
        match self {
            Self::Ebdp(ebdp) => ebdp.packets(),
            Self::Alt(alt) => alt.packets(now),
            Self::Lesser(ebdp, alt) => ebdp.packets().min(alt.packets(now)),
        }
    }
}
