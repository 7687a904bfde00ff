//! Messages of a test of the path, since version 4.
//!
//! The greeting is that of a transfer, with [`TEST`](super::TEST) as its version, so that a receiver that knows no
//! tests refuses it by that version. After `Welcome` the control connection carries [`ToTested`] and [`ToTester`], and
//! the data connections carry [`Load`] in both directions. A data connection with the number [`SEPARATE`] carries one
//! request and no load.
//!
//! All times are in nanoseconds, all rates in bits per second.

use super::bounded;
use super::observation::Observation;
use serde::{Deserialize, Serialize};

/// The number of a data connection for one request, apart from the load.
pub const SEPARATE: u16 = u16::MAX;
/// The greatest number of bytes of load that follow one message.
pub const LONGEST_FILL: usize = 64 << 10;

/// The direction of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// From the sender, which asked for the test, to the receiver.
    Up,
    /// From the receiver to the sender.
    Down,
    /// Both at once.
    Both,
}

impl Way {
    /// Returns true if a load goes to the receiver.
    pub(crate) fn is_up(self) -> bool {
        self != Self::Down
    }

    /// Returns true if a load goes to the sender.
    pub(crate) fn is_down(self) -> bool {
        self != Self::Up
    }
}

/// The test that a sender asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The time of each load.
    pub load: u64,
    /// The number of connections with a load to the receiver: the first ones. Without such a load it is 0.
    pub up: u16,
    /// The number of connections with a load from the receiver: those after them.
    pub down: u16,
    /// True if both loads also run at once.
    pub together: bool,
    /// The receiver's congestion control; empty for its kernel's choice.
    #[serde(with = "bounded::text")]
    pub control: String,
}

/// A message of the sender on the control connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToTested {
    /// The first message; the answer is [`ToTester::Agreed`].
    Plan(Plan),
    /// A request for packet trains to the receiver; the answer is [`ToTester::Trains`].
    Trains,
    /// The beginning of a load; the answer is [`ToTester::Began`].
    Begin {
        /// Its direction.
        way: Way,
        /// The rate of the path down, by which the receiver sizes the parts of its load; `None` if it is not known.
        bps: Option<u64>,
    },
    /// The end of that load; the answer is [`ToTester::Ended`].
    End,
    /// The measurements, as the last message.
    Results(Box<Results>),
}

/// A message of the receiver on the control connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToTester {
    /// Consent to the plan.
    Agreed {
        /// The UDP port at which probes are echoed; 0 without an echoer.
        echo: u16,
    },
    /// The rate by packet trains.
    Trains(TrainRate),
    /// The load has begun.
    Began,
    /// The course of the load, several times a second.
    Sample(LoadSample),
    /// The load has ended, and no byte of it is on its way any more.
    Ended(Box<Ended>),
    /// The results have arrived.
    Bye,
    /// The end of the test by the receiver.
    Abort {
        /// The reason, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
}

/// The rate of a path by packet trains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainRate {
    /// The rate, IP headers included; `None` if no train arrived.
    pub bps: Option<u64>,
    /// The number of trains that arrived whole.
    pub whole: u16,
    /// The number of trains that lost packets.
    pub lost: u16,
}

/// The state of a load at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSample {
    /// Time since the load began.
    pub elapsed: u64,
    /// Bytes of load that have arrived; 0 from the end that sends.
    pub received: u64,
    /// Segments sent again; 0 from the end that receives.
    pub retransmits: u64,
}

/// The account of the receiver after a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The account of the load that it sent.
    pub sent: Option<SenderAccount>,
    /// The evidence about the load that it sent.
    pub sending: Option<Observation>,
    /// The evidence about the load that it received.
    pub receiving: Option<Observation>,
}

/// The account of the end that sent a load, summed over its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderAccount {
    /// Segments sent, those sent again included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Payload of a full segment.
    pub segment: u64,
    /// The largest receive window that was offered.
    pub receive_window: u64,
    /// The mean of the bytes in flight.
    pub in_flight: u64,
    /// The send buffer at the end.
    pub send_buffer: u64,
}

/// Probes over UDP in one phase of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResults {
    /// Probes sent.
    pub sent: u64,
    /// Probes lost in the direction of the load.
    pub lost: u64,
    /// The least round trip; 0 without an echo.
    pub least: u64,
    /// The mean round trip.
    pub mean: u64,
    /// The largest round trip.
    pub most: u64,
}

/// Trimmed means of the latencies of requests under load, and the confidence in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyResults {
    /// The TCP handshake on a connection of its own.
    pub tcp: u64,
    /// The TLS handshake on it.
    pub tls: u64,
    /// The request on it.
    pub request: u64,
    /// The request on a connection that carries the load.
    pub loaded: u64,
    /// The number of intervals' results that agree: 0 if the load was short, 1 if they differ, 2 if they agree.
    pub steadiness: u8,
}

/// The measurements of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayResults {
    /// The number of connections with a load.
    pub streams: u16,
    /// Time from the beginning of the load to the last sample.
    pub elapsed: u64,
    /// Bytes of load that arrived in that time.
    pub received: u64,
    /// The second half of that time.
    pub late: u64,
    /// Bytes of load that arrived in the second half.
    pub received_late: u64,
    /// The rate by packet trains.
    pub trains: TrainRate,
    /// Probes before the load.
    pub idle: ProbeResults,
    /// Probes under load.
    pub loaded: ProbeResults,
    /// The buffer in front of the bottleneck, and true if it never overflowed.
    pub buffer: Option<(u64, bool)>,
    /// Latencies of requests under load.
    pub latencies: Option<LatencyResults>,
    /// The account of the end that sent.
    pub sender: SenderAccount,
    /// The evidence of both ends; `None` if neither kernel lists its connections.
    pub evidence: Option<Observation>,
}

/// The measurements of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// From the sender to the receiver.
    pub up: Option<WayResults>,
    /// From the receiver to the sender.
    pub down: Option<WayResults>,
    /// Both at once: up, and down.
    pub together: Option<(WayResults, WayResults)>,
}

/// A message on a data connection, from either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Load {
    /// Load: so many bytes follow, which mean nothing; at most [`LONGEST_FILL`].
    Fill(u32),
    /// A request of the sender, with its number.
    Request(u64),
    /// The answer to the request of this number.
    Answer(u64),
}
