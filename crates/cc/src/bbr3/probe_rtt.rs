//! BBR v3's probing of the round-trip time: less in flight for a while, so that the queue empties
//! [draft-ietf-ccwg-bbr:5.3.4].

use super::amount;
use crate::Ack;
use units::{Span, Time};

/// `BBR.ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

/// A probe for the RTT.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeRtt {
    /// No more than this is in flight, bytes.
    window: f64,
    /// From when on no more than that was, and a round has begun since.
    holding: Option<Holding>,
}

#[derive(Clone, Copy, Debug)]
struct Holding {
    until: Time,
    round: bool,
}

/// What an acknowledgement does to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waits,
    /// No more than the window is in flight now: the round that counts begins.
    Holds,
    Over,
}

impl ProbeRtt {
    pub(super) fn new(window: f64) -> Self {
        Self { window, holding: None }
    }

    pub(super) fn window(&self) -> f64 {
        self.window
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, round_started: bool) -> Progress {
        match &mut self.holding {
            None if amount(ack.in_flight) <= self.window => {
                self.holding = Some(Holding { until: ack.now + DURATION, round: false });
                Progress::Holds
            }
            None => Progress::Waits,
            Some(holding) => {
                holding.round |= round_started;
                if holding.round && ack.now > holding.until { Progress::Over } else { Progress::Waits }
            }
        }
    }
}
