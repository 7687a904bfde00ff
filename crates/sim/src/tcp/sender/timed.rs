//! The state of RACK-TLP, which the options drive, and its part in timeouts and probes.

use super::{Sender, Transmission};
use crate::tcp::rack::Rack;
use crate::tcp::tlp::Tlp;
use units::{Span, Time};

/// Detection of losses by time.
#[derive(Debug)]
pub(super) struct TimedDetection {
    pub(super) rack: Rack,
    pub(super) tail: Tlp,
    /// The time at which the window last came down.
    pub(super) reduced: Time,
    /// The round-trip time of the first segment, of those sent once, that the acknowledgement at hand reports
    /// selectively.
    pub(super) sample: Option<Span>,
    /// The segment that a probe of the tail last sent again, and the time at which it first left.
    pub(super) probed: (u64, Time),
}

impl TimedDetection {
    /// Returns the time at which the outstanding `segment` first left. Outside recovery only a probe may have sent it
    /// again.
    #[inline]
    pub(super) fn first_left(&self, segment: u64) -> Time {
        if segment == self.probed.0 { self.probed.1 } else { self.rack.sent_at(segment) }
    }
}

impl Default for TimedDetection {
    fn default() -> Self {
        Self {
            rack: Rack::default(),
            tail: Tlp::default(),
            reduced: Time::ZERO,
            sample: None,
            probed: (u64::MAX, Time::ZERO),
        }
    }
}

impl Sender {
    /// Marks the segments that the retransmission timer shows to be lost.
    pub(super) fn lose_timed_out(&mut self, now: Time) {
        let smoothed = self.rtt.smoothed();
        let Some(timed) = self.options.as_mut().and_then(|options| options.rack.as_mut()) else { return };
        let window = timed.rack.window(&self.board, false, smoothed);
        timed.rack.lose_timed_out(now, &mut self.board, window);
        timed.tail.disarm();
    }

    /// Returns a probe of the tail: new data if there are any, else the last segment again [rfc8985:7.3].
    pub(super) fn transmit_probe(&mut self) -> Option<Transmission> {
        if self.may_send_new() {
            return Some(Transmission { segment: self.board.send_next(), again: false });
        }
        self.board.rescue().map(|segment| Transmission { segment, again: true })
    }
}
