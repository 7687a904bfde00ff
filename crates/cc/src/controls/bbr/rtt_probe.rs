//! A BBR's probe for the round-trip time: little in flight for a while, so that the queue empties
//! [draft-ietf-ccwg-bbr:5.3.4].

use units::{Span, Time};

/// `BBR.ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

/// A probe for the RTT. The controller decides how little in flight is little enough.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttProbe {
    low: Option<Low>,
}

/// The part of a probe in which little enough is in flight.
#[derive(Clone, Copy, Debug)]
struct Low {
    until: Time,
    /// True once a round has begun in this part.
    round: bool,
}

/// The effect of an acknowledgement on a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Waits,
    /// Little enough is in flight: the round that counts begins.
    Low,
    Over,
}

impl RttProbe {
    /// Takes an acknowledgement at `now`, which may find little enough in flight or begin a round.
    pub(crate) fn on_ack(&mut self, now: Time, is_low: bool, round_started: bool) -> Progress {
        match &mut self.low {
            None if is_low => {
                self.low = Some(Low { until: now + DURATION, round: false });
                Progress::Low
            }
            None => Progress::Waits,
            Some(low) => {
                low.round |= round_started;
                if low.round && now > low.until { Progress::Over } else { Progress::Waits }
            }
        }
    }
}
