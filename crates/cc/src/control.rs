//! The trait every controller implements, and the events a transport gives it.

use std::fmt::Debug;
use units::{Bytes, Rate, Span, Time};

/// The round-trip time as the sender sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttView {
    /// The sample that this acknowledgement gave, if it gave one.
    pub latest: Option<Span>,
    /// RFC 6298's smoothed RTT.
    pub smoothed: Span,
    /// The smallest sample so far.
    pub min: Span,
}

/// The rate at which data were delivered while the acknowledged segment was under way
/// [draft-cheng-iccrg-delivery-rate-estimation], and the losses meanwhile [draft-ietf-ccwg-bbr].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Data delivered in the interval.
    pub delivered: Bytes,
    /// Length of the interval; zero if it is too short for a rate.
    pub interval: Span,
    /// True if the application, not the network, limited the rate.
    pub application_limited: bool,
    /// Data delivered between the start and the sending of the acknowledged segment (`P.delivered`).
    pub delivered_before: Bytes,
    /// Data delivered since the start (`C.delivered`).
    pub delivered_total: Bytes,
    /// Data delivered by this acknowledgement, cumulatively or selectively.
    pub newly_delivered: Bytes,
    /// Data found lost by this acknowledgement.
    pub newly_lost: Bytes,
    /// Data found lost since the acknowledged segment was sent.
    pub lost: Bytes,
    /// Data in flight when the acknowledged segment was sent, itself included.
    pub sent_in_flight: Bytes,
}

impl RateSample {
    /// Returns the rate; `None` if the interval is too short for one.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        (self.interval > Span::ZERO).then(|| Rate::of(self.delivered, self.interval))
    }

    /// Returns true if there is a [`rate`](RateSample::rate) below `rate`; avoids the division that computes the
    /// former.
    #[must_use]
    #[inline]
    pub fn falls_short_of(&self, rate: Rate) -> bool {
        let scaled = u128::from(self.delivered.get()) * 8_000_000_000;
        scaled < u128::from(rate.as_bps()) * u128::from(self.interval.as_nanos())
    }
}

/// A segment that was found lost; only for a controller that [wants](Wants) rates or deliveries. The other two amounts
/// are zero for a controller that does not want rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Its payload.
    pub size: Bytes,
    /// Data in flight when it was sent, itself included.
    pub sent_in_flight: Bytes,
    /// Data found lost since it was sent, itself included.
    pub lost: Bytes,
}

/// The information that a controller needs of the transport beyond acknowledgements. It is read once, at the start of a
/// flow; a controller that wants nothing costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Delivery rates: [`Ack::rate`], and all that comes with [`Wants::deliveries`].
    pub rate: bool,
    /// Every delivery and every loss: calls of [`CongestionControl::on_lost`], and of [`CongestionControl::on_ack`]
    /// also for acknowledgements that acknowledge nothing cumulatively.
    pub deliveries: bool,
    /// Control over the time of every departure: [`CongestionControl::gap_after`].
    pub departures: bool,
    /// The share of marked data: calls of [`CongestionControl::on_marks`]. The control only works on a connection with
    /// ECN.
    pub marks: bool,
    /// ECT(1) on data packets, which tells queues that the controller is scalable [rfc9331:4.1].
    pub scalable: bool,
}

/// The data that one acknowledgement reports as delivered, and the marked part of them; only for a controller that
/// [wants](Wants) marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The time at which the acknowledgement arrived.
    pub now: Time,
    /// Payload newly delivered, cumulatively or selectively.
    pub delivered: Bytes,
    /// The part of it that arrived with a congestion-experienced mark.
    pub marked: Bytes,
    /// True if a round trip ends with this acknowledgement: it covers data sent after the last one ended.
    pub round_ends: bool,
}

/// The header by which a segment informs the routers on its way; only for a controller with an
/// [assist](CongestionControl::assist).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterHeader {
    /// The congestion window.
    pub window: Bytes,
    /// The smoothed round-trip time, once there is one.
    pub rtt: Option<Span>,
    /// The feedback that the sender wishes for, in the unit of the feedback: XCP's is bytes, RCP's bytes/s. Infinite
    /// for as much as possible.
    pub feedback: f64,
}

/// One acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The time at which it arrived.
    pub now: Time,
    /// Payload newly acknowledged, cumulatively. Linux's rules make one exception: the acknowledgement that ends fast
    /// recovery counts for the payload newly delivered, cumulatively or selectively.
    pub acked: Bytes,
    /// Payload newly delivered, cumulatively or selectively, where the controller [wants](Wants) deliveries or rates;
    /// else equal to [`Ack::acked`]. Without selective acknowledgements a duplicate counts for one segment of unknown
    /// identity, and its rate sample has no rate.
    pub delivered: Bytes,
    /// The time at which the newest segment that it acknowledges was sent.
    pub newest_sent: Time,
    /// Payload in flight after this acknowledgement.
    pub in_flight: Bytes,
    /// The round-trip time.
    pub rtt: RttView,
    /// Delivery rate, where the transport measures it and the controller [wants](Wants) it.
    pub rate: Option<RateSample>,
    /// True if the controller's window, not the receive window or the application, was the limit.
    pub window_limited: bool,
    /// True if the sender is paced: its segments leave over the round trip, and not with the acknowledgements.
    pub paced: bool,
    /// True during fast recovery: a loss-based window holds still.
    pub recovering: bool,
    /// Round trips since the start.
    pub round: u64,
}

/// The reason why the sender believes that the path is congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CongestionKind {
    /// Losses found by duplicate or selective acknowledgements; reported once per recovery episode.
    Loss,
    /// A congestion-experienced mark; reported once per round trip. [`CongestionControl::on_marks`] has the share.
    EcnMark,
    /// The first expiry of the retransmission timer for a segment.
    Timeout,
    /// A further expiry of the timer for the same segment.
    PersistentLoss,
}

/// One sign of congestion; at most one per recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// The time at which the sender detected it.
    pub now: Time,
    /// The kind of sign.
    pub kind: CongestionKind,
    /// Payload known to be lost so far.
    pub lost: Bytes,
    /// Payload outstanding just before: sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub in_flight: Bytes,
}

/// The limits within which the transport may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The most payload that may be in flight; never below one segment.
    pub window: Bytes,
    /// The highest sending rate; `None` if segments leave as acknowledgements come.
    pub pacing: Option<Rate>,
}

/// A controller's phase, for traces and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The window doubles per round trip.
    SlowStart,
    /// The window probes gently.
    Avoidance,
    /// The sender sends less than arrives, to empty a queue of its own making.
    Drain,
    /// The sender sends next to nothing, to see the path without a queue.
    ProbeRtt,
    /// The window does not move.
    Fixed,
}

/// A controller's state, as traces and tests see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcState {
    /// The controller's phase.
    pub phase: Phase,
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold, where the controller has one.
    pub threshold: Option<Bytes>,
}

/// A congestion controller.
pub trait CongestionControl: Send + Debug {
    /// Takes the round-trip time of the handshake that established the connection. Not called without a handshake, or
    /// if a segment of it had to be sent again.
    fn on_established(&mut self, now: Time, rtt: Span) {
        let _ = (now, rtt);
    }
    /// Takes note of payload that was sent.
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        let _ = (now, bytes, in_flight);
    }
    /// Takes an acknowledgement of new data.
    fn on_ack(&mut self, ack: &Ack);
    /// Takes an acknowledgement as [`on_ack`](CongestionControl::on_ack) does, and returns the limits that then hold. One
    /// call is cheaper than two.
    fn allowance_after(&mut self, ack: &Ack) -> Allowance {
        self.on_ack(ack);
        self.allowance()
    }
    /// Takes a sign of congestion on the path.
    fn on_congestion(&mut self, event: &Congestion);
    /// Takes back the last congestion event, which was a false alarm.
    fn on_spurious(&mut self) {}
    /// Takes note of a segment that was found lost. Called only with [`Wants::deliveries`] or [`Wants::rate`].
    fn on_lost(&mut self, lost: &LostSegment) {
        let _ = lost;
    }
    /// Takes the share of marked data by an acknowledgement that delivers or marks something. Called only with
    /// [`Wants::marks`], before any other call for the same acknowledgement. The first mark of a round trip is also a
    /// [`Congestion`].
    fn on_marks(&mut self, marks: &Marks) {
        let _ = marks;
    }
    /// Returns the time between the segment that leaves at `now` and the next; `None` if the pacing rate decides.
    /// Called only with [`Wants::departures`].
    fn gap_after(&mut self, now: Time) -> Option<Span> {
        let _ = now;
        None
    }
    /// Returns the name, in the registry of `link`, of the router feedback that the controller needs at every link.
    fn assist(&self) -> Option<&'static str> {
        None
    }
    /// Returns the header of the segment that leaves now. Called only with an [`assist`](CongestionControl::assist).
    fn header(&self) -> RouterHeader {
        let allowance = self.allowance();
        RouterHeader { window: allowance.window, rtt: None, feedback: f64::INFINITY }
    }
    /// Takes the feedback that routers wrote into an earlier header. Called before the `on_ack` of the acknowledgement
    /// that carried it, and only with an [`assist`](CongestionControl::assist).
    fn on_feedback(&mut self, feedback: f64) {
        let _ = feedback;
    }
    /// Returns the information that the controller needs beyond acknowledgements.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// Passes each quantity that the controller has measured to `show`, with its name, in SI units or packets. A
    /// controller that measures nothing passes nothing.
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let _ = show;
    }
    /// Returns a word at the beginning of the state that an acknowledgement reads, and the size of this state in bytes;
    /// `None` if it is unknown. A transport of many flows loads the state into the processor's cache before it is needed.
    fn hot_state(&self) -> Option<(&Bytes, usize)> {
        None
    }
    /// Returns the limits within which the transport may send.
    fn allowance(&self) -> Allowance;
    /// Returns the state for traces and tests.
    fn state(&self) -> CcState;
}
