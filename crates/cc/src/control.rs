//! The trait every controller implements, and the events a transport gives it.

use std::fmt::Debug;
use units::{Bytes, Rate, Span, Time};

/// What the round-trip time looks like to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttView {
    /// The sample this acknowledgement gave, if it gave one.
    pub latest: Option<Span>,
    /// RFC 6298's smoothed RTT.
    pub smoothed: Span,
    /// The least sample so far.
    pub min: Span,
}

/// How fast data were delivered while the acknowledged segment was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Data delivered in the interval.
    pub delivered: Bytes,
    /// Length of the interval.
    pub interval: Span,
    /// The application, not the network, limited the rate.
    pub application_limited: bool,
}

/// One acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Payload newly acknowledged, cumulatively.
    pub acked: Bytes,
    /// When the newest segment it acknowledges was sent.
    pub newest_sent: Time,
    /// Payload in flight after it.
    pub in_flight: Bytes,
    /// The round-trip time.
    pub rtt: RttView,
    /// Delivery rate, where the transport measures it.
    pub rate: Option<RateSample>,
    /// The controller's window, not the receive window or the application, was the limit.
    pub window_limited: bool,
    /// Fast recovery is under way: a loss-based window holds still.
    pub recovering: bool,
    /// Round trips since the start.
    pub round: u64,
}

/// Why the sender believes the path is congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CongestionKind {
    /// Losses found by duplicate or selective acknowledgements: once per recovery episode.
    Loss,
    /// A congestion-experienced mark: once per round trip.
    EcnMark,
    /// The retransmission timer expired for a segment it had not been sent again for.
    Timeout,
    /// The timer expired again for the same segment.
    PersistentLoss,
}

/// One sign of congestion; at most one per recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// When the sender knew.
    pub now: Time,
    /// What kind of sign.
    pub kind: CongestionKind,
    /// Payload known to be lost so far.
    pub lost: Bytes,
    /// Payload outstanding just before: sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub in_flight: Bytes,
}

/// What the transport may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// At most this much payload in flight; never below one segment.
    pub window: Bytes,
    /// Send no faster than this; `None`: as acknowledgements come.
    pub pacing: Option<Rate>,
}

/// Where a controller stands, for traces and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Doubling per round trip.
    SlowStart,
    /// Probing gently.
    Avoidance,
    /// The window does not move.
    Fixed,
}

/// A controller's insides, as far as traces and tests look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcState {
    /// Where it stands.
    pub phase: Phase,
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold, where the controller has one.
    pub threshold: Option<Bytes>,
}

/// A congestion controller.
pub trait CongestionControl: Send + Debug {
    /// Payload was sent.
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        let _ = (now, bytes, in_flight);
    }
    /// New data were acknowledged.
    fn on_ack(&mut self, ack: &Ack);
    /// The path shows congestion.
    fn on_congestion(&mut self, event: &Congestion);
    /// The last congestion event was a false alarm: undo it.
    fn on_spurious(&mut self) {}
    /// How much may be in flight, how fast.
    fn allowance(&self) -> Allowance;
    /// For traces and tests.
    fn state(&self) -> CcState;
}
