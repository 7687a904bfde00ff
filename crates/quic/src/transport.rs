//! The settings of the library at both ends, and the conversion of its times.

use crate::session::{FlowConfig, HEADERS, LARGEST_WINDOW};
use live::{LiveError, Window};
use quinn_proto::{AckFrequencyConfig, EndpointConfig, TransportConfig, VarInt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::{Bytes, Complaint, Span, Time};

/// The credit of one stream: above every window of a connection, which is the limit.
const STREAM_WINDOW: u32 = 1 << 30;
/// The data that the sender hands to the library before they are acknowledged. They are shared zeros, not memory.
const SEND_WINDOW: u64 = 1 << 30;
/// The packets that a sender may send before the sizer of its window decides, as in RFC 9002 (7.2).
const INITIAL_SEGMENTS: u64 = 10;
/// The silence after which a connection has broken.
const IDLE: Span = Span::from_secs(30);
/// The round-trip time that is assumed before the first sample, for the handshake's timers.
const INITIAL_RTT: Span = Span::from_millis(333);

/// The library's instants: those of a run's clock, or of virtual time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    pub(crate) epoch: Instant,
}

impl Instants {
    pub(crate) fn instant(self, time: Time) -> Instant {
        self.epoch + duration(time.since(Time::ZERO))
    }

    pub(crate) fn time(self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.epoch))
    }
}

pub(crate) const fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}

pub(crate) fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the payload of a full datagram of `flow`.
pub(crate) fn datagram(flow: &FlowConfig) -> Result<u16, LiveError> {
    let size = flow.common.segment.saturating_sub(HEADERS).get();
    u16::try_from(size).map_err(|_| {
        let found = format!("flow {:?} has packets of {}", flow.common.name, flow.common.segment);
        LiveError::Config(Complaint::new("session", found).accepted("up to 65535 bytes"))
    })
}

/// Returns the window that the receiver of `flow` grants at the start. A sizer begins with little, because credit that
/// was granted is never taken back: with 64 MiB of it the sizer's windows would not hold before 64 MiB have arrived.
pub(crate) fn window(flow: &FlowConfig) -> Bytes {
    match (&flow.common.sizer, flow.common.window) {
        (Some(_), _) => flow.control.start.segment * INITIAL_SEGMENTS,
        (None, Window::AtMost(limit)) => limit.min(LARGEST_WINDOW),
        (None, Window::Max | Window::Autotuned) => LARGEST_WINDOW,
    }
}

/// Returns `bytes` in the library's form, at most 2^30.
pub(crate) fn credit(bytes: Bytes) -> VarInt {
    VarInt::from_u32(u32::try_from(bytes.get()).unwrap_or(u32::MAX).min(STREAM_WINDOW))
}

/// Returns the settings of a connection of `flow`.
pub(crate) fn transport(flow: &FlowConfig) -> Result<TransportConfig, LiveError> {
    let datagram = datagram(flow)?;
    let mut frequency = AckFrequencyConfig::default();
    frequency
        .ack_eliciting_threshold(VarInt::from_u32(
            u32::try_from(flow.delayed_ack.max(1) - 1).unwrap_or(u32::MAX),
        ))
        .max_ack_delay(Some(duration(flow.delayed_ack_timeout)));
    let mut transport = TransportConfig::default();
    transport
        .mtu_discovery_config(None)
        .initial_mtu(datagram)
        .min_mtu(datagram)
        .send_window(SEND_WINDOW)
        .receive_window(credit(window(flow)))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(1))
        .datagram_receive_buffer_size(None)
        .allow_spin(false)
        .initial_rtt(duration(INITIAL_RTT))
        .max_idle_timeout(Some(VarInt::from_u32((IDLE.as_nanos() / 1_000_000) as u32).into()))
        .ack_frequency_config(Some(frequency));
    Ok(transport)
}

/// Returns the settings of an endpoint of `flow`. With a `seed` its connection identifiers and packet numbers are the
/// same in every run.
pub(crate) fn endpoint(flow: &FlowConfig, seed: Option<u64>) -> Result<Arc<EndpointConfig>, LiveError> {
    let mut endpoint = EndpointConfig::default();
    endpoint.max_udp_payload_size(datagram(flow)?).map_err(|error| {
        let found = format!("flow {:?} has packets of {}: {error}", flow.common.name, flow.common.segment);
        LiveError::Config(Complaint::new("session", found).accepted("1228 bytes or more"))
    })?;
    endpoint.rng_seed(seed.map(|seed| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes
    }));
    Ok(Arc::new(endpoint))
}
