//! The rate at which Madison sends, as a pace and as data in flight.

use super::start_up::SPACING;
use crate::Allowance;
use crate::in_flight::InFlight;
use model::bottleneck::rate;
use units::{Bytes, Rate, Span};

/// The time beyond a smoothed RTT after which a requested acknowledgement counts as missing. The sender is then quiet
/// until the next acknowledgement comes [madison:4.3]. The paper does not give this time; here it is the longest mean
/// time between probes `[D]`.
const PATIENCE: Span = Span::from_millis(100);
/// The longest time between packets, seconds: no rate is lower `[D]`.
const SLOWEST: f64 = 1.0;

/// The rate, and the pace and the window that follow from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    segment: Bytes,
    /// The rate in packets per second (`S`).
    rate: f64,
    /// The rate as a pace.
    pace: Rate,
    /// The rate as data in flight.
    in_flight: InFlight,
    /// The window.
    window: Bytes,
}

impl Sending {
    pub(super) fn new(segment: Bytes) -> Self {
        Self { segment, rate: 0.0, pace: Rate::from_bps(1), in_flight: InFlight::default(), window: segment }
    }

    /// Returns the rate in packets per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the number of segments in `bytes`.
    #[inline]
    pub(super) fn segments(&self, bytes: Bytes) -> f64 {
        if bytes == self.segment { 1.0 } else { self.part_of_segment(bytes) }
    }

    #[cold]
    fn part_of_segment(&self, bytes: Bytes) -> f64 {
        bytes.get() as f64 / self.segment.get().max(1) as f64
    }

    /// Sets the rate to the `share` of a capacity of a packet per `service` seconds, over a path with that smoothed
    /// RTT.
    pub(super) fn set_share(&mut self, share: f64, service: f64, smoothed: Span) {
        // A window allows at least a segment per round trip.
        let least = 1.0 / smoothed.as_secs_f64().clamp(1e-6, SLOWEST);
        self.rate = rate(share, service).max(least).min(1.0 / service);
        self.pace = Rate::from_bps_f64(self.segment.bits_f64() * self.rate).max(Rate::from_bps(1));
        self.in_flight = InFlight::at(self.rate * self.segment.get() as f64);
    }

    /// Sets the window to the data sent until an acknowledgement counts as missing, plus two segments.
    #[inline]
    pub(super) fn resize(&mut self, smoothed: Span) {
        self.window = self.in_flight.over(smoothed + PATIENCE) + self.segment + self.segment;
    }

    /// Allows one segment, until an acknowledgement comes.
    pub(super) fn quiet(&mut self) {
        self.window = self.segment;
    }

    #[inline]
    pub(super) fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: Some(self.pace) }
    }

    /// Returns the allowance during start-up: a window of `segments`, and a pace of one segment per [`SPACING`] if
    /// anything `leaves`.
    #[cold]
    pub(super) fn first_allowance(&self, segments: u64, leaves: bool) -> Allowance {
        // The pace is only for information, because this controller sets the time of each departure.
        let spaced = Rate::from_bps_f64(self.segment.bits_f64() / SPACING).max(Rate::from_bps(1));
        Allowance { window: (self.segment * segments).max(self.segment), pacing: leaves.then_some(spaced) }
    }
}
