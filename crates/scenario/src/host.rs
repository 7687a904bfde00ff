//! What the ends of a flow are like unless single keys say otherwise: the values that `host = "…"` stands for.
//!
//! One field per key of `[[flow]]`, named as the key. `docs/guide/scenario.md` has the table with the source of each value;
//! `tests/hosts.rs` compares the two.

use crate::spec::{BbrVariant, LossDetection, Recovery, SocketBuffer};
use units::{Bytes, Rate, Span};

/// Defaults of a flow's keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// How much fast recovery may send.
    pub recovery: Recovery,
    /// How losses are found, where acknowledgements are selective.
    pub loss_detection: LossDetection,
    /// CUBIC's slow start. Every other control has `standard`.
    pub slow_start_of_cubic: &'static str,
    /// Which BBR `control = "bbr"` is.
    pub bbr_variant: BbrVariant,
    /// Segments an acknowledgement may count for in slow start.
    pub byte_counting: u64,
    /// Segments for each acknowledgement.
    pub delayed_ack: u64,
    /// How long one is withheld.
    pub delayed_ack_timeout: Span,
    /// So many segments are acknowledged one by one first.
    pub quick_ack: u64,
    /// How long acknowledgements of a hole are gathered.
    pub sack_compression: Span,
    /// Whether segments leave in super-packets.
    pub tso: bool,
    /// How long arriving segments are gathered.
    pub gro: Span,
    /// How long the receiver's processor is away at a time, on average.
    pub pause: Span,
    /// Mean time between two of these.
    pub pause_interval: Span,
    /// How long its processor takes to begin after it had nothing to do.
    pub wake_up: Span,
    /// The host's own line; `None`: without limit.
    pub access_rate: Option<Rate>,
    /// How much later a packet may leave.
    pub send_jitter: Span,
    /// The socket buffers.
    pub buffers: Buffers,
}

/// Socket buffers of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// Never the limit.
    Max,
    /// As the kernel sizes them unasked.
    Autotuned,
}

impl Host {
    /// The RFCs without any of a host's own doings: what the papers' simulations have.
    pub const RFC: Self = Self {
        recovery: Recovery::Rfc6675,
        loss_detection: LossDetection::DupAck,
        slow_start_of_cubic: "standard",
        bbr_variant: BbrVariant::Draft,
        byte_counting: 1,
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(100),
        quick_ack: 0,
        sack_compression: Span::ZERO,
        tso: false,
        gro: Span::ZERO,
        pause: Span::ZERO,
        pause_interval: Span::from_millis(500),
        wake_up: Span::ZERO,
        access_rate: None,
        send_jitter: Span::ZERO,
        buffers: Buffers::Max,
    };

    /// Linux 6.18 with the settings that it ships with.
    pub const LINUX: Self = Self {
        recovery: Recovery::Prr,
        loss_detection: LossDetection::Rack,
        slow_start_of_cubic: "hystart",
        bbr_variant: BbrVariant::Linux,
        byte_counting: 1000,
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(40),
        quick_ack: 16,
        sack_compression: Span::from_millis(1),
        tso: true,
        gro: Span::from_micros(50),
        pause: Span::from_millis(1),
        pause_interval: Span::from_millis(200),
        wake_up: Span::from_micros(350),
        access_rate: Some(Rate::from_bps(10_000_000_000)),
        send_jitter: Span::from_micros(50),
        buffers: Buffers::Autotuned,
    };

    /// The names that `host` may have.
    pub(crate) const NAMES: &'static [(&'static str, Self)] = &[("rfc", Self::RFC), ("linux", Self::LINUX)];

    /// The slow start of a flow with this control.
    #[must_use]
    pub fn slow_start(&self, control: &str) -> &'static str {
        if control == "cubic" { self.slow_start_of_cubic } else { "standard" }
    }

    /// The socket buffers, as the key has them.
    #[must_use]
    pub fn socket_buffer(&self) -> SocketBuffer {
        match self.buffers {
            Buffers::Max => SocketBuffer::Max,
            Buffers::Autotuned => SocketBuffer::Autotuned,
        }
    }
}

/// The most that Linux lets a window grow to unasked, payload: its send buffer's memory (`tcp_wmem`), of which super-packets
/// waste little. The receive buffer's (`tcp_rmem`, 32 MiB since Linux 6.16, half of it payload) is larger.
pub const AUTOTUNED: Bytes = Bytes::new(4 << 20);
