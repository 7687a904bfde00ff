//! Westwood+: Reno's growth; a loss leaves what the acknowledgements say the path carries.

use super::Reno;
use crate::growth::Growth;
use crate::{Ack, Congestion, CongestionKind};
use units::{Bytes, Span, Time};

/// What a new sample weighs in the filter [westwood+:2].
const WEIGHT: f64 = 0.1;

/// L. A. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
/// control", 2004. Bandwidth is sampled once per round trip, and the "+" stands for that. The samples of the first
/// Westwood, per acknowledgement, were too high where acknowledgements come in bunches.
#[derive(Clone, Copy, Debug)]
pub struct Westwood {
    reno: Reno,
    /// Acknowledged since `since`, when the sample under way began.
    acked: Bytes,
    since: Option<Time>,
    /// Filtered, bytes/s.
    bandwidth: Option<f64>,
    least_rtt: Span,
}

impl Westwood {
    /// For segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        let reno = Reno::new(segment);
        Self { reno, acked: Bytes::ZERO, since: None, bandwidth: None, least_rtt: Span::ZERO }
    }

    /// The filtered rate of acknowledgement, bytes/s, once a round trip has been sampled: BWE [westwood+:2].
    #[must_use]
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    /// The window that fills the path at that rate without a queue: BWE x RTTmin [westwood+:2].
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
            // What the first acknowledgement covers was sent before the clock ran.
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

    /// The eligible window, half the flight before there is a sample. A loss never raises the window; after a timeout
    /// the threshold may be above it.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let half = self.reno.threshold_after(event, window);
        match self.eligible() {
            None => half,
            Some(eligible) if event.kind == CongestionKind::Timeout => eligible,
            Some(eligible) => eligible.min(window),
        }
    }
}
