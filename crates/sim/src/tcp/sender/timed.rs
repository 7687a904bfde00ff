//! The state of RACK-TLP, which the options drive.

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
