//! Packets and acknowledgements of a run, one by one, as a [`Recorder`](crate::Recorder) that asks for them sees them.

use crate::tcp::Feedback;
use link::Ecn;
use units::{Bytes, Rate, Span, Time};

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderState {
    /// Slow start, or the startup of BBR.
    SlowStart,
    /// Congestion avoidance, or another phase of a rate-based controller.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// Repair after a retransmission timeout.
    Loss,
}

impl SenderState {
    /// Returns the state in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// One acknowledgement at a sender, and the sender's state once it has taken the acknowledgement and before it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckView {
    /// The time at which it arrived.
    pub at: Time,
    /// The flow's number in the plan; a higher one is a user's.
    pub flow: usize,
    /// Payload that has been sent at least once.
    pub sent: Bytes,
    /// Payload that is acknowledged cumulatively.
    pub acked: Bytes,
    /// Payload that is acknowledged cumulatively or selectively.
    pub delivered: Bytes,
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold; `None` if the controller has none, or has not set it.
    pub threshold: Option<Bytes>,
    /// Rate at which segments leave, in payload; `None` without pacing.
    pub pacing: Option<Rate>,
    /// The round-trip sample that it gave, if it gave one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time of RFC 6298, once there is a sample.
    pub smoothed_rtt: Option<Span>,
    /// Payload in the network, as the sender counts it (RFC 6675's pipe).
    pub in_flight: Bytes,
    /// The sender's state.
    pub state: SenderState,
}

/// An end of the path at which packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathEnd {
    /// The sender's, where data enter the first queue.
    Sender,
    /// The receiver's, behind the last queue. Half of the base RTT lies between the link and the receiver if all propagation is lumped behind the tight link.
    Receiver,
}

/// One packet of a connection at one end of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// The time. Packets may be shown up to half of the base RTT later than that.
    pub at: Time,
    /// The end.
    pub end: PathEnd,
    /// The flow's number in the plan; a higher one is a user's.
    pub flow: usize,
    /// The packet's content.
    pub segment: SegmentView,
}

/// The content of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentView {
    /// The request of a connection, or its answer.
    Syn {
        /// True for the answer.
        answer: bool,
        /// The time at which the request left.
        sent: Time,
    },
    /// Data.
    Data {
        /// The place of its first byte in the stream.
        start: Bytes,
        /// Its payload.
        payload: Bytes,
        /// The time at which it left.
        sent: Time,
        /// True for the last segment of a super-packet (PSH).
        pushed: bool,
        /// Its mark.
        ecn: Ecn,
        /// True if it reports a reduced window (CWR).
        reduced: bool,
    },
    /// An acknowledgement.
    Ack {
        /// Payload that is acknowledged cumulatively.
        acked: Bytes,
        /// Selectively acknowledged parts of the stream, the most recent first; before them, a part that came twice.
        blocks: Vec<(Bytes, Bytes)>,
        /// The receive window; [`Bytes::MAX`]: unlimited.
        window: Bytes,
        /// The time at which it left the receiver.
        sent: Time,
        /// The time at which the segment left whose time stamp it echoes.
        echo: Time,
        /// Its feedback of congestion marks.
        feedback: AckFeedback,
    },
}

/// The feedback of congestion marks in an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckFeedback {
    /// ECE, set or not [rfc3168:6.1.3].
    Echo(bool),
    /// The counters of accurate ECN [rfc9768:3.2].
    Counters {
        /// The counter of marked packets, modulo eight.
        ace: u8,
        /// The counter of marked payload, modulo 2^24.
        bytes: u32,
    },
}

impl AckFeedback {
    pub(crate) fn of(feedback: Feedback) -> Self {
        match feedback.as_counters() {
            Some((ace, bytes)) => Self::Counters { ace, bytes: bytes as u32 },
            None => Self::Echo(feedback.echoes()),
        }
    }
}

/// The packets and acknowledgements that a recorder asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// True for [`Recorder::acknowledged`](crate::Recorder::acknowledged).
    pub acknowledgements: bool,
    /// True for [`Recorder::packet`](crate::Recorder::packet).
    pub packets: bool,
}

impl Watches {
    /// Returns true if it asks for anything.
    #[must_use]
    pub const fn any(self) -> bool {
        self.acknowledgements || self.packets
    }
}
