//! A sender as recorders and reports see it.

use super::{Episode, Sender};
use crate::watched::{AckView, SenderState};
use cc::Phase;
use units::{Bytes, Rate, Span, Time};

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

    /// Returns the state in which the acknowledgement that came `at` has left the sender of flow number `flow`.
    pub(crate) fn ack_view(&self, at: Time, flow: usize, rtt: Option<Span>) -> AckView {
        let state = self.control.state();
        let bytes = |segments: u64| Bytes::new(segments.saturating_mul(self.payload));
        AckView {
            at,
            flow,
            sent: bytes(self.board.next()),
            acked: bytes(self.board.una()),
            delivered: bytes(self.board.una() + self.board.sacked()),
            window: Bytes::new(self.window),
            threshold: self.threshold(),
            pacing: self.pacing.pacer.asked_gap().and_then(|gap| self.pace_of(gap)),
            rtt,
            smoothed_rtt: self.smoothed_rtt(),
            in_flight: bytes(self.board.pipe()),
            state: match (self.episode, state.phase) {
                (Episode::FastRecovery { .. }, _) => SenderState::Recovery,
                (Episode::Timeout { .. }, _) => SenderState::Loss,
                (_, Phase::SlowStart) => SenderState::SlowStart,
                (_, Phase::Avoidance | Phase::Drain | Phase::ProbeRtt | Phase::Fixed) => {
                    SenderState::Avoidance
                }
            },
        }
    }

    /// Returns the rate at which segments leave that are `gap` apart.
    fn pace_of(&self, gap: Span) -> Option<Rate> {
        (gap > Span::ZERO).then(|| Rate::of(Bytes::new(self.payload), gap))
    }

    /// Returns true if the connection has selective acknowledgements.
    pub(crate) fn reads_blocks(&self) -> bool {
        self.sack
    }

    /// Returns true if segments carry time stamps.
    pub(crate) fn carries_timestamps(&self) -> bool {
        self.timestamps
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
