//! The rise of BBR v3's long-term bound while it probes upwards: by a segment, then two, four, … per round
//! [draft-ietf-ccwg-bbr:5.3.3.6].

use super::window::Window;

/// The largest number of doublings of the rate.
const MOST_DOUBLINGS: u32 = 30;

/// The rise of the long-term bound. Amounts are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    doublings: u32,
    /// Bytes delivered since the last rise of the bound.
    acked: f64,
    acked_per_segment: f64,
}

impl Rise {
    /// Creates a rise by one segment per delivered window.
    pub(super) fn new(window: &Window) -> Self {
        let mut own = Self { doublings: 0, acked: 0.0, acked_per_segment: f64::INFINITY };
        own.steepen(window);
        own
    }

    /// Doubles the number of segments by which the bound rises in a round, `RaiseInflightLongtermSlope`; the first call
    /// sets it to one.
    pub(super) fn steepen(&mut self, window: &Window) {
        let growth = (1u64 << self.doublings) as f64;
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.acked_per_segment = (window.size() / growth).max(window.segment());
    }

    /// Takes `newly` delivered bytes; returns the number of segments by which the bound rises.
    pub(super) fn on_delivered(&mut self, newly: f64) -> f64 {
        self.acked += newly;
        let segments = (self.acked / self.acked_per_segment).floor();
        self.acked -= segments * self.acked_per_segment;
        segments
    }
}
