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
    /// One past the highest segment as the last probe left, until that is acknowledged (`TLP.end_seq`).
    outstanding: Option<u64>,
    /// True if it was a segment sent again (`TLP.is_retrans`).
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

    /// Disarms the timer, because recovery takes its place.
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

    /// Takes an acknowledgement. Returns true if it shows that the probe repaired a loss, which nothing else will
    /// report [rfc8985:7.4.2].
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ack(cumulative: u64, duplicate: bool) -> Acknowledgement {
        let sacked = duplicate.then(|| cumulative - 1);
        Acknowledgement {
            cumulative,
            sacked,
            duplicate,
            congested: false,
            newest_sent: ms(0),
            echo: ms(0),
            window: u64::MAX,
        }
    }

    #[test]
    fn a_probe_waits_two_round_trips_a_delayed_acknowledgement_and_never_longer_than_the_timer() {
        let mut probe = Tlp::default();
        let srtt = Some(Span::from_millis(60));
        probe.arm(ms(10), srtt, 5, ms(1000));
        assert_eq!(probe.due, ms(130));
        probe.arm(ms(10), srtt, 1, ms(1000));
        assert_eq!(probe.due, ms(330));
        probe.arm(ms(10), srtt, 1, ms(210));
        assert_eq!(probe.due, ms(210));
        probe.arm(ms(10), None, 3, ms(9000));
        assert_eq!(probe.due, ms(1010));
        probe.arm(ms(10), srtt, 0, ms(1000));
        assert_eq!(probe.due, Time::NEVER);
    }

    #[test]
    fn there_is_one_probe_at_a_time_and_none_without_a_new_sample() {
        let mut probe = Tlp::default();
        probe.on_probe(false, 8);
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, Time::NEVER);
        assert!(!probe.on_ack(&ack(8, false), 1));
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, Time::NEVER, "no sample yet");
        probe.on_sample();
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, ms(20));
    }

    #[test]
    fn a_probe_that_was_needed_is_a_loss_and_one_that_was_not_is_none() {
        let mut needed = Tlp::default();
        needed.on_probe(true, 8);
        assert!(!needed.on_ack(&ack(7, false), 1), "not covered yet");
        assert!(!needed.on_ack(&ack(8, false), 1), "original or probe: not known yet");
        assert!(needed.on_ack(&ack(9, false), 1), "no repeat was reported");
        assert!(!needed.on_ack(&ack(10, false), 1));
        let mut idle = Tlp::default();
        idle.on_probe(true, 8);
        assert!(!idle.on_ack(&ack(8, true), 0));
        assert!(!idle.on_ack(&ack(9, false), 1));
    }
}
