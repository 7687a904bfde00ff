//! The least round-trip time that a BBR has seen, and when it is too old [draft-ietf-ccwg-bbr:5.5.7].

use units::{Span, Time};

/// `BBR.MinRTTFilterLen`, `RTpropFilterLen`: without a lower RTT for so long, one is looked for.
const AGE: Span = Span::from_secs(10);

/// The least round-trip time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    /// The longest span before there is one.
    least: Span,
    /// The same in seconds; zero before there is one.
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

    /// The longest span before there is one.
    #[inline]
    pub(crate) fn least(&self) -> Span {
        self.least
    }

    /// In seconds; zero before there is one.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The last moment at which it is not too old.
    pub(crate) fn expires_at(&self) -> Time {
        self.at + AGE
    }

    /// One that is not known yet cannot be too old, whenever the flow began.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.is_known() && now > self.expires_at()
    }

    pub(crate) fn set(&mut self, rtt: Span, now: Time) {
        (self.least, self.at) = (rtt, now);
        self.seconds = rtt.as_secs_f64();
    }

    /// A probe has shown that it still holds.
    pub(crate) fn renew(&mut self, now: Time) {
        self.at = now;
    }
}
