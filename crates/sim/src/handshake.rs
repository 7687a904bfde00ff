//! A connection that is being set up: its SYN, and the timer of its retransmission.
//!
//! The SYN crosses the queues that the data will cross, as a packet of its own. If acknowledgements cross queues, so
//! does its answer.

use crate::medium::Medium;
use crate::packet::Packet;
use crate::tagged::Tagged;
use units::{Span, Time};

/// The size of a segment without data in bytes: IPv4 20, TCP 20 [rfc791:3.1] [rfc9293:3.1].
pub(crate) const SYN: u32 = 40;
/// The longest timeout, RFC 6298 (2.5).
const LONGEST_TIMEOUT: Span = Span::from_secs(60);

/// A SYN that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// The timeout of the first SYN, before any round-trip sample: RFC 6298 (2.1).
    timeout: Span,
    attempts: u32,
    expires: Time,
}

impl Handshake {
    /// Creates a handshake whose first SYN waits `timeout` for its answer.
    pub(crate) fn new(timeout: Span) -> Self {
        Self { timeout, attempts: 0, expires: Time::NEVER }
    }

    /// Returns the time at which the SYN is sent again.
    pub(crate) fn expires(&self) -> Time {
        self.expires
    }

    /// Returns the number of times that the SYN was sent.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Sends the SYN of the owner of `index`; returns false if the medium drops it at once. Each timeout is twice the
    /// one before [rfc6298:5.5].
    pub(crate) fn send(&mut self, now: Time, index: u32, medium: &mut impl Medium) -> bool {
        let timeout = (self.timeout * (1 << self.attempts.min(16))).min(LONGEST_TIMEOUT);
        self.attempts += 1;
        self.expires = now + timeout;
        medium.offer(now, Packet::segment(index, SYN, Tagged::syn(), now))
    }

    /// Returns the round-trip sample of an answer at `now` to the SYN sent at `sent`. By Karn's algorithm a SYN that
    /// was sent again gives none, unless a time stamp says which copy was answered [rfc6298:3].
    pub(crate) fn sample(&self, now: Time, sent: Time, timestamps: bool) -> Option<Span> {
        (self.attempts == 1 || timestamps).then(|| now.since(sent))
    }
}
