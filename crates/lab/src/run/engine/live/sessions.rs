//! The sessions of a run: one of all TCP flows and one of all QUIC flows, each with a thread at either end.

use super::waiting::Ends;
use super::{EngineError, least_rtt};
use crate::run::resolve::{Resolved, ResolvedFlow};
use ::live::{
    FlowConfig, LiveError, ReceivedFlow, SentFlow, SessionConfig, SideChannel, SizerChoice, Window,
};
use ::quic::{ControlChoice, HEADERS, Keys, MOST_TOGETHER};
use cc::Start;
use emu::Path;
use host::{Clock, EcnRequest};
use scenario::spec::Carrier;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{JoinHandle, Thread};
use transport::{EcnMode, LARGEST_WINDOW};
use units::{Span, Time};

/// The first port that needs no privilege. Flow number 0 has it, each other flow the next port.
const FIRST_PORT: u16 = 1024;

/// The number of ports that flows and probes may have.
pub(super) const PORTS: usize = (u16::MAX - FIRST_PORT) as usize + 1;

/// Returns each flow with its port. A TCP flow has it at the sender, its prober at the receiver, and a QUIC flow at
/// both ends.
fn ported(resolved: &Resolved) -> impl Iterator<Item = (u16, &ResolvedFlow)> {
    (FIRST_PORT..=u16::MAX).zip(&resolved.flows)
}

/// Returns the QUIC flows that are probed, each with the port of its prober. These ports count down from the last one,
/// and there are [`PORTS`] for flows and probers together.
fn probed(resolved: &Resolved) -> impl Iterator<Item = (u16, &ResolvedFlow)> {
    let probed = resolved.flows.iter().filter(|flow| flow.is_quic() && flow.asked_sizer().is_some());
    (FIRST_PORT..=u16::MAX).rev().zip(probed)
}

/// Returns the number of ports that the run needs.
pub(super) fn ports(resolved: &Resolved) -> usize {
    resolved.flows.len() + probed(resolved).count()
}

/// Returns the number of sockets that the run opens.
pub(super) fn sockets(resolved: &Resolved) -> u64 {
    let sized = resolved.flows.iter().filter(|flow| flow.asked_sizer().is_some()).count();
    (2 * resolved.flows.len() + sized) as u64
}

/// Returns the UDP ports of the QUIC flows.
pub(super) fn quic_ports(resolved: &Resolved) -> HashSet<u16> {
    ported(resolved).filter(|(_, flow)| flow.is_quic()).map(|(port, _)| port).collect()
}

/// Returns the IP protocol and the sender's port of each flow's packets.
pub(super) fn wires(resolved: &Resolved) -> impl Iterator<Item = (u8, u16)> {
    ported(resolved).map(|(port, flow)| (if flow.is_quic() { 17 } else { 6 }, port))
}

/// Returns the time by which the way back of each port's flow is longer than that of the path.
pub(super) fn extra_delays(resolved: &Resolved) -> HashMap<u16, Span> {
    let rtt = least_rtt(resolved);
    let extra = ported(resolved).chain(probed(resolved)).map(|(port, flow)| (port, flow.base_rtt - rtt));
    extra.filter(|(_, extra)| *extra > Span::ZERO).collect()
}

/// Returns the settings that flows of both transports have.
fn common(resolved: &Resolved, port: u16, flow: &ResolvedFlow) -> FlowConfig {
    let stop = flow.stop.map(|stop| stop.since(Time::ZERO));
    FlowConfig {
        name: flow.name.clone(),
        control: flow.control.name.clone(),
        size: flow.size,
        start: flow.start.since(Time::ZERO),
        stop: stop.into_iter().chain(resolved.end).min(),
        window: match flow.receive_window() {
            _ if flow.autotuned => Window::Autotuned,
            None => Window::Max,
            Some(limit) => Window::AtMost(limit),
        },
        sizer: flow.asked_sizer().map(|sizer| SizerChoice {
            name: sizer.name.clone(),
            maximum: flow.receive_window().unwrap_or(LARGEST_WINDOW),
            pace: sizer.can_pace,
            regret: sizer.regret,
        }),
        segment: flow.segment(),
        pacing: None,
        ecn: request(resolved, flow),
        port: Some(port),
        dscp: flow.marking.dscp,
    }
}

/// Returns the feedback of congestion marks that a flow asks the kernel for. If no flow has any, the kernel's setting
/// stays as it is.
fn request(resolved: &Resolved, flow: &ResolvedFlow) -> Option<EcnRequest> {
    let any = super::kernel_flows(resolved).any(|flow| flow.transport.ecn.is_on());
    (any && !flow.is_quic()).then_some(match flow.transport.ecn {
        EcnMode::Off => EcnRequest::Off,
        EcnMode::Classic => EcnRequest::Classic,
        EcnMode::Accurate => EcnRequest::Accurate,
    })
}

fn every(resolved: &Resolved) -> Span {
    resolved.every.max(Span::from_millis(1))
}

/// Returns the session of the TCP flows, if there are any.
pub(crate) fn tcp(resolved: &Resolved) -> Option<SessionConfig> {
    let flows = ported(resolved).filter(|(_, flow)| !flow.is_quic());
    let flows: Vec<FlowConfig> = flows.map(|(port, flow)| common(resolved, port, flow)).collect();
    let (warmup, end) = (resolved.warmup, resolved.end);
    (!flows.is_empty()).then(|| SessionConfig { flows, warmup, end, every: every(resolved) })
}

/// Returns the session of the QUIC flows, if there are any.
pub(crate) fn quic(resolved: &Resolved) -> Option<quic::SessionConfig> {
    let mut probe_ports = probed(resolved).map(|(port, _)| port);
    let flow = |(port, flow): (u16, &ResolvedFlow)| {
        let segment = flow.segment().saturating_sub(HEADERS);
        let start = Start {
            segment,
            window: segment * flow.initial_window(),
            threshold: flow.control.start.threshold,
        };
        quic::FlowConfig {
            common: common(resolved, port, flow),
            control: ControlChoice {
                name: flow.control.name.clone(),
                slow_start: flow.control.slow_start.clone(),
                start,
                tuning: flow.control.tuning,
            },
            delayed_ack: flow.delayed_ack,
            delayed_ack_timeout: flow.delayed_ack_timeout,
            most_together: MOST_TOGETHER,
            probe_port: flow.asked_sizer().and_then(|_| probe_ports.next()),
        }
    };
    let flows: Vec<_> = ported(resolved).filter(|(_, flow)| flow.is_quic()).map(flow).collect();
    let (warmup, end) = (resolved.warmup, resolved.end);
    (!flows.is_empty()).then(|| quic::SessionConfig { flows, warmup, end, every: every(resolved) })
}

/// The parts of a run that all its sessions share.
#[derive(Clone)]
pub(super) struct Shared {
    /// Set when the run is to end early.
    pub(super) stop: Arc<AtomicBool>,
    /// The thread that waits for the sessions.
    pub(super) waiting: Thread,
}

/// The receivers of a run, bound before its time begins, with what their sessions need.
pub(super) struct Bound {
    tcp: Option<(SessionConfig, ::live::Receiver, SideChannel)>,
    quic: Option<(quic::SessionConfig, quic::Receiver, SideChannel, Keys)>,
}

impl Bound {
    /// Binds the receivers of all sessions at the far end of `path`.
    pub(super) fn bind(resolved: &Resolved, path: &Path) -> Result<Self, EngineError> {
        let address = IpAddr::V4(path.receiver_address());
        let tcp = match tcp(resolved) {
            Some(config) => {
                let any = SocketAddr::new(address, 0);
                let receiver = path.receiver().run(move || ::live::Receiver::bind(any))??;
                let side_channel = side_channel(path, config.flows.iter())?;
                Some((config, receiver, side_channel))
            }
            None => None,
        };
        let quic = match quic(resolved) {
            Some(config) => {
                let keys = Keys::random()
                    .map_err(|error| EngineError::Broken(format!("no random numbers for keys: {error}")))?;
                let (theirs, own) = (config.clone(), keys.clone());
                let receiver =
                    path.receiver().run(move || quic::Receiver::bind(&theirs, address, &own))??;
                let side_channel = side_channel(path, config.flows.iter().map(|flow| &flow.common))?;
                Some((config, receiver, side_channel, keys))
            }
            None => None,
        };
        Ok(Self { tcp, quic })
    }

    /// Starts the threads of all sessions.
    pub(super) fn start(
        self,
        path: &Path,
        clock: Clock,
        shared: &Shared,
        ends: &mut Ends,
    ) -> Result<Vec<Session>, EngineError> {
        let mut sessions = Vec::new();
        if let Some((config, receiver, side_channel)) = self.tcp {
            let server = receiver.address();
            let (config, side_channel) = (Arc::new(config), Arc::new(side_channel));
            let (theirs, word) = (Arc::clone(&config), Arc::clone(&side_channel));
            sessions.push(Session::start(
                Carrier::Tcp,
                (path, shared, ends),
                move |stop| ::live::send_with(&config, server, clock, stop, Some(&side_channel)),
                move |stop| ::live::receive_with(&theirs, receiver, clock, stop, Some(&word)),
            )?);
        }
        if let Some((config, receiver, side_channel, keys)) = self.quic {
            let servers = receiver.addresses();
            let (config, side_channel) = (Arc::new(config), Arc::new(side_channel));
            let (theirs, word) = (Arc::clone(&config), Arc::clone(&side_channel));
            sessions.push(Session::start(
                Carrier::Quic,
                (path, shared, ends),
                move |stop| quic::send(&config, &servers, &keys, clock, stop, Some(&side_channel)),
                move |stop| quic::receive(&theirs, receiver, clock, stop, Some(&word)),
            )?);
        }
        Ok(sessions)
    }
}

/// Makes the side channel of a session, with an echoer at the near end of `path` if one of `flows` is sized.
fn side_channel<'a>(
    path: &Path,
    flows: impl ExactSizeIterator<Item = &'a FlowConfig>,
) -> Result<SideChannel, EngineError> {
    let (count, mut flows) = (flows.len(), flows);
    if !flows.any(|flow| flow.sizer.is_some()) {
        return Ok(SideChannel::new(count));
    }
    let echo = SocketAddr::new(IpAddr::V4(path.sender_address()), 0);
    Ok(path.sender().run(move || SideChannel::with_echoer(count, echo))??)
}

/// The threads of a session.
pub(super) struct Session {
    carrier: Carrier,
    sending: JoinHandle<Result<Vec<SentFlow>, LiveError>>,
    receiving: JoinHandle<Result<Vec<ReceivedFlow>, LiveError>>,
}

impl Session {
    fn start(
        carrier: Carrier,
        (path, shared, ends): (&Path, &Shared, &mut Ends),
        send: impl FnOnce(&AtomicBool) -> Result<Vec<SentFlow>, LiveError> + Send + 'static,
        receive: impl FnOnce(&AtomicBool) -> Result<Vec<ReceivedFlow>, LiveError> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let [near, far] = ends.watch();
        let Shared { stop, waiting } = shared.clone();
        let receiving = path.receiver().spawn("receiver", move || {
            far.take();
            let received = receive(&stop);
            waiting.unpark();
            received
        })?;
        let Shared { stop, waiting } = shared.clone();
        let sending = path.sender().spawn("sender", move || {
            near.take();
            let sent = send(&stop);
            waiting.unpark();
            sent
        })?;
        Ok(Self { carrier, sending, receiving })
    }

    /// Returns true if both ends have finished.
    pub(super) fn is_finished(&self) -> bool {
        self.sending.is_finished() && self.receiving.is_finished()
    }

    /// Waits for the end of both threads.
    pub(super) fn join(self) -> Joined {
        let (sent, received) = (join(self.sending), join(self.receiving));
        Joined { carrier: self.carrier, sent, received }
    }
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, EngineError> {
    thread.join().map_err(|_| EngineError::Broken("a transfer's thread panicked".into()))
}

/// The outcome of a session's threads.
pub(super) struct Joined {
    carrier: Carrier,
    sent: Result<Result<Vec<SentFlow>, LiveError>, EngineError>,
    received: Result<Result<Vec<ReceivedFlow>, LiveError>, EngineError>,
}

/// Returns the results of all flows, in the scenario's order.
pub(super) fn results(
    resolved: &Resolved,
    outcomes: Vec<Joined>,
) -> Result<(Vec<SentFlow>, Vec<ReceivedFlow>), EngineError> {
    let mut sessions = Vec::new();
    for Joined { carrier, sent, received } in outcomes {
        sessions.push((carrier, sent??.into_iter().zip(received??)));
    }
    let result = |flow: &ResolvedFlow| {
        let own = sessions.iter_mut().find(|(carrier, _)| *carrier == flow.carrier);
        own.and_then(|(_, results)| results.next()).expect("a session has a result for each of its flows")
    };
    Ok(resolved.flows.iter().map(result).unzip())
}
