//! Controls that routers assist: the senders of XCP and RCP. The router side is in the crate `link`.

use crate::in_flight::InFlight;
use crate::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, Phase, RouterHeader, Start,
};
use units::{Bytes, Rate, Span};

/// The largest window in bytes: far beyond any path, and far below numeric limits.
const MOST: f64 = 1e15;
/// The ratio of RCP's window to the data that its rate has in flight: above one, so that the rate is the limit `[D]`.
const ROOM: f64 = 2.0;

/// XCP's sender: the window moves by the routers' feedback [katabi:sigcomm02, 3.2]. Losses, which the routers avoid,
/// halve it.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    segment: Bytes,
    /// The least and the largest window, bytes.
    bounds: (f64, f64),
    /// The window in bytes, with fractions.
    window: f64,
    /// The window, rounded down to whole bytes.
    bytes: Bytes,
    before: f64,
    rtt: Option<Span>,
    /// True if the last acknowledgement found the window in use.
    limited: bool,
}

impl Xcp {
    /// Creates a controller at its start.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let (segment, bytes) = (start.segment, start.segment);
        let least = segment.get() as f64;
        let bounds = (least, MOST.max(least));
        let mut own = Self { segment, bounds, window: 0.0, bytes, before: 0.0, rtt: None, limited: true };
        own.set(start.window.get() as f64);
        own.before = own.window;
        own
    }

    fn set(&mut self, window: f64) {
        self.window = window.clamp(self.bounds.0, self.bounds.1);
        self.bytes = Bytes::new(self.window as u64).max(self.segment);
    }
}

impl CongestionControl for Xcp {
    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = (ack.rtt.smoothed > Span::ZERO).then_some(ack.rtt.smoothed);
        self.limited = ack.window_limited;
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.kind != CongestionKind::PersistentLoss {
            self.before = self.window;
        }
        self.set(match event.kind {
            CongestionKind::Loss | CongestionKind::EcnMark => self.window / 2.0,
            CongestionKind::Timeout | CongestionKind::PersistentLoss => 0.0,
        });
    }

    fn on_spurious(&mut self) {
        self.set(self.before);
    }

    fn assist(&self) -> Option<&'static str> {
        Some("xcp")
    }

    fn header(&self) -> RouterHeader {
        RouterHeader { window: self.bytes, rtt: self.rtt, feedback: f64::INFINITY }
    }

    /// Applies `cwnd = max(cwnd + H_feedback, s)`; a window that is not in use does not grow.
    fn on_feedback(&mut self, feedback: f64) {
        if feedback.is_finite() && (self.limited || feedback < 0.0) {
            self.set(self.window + feedback);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.bytes, pacing: None }
    }

    fn state(&self) -> CcState {
        CcState { phase: Phase::Avoidance, window: self.allowance().window, threshold: None }
    }
}

/// RCP's sender: it sends at the rate that the routers name, from their first answer on.
#[derive(Clone, Copy, Debug)]
pub struct Rcp {
    least_window: Bytes,
    /// The routers' rate in bytes/s; infinite until a router has answered.
    rate: f64,
    /// The routers' rate as a pace; zero until a router has answered.
    pace: Rate,
    /// The routers' rate as data in flight; zero until a router has answered.
    in_flight: InFlight,
    /// The smoothed round-trip time; zero before the first sample.
    rtt: Span,
    window: Bytes,
    pacing: Option<Rate>,
}

impl Rcp {
    /// Creates a controller at its start; until a router has answered, it has the window of `start`.
    #[must_use]
    pub fn new(start: Start) -> Self {
        let window = start.window.max(start.segment);
        let (rate, pace, in_flight) = (f64::INFINITY, Rate::ZERO, InFlight::default());
        let least_window = start.segment * 2;
        Self { least_window, window, rate, pace, in_flight, rtt: Span::ZERO, pacing: None }
    }

    /// Computes the window from the rate and the round-trip time, once both are known.
    #[inline]
    fn resize(&mut self) {
        if self.pace > Rate::ZERO && self.rtt > Span::ZERO {
            self.window = self.in_flight.over(self.rtt).max(self.least_window);
            self.pacing = Some(self.pace);
        }
    }

    /// Adopts a new rate of the routers; seldom called, because a rate holds for many packets.
    #[inline(never)]
    fn adopt(&mut self, rate: f64) {
        if rate.is_finite() {
            self.rate = rate.clamp(1.0, MOST);
            self.pace = Rate::from_bps_f64(8.0 * self.rate);
            self.in_flight = InFlight::at(ROOM * self.rate);
            self.resize();
        }
    }
}

impl CongestionControl for Rcp {
    fn on_ack(&mut self, ack: &Ack) {
        self.rtt = ack.rtt.smoothed;
        self.resize();
    }

    /// Does nothing: lost data are sent again, and only the routers lower the rate.
    fn on_congestion(&mut self, _event: &Congestion) {}

    fn assist(&self) -> Option<&'static str> {
        Some("rcp")
    }

    fn header(&self) -> RouterHeader {
        let rtt = (self.rtt > Span::ZERO).then_some(self.rtt);
        RouterHeader { window: self.window, rtt, feedback: f64::INFINITY }
    }

    fn on_feedback(&mut self, feedback: f64) {
        if feedback != self.rate {
            self.adopt(feedback);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: self.pacing }
    }

    fn state(&self) -> CcState {
        CcState { phase: Phase::Avoidance, window: self.allowance().window, threshold: None }
    }

    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("granted_bytes_per_s", if self.rate.is_finite() { self.rate } else { 0.0 });
    }
}
