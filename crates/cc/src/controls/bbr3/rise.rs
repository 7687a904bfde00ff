//! How BBR v3's long-term bound rises while it probes upwards: by a segment, then two, four, … per round
//! [draft-ietf-ccwg-bbr:5.3.3.6].

use super::window::Window;

/// The rate doubles no more often than this.
const MOST_DOUBLINGS: u32 = 30;

/// How fast the bound rises. Bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    doublings: u32,
    /// Delivered since the bound has risen last.
    acked: f64,
    acked_per_segment: f64,
}

impl Rise {
    /// A segment per window that is delivered.
    pub(super) fn new(window: &Window) -> Self {
        let mut own = Self { doublings: 0, acked: 0.0, acked_per_segment: f64::INFINITY };
        own.steepen(window);
        own
    }

    /// `RaiseInflightLongtermSlope`: twice as fast from here on.
    pub(super) fn steepen(&mut self, window: &Window) {
        let growth = (1u64 << self.doublings) as f64;
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.acked_per_segment = (window.size() / growth).max(window.segment());
    }

    /// `newly` bytes were delivered: how many segments the bound rises by.
    pub(super) fn on_delivered(&mut self, newly: f64) -> f64 {
        self.acked += newly;
        let segments = (self.acked / self.acked_per_segment).floor();
        self.acked -= segments * self.acked_per_segment;
        segments
    }
}
