//! The congestion signals that BBR v3 takes from the acknowledgements of a round: the largest rate, the largest
//! delivery, and losses [draft-ietf-ccwg-bbr:5.5.10].

use super::bounds::larger;
use crate::RateSample;
use units::Bytes;

/// Congestion signals of a round. A round of signals restarts with its first loss, unlike a round of
/// [`Rounds`](crate::controls::bbr::Rounds).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// Bytes delivered before the round began.
    delivered_before: Bytes,
    /// True if the current acknowledgement begins a round.
    started: bool,
    /// The largest rate, bytes per second.
    rate_latest: f64,
    inflight_latest: Bytes,
    lost: bool,
    /// Acknowledgements that reported losses, which is roughly the number of separate lost ranges.
    loss_events: u32,
}

impl Signals {
    /// Takes a sample, except its rate: `UpdateLatestDeliverySignals`.
    pub(super) fn observe(&mut self, sample: &RateSample) {
        self.started = self.round_starts(sample);
        if self.started {
            self.delivered_before = sample.delivered_total;
        }
        self.observe_within_round(sample);
    }

    /// Returns true if [`observe`](Signals::observe) would begin a round.
    #[inline]
    pub(super) fn round_starts(&self, sample: &RateSample) -> bool {
        sample.delivered_before >= self.delivered_before
    }

    /// Takes a sample that does not begin a round.
    #[inline]
    pub(super) fn observe_within_round(&mut self, sample: &RateSample) {
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.newly_lost.get() > 0 {
            self.loss_events = self.loss_events.saturating_add(1);
        }
    }

    /// Takes the sample's rate in bytes per second, zero if it has none.
    pub(super) fn observe_rate(&mut self, rate: f64) {
        self.rate_latest = larger(self.rate_latest, rate);
    }

    /// Begins a round with the sample's values: `AdvanceLatestDeliverySignals`.
    pub(super) fn advance(&mut self, sample: &RateSample, rate: f64) {
        self.rate_latest = rate;
        self.inflight_latest = sample.delivered;
    }

    /// Notes a loss after `delivered` delivered bytes; returns true if it is the round's first.
    pub(super) fn note_loss(&mut self, delivered: Bytes) -> bool {
        let first = !self.lost;
        if first {
            self.delivered_before = delivered;
        }
        self.lost = true;
        first
    }

    /// Forgets the losses of the round that has ended, because they have been handled.
    pub(super) fn end_losses(&mut self) {
        (self.lost, self.loss_events) = (false, 0);
    }

    /// Forgets the losses, which were a false alarm.
    pub(super) fn forgive(&mut self) {
        self.lost = false;
    }

    /// Resets all signals: `ResetCongestionSignals`.
    pub(super) fn reset(&mut self) {
        self.lost = false;
        self.rate_latest = 0.0;
        self.inflight_latest = Bytes::ZERO;
    }

    pub(super) fn round_started(&self) -> bool {
        self.started
    }

    pub(super) fn has_loss(&self) -> bool {
        self.lost
    }

    pub(super) fn loss_events(&self) -> u32 {
        self.loss_events
    }

    pub(super) fn rate_latest(&self) -> f64 {
        self.rate_latest
    }

    pub(super) fn inflight_latest(&self) -> Bytes {
        self.inflight_latest
    }
}
