//! [`Session`]: the settings of a run, the same for both ends.

use cc::registry::Tuning;
use cc::{CongestionControl, Start, registry};
use live::LiveError;
use units::{Bytes, Complaint, Span};

/// The bytes of an IPv4 header and a UDP header, which the library does not count.
pub const HEADERS: Bytes = Bytes::new(28);
/// The least packet, IP header included: the first datagrams carry at least 1200 bytes [rfc9000:14.1].
pub const LEAST_PACKET: Bytes = Bytes::new(1228);
/// The bytes of a full packet around its data, from the IPv4 header on [rfc9000:17.3, 19.8]. IP and UDP have 28, flags 1,
/// the connection identifier 8, and the packet number about 3. Authentication has 16, and the STREAM frame about 6.
pub const OVERHEAD: Bytes = Bytes::new(62);
/// The largest connection window that a flow without a limit of its own grants.
pub const LARGEST_WINDOW: Bytes = Bytes::new(64 << 20);

/// A controller by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlChoice {
    /// Its name in the registry of `cc`.
    pub name: String,
    /// The name of its slow start, for loss-based controllers.
    pub slow_start: String,
    /// Its state at the start; a segment is the payload of a full UDP datagram.
    pub start: Start,
    /// Its settings.
    pub tuning: Tuning,
}

impl ControlChoice {
    /// Builds the controller.
    pub(crate) fn build(&self) -> Result<Box<dyn CongestionControl>, LiveError> {
        registry::tuned(&self.name, &self.slow_start, self.start, self.tuning).ok_or_else(|| {
            let found = format!("no controller {:?} with slow start {:?}", self.name, self.slow_start);
            LiveError::Config(Complaint::new("session", found).accepted("names of the registry"))
        })
    }
}

/// The most datagrams in a batch: 44 of 1472 bytes are the largest UDP payload.
pub const MOST_TOGETHER: usize = 44;

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// The settings that flows of all transports have. The port is that of the UDP sockets at both ends. `segment` is
    /// the whole packet, IP header included. `control` is only a name for results.
    pub common: live::FlowConfig,
    /// The controller.
    pub control: ControlChoice,
    /// The number of packets that the receiver acknowledges together.
    pub delayed_ack: u64,
    /// The longest time for which an acknowledgement waits for further packets.
    pub delayed_ack_timeout: Span,
    /// The most datagrams that leave by one call, up to 44.
    pub most_together: usize,
    /// The port of the receiver's socket for probes; `None`: any.
    pub probe_port: Option<u16>,
}

impl FlowConfig {
    /// Makes a greedy flow with packets of 1500 bytes under `control`, from the start of the run until the session's
    /// end. Every second packet is acknowledged, after 25 ms at the latest, as in RFC 9000 (13.2.2, 18.2).
    #[must_use]
    pub fn greedy(name: impl Into<String>, control: ControlChoice) -> Self {
        Self {
            common: live::FlowConfig::greedy(name, &control.name),
            control,
            delayed_ack: 2,
            delayed_ack_timeout: Span::from_millis(25),
            most_together: MOST_TOGETHER,
            probe_port: None,
        }
    }
}

/// A session, the same for both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    /// The flows, at least one.
    pub flows: Vec<FlowConfig>,
    /// The time at the start that metrics leave out.
    pub warmup: Span,
    /// The time at which the session ends, finished or not; `None`: when every flow has ended.
    pub end: Option<Span>,
    /// The time between samples; at least 1 ms.
    pub every: Span,
}

impl SessionConfig {
    /// Checks the settings as far as that is possible before anything starts.
    ///
    /// # Errors
    /// [`LiveError::Config`] if a setting is out of its range or contradicts another.
    pub fn check(&self) -> Result<(), LiveError> {
        let flows = self.flows.iter().map(|flow| flow.common.clone()).collect();
        live::SessionConfig { flows, warmup: self.warmup, end: self.end, every: self.every }.check()?;
        for flow in &self.flows {
            let name = &flow.common.name;
            let wrong = |found: String, accepted: &str| {
                Err(LiveError::Config(Complaint::new("session", found).accepted(accepted)))
            };
            if flow.common.segment < LEAST_PACKET {
                return wrong(
                    format!("flow {name:?} has packets of {}", flow.common.segment),
                    "1228B or more",
                );
            }
            if !(1..=100).contains(&flow.delayed_ack) {
                let found = format!("flow {name:?} acknowledges {} packets together", flow.delayed_ack);
                return wrong(found, "1 to 100");
            }
            if flow.delayed_ack_timeout < Span::from_millis(1) {
                let found = format!("flow {name:?} delays acknowledgements by {}", flow.delayed_ack_timeout);
                return wrong(found, "1ms or more");
            }
            flow.control.build()?;
        }
        Ok(())
    }
}
