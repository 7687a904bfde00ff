//! The options of a TCP connection as plain data.
//!
//! A scenario's flow, a resolved flow, a simulation's plan and its sender embed the same [`Transport`], so that an
//! option is defined once. It has a room of its own because `scenario` may not see `sim`, and `units` must not know
//! networks. `sim/src/tcp/` has the effect of an option; `scenario/src/tables/` has its key, default and source.
//!
//! The order of the fields is part of every scenario's content hash. A new option goes to the end of [`Host`], with
//! `#[serde(skip_serializing_if = "is_default")]`: scenarios from before it then keep their hash.
//!
//! ```
//! use tightlink_transport::{LossDetection, Recovery, Transport};
//! use units::Span;
//! let rfc = Transport::default();
//! assert_eq!((rfc.min_rto, rfc.recovery), (Span::from_millis(200), Recovery::Rfc6675));
//! let modern = Transport { recovery: Recovery::Prr, loss_detection: LossDetection::Rack, ..rfc };
//! assert!(modern.sack && !modern.host.gathers());
//! ```

use serde::Serialize;
use units::{Bytes, Span};

/// How the two ends of a connection send, acknowledge and repair losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Transport {
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample, 1 s in RFC 6298 (2.1).
    pub initial_rto: Span,
    /// Segments carry time stamps, so that every acknowledgement of new data gives a round-trip sample (RFC 7323).
    /// Without, one segment is timed at a time, and not if it was sent again, so a backed-off timer stays so for
    /// longer.
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018, RFC 6675); without, NewReno (RFC 6582) or Reno.
    pub sack: bool,
    /// How much fast recovery may send.
    pub recovery: Recovery,
    /// How losses are found. Detection by time needs selective acknowledgements; without them duplicates are counted.
    pub loss_detection: LossDetection,
    /// Data packets may be marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// Packets leave at a rate: the controller's, or else by window and round-trip time. A controller with a rate is
    /// paced in any case.
    pub pacing: bool,
    /// What the two hosts do beyond the RFCs.
    #[serde(flatten)]
    pub host: Host,
}

impl Default for Transport {
    /// The defaults of a scenario's flow.
    fn default() -> Self {
        Self {
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(1),
            timestamps: true,
            sack: true,
            recovery: Recovery::default(),
            loss_detection: LossDetection::default(),
            ecn: false,
            pacing: false,
            host: Host::default(),
        }
    }
}

/// What hosts do beyond the RFCs; by default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Which BBR `control = "bbr"` is.
    #[serde(skip_serializing_if = "is_default")]
    pub bbr_variant: BbrVariant,
    /// Which CUBIC `control = "cubic"` is.
    #[serde(skip_serializing_if = "is_default")]
    pub cubic_variant: CubicVariant,
    /// How the window of a control that goes by losses moves.
    #[serde(skip_serializing_if = "is_default")]
    pub window_variant: WindowVariant,
    /// Segments leave in super-packets: Linux's segmentation offload, autosizing and deferral. The last segment of one
    /// is acknowledged at once (PSH). Not where a controller places departures.
    #[serde(skip_serializing_if = "is_default")]
    pub tso: bool,
    /// The receiver sees segments that arrive within this of the first together; zero: each by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub gro: Span,
    /// This many segments are acknowledged one by one before acknowledgements are delayed.
    #[serde(skip_serializing_if = "is_default")]
    pub quick_ack: u64,
    /// Segments are acknowledged one by one while the receive window grows, by two segments for one, to its limit.
    #[serde(skip_serializing_if = "is_default")]
    pub quick_growth: bool,
    /// Beyond a hole, the acknowledgements after the third wait for this at most, or a twentieth of the round-trip
    /// time, and one speaks for all. With zero each leaves at once.
    #[serde(skip_serializing_if = "is_default")]
    pub sack_compression: Span,
    /// How long the receiver's processor is away at a time, the mean of an exponential distribution; zero: never.
    /// Segments that arrive meanwhile are taken together afterwards.
    #[serde(skip_serializing_if = "is_default")]
    pub pause: Span,
    /// Mean time between two pauses, exponential; zero where there are none.
    #[serde(skip_serializing_if = "is_default")]
    pub pause_interval: Span,
    /// How long the receiver's processor takes to begin after it had nothing to do for [`FALLS_ASLEEP`] or more;
    /// zero: it never sleeps.
    #[serde(skip_serializing_if = "is_default")]
    pub wake_up: Span,
    /// What the program that sends may have written and not seen acknowledged.
    #[serde(skip_serializing_if = "is_default")]
    pub send_buffer: SendBuffer,
}

/// A processor that has had nothing to do for this long sleeps: as long as Linux lets a virtual one poll before it
/// halts (`guest_halt_poll_ns`).
pub const FALLS_ASLEEP: Span = Span::from_micros(200);

/// The largest window of a flow on a host that is given none: what a window scale of 10 can say.
pub const LARGEST_WINDOW: Bytes = Bytes::new(65_535 << 10);

impl Host {
    /// Whether the receiver gathers segments or acknowledgements, or is told where super-packets end.
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

/// How much fast recovery may send for what is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// What the window has room for (RFC 6675; RFC 6582 without selective acknowledgements).
    #[default]
    Rfc6675,
    /// Proportional rate reduction (RFC 9937).
    Prr,
    /// As RFC 6675, but a lost segment counts as in the network until it is acknowledged (K. Fall and S. Floyd,
    /// "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996; ns-2's Sack1). Only with selective
    /// acknowledgements.
    Sack1,
    /// Fast recovery ends with the first acknowledgement of new data, whatever else was lost (RFC 2581). Until all
    /// that was sent before it is acknowledged there is no other, as in ns-2's Reno. Only without selective
    /// acknowledgements.
    Reno,
}

/// How losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// By three duplicate or selective acknowledgements (RFC 5681, RFC 6675).
    #[default]
    DupAck,
    /// By time, with a probe of the tail (RACK-TLP, RFC 8985).
    Rack,
}

/// Which BBR `control = "bbr"` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BbrVariant {
    /// As in draft-cardwell-iccrg-bbr-congestion-control-00.
    #[default]
    Draft,
    /// As in Linux 6.18.
    Linux,
}

/// Which CUBIC `control = "cubic"` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CubicVariant {
    /// As in RFC 9438.
    #[default]
    Rfc,
    /// As in Linux 6.18.
    Linux,
}

/// How the window of a control that goes by losses moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowVariant {
    /// As in RFC 5681: in bytes. A loss leaves a share of what was in flight, and the acknowledgement that ends fast
    /// recovery does not count.
    #[default]
    Rfc,
    /// As in Linux 6.18: in segments. A loss leaves a share of the window, and the acknowledgement that ends fast
    /// recovery counts for what it delivers. A lost retransmission is no second sign of congestion. The retransmission
    /// timer waits for the least timeout beyond the smoothed round trip.
    Linux,
}

/// The memory for what is written and not acknowledged (`sk_sndbuf`). The program fills it, and is woken to fill it again
/// when a third of it is free (`sk_stream_is_writeable`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SendBuffer {
    /// It is never the limit.
    #[default]
    Unlimited,
    /// Up to [`LARGEST_SEND_BUFFER`], as Linux grows it.
    Autotuned,
    /// Up to so many bytes of memory.
    AtMost(Bytes),
}

/// The last number of Linux's `tcp_wmem`: memory of a send buffer that grows unasked.
pub const LARGEST_SEND_BUFFER: Bytes = Bytes::new(4 << 20);

/// Payload in a send buffer's memory, in thousandths: 2.745 MB in 2.796 MB, at which the kernel woke the program (Linux
/// 6.18, 2026-11-28, `tcp_probe`). The rest is the heads of its super-packets.
const PAYLOAD_OF_MEMORY: u64 = 982;

impl SendBuffer {
    /// The memory; `None`: never the limit.
    #[must_use]
    pub const fn memory(self) -> Option<Bytes> {
        match self {
            Self::Unlimited => None,
            Self::Autotuned => Some(LARGEST_SEND_BUFFER),
            Self::AtMost(memory) => Some(memory),
        }
    }

    /// Payload that a full buffer has.
    #[must_use]
    pub fn payload(self) -> Option<Bytes> {
        self.memory().map(|memory| memory * PAYLOAD_OF_MEMORY / 1000)
    }

    /// Payload that a program which always has more sends in a round trip: two thirds. It writes a third at a time. The
    /// two bursts are acknowledged one after the other, and the second third that they free is not free before the next
    /// round trip.
    #[must_use]
    pub fn per_round_trip(self) -> Option<Bytes> {
        self.payload().map(|payload| payload * 2 / 3)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
