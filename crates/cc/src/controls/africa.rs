//! TCP-Africa: HighSpeed while the queue is short, Reno when it is not.

use super::{HighSpeed, Reno};
use crate::growth::Growth;
use crate::growth::share::segments;
use crate::{Ack, Congestion};
use units::Bytes;

/// Alpha: the number of its own segments in the queue at which the fast mode ends. The paper asks for a constant above
/// one; this value is our choice.
pub const ALPHA: f64 = 1.641;

/// R. King, R. Baraniuk, R. Riedi, "TCP-Africa: An Adaptive and Fair Rapid Increase Rule for Scalable TCP", 2005. As
/// Vegas does, it estimates that w (RTT - RTTmin) / RTT of its own segments wait at the bottleneck. Below [`ALPHA`]
/// window and losses follow [`HighSpeed`] (fast mode), else [`Reno`] (slow mode).
#[derive(Clone, Copy, Debug)]
pub struct Africa {
    segment: Bytes,
    highspeed: HighSpeed,
    reno: Reno,
    fast: bool,
}

impl Africa {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { segment, highspeed: HighSpeed::new(segment), reno: Reno::new(segment), fast: true }
    }
}

/// Returns the number of segments of a window of `window` that wait, from the smoothed and the least round-trip time.
fn queued(ack: &Ack, window: f64) -> f64 {
    let (rtt, least) = (ack.rtt.smoothed.as_secs_f64(), ack.rtt.min.as_secs_f64());
    if rtt > least { window * (rtt - least) / rtt } else { 0.0 }
}

impl Growth for Africa {
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.fast = queued(ack, segments(window, self.segment)) < ALPHA;
        if self.fast {
            self.highspeed.increase(ack, counted, window)
        } else {
            self.reno.increase(ack, counted, window)
        }
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let half = self.reno.threshold_after(event, window);
        let fast = self.highspeed.threshold_after(event, window);
        if self.fast { fast } else { half }
    }

    fn undo(&mut self) {
        self.highspeed.undo();
    }
}
