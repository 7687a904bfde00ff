//! Limits of a queue that move with what the medium does, in packets.
//!
//! A [`MovingLimit`] is told of each service time and of when the queue is empty, and says how many packets may wait
//! now. It holds no packet: who holds the queue asks before it admits one. Source: Li, Leith and Malone, "Buffer
//! Sizing for 802.11-Based Networks", IEEE/ACM Trans. Networking 19(1), 2011 `[li2011]`; P4 section III.

mod alt;
mod ebdp;

pub use alt::{Alt, AltParameters};
pub use ebdp::{Ebdp, EbdpParameters};

use serde::Serialize;
use units::{Span, Time};

/// Which limit moves, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum MovingLimitConfig {
    /// eBDP.
    Ebdp(EbdpParameters),
    /// ALT, from a limit of so many packets on.
    Alt(AltParameters, u64),
    /// A*: the lesser of both, ALT from a limit of so many packets on.
    Lesser(EbdpParameters, AltParameters, u64),
}

/// A limit that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MovingLimit {
    /// By the mean service time.
    Ebdp(Ebdp),
    /// By how much of the time the queue is empty.
    Alt(Alt),
    /// A*: the lesser of both.
    Lesser(Ebdp, Alt),
}

impl MovingLimit {
    /// A limit for a queue that is empty at time zero.
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

    /// A packet took `service` from the head of the queue to the end of its transmission.
    pub fn served(&mut self, service: Span) {
        match self {
            Self::Ebdp(ebdp) | Self::Lesser(ebdp, _) => ebdp.served(service),
            Self::Alt(_) => {}
        }
    }

    /// The queue is empty, or no longer, from `now` on.
    pub fn set_empty(&mut self, now: Time, empty: bool) {
        match self {
            Self::Alt(alt) | Self::Lesser(_, alt) => alt.set_empty(now, empty),
            Self::Ebdp(_) => {}
        }
    }

    /// How many packets may wait at `now`.
    pub fn packets(&mut self, now: Time) -> u64 {
        match self {
            Self::Ebdp(ebdp) => ebdp.packets(),
            Self::Alt(alt) => alt.packets(now),
            Self::Lesser(ebdp, alt) => ebdp.packets().min(alt.packets(now)),
        }
    }
}
