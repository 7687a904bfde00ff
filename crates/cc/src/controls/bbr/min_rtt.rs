//! The least round-trip time that a BBR has seen, and its expiry [draft-ietf-ccwg-bbr:5.5.7].

use units::{Span, Time};

/// `BBR.MinRTTFilterLen`, `RTpropFilterLen`: the time without a lower RTT after which BBR probes for one.
const AGE: Span = Span::from_secs(10);

/// The least round-trip time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    /// The longest span before the first sample.
    least: Span,
    /// The same in seconds; zero before the first sample.
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

    /// Returns it in seconds; zero before the first sample.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the last moment at which it is not too old.
    pub(crate) fn expires_at(&self) -> Time {
        self.at + AGE
    }

    /// Returns true if it is too old. An unknown one is not, whenever the flow began.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.is_known() && now > self.expires_at()
    }

    pub(crate) fn set(&mut self, rtt: Span, now: Time) {
        (self.least, self.at) = (rtt, now);
        self.seconds = rtt.as_secs_f64();
    }

    /// Renews its age, because a probe has shown that it still holds.
    pub(crate) fn renew(&mut self, now: Time) {
        self.at = now;
    }
}
