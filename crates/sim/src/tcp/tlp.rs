//! The tail loss probe. If nothing has come back for a while, one more segment is sent to obtain an acknowledgement
//! [rfc8985:7]. So a loss at the end of a flight is found by [RACK](super::rack) and not by the timer.

use super::Acknowledgement;
use units::{Span, Time};

/// The time for which a receiver may withhold the acknowledgement of a lone segment (`TLP.max_ack_delay`)
/// [rfc8985:7.2].
const MAX_ACK_DELAY: Span = Span::from_millis(200);

/// The probe's timer and the state of the last probe.
#[derive(Clone, Debug)]
pub(super) struct Tlp {
    /// The time at which the probe leaves.
    pub(super) due: Time,
    /// One past the highest segment at the time of the last probe (`TLP.end_seq`); `None` once the probe's outcome is
    /// known.
    outstanding: Option<u64>,
    /// True if the last probe was a segment sent again (`TLP.is_retrans`).
    again: bool,
    /// True if a round-trip time has been measured since the last probe.
    measured: bool,
}

impl Default for Tlp {
    fn default() -> Self {
        Self { due: Time::NEVER, outstanding: None, again: false, measured: true }
    }
}

impl Tlp {
    /// Arms the timer as data leave or are acknowledged. `expiry`: the time of the retransmission timer, before which a
    /// probe leaves.
    #[inline]
    pub(super) fn arm(&mut self, now: Time, smoothed: Option<Span>, outstanding: u64, expiry: Time) {
        if outstanding == 0 || self.outstanding.is_some() || !self.measured {
            self.due = Time::NEVER;
            return;
        }
        let wait = match smoothed {
            Some(smoothed) if outstanding == 1 => smoothed * 2 + MAX_ACK_DELAY,
            Some(smoothed) => smoothed * 2,
            None => Span::from_secs(1),
        };
        self.due = (now + wait).min(expiry);
    }

    /// Disarms the timer, because recovery or the retransmission timer replaces the probe.
    pub(super) fn disarm(&mut self) {
        self.due = Time::NEVER;
    }

    /// Records that a probe left, a segment sent `again` or new; `next` is one past the highest segment.
    pub(super) fn on_probe(&mut self, again: bool, next: u64) {
        (self.outstanding, self.again, self.measured) = (Some(next), again, false);
    }

    /// Records that a round-trip time was measured.
    pub(super) fn on_sample(&mut self) {
        self.measured = true;
    }

    /// Takes an acknowledgement. Returns true if it shows that the probe repaired a loss. No other sign of that loss
    /// will come [rfc8985:7.4.2].
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, newly: u64) -> bool {
        let Some(end) = self.outstanding.filter(|end| ack.cumulative >= *end) else { return false };
        if !self.again || ack.duplicate {
            self.outstanding = None;
        } else if ack.cumulative > end {
            self.outstanding = None;
            return true;
        } else if newly == 0 && ack.sacked.is_none() {
            self.outstanding = None;
        }
        false
    }
}
