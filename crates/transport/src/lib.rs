//! The options of a TCP connection as plain data.
//!
//! A scenario's flow, a resolved flow, a simulation's plan and its sender embed the same [`Transport`], so that an
//! option is defined once. This crate is a room of its own because `scenario` may not see `sim`, and `units` must not
//! know networks. An option takes effect in `sim/src/tcp/`; `scenario/src/tables/` has its key, default and source.
//!
//! The order of the fields is part of every scenario's content hash. A new option goes to the end of [`Host`], with
//! `#[serde(skip_serializing_if = "is_default")]`, so that older scenarios keep their hash.
//!
//! ```
//! use tightlink_transport::{LossDetection, Recovery, Transport};
//! use units::Span;
//! let rfc = Transport::default();
//! assert_eq!((rfc.min_rto, rfc.recovery), (Span::from_millis(200), Recovery::Rfc6675));
//! let modern = Transport { recovery: Recovery::Prr, loss_detection: LossDetection::Rack, ..rfc };
//! assert!(modern.sack && !modern.host.gathers());
//! ```

use serde::{Serialize, Serializer};
use units::{Bytes, Span};

/// The options by which the two ends of a connection send, acknowledge and repair losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Transport {
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// The retransmission timeout before the first round-trip sample, 1 s in RFC 6298 (2.1).
    pub initial_rto: Span,
    /// True if segments carry time stamps, so that every acknowledgement of new data gives a round-trip sample (RFC
    /// 7323). Otherwise the sender times one segment at a time, never one that was sent again. A timer that has backed
    /// off then stays so for longer.
    pub timestamps: bool,
    /// True for selective acknowledgements (RFC 2018, RFC 6675); false for NewReno (RFC 6582) or Reno.
    pub sack: bool,
    /// The rule for the amount that fast recovery may send.
    pub recovery: Recovery,
    /// The rule that finds losses. Detection by time needs selective acknowledgements; without them the sender counts
    /// duplicates.
    pub loss_detection: LossDetection,
    /// The feedback of congestion marks. Unless it is off, queues may mark data packets instead of dropping them.
    pub ecn: EcnMode,
    /// True if packets leave at a rate: the controller's rate, or else one computed from the window and the round-trip
    /// time. A controller with a rate is paced in any case.
    pub pacing: bool,
    /// The behaviour of the two hosts beyond the RFCs.
    #[serde(flatten)]
    pub host: Host,
}

impl Default for Transport {
    /// Returns the options of a scenario's flow that sets none.
    fn default() -> Self {
        Self {
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(1),
            timestamps: true,
            sack: true,
            recovery: Recovery::default(),
            loss_detection: LossDetection::default(),
            ecn: EcnMode::Off,
            pacing: false,
            host: Host::default(),
        }
    }
}

/// The behaviour of hosts beyond the RFCs. The default adds nothing to the RFCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The BBR that `control = "bbr"` selects.
    #[serde(skip_serializing_if = "is_default")]
    pub bbr_variant: BbrVariant,
    /// The CUBIC that `control = "cubic"` selects.
    #[serde(skip_serializing_if = "is_default")]
    pub cubic_variant: CubicVariant,
    /// The rules for the window of a loss-based control.
    #[serde(skip_serializing_if = "is_default")]
    pub window_variant: WindowVariant,
    /// True if segments leave in super-packets: Linux's segmentation offload, autosizing and deferral. The receiver
    /// acknowledges the last segment of a super-packet at once (PSH). The option has no effect if a controller chooses
    /// the time of each departure.
    #[serde(skip_serializing_if = "is_default")]
    pub tso: bool,
    /// The time from a segment's arrival within which later segments reach TCP together with it. With zero, each
    /// segment reaches TCP by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub gro: Span,
    /// The number of segments that are acknowledged one by one before acknowledgements are delayed.
    #[serde(skip_serializing_if = "is_default")]
    pub quick_ack: u64,
    /// True if segments are acknowledged one by one while the receive window grows. Each segment that arrives adds two
    /// to the window, up to its limit.
    #[serde(skip_serializing_if = "is_default")]
    pub quick_growth: bool,
    /// The longest time for which acknowledgements of segments beyond a hole wait, from the fourth on. They wait for a
    /// twentieth of the round-trip time if that is less. The last one then covers all that waited. With zero, each
    /// leaves at once.
    #[serde(skip_serializing_if = "is_default")]
    pub sack_compression: Span,
    /// The mean length of a pause of the receiver's processor, with an exponential distribution; zero: no pauses.
    /// Segments that arrive during a pause are processed together after it.
    #[serde(skip_serializing_if = "is_default")]
    pub pause: Span,
    /// The mean time between two pauses, with an exponential distribution; zero if there are no pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub pause_interval: Span,
    /// The time that the receiver's processor needs to begin after [`FALLS_ASLEEP`] or more without work; zero: it
    /// never sleeps.
    #[serde(skip_serializing_if = "is_default")]
    pub wake_up: Span,
    /// The limit of data that the sending program has written and TCP has not seen acknowledged.
    #[serde(skip_serializing_if = "is_default")]
    pub send_buffer: SendBuffer,
    /// True if the sender takes a retransmission timeout back that an acknowledgement shows to be needless, as in
    /// Linux. Only with selective acknowledgements.
    #[serde(skip_serializing_if = "is_default")]
    pub undo_timeouts: bool,
}

/// The time without work after which a processor sleeps. Linux lets a virtual processor poll for as long before it
/// halts (`guest_halt_poll_ns`).
pub const FALLS_ASLEEP: Span = Span::from_micros(200);

/// The largest window of a flow on a host that sets none: the most that a window scale of 10 can express.
pub const LARGEST_WINDOW: Bytes = Bytes::new(65_535 << 10);

impl Host {
    /// Returns true if the receiver gathers segments or acknowledgements, or if the ends of super-packets are marked
    /// for it.
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.gro > Span::ZERO
            || self.quick_ack > 0
            || self.quick_growth
            || self.sack_compression > Span::ZERO
            || self.pause > Span::ZERO
            || self.wake_up > Span::ZERO
            || self.tso
    }
}

/// The rule for the amount that fast recovery may send per acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// As much as the window has room for (RFC 6675; RFC 6582 without selective acknowledgements).
    #[default]
    Rfc6675,
    /// Proportional rate reduction (RFC 9937).
    Prr,
    /// The rule of RFC 6675, except that a lost segment counts as in the network until it is acknowledged (K. Fall and
    /// S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996; ns-2's Sack1). Only with selective
    /// acknowledgements.
    Sack1,
    /// Fast recovery that ends with the first acknowledgement of new data, whatever else was lost (RFC 2581). No other
    /// fast recovery begins until all data sent before this one began is acknowledged, as in ns-2's Reno. Only without
    /// selective acknowledgements.
    Reno,
}

/// The feedback by which a sender learns of congestion marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EcnMode {
    /// None: data packets are not ECN-capable.
    #[default]
    Off,
    /// The echo of RFC 3168: one sign per round trip. The receiver of a control that answers marks by their share
    /// follows RFC 8257 instead: it echoes whether the packets that an acknowledgement covers are marked.
    Classic,
    /// Accurate ECN (RFC 9768): each acknowledgement carries counters of marked packets and bytes.
    Accurate,
}

impl EcnMode {
    /// Returns true if queues may mark data packets.
    #[must_use]
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }
}

impl Serialize for EcnMode {
    /// Writes `false`, `true` or `"accecn"`. Scenarios of versions that knew two modes keep their hash.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off | Self::Classic => serializer.serialize_bool(self.is_on()),
            Self::Accurate => serializer.serialize_str("accecn"),
        }
    }
}

/// The rule that finds losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// Three duplicate or selective acknowledgements (RFC 5681, RFC 6675).
    #[default]
    DupAck,
    /// The time since a segment left, with a probe of the tail (RACK-TLP, RFC 8985).
    Rack,
}

/// The BBR that `control = "bbr"` selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BbrVariant {
    /// The BBR of draft-cardwell-iccrg-bbr-congestion-control-00.
    #[default]
    Draft,
    /// The BBR of Linux 6.18.
    Linux,
}

/// The CUBIC that `control = "cubic"` selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CubicVariant {
    /// The CUBIC of RFC 9438.
    #[default]
    Rfc,
    /// The CUBIC of Linux 6.18.
    Linux,
}

/// The rules for the window of a loss-based control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowVariant {
    /// The rules of RFC 5681, in bytes. A loss leaves a share of the data in flight, and the acknowledgement that ends
    /// fast recovery does not count.
    #[default]
    Rfc,
    /// The rules of Linux 6.18, in segments. A loss leaves a share of the window, and the acknowledgement that ends
    /// fast recovery counts for the data it delivers. A lost retransmission is not a second sign of congestion. The
    /// retransmission timer waits for the least timeout beyond the smoothed round trip.
    Linux,
}

/// The memory for data that is written and not acknowledged (`sk_sndbuf`). The program fills it, and is woken to fill
/// it again when a third of it is free (`sk_stream_is_writeable`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SendBuffer {
    /// No limit.
    #[default]
    Unlimited,
    /// Up to [`LARGEST_SEND_BUFFER`], as Linux grows it.
    Autotuned,
    /// Up to this many bytes of memory.
    AtMost(Bytes),
}

/// The largest memory to which Linux grows a send buffer by itself, the last number of `tcp_wmem`.
pub const LARGEST_SEND_BUFFER: Bytes = Bytes::new(4 << 20);

/// The share of payload in a send buffer's memory, in thousandths: 2.745 MB in 2.796 MB, at which the kernel woke the
/// program (Linux 6.18, 2026-11-28, `tcp_probe`). The rest is the heads of its super-packets.
const PAYLOAD_OF_MEMORY: u64 = 982;

impl SendBuffer {
    /// Returns the greatest memory that the buffer may take; `None` if the memory is never the limit.
    #[must_use]
    pub const fn memory(self) -> Option<Bytes> {
        match self {
            Self::Unlimited => None,
            Self::Autotuned => Some(LARGEST_SEND_BUFFER),
            Self::AtMost(memory) => Some(memory),
        }
    }

    /// Returns the payload in a full buffer.
    #[must_use]
    pub fn payload(self) -> Option<Bytes> {
        self.memory().map(|memory| memory * PAYLOAD_OF_MEMORY / 1000)
    }

    /// Returns the payload that a program with endless data sends in a round trip: two thirds of a full buffer. It
    /// writes a third at a time. The two bursts are acknowledged one after the other, and the second third is not free
    /// before the next round trip.
    #[must_use]
    pub fn per_round_trip(self) -> Option<Bytes> {
        self.payload().map(|payload| payload * 2 / 3)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
