//! RFC 6298: the smoothed round-trip time and the retransmission timeout.

use cc::RttView;
use units::Span;

/// The least timeout before the first sample if the handshake's timer expired, RFC 6298 (5.7).
const FALLBACK_RTO: Span = Span::from_secs(3);
/// The longest timeout, RFC 6298 (2.5).
const MAX_RTO: Span = Span::from_secs(60);

/// The clock granularity G of RFC 6298: the tick of the kernels of its time, and of ns-2.
const GRANULARITY: Span = Span::from_millis(10);

/// The round-trip time as the sender estimates it.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    smoothed: u64,
    variation: u64,
    min: u64,
    min_rto: Span,
    /// True if the timeout exceeds the smoothed round trip by at least the least timeout, as in Linux
    /// (`__tcp_set_rto()`).
    beyond: bool,
    backoff: u32,
    /// The timeout before the first sample.
    initial: Span,
}

impl RttEstimator {
    pub(super) fn new(min_rto: Span, beyond: bool, initial: Span) -> Self {
        Self { smoothed: 0, variation: 0, min: u64::MAX, min_rto, beyond, backoff: 0, initial }
    }

    /// Takes a sample by RFC 6298 (2.2) and (2.3), with alpha = 1/8 and beta = 1/4. It ends the timer's backoff.
    #[inline]
    pub(super) fn observe(&mut self, sample: Span) {
        let sample = sample.as_nanos();
        self.min = self.min.min(sample);
        self.backoff = 0;
        if self.smoothed == 0 {
            self.smoothed = sample;
            self.variation = sample / 2;
        } else {
            self.variation = self.variation - self.variation / 4 + self.smoothed.abs_diff(sample) / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + sample / 8;
        }
    }

    /// Returns the timeout to arm now.
    #[inline]
    pub(super) fn timeout(&self) -> Span {
        let base = if self.smoothed == 0 {
            self.initial
        } else {
            let least = if self.beyond { self.min_rto } else { GRANULARITY };
            Span::from_nanos(self.smoothed + (4 * self.variation).max(least.as_nanos()))
        };
        (base.max(self.min_rto) * (1 << self.backoff.min(16))).min(MAX_RTO)
    }

    /// Doubles the timeout after the timer expired: RFC 6298 (5.5).
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Raises the initial timeout if the handshake needed its timer: RFC 6298 (5.7).
    pub(super) fn fall_back(&mut self) {
        self.initial = self.initial.max(FALLBACK_RTO);
    }

    pub(super) fn smoothed(&self) -> Option<Span> {
        (self.smoothed > 0).then(|| Span::from_nanos(self.smoothed))
    }

    /// Returns the least sample; zero before there is one.
    pub(super) fn min(&self) -> Span {
        Span::from_nanos(if self.min == u64::MAX { 0 } else { self.min })
    }

    #[inline]
    pub(super) fn view(&self, latest: Option<Span>) -> RttView {
        RttView { latest, smoothed: Span::from_nanos(self.smoothed), min: Span::from_nanos(self.min) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_follows_rfc_6298() {
        let mut rtt = RttEstimator::new(Span::from_millis(200), false, Span::from_secs(1));
        assert_eq!(rtt.timeout(), Span::from_secs(1));
        rtt.observe(Span::from_millis(100));
        // SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        rtt.observe(Span::from_millis(100));
        assert_eq!(rtt.timeout(), Span::from_micros(250_000));
        rtt.back_off();
        assert_eq!(rtt.timeout(), Span::from_micros(500_000));
        for _ in 0..30 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), MAX_RTO);
        rtt.observe(Span::from_millis(100));
        assert!(rtt.timeout() < Span::from_millis(250));
        for _ in 0..100 {
            rtt.observe(Span::from_millis(100));
        }
        assert_eq!(rtt.timeout(), Span::from_millis(200));
    }
    #[test]
    fn linux_waits_for_the_least_timeout_beyond_the_round_trip() {
        let mut rtt = RttEstimator::new(Span::from_millis(200), true, Span::from_secs(1));
        for _ in 0..100 {
            rtt.observe(Span::from_millis(100));
        }
        assert_eq!(rtt.timeout(), Span::from_millis(300));
    }
}
