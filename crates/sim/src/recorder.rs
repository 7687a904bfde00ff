//! Recorders watch a run at fixed intervals; a run without one pays nothing.

use link::LinkState;
use std::ops::ControlFlow;
use units::{Bytes, Span, Time};

/// One flow at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Payload received in order since the start.
    pub delivered: Bytes,
    /// RFC 6298's smoothed round-trip time, once there is a sample.
    pub smoothed_rtt: Option<Span>,
    /// The send window: the least of congestion window and socket buffers.
    pub window: Bytes,
}

/// Events between two questions after memory: some milliseconds.
pub(crate) const WEIGHED_EVERY: u64 = 1 << 14;

/// Watches a run.
pub trait Recorder {
    /// How often to look; `None`: never.
    fn interval(&self) -> Option<Span>;
    /// The tight link at `at`, then the flows.
    fn link(&mut self, at: Time, state: &LinkState);
    /// The first flow to show at `at`, of those with the number `from` or a higher one; every flow unless this says
    /// otherwise. A flow that is not shown costs nothing.
    fn next_flow(&self, at: Time, from: usize) -> usize {
        let _ = at;
        from
    }
    /// Flow number `index` of the plan at `at`.
    fn flow(&mut self, at: Time, index: usize, view: &FlowView);
    /// Whether to be shown what controllers measure.
    fn wants_measures(&self) -> bool {
        false
    }
    /// What the controller of flow number `index` has measured at `at`: one quantity, by its name.
    fn measure(&mut self, at: Time, index: usize, name: &'static str, value: f64) {
        let _ = (at, index, name, value);
    }
    /// The limit of the watched queue at `at`, if it moves, in packets.
    fn moving_limit(&mut self, at: Time, packets: u64) {
        let _ = (at, packets);
    }
    /// How often, in simulated time, to tell how far the run is; `None`: never. It changes nothing about the run,
    /// unless [`Recorder::reached`] ends it.
    fn pulse(&self) -> Option<Span> {
        None
    }
    /// Returns true if the run takes more memory than it may, which ends it. The simulator asks every 16 384 events.
    fn is_too_large(&mut self) -> bool {
        false
    }
    /// The run is at `at`. [`ControlFlow::Break`] ends it there.
    fn reached(&mut self, at: Time) -> ControlFlow<()> {
        let _ = at;
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn interval(&self) -> Option<Span> {
        None
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
}
