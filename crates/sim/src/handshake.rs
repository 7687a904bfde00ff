//! A connection that is being set up: its SYN, and when that is sent again.
//!
//! The SYN crosses the queues that the data will cross, as a packet of its own. Where acknowledgements cross queues, so
//! does its answer.

use crate::medium::Medium;
use crate::packet::Packet;
use crate::tagged::Tagged;
use units::{Span, Time};

/// A segment without data: IPv4 20, TCP 20 [rfc791:3.1] [rfc9293:3.1].
pub(crate) const SYN: u32 = 40;
/// RFC 6298 (2.5).
const LONGEST_TIMEOUT: Span = Span::from_secs(60);

/// A SYN that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// Nothing is known of the round trip yet: RFC 6298 (2.1).
    timeout: Span,
    attempts: u32,
    expires: Time,
}

impl Handshake {
    /// A handshake whose first SYN waits `timeout` for its answer.
    pub(crate) fn new(timeout: Span) -> Self {
        Self { timeout, attempts: 0, expires: Time::NEVER }
    }

    /// When the SYN is sent again.
    pub(crate) fn expires(&self) -> Time {
        self.expires
    }

    /// How often it was sent.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Sends the SYN of the owner of `index`; false if it is known to be dropped. Each timeout is twice the one before
    /// [rfc6298:5.5].
    pub(crate) fn send(&mut self, now: Time, index: u32, medium: &mut impl Medium) -> bool {
        let timeout = (self.timeout * (1 << self.attempts.min(16))).min(LONGEST_TIMEOUT);
        self.attempts += 1;
        self.expires = now + timeout;
        medium.offer(now, Packet::segment(index, SYN, Tagged::syn(), now))
    }

    /// The round-trip sample of an answer at `now` to the SYN sent at `sent`. By Karn's algorithm a SYN that was sent
    /// again gives none, unless a time stamp says which was answered [rfc6298:3].
    pub(crate) fn sample(&self, now: Time, sent: Time, timestamps: bool) -> Option<Span> {
        (self.attempts == 1 || timestamps).then(|| now.since(sent))
    }
}
