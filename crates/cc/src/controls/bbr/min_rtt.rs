//! The least round-trip time that a BBR has seen, and its expiry [draft-ietf-ccwg-bbr:5.5.7].

use units::{Span, Time};

/// `BBR.MinRTTFilterLen`, `RTpropFilterLen`: the time without a lower RTT after which BBR probes for one.
const AGE: Span = Span::from_secs(10);

/// The least round-trip time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    /// The least round-trip time so far; the longest span before the first sample.
    least: Span,
    /// The least round-trip time in seconds; zero before the first sample.
    seconds: f64,
    at: Time,
}

impl MinRtt {
    pub(crate) fn new() -> Self {
        Self { least: Span::MAX, seconds: 0.0, at: Time::ZERO }
    }

    pub(crate) fn is_known(&self) -> bool {
        self.least != Span::MAX
    }

    /// Returns the least round-trip time; the longest span before the first sample.
    #[inline]
    pub(crate) fn least(&self) -> Span {
        self.least
    }

    /// Returns the least round-trip time in seconds; zero before the first sample.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the last time at which the least round-trip time is not too old.
    pub(crate) fn expires_at(&self) -> Time {
        self.at + AGE
    }

    /// Returns true if the least round-trip time is too old. An unknown one never is.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.is_known() && now > self.expires_at()
    }

    pub(crate) fn set(&mut self, rtt: Span, now: Time) {
        (self.least, self.at) = (rtt, now);
        self.seconds = rtt.as_secs_f64();
    }

    /// Renews the age of the least round-trip time, because a probe has shown that it still holds.
    pub(crate) fn renew(&mut self, now: Time) {
        self.at = now;
    }
}
