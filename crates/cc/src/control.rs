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

/// How fast data were delivered while the acknowledged segment was under way
/// [draft-cheng-iccrg-delivery-rate-estimation], and what was lost meanwhile [draft-ietf-ccwg-bbr].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Data delivered in the interval.
    pub delivered: Bytes,
    /// Length of the interval; zero if it is too short to say anything.
    pub interval: Span,
    /// The application, not the network, limited the rate.
    pub application_limited: bool,
    /// Delivered since the start, as the acknowledged segment was sent (`P.delivered`).
    pub delivered_before: Bytes,
    /// Delivered since the start (`C.delivered`).
    pub delivered_total: Bytes,
    /// Delivered by this acknowledgement, cumulatively or selectively.
    pub newly_delivered: Bytes,
    /// Found lost by it.
    pub newly_lost: Bytes,
    /// Found lost since the acknowledged segment was sent.
    pub lost: Bytes,
    /// In flight as the acknowledged segment was sent, itself included.
    pub sent_in_flight: Bytes,
}

impl RateSample {
    /// The rate; `None` if the interval is too short to say.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        (self.interval > Span::ZERO).then(|| Rate::of(self.delivered, self.interval))
    }

    /// Whether there is a [`rate`](RateSample::rate) below `rate`, without the division that computes it.
    #[must_use]
    #[inline]
    pub fn falls_short_of(&self, rate: Rate) -> bool {
        let scaled = u128::from(self.delivered.get()) * 8_000_000_000;
        scaled < u128::from(rate.as_bps()) * u128::from(self.interval.as_nanos())
    }
}

/// A segment was found lost; only for a controller that [wants](Wants) rates or deliveries. What was in flight and lost
/// beside it is known only with rates, and else zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Its payload.
    pub size: Bytes,
    /// In flight as it was sent, itself included.
    pub sent_in_flight: Bytes,
    /// Found lost since it was sent, itself included.
    pub lost: Bytes,
}

/// What a controller needs of the transport beyond acknowledgements. Read once, as a flow starts; who wants nothing
/// costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Delivery rates: [`Ack::rate`], and what comes with [`Wants::deliveries`].
    pub rate: bool,
    /// Every delivery and every loss: acknowledgements that move nothing cumulatively, too, and
    /// [`CongestionControl::on_lost`].
    pub deliveries: bool,
    /// To place every departure itself: [`CongestionControl::gap_after`].
    pub departures: bool,
}

/// What a segment tells the routers on its way; only for a controller with an [assist](CongestionControl::assist).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterHeader {
    /// The congestion window.
    pub window: Bytes,
    /// The smoothed round-trip time, once there is one.
    pub rtt: Option<Span>,
    /// What is wished for, in the unit of the feedback: XCP's is bytes, RCP's bytes/s. Infinite: all there is.
    pub feedback: f64,
}

/// One acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Payload newly acknowledged, cumulatively. Where Linux counts it, of the acknowledgement that ends fast recovery:
    /// payload newly delivered.
    pub acked: Bytes,
    /// Payload newly delivered, cumulatively or selectively, where the controller [wants](Wants) deliveries or rates;
    /// else as [`Ack::acked`]. Without selective acknowledgements a duplicate is one segment, whichever, and its rate
    /// sample has no rate.
    pub delivered: Bytes,
    /// When the newest segment it acknowledges was sent.
    pub newest_sent: Time,
    /// Payload in flight after it.
    pub in_flight: Bytes,
    /// The round-trip time.
    pub rtt: RttView,
    /// Delivery rate, where the transport measures it and the controller [wants](Wants) it.
    pub rate: Option<RateSample>,
    /// The controller's window, not the receive window or the application, was the limit.
    pub window_limited: bool,
    /// The sender is paced: its segments leave over the round trip, and not with the acknowledgements.
    pub paced: bool,
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
    /// Sending less than arrives, to empty a queue of its own making.
    Drain,
    /// Sending next to nothing, to see the path without a queue.
    ProbeRtt,
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
    /// The connection is established, and the handshake took `rtt`. Not called where there was no handshake, or where its
    /// segment had to be sent again.
    fn on_established(&mut self, now: Time, rtt: Span) {
        let _ = (now, rtt);
    }
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
    /// A segment was found lost. Only if [`Wants::deliveries`] or [`Wants::rate`].
    fn on_lost(&mut self, lost: &LostSegment) {
        let _ = lost;
    }
    /// A segment leaves at `now`. How much later the next may leave; `None`: as the pacing rate has it. Only if
    /// [`Wants::departures`].
    fn gap_after(&mut self, now: Time) -> Option<Span> {
        let _ = now;
        None
    }
    /// The router's part it needs at every link, by its name in the registry of `link`.
    fn assist(&self) -> Option<&'static str> {
        None
    }
    /// What the segment that leaves now tells routers. Only with an [`assist`](CongestionControl::assist).
    fn header(&self) -> RouterHeader {
        let allowance = self.allowance();
        RouterHeader { window: allowance.window, rtt: None, feedback: f64::INFINITY }
    }
    /// Feedback that routers wrote into an earlier header. Called before the `on_ack` of the acknowledgement that
    /// carried it, and only with an [`assist`](CongestionControl::assist).
    fn on_feedback(&mut self, feedback: f64) {
        let _ = feedback;
    }
    /// What it needs beyond acknowledgements.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// Shows what it has measured, each quantity by its name, in SI units and packets; nothing if it measures nothing.
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let _ = show;
    }
    /// How much may be in flight, how fast.
    fn allowance(&self) -> Allowance;
    /// For traces and tests.
    fn state(&self) -> CcState;
}
