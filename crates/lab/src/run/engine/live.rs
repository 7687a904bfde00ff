//! Real packets as an engine: the kernel's TCP, and QUIC, between two namespaces over the emulated tight link.

mod answer;
mod check;
pub(super) mod sessions;
mod waiting;

use super::{EngineError, Progress, outlasts_warmup};
use crate::run::cost::Stopwatch;
use crate::run::record::Record;
use crate::run::resolve::{Resolved, ResolvedFlow};
use answer::record;
pub(super) use check::check;
use check::without_accurate_ecn;
use emu::{Path, PathConfig};
use host::{Clock, EcnRequest};
use link::queue::PolicyConfig;
use scenario::Stack;
use sessions::{Bound, Session, Shared, results};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::EcnMode;
use units::{Bytes, Span, Time};
use waiting::Ends;

/// The interval at which the waiting thread checks the progress, unless a transfer's end wakes it.
const PROGRESS_CHECK: Duration = Duration::from_millis(100);

pub(super) fn prepare() -> Result<(), EngineError> {
    emu::prepare()?;
    Ok(())
}

pub(super) fn run(resolved: &Resolved, progress: Progress<'_>) -> Result<Record, EngineError> {
    check(resolved)?;
    let watch = Stopwatch::start();
    let mut path = Path::start(path_config(resolved))?;
    let stack = match resolved.stack {
        Stack::Modern => host::Stack::Modern,
        Stack::Classic => host::Stack::Classic,
    };
    // The kernel's limits on receive memory are not raised if it sizes the buffers of all its flows by itself.
    let unasked = kernel_flows(resolved).all(|flow| flow.autotuned);
    let sent = send_memory(resolved);
    for namespace in [path.sender(), path.receiver()] {
        namespace.run(move || stack.apply_profile())??;
        if !unasked {
            namespace.run(host::raise_receive_memory)??;
        }
        namespace.run(move || match sent {
            Some(memory) => host::limit_send_memory(memory),
            None => host::raise_send_memory(),
        })??;
        if kernel_flows(resolved).any(|flow| !flow.transport.timestamps) {
            namespace.sysctl("net.ipv4.tcp_timestamps", "0")?;
        }
        if kernel_flows(resolved).any(|flow| !flow.transport.sack) {
            namespace.sysctl("net.ipv4.tcp_sack", "0")?;
        }
        if let Some(flow) = kernel_flows(resolved).find(|flow| flow.transport.ecn == EcnMode::Accurate) {
            namespace
                .run(|| EcnRequest::Accurate.apply())?
                .map_err(|error| without_accurate_ecn(flow, &error.to_string()))?;
        }
    }
    let bound = Bound::bind(resolved, &path)?;
    let shared = Shared { stop: Arc::new(AtomicBool::new(false)), waiting: std::thread::current() };
    let begun = match resolved.end {
        Some(end) => path.begin_until(resolved.warmup, end),
        None => path.begin(resolved.warmup),
    };
    let clock = Clock::following(begun?, path.lag());
    let mut ends = Ends::default();
    let sessions = bound.start(&path, clock, &shared, &mut ends)?;
    let mut stopped = false;
    loop {
        let done = sessions.iter().all(Session::is_finished);
        // A run with a duration is measured to its end, even if every flow has ended before.
        let over = resolved.end.is_none_or(|end| clock.now() >= Time::ZERO + end);
        if done && (over || stopped || path.failure().is_some()) {
            break;
        }
        stopped |= progress(clock.now().as_secs_f64(), resolved.end.map(Span::as_secs_f64)).is_break();
        if stopped || path.failure().is_some() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        ends.look(clock.now() >= Time::ZERO + resolved.warmup);
        std::thread::park_timeout(PROGRESS_CHECK);
    }
    let outcomes = sessions.into_iter().map(Session::join).collect();
    if stopped {
        path.stop()?;
        return Err(EngineError::Stopped);
    }
    outlasts_warmup(clock.now(), resolved)?;
    let mut report = path.stop()?;
    ends.report(&mut report.hosts);
    let (sent, received) = results(resolved, outcomes)?;
    Ok(record(resolved, &report, &sent, &received, watch.seconds()))
}

/// Returns the least base RTT, which is the path's own. The rest of a flow's base RTT is that flow's extra delay.
pub(crate) fn least_rtt(resolved: &Resolved) -> Span {
    resolved.flows.iter().map(|flow| flow.base_rtt).min().unwrap_or_default()
}

pub(crate) fn path_config(resolved: &Resolved) -> PathConfig {
    let rtt = least_rtt(resolved);
    PathConfig {
        link: resolved.link.clone(),
        limit: resolved.limit,
        // The emulator has no routers that send feedback; only the simulator has them.
        queue: PolicyConfig { assist: None, ..resolved.queue.clone() },
        reverse_delay: rtt.saturating_sub(resolved.link.delay),
        extra_delays: sessions::extra_delays(resolved),
        flow_ports: sessions::quic_ports(resolved),
        traffic: resolved
            .traffic
            .iter()
            .map(|traffic| (traffic.name.clone(), traffic.config.clone()))
            .collect(),
        traffic_classes: resolved.traffic.iter().map(|traffic| traffic.marking.dscp).collect(),
        seed: resolved.seed,
        mtu: u16::try_from(resolved.segment().get()).unwrap_or(u16::MAX),
        sample_every: Some(resolved.every),
        offload: true,
        back: None,
    }
}

/// Returns the flows that the kernel carries.
fn kernel_flows(resolved: &Resolved) -> impl Iterator<Item = &ResolvedFlow> {
    resolved.flows.iter().filter(|flow| !flow.is_quic())
}

/// Returns the largest send memory of any TCP flow, which is the kernel's one limit for all of them; `None` if it is
/// unlimited.
pub(super) fn send_memory(resolved: &Resolved) -> Option<Bytes> {
    let each = kernel_flows(resolved).map(|flow| flow.transport.host.send_buffer.memory());
    each.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Returns a note if some flows should have smaller send buffers than the kernel's one limit.
fn send_memory_note(resolved: &Resolved) -> Option<String> {
    let most = send_memory(resolved);
    let all = |flow: &ResolvedFlow| flow.transport.host.send_buffer.memory() == most;
    let most = most.map_or_else(|| "unlimited".to_owned(), Bytes::rounded);
    (!kernel_flows(resolved).all(all))
        .then(|| format!("live: the kernel has one limit for all send buffers: the largest, {most}"))
}
