//! A session: flows from one sender to one receiver, described once ([`SessionConfig`]) and run from both sides.
//!
//! Each flow is one connection. Its stream starts with [`PREAMBLE`] bytes, which hold the flow's place in the session.
//! They are sent with the first payload and not counted as payload. The rest is zeros. Greedy flows, and flows that the
//! session ends early, are reset (RST), so that nothing drains through the path after their time.
//!
//! Some settings are the kernel's own and cannot be changed: see [`KERNEL_DECIDES`].

use crate::error::LiveError;
use crate::window::Window;
use host::EcnRequest;
use sizing::{BufferSizer, SizerConfig, registry};
use socket2::Socket;
use units::{Bytes, Complaint, Rate, Span};

/// The number of bytes at the head of each stream that identify its flow: a big-endian index.
pub const PREAMBLE: u64 = 2;
/// The time within which a connection must be established. The kernel sends a lost SYN again after 1, 3, 7 and 15 s,
/// and hundreds of flows that begin together lose many.
pub(crate) const CONNECT_WITHIN: Span = Span::from_secs(20);
/// The time without progress after which a connected flow fails.
pub(crate) const STALLED_AFTER: Span = Span::from_secs(30);
/// The bytes that the TCP option of RFC 7323 occupies in every segment, padding included.
const TIMESTAMPS: u64 = 12;
/// Settings that a scenario may have and a kernel socket cannot follow; for the notes of a record.
pub const KERNEL_DECIDES: &str = "initial window (10 segments), initial slow-start threshold (unlimited), slow start, least \
     timeout and delayed acknowledgements are the kernel's own and cannot be set per socket";

/// A sizer by name.
#[derive(Clone, Debug, PartialEq)]
pub struct SizerChoice {
    /// Its name in the registry of `sizing`.
    pub name: String,
    /// The largest window that it may request.
    pub maximum: Bytes,
    /// True if it may pace the sender.
    pub pace: bool,
    /// The share of goodput that it may give up against a window without limit.
    pub regret: Option<f64>,
}

impl SizerChoice {
    /// Builds the sizer for a TCP connection with packets of `segment`, IP header included, on `socket`.
    pub(crate) fn build(
        &self,
        segment: Bytes,
        timestamps: bool,
        socket: &Socket,
    ) -> Result<Box<dyn BufferSizer>, LiveError> {
        let ipv6 = socket.local_addr().is_ok_and(|address| address.is_ipv6());
        let header = Bytes::new(if ipv6 { 60 } else { 40 } + if timestamps { TIMESTAMPS } else { 0 });
        self.build_for(segment, header)
    }

    /// Builds the sizer for packets of `segment`, of which `header` are headers of all layers from IP on.
    ///
    /// # Errors
    /// [`LiveError::Config`] if the registry lacks the sizer.
    pub fn build_for(&self, segment: Bytes, header: Bytes) -> Result<Box<dyn BufferSizer>, LiveError> {
        let config = SizerConfig {
            header,
            can_pace: self.pace,
            regret: self.regret,
            ..SizerConfig::new(segment.saturating_sub(header), self.maximum)
        };
        registry::build_with(&self.name, config).ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> LiveError {
        let known: Vec<&str> = registry::SIZERS.iter().map(|sizer| sizer.name).collect();
        let found = format!("no sizer is called {:?}", self.name);
        LiveError::Config(Complaint::new("session", found).accepted(known.join(", ")))
    }
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// The flow's name, for results and errors.
    pub name: String,
    /// The congestion control: a name that the kernel knows ("reno").
    pub control: String,
    /// The payload to send; `None`: greedy, until `stop`.
    pub size: Option<Bytes>,
    /// The time at which the flow connects, from the start of the run.
    pub start: Span,
    /// The time at which a greedy flow is cut, from the start of the run; a sized flow ignores it. Without it a greedy
    /// flow needs the session's `end`.
    pub stop: Option<Span>,
    /// The limit that its receiver sets to its window.
    pub window: Window,
    /// The sizer that decides on the window while the flow runs, in place of `window`.
    pub sizer: Option<SizerChoice>,
    /// The size of a full packet, IP header included; the path's MTU limits it too.
    pub segment: Bytes,
    /// A cap on the sender's pacing rate, in payload; `None`: the congestion control decides.
    pub pacing: Option<Rate>,
    /// The feedback of congestion marks that it asks for; `None`: as the namespace is set.
    pub ecn: Option<EcnRequest>,
    /// The port of its TCP socket at the sender, and of its prober's UDP socket at the receiver; `None`: any.
    pub port: Option<u16>,
    /// The class of its packets (DSCP), 0 to 63. Only TCP sets it.
    pub dscp: u8,
}

impl FlowConfig {
    /// Makes a greedy flow of 1500-byte packets with the maximum window, from the start of the run until the session's
    /// end.
    #[must_use]
    pub fn greedy(name: impl Into<String>, control: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            control: control.into(),
            size: None,
            start: Span::ZERO,
            stop: None,
            window: Window::Max,
            sizer: None,
            segment: Bytes::new(1500),
            pacing: None,
            dscp: 0,
            ecn: None,
            port: None,
        }
    }

    /// Makes the same flow with `size` of payload; it ends when all of it is acknowledged.
    #[must_use]
    pub fn sized(name: impl Into<String>, control: impl Into<String>, size: Bytes) -> Self {
        Self { size: Some(size), ..Self::greedy(name, control) }
    }
}

/// A session, the same for both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    /// The flows, at most 65536.
    pub flows: Vec<FlowConfig>,
    /// The time at the start that metrics leave out.
    pub warmup: Span,
    /// The time at which the session ends, finished or not; `None`: when every flow has ended.
    pub end: Option<Span>,
    /// The time between samples, and between assertions of the window; at least 1 ms.
    pub every: Span,
}

impl SessionConfig {
    /// Makes a session without warm-up, sampled every 20 ms, that ends when every flow has.
    #[must_use]
    pub fn new(flows: Vec<FlowConfig>) -> Self {
        Self { flows, warmup: Span::ZERO, end: None, every: Span::from_millis(20) }
    }

    /// Checks the settings as far as that is possible before anything starts.
    ///
    /// # Errors
    /// [`LiveError::Config`] if a setting is out of its range or contradicts another.
    pub fn check(&self) -> Result<(), LiveError> {
        let wrong = |found: String, accepted: &str| {
            Err(LiveError::Config(Complaint::new("session", found).accepted(accepted)))
        };
        if self.flows.is_empty() || self.flows.len() > 1 << 16 {
            return wrong(format!("{} flows", self.flows.len()), "1 to 65536");
        }
        if self.every < Span::from_millis(1) {
            return wrong(format!("a sample every {}", self.every), "1ms or more between samples");
        }
        if let Some(end) = self.end.filter(|end| *end <= self.warmup) {
            let found = format!("it ends at {end}, within its warm-up of {}", self.warmup);
            return wrong(found, "an end after the warm-up");
        }
        for flow in &self.flows {
            let name = &flow.name;
            match (flow.size, flow.stop.or(self.end)) {
                (None, None) => {
                    let found = format!("greedy flow {name:?} has neither a stop nor an end");
                    return wrong(found, "a stop of the flow, or an end of the session");
                }
                (None, Some(stop)) if stop <= flow.start => {
                    let found = format!("flow {name:?} stops at {stop}, before it starts");
                    return wrong(found, &format!("a stop after {}", flow.start));
                }
                (Some(Bytes::ZERO), _) => {
                    return wrong(format!("flow {name:?} has nothing to send"), "a size above zero");
                }
                _ => {}
            }
            if let Some(sizer) = flow.sizer.as_ref().filter(|sizer| !registry::has(&sizer.name)) {
                return Err(sizer.unknown());
            }
            if !(128..=32_767).contains(&flow.segment.get()) {
                return wrong(format!("flow {name:?} has segments of {}", flow.segment), "128B to 32767B");
            }
        }
        Ok(())
    }
}
