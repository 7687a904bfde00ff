//! [`Failure`]: the way in which a connection failed, as far as its packets show it.

use std::net::SocketAddr;
use units::Span;

/// The number of retransmissions without any answer from which an end may count as silent.
pub(super) const UNANSWERED: u32 = 2;
/// The time without an answer, or with a closed window, from which it counts as a failure: paths are shorter, and programs
/// read several times a second.
pub(super) const STUCK: u64 = 1_000_000_000;

/// A failure of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The end that did not do its part.
    pub by: SocketAddr,
    /// The kind of failure.
    pub kind: FailureKind,
}

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The end answered no request for a connection (SYN).
    NoAnswer {
        /// The number of requests.
        requests: u32,
        /// The time from the first request to the last.
        over: Span,
    },
    /// The end answered the request with a reset.
    Refused,
    /// Nothing more came from the end, while segments were sent to it again.
    Silent {
        /// The number of retransmissions since its last packet.
        retransmissions: u32,
        /// The time from its last packet to the last retransmission.
        over: Span,
    },
    /// The end's receive window was closed when the capture ended.
    WindowClosed {
        /// The time for which it had been closed.
        over: Span,
    },
    /// The end reset the connection before either end had closed it.
    Reset,
}

impl FailureKind {
    /// Returns the name of the kind in results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoAnswer { .. } => "no-answer",
            Self::Refused => "refused",
            Self::Silent { .. } => "silent",
            Self::WindowClosed { .. } => "window-closed",
            Self::Reset => "reset",
        }
    }
}
