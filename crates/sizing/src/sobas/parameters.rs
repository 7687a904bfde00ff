//! The parameters of SOBAS's decisions, each with its source or reason. `docs/papers/sobas.md` shows the effect of each
//! on paths that were not used to choose them.

use units::{Span, Time};

/// The parameters of SOBAS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The share of their median within which the spread of nearly equal goodput samples lies (the source says "almost
    /// equal").
    pub nearly_equal: f64,
    /// The standing queue that S aims at: this share of the base RTT, at least 1 ms and two packets. Without a queue
    /// the link idles between the bursts of others; a longer one is only delay that we cause.
    pub aim: f64,
    /// The share by which the least RTT of a round trip has to rise to show a queue, at least 0.3 ms and a packet.
    pub hint: f64,
    /// The share of the preceding, nearly equal samples below which a sample is a drop of the rate.
    pub dropped: f64,
    /// The share of the delivered data by which a ramping window grows: 0.28 is x1.25 per round trip. A slow start
    /// sends two segments for one, and half of its window queues; here it is a fifth.
    pub ramp: f64,
    /// The same share once S is decided, while no data waits.
    pub explore: f64,
    /// The number of losses without a queue, within 20 s, that shows that the path is congested and the losses are not
    /// ours.
    pub losses: f64,
    /// The seconds after which the transfer is decided on again [sobas:IV], or 50 round trips if that is longer.
    pub segment: f64,
    /// The least share of C' at which R counts as all of C'. In that case the path has no other traffic, and the sender
    /// is paced at C'.
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
/// The error of a base RTT from a receiver's kernel, which counts in milliseconds: it may be too small by this.
pub(crate) const CLOCK_STEP: Span = Span::from_millis(1);

impl Parameters {
    /// Returns the standing queue that S aims at, if a packet takes `packet`. It is at least two packets and at least
    /// 1 ms, because hosts add less than that to an RTT.
    pub(crate) fn aim(&self, base: Span, packet: Span) -> Span {
        base.scale(self.aim).max(Span::from_millis(1)).max(packet * 2)
    }

    /// Returns the least wait that shows a queue. Kernel time stamps are good to 0.1 ms on a busy host.
    pub(super) fn hint(&self, base: Span, packet: Span) -> Span {
        base.scale(self.hint).max(Span::from_micros(300)).max(packet)
    }

    /// Returns the end of a segment of the transfer that begins at `now`, after this number of doublings.
    pub(super) fn segment_end(&self, now: Time, base: Span, doublings: u32) -> Time {
        now + Span::from_secs_f64(self.segment).max(base * 50) * (1 << doublings.min(4))
    }
}
