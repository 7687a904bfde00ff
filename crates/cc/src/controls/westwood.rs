//! Westwood+: Reno's growth; a loss leaves the window that the path carries at the rate of the acknowledgements.

use super::Reno;
use crate::growth::Growth;
use crate::{Ack, Congestion, CongestionKind};
use units::{Bytes, Span, Time};

/// The weight of a new sample in the filter [westwood+:2].
const WEIGHT: f64 = 0.1;

/// L. A. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
/// control", 2004. Bandwidth is sampled once per round trip, which is the meaning of the "+". The samples of the first
/// Westwood, per acknowledgement, were too high where acknowledgements come in bunches.
#[derive(Clone, Copy, Debug)]
pub struct Westwood {
    reno: Reno,
    /// Bytes acknowledged since `since`, the start of the current sample.
    acked: Bytes,
    since: Option<Time>,
    /// The filtered bandwidth, bytes/s.
    bandwidth: Option<f64>,
    least_rtt: Span,
}

impl Westwood {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        let reno = Reno::new(segment);
        Self { reno, acked: Bytes::ZERO, since: None, bandwidth: None, least_rtt: Span::ZERO }
    }

    /// Returns the filtered rate of acknowledgement, bytes/s, once a round trip has been sampled: BWE [westwood+:2].
    #[must_use]
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    /// Returns the window that fills the path at that rate without a queue: BWE x RTTmin [westwood+:2].
    #[must_use]
    pub fn eligible(&self) -> Option<Bytes> {
        self.bandwidth.map(|rate| Bytes::new((rate * self.least_rtt.as_secs_f64()) as u64))
    }
}

impl Growth for Westwood {
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        self.reno.increase(ack, counted, window)
    }

    #[inline]
    fn observe(&mut self, ack: &Ack, _window: Bytes) -> Option<Bytes> {
        self.least_rtt = ack.rtt.min;
        let Some(since) = self.since else {
            // The first acknowledgement covers data sent before the clock ran.
            self.since = Some(ack.now);
            return None;
        };
        self.acked += ack.acked;
        let interval = ack.now.since(since);
        if interval > Span::ZERO && interval >= ack.rtt.smoothed {
            let sample = self.acked.get() as f64 / interval.as_secs_f64();
            self.bandwidth = Some(self.bandwidth.map_or(sample, |old| old + WEIGHT * (sample - old)));
            self.acked = Bytes::ZERO;
            self.since = Some(ack.now);
        }
        None
    }

    /// Returns the eligible window, or half the flight before the first sample. A loss never raises the window; after a
    /// timeout the threshold may be above it.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let half = self.reno.threshold_after(event, window);
        match self.eligible() {
            None => half,
            Some(eligible) if event.kind == CongestionKind::Timeout => eligible,
            Some(eligible) => eligible.min(window),
        }
    }
}
