//! What the decisions of SOBAS hang on, each with its source or reason. `docs/papers/sobas.md` has what each is worth
//! on paths that nobody looked at while they were chosen.

use units::{Span, Time};

/// The parameters of SOBAS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Goodput samples are nearly equal when their spread is within this share of their median (the source says
    /// "almost equal").
    pub nearly_equal: f64,
    /// The standing queue that S aims at: this share of the base RTT, at least 1 ms and two packets. With none the
    /// link idles between the bursts of others; what is more is our own delay.
    pub aim: f64,
    /// There is some queue when the least RTT of a round trip has risen by this share, at least 0.3 ms and a packet.
    pub hint: f64,
    /// The rate has dropped when a sample is below this share of the nearly equal ones before.
    pub dropped: f64,
    /// While it ramps up, a window grows by this share of what is delivered: 0.28 is x1.25 per round trip. A slow
    /// start sends two segments for one, and half of its window queues; here it is a fifth.
    pub ramp: f64,
    /// The same with S decided, while nothing waits.
    pub explore: f64,
    /// So many losses without a queue within 20 s are not ours: the path is congested.
    pub losses: f64,
    /// Seconds after which the transfer is decided on again [sobas:IV], and 50 round trips.
    pub segment: f64,
    /// R is all of C' from this share on: nothing else is on the path, and the sender is paced at C'.
    pub all: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            nearly_equal: 0.05,
            aim: 0.05,
            hint: 0.015,
            dropped: 0.7,
            ramp: 0.28,
            explore: 1.0 / 64.0,
            losses: 3.0,
            segment: 2.0,
            all: 0.93,
        }
    }
}

/// The time after which one loss is forgiven.
pub(super) const LOSS_MEMORY: Span = Span::from_secs(20);
/// A base RTT that a receiver's kernel tells may be too small by this: it counts in milliseconds.
pub(crate) const CLOCK_STEP: Span = Span::from_millis(1);

impl Parameters {
    /// The standing queue that S aims at, where a packet takes `packet`. 1 ms is more than hosts add.
    pub(crate) fn aim(&self, base: Span, packet: Span) -> Span {
        base.scale(self.aim).max(Span::from_millis(1)).max(packet * 2)
    }

    /// From when on there is some queue. Kernel time stamps are good to 0.1 ms on a busy host.
    pub(super) fn hint(&self, base: Span, packet: Span) -> Span {
        base.scale(self.hint).max(Span::from_micros(300)).max(packet)
    }

    /// When a segment of the transfer that begins at `now` ends, after so many doublings.
    pub(super) fn segment_end(&self, now: Time, base: Span, doublings: u32) -> Time {
        now + Span::from_secs_f64(self.segment).max(base * 50) * (1 << doublings.min(4))
    }
}
