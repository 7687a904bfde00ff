//! Recorders watch a run at fixed intervals, and packet by packet if they ask for that; a run without one pays nothing.

use crate::watched::{AckView, PacketView, Watches};
use link::LinkState;
use std::ops::ControlFlow;
use units::{Bytes, Span, Time};

/// One flow at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Payload received in order since the start.
    pub delivered: Bytes,
    /// The smoothed round-trip time of RFC 6298, once there is a sample.
    pub smoothed_rtt: Option<Span>,
    /// The send window: the least of congestion window and socket buffers.
    pub window: Bytes,
}

/// The number of events between two checks of the memory: some milliseconds.
pub(crate) const WEIGHED_EVERY: u64 = 1 << 14;

/// An observer of a run.
pub trait Recorder {
    /// Returns the time between two looks; `None`: it never looks.
    fn interval(&self) -> Option<Span>;
    /// Takes the state of the tight link at `at`. Calls of [`Recorder::flow`] for the same time follow.
    fn link(&mut self, at: Time, state: &LinkState);
    /// Returns the first flow to show at `at` among those with the number `from` or a higher one; by default every flow
    /// is shown. A flow that is not shown costs nothing.
    fn next_flow(&self, at: Time, from: usize) -> usize {
        let _ = at;
        from
    }
    /// Takes the state of flow number `index` of the plan at `at`.
    fn flow(&mut self, at: Time, index: usize, view: &FlowView);
    /// Returns true if it wants the quantities that controllers measure.
    fn wants_measures(&self) -> bool {
        false
    }
    /// Takes one quantity that the controller of flow number `index` has measured at `at`, by its name.
    fn measure(&mut self, at: Time, index: usize, name: &'static str, value: f64) {
        let _ = (at, index, name, value);
    }
    /// Records the limit of the watched queue at `at`, in packets, if the limit moves.
    fn moving_limit(&mut self, at: Time, packets: u64) {
        let _ = (at, packets);
    }
    /// Returns the packets and acknowledgements to show. The simulation reads it once, before the run.
    fn watches(&self) -> Watches {
        Watches::default()
    }
    /// Takes an acknowledgement that reached a sender.
    fn acknowledged(&mut self, ack: &AckView) {
        let _ = ack;
    }
    /// Takes a packet, at an event of the time `now`. No packet that is shown later has a time before `now` less the
    /// longest base RTT.
    fn packet(&mut self, now: Time, packet: PacketView) {
        let _ = (now, packet);
    }
    /// Takes note that the flow number `index` begins a new connection at `at`, at an event of that time.
    fn connection(&mut self, at: Time, index: usize) {
        let _ = (at, index);
    }
    /// Returns the simulated time between two calls of [`Recorder::reached`]; `None`: no calls. A call can end the run
    /// but not change it otherwise.
    fn pulse(&self) -> Option<Span> {
        None
    }
    /// Returns true if the run takes more memory than it may, which ends it. The simulator asks every 16 384 events.
    fn is_too_large(&mut self) -> bool {
        false
    }
    /// Notes that the run is at `at`. [`ControlFlow::Break`] ends the run.
    fn reached(&mut self, at: Time) -> ControlFlow<()> {
        let _ = at;
        ControlFlow::Continue(())
    }
}

/// A recorder that records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn interval(&self) -> Option<Span> {
        None
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
}
