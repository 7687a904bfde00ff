//! A sender as recorders and reports see it.

use super::Sender;
use units::{Bytes, Span};

impl Sender {
    /// Returns how often the retransmission timer has expired.
    pub(crate) fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Returns the controller's slow-start threshold, if it has one.
    pub(crate) fn threshold(&self) -> Option<Bytes> {
        self.control.state().threshold.filter(|threshold| *threshold < Bytes::MAX)
    }

    /// Returns the smoothed round-trip time of RFC 6298, once there is a sample.
    pub(crate) fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.smoothed()
    }

    /// Shows what the controller has measured.
    pub(crate) fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.control.measures(show);
    }

    /// Returns the send window: the least of congestion window and socket buffers.
    pub(crate) fn send_window(&self) -> Bytes {
        Bytes::new(self.window.min(self.buffer_segments.saturating_mul(self.payload)))
    }

    /// Returns the congestion window, in segments.
    #[cfg(test)]
    pub(in crate::tcp) fn window_segments(&self) -> u64 {
        self.window / self.payload
    }

    #[cfg(test)]
    pub(in crate::tcp) fn pipe(&self) -> u64 {
        self.board.pipe()
    }
}
