//! A window that never moves: what is in flight is set by the socket buffers alone.

use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, Phase};
use units::Bytes;

/// No congestion control: the receive window or send buffer is the window. For validating closed forms.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedWindow;

impl CongestionControl for FixedWindow {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _event: &Congestion) {}
    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::MAX, pacing: None }
    }
    fn state(&self) -> CcState {
        CcState { phase: Phase::Fixed, window: Bytes::MAX, threshold: None }
    }
}
