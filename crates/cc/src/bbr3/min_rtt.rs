//! The least round-trip time that BBR v3 has seen, and when it is too old [draft-ietf-ccwg-bbr:5.5.7].

use units::{Span, Time};

/// `BBR.MinRTTFilterLen`: without a lower RTT for so long, one is looked for.
const AGE: Span = Span::from_secs(10);

/// The least round-trip time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// The longest span before there is one.
    least: Span,
    /// The same in seconds; zero before there is one.
    seconds: f64,
    at: Time,
}

impl MinRtt {
    pub(super) fn new() -> Self {
        Self { least: Span::MAX, seconds: 0.0, at: Time::ZERO }
    }

    pub(super) fn is_known(&self) -> bool {
        self.least != Span::MAX
    }

    /// In seconds; zero before there is one.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    #[inline]
    pub(super) fn is_above(&self, rtt: Span) -> bool {
        rtt < self.least
    }

    pub(super) fn expires_at(&self) -> Time {
        self.at + AGE
    }

    pub(super) fn has_expired(&self, now: Time) -> bool {
        now > self.expires_at() && self.is_known()
    }

    pub(super) fn set(&mut self, rtt: Span, now: Time) {
        (self.least, self.at) = (rtt, now);
        self.seconds = rtt.as_secs_f64();
    }

    /// A probe has shown that it still holds.
    pub(super) fn renew(&mut self, now: Time) {
        self.at = now;
    }
}
