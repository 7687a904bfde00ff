//! A window that never moves: the socket buffers alone limit the data in flight.

use crate::{Ack, Allowance, CcState, Congestion, CongestionControl, Phase};
use units::Bytes;

/// No congestion control: the receive window or send buffer is the window. It serves to validate closed forms.
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
