//! The real kernel as an engine: TCP between two namespaces over the emulated tight link.

mod answer;
mod waiting;

use super::{EngineError, Misfit, Progress, no_cell, no_users, one_queue, outlasts_warmup};
use crate::run::cost::Stopwatch;
use crate::run::record::{Engine, Record};
use crate::run::resolve::{KERNEL_CONTROLS, Resolved, ResolvedFlow};
use ::live::{FlowConfig, Receiver, SessionConfig, SideChannel, SizerChoice, Window};
use answer::record;
use emu::{EmuError, Path, PathConfig};
use host::Clock;
use link::queue::PolicyConfig;
use scenario::{Host, LossDetection, Stack};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use transport::LARGEST_WINDOW;
use units::{Bytes, Complaint, Span, Time};

/// The interval at which the waiting thread checks the progress, unless a transfer's end wakes it.
const PROGRESS_CHECK: Duration = Duration::from_millis(100);

/// The first port that needs no privilege. Flow number 0 sends from it, each other flow from the next port.
const FIRST_PORT: u16 = 1024;

/// The largest number of flows: one for each port from `FIRST_PORT` on.
const FLOWS_MAX: usize = (u16::MAX - FIRST_PORT) as usize + 1;

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
    // The kernel's limits on receive memory are not raised if it sizes the buffers of all flows by itself.
    let unasked = resolved.flows.iter().all(|flow| flow.autotuned);
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
        if !resolved.flows[0].transport.timestamps {
            namespace.sysctl("net.ipv4.tcp_timestamps", "0")?;
        }
        if !resolved.flows[0].transport.sack {
            namespace.sysctl("net.ipv4.tcp_sack", "0")?;
        }
    }
    let address = SocketAddr::new(IpAddr::V4(path.receiver_address()), 0);
    let listener = path.receiver().run(move || Receiver::bind(address))??;
    let server = listener.address();

    let config = Arc::new(session(resolved));
    let (flows, echo) = (config.flows.len(), SocketAddr::new(IpAddr::V4(path.sender_address()), 0));
    let side_channel = if config.flows.iter().any(|flow| flow.sizer.is_some()) {
        path.sender().run(move || SideChannel::with_echoer(flows, echo))??
    } else {
        SideChannel::new(flows)
    };
    let side_channel = Arc::new(side_channel);
    let stop = Arc::new(AtomicBool::new(false));
    let begun = match resolved.end {
        Some(end) => path.begin_until(resolved.warmup, end),
        None => path.begin(resolved.warmup),
    };
    let clock = Clock::following(begun?, path.lag());
    let waiting = std::thread::current();
    let shared = || {
        let halt = (Arc::clone(&stop), waiting.clone());
        (Arc::clone(&config), Arc::clone(&side_channel), clock, halt)
    };
    let (theirs, word, time, (halt, waiter)) = shared();
    let (mut ends, [near, far]) = waiting::watched();
    let receiving = path.receiver().spawn("receiver", move || {
        far.take();
        let received = ::live::receive_with(&theirs, listener, time, &halt, Some(&word));
        waiter.unpark();
        received
    })?;
    let (theirs, word, time, (halt, waiter)) = shared();
    let sending = path.sender().spawn("sender", move || {
        near.take();
        let sent = ::live::send_with(&theirs, server, time, &halt, Some(&word));
        waiter.unpark();
        sent
    })?;
    let mut stopped = false;
    loop {
        let done = receiving.is_finished() && sending.is_finished();
        // A run with a duration is measured to its end, even if every flow has ended before.
        let over = resolved.end.is_none_or(|end| clock.now() >= Time::ZERO + end);
        if done && (over || stopped || path.failure().is_some()) {
            break;
        }
        stopped |= progress(clock.now().as_secs_f64(), resolved.end.map(Span::as_secs_f64)).is_break();
        if stopped || path.failure().is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        ends.look(clock.now() >= Time::ZERO + resolved.warmup);
        std::thread::park_timeout(PROGRESS_CHECK);
    }
    let (sent, received) = (join(sending), join(receiving));
    if stopped {
        path.stop()?;
        return Err(EngineError::Stopped);
    }
    outlasts_warmup(clock.now(), resolved)?;
    let mut report = path.stop()?;
    ends.report(&mut report.hosts);
    let (sent, received) = (sent??, received??);
    Ok(record(resolved, &report, &sent, &received, watch.seconds()))
}

/// Refuses what the kernel and the emulator cannot reproduce.
pub(super) fn check(resolved: &Resolved) -> Result<(), Misfit> {
    no_cell(Engine::Live, resolved)?;
    one_queue(Engine::Live, resolved)?;
    no_users(Engine::Live, resolved, "ask the simulator: --engine sim")?;
    let first = &resolved.flows[0];
    if resolved.flows.len() > FLOWS_MAX {
        return Err(Misfit {
            engine: Engine::Live,
            complaint: Complaint::new(
                first.key("count"),
                format!("{} flows in all, and each needs a port of its own", resolved.flows.len()),
            )
            .accepted(format!("up to {FLOWS_MAX} flows"))
            .help("use fewer, or the simulator: --engine sim"),
        });
    }
    for flow in &resolved.flows {
        let misfit = |key, found: String, accepted: String, help: &str| {
            Err(Misfit {
                engine: Engine::Live,
                complaint: Complaint::new(flow.key(key), found).accepted(accepted).help(help),
            })
        };
        if !KERNEL_CONTROLS.contains(&flow.control.name.as_str()) {
            let found = format!("no kernel has control \"{}\"", flow.control.name);
            let help = "choose another control, or the simulator: --engine sim";
            return misfit("control", found, KERNEL_CONTROLS.join(", "), help);
        }
        if flow.segment() != first.segment() {
            let (one, other) = (first.segment(), flow.segment());
            let found = format!("segments of {one} and {other}, but the emulated path has one MTU");
            let help = "give all flows the same, or use the simulator: --engine sim";
            return misfit("segment", found, "one segment size for all flows".into(), help);
        }
        let (own, common) = (flow.transport, first.transport);
        for (key, differs) in
            [("timestamps", own.timestamps != common.timestamps), ("sack", own.sack != common.sack)]
        {
            if differs {
                let found = format!("{key} on some flows only; the kernel has one setting");
                let help = "give all flows the same, or use the simulator: --engine sim";
                return misfit(key, found, "true or false for all flows".into(), help);
            }
        }
        // A value that the preset of this kernel sets by itself is accepted, because the user did not ask for it.
        let (own, control) = (Host::Linux, flow.control.name.as_str());
        let slow_start = own.default_of::<String>("slow_start", control);
        if flow.control.slow_start != "standard" && Some(&flow.control.slow_start) != slow_start.as_ref() {
            let found = format!("slow start \"{}\", but the kernel has its own", flow.control.slow_start);
            let help = "leave it out, or use the simulator: --engine sim";
            return misfit("slow_start", found, "standard".into(), help);
        }
        let counting = flow.control.tuning.byte_counting;
        if counting != 1 && Some(counting) != own.default_of("byte_counting", control) {
            let found = format!("byte counting by {}, but the kernel has its own", counting);
            let help = "leave it out, or use the simulator: --engine sim";
            return misfit("byte_counting", found, "1".into(), help);
        }
        if flow.transport.loss_detection == LossDetection::Rack && resolved.stack == Stack::Classic {
            let found = "loss_detection \"rack\" with live.stack \"classic\", which turns RACK off".into();
            let help = "write live.stack = \"modern\", or use the simulator: --engine sim";
            return misfit("loss_detection", found, "\"dupack\"".into(), help);
        }
        if flow.stop.is_some() {
            let found = "a flow that leaves, which this version's kernel flows do not".into();
            let help = "give it a size instead, or use the simulator: --engine sim";
            return misfit("stop", found, "no stop".into(), help);
        }
        for (key, on) in [("ecn", flow.transport.ecn), ("pacing", flow.transport.pacing)] {
            if on {
                let found = format!("{key} = true, which this version does not turn on in the kernel");
                let help = "leave it out, or use the simulator: --engine sim";
                return misfit(key, found, "false".into(), help);
            }
        }
        if flow.access_rate.is_some() && flow.access_rate != own.default_of("access_rate", control) {
            let found = "a rate of the host's own line, which this version's kernel hosts do not have".into();
            let help = "leave it out, or use the simulator: --engine sim";
            return misfit("access_rate", found, "unlimited".into(), help);
        }
        let jitter = flow.send_jitter;
        if jitter != Span::ZERO && Some(jitter) != own.default_of("send_jitter", control) {
            let found = format!("a jitter of {jitter}, which is the simulator's: a real host has its own");
            return misfit(
                "send_jitter",
                found,
                "0s".into(),
                "leave it out, or use the simulator: --engine sim",
            );
        }
    }
    match path_config(resolved).check() {
        Err(EmuError::Refused(refused)) => {
            let (setting, value) = (&refused.place, &refused.found);
            let found = format!("{setting} = {value} is beyond what the emulator can do accurately");
            let place = scenario_key(setting).to_owned();
            Err(Misfit { engine: Engine::Live, complaint: Complaint { place, found, ..refused } })
        }
        // This check only compares numbers; any other error recurs when the path starts.
        _ => Ok(()),
    }
}

/// Returns the scenario's key for the emulator's `setting`.
fn scenario_key(setting: &str) -> &'static str {
    match setting {
        "mtu" => "flow[0].segment",
        "rate x delay + queue limit" => "link.queue.limit",
        "queue kind" => "link.queue.kind",
        "traffic rate" => "traffic",
        "record every" => "record.every",
        _ => "link.rate",
    }
}

/// Returns the least base RTT, which is the path's own. The rest of a flow's base RTT is that flow's extra delay.
pub(crate) fn least_rtt(resolved: &Resolved) -> Span {
    resolved.flows.iter().map(|flow| flow.base_rtt).min().unwrap_or_default()
}

pub(crate) fn path_config(resolved: &Resolved) -> PathConfig {
    let rtt = least_rtt(resolved);
    let extra = (FIRST_PORT..=u16::MAX).zip(&resolved.flows).map(|(port, flow)| (port, flow.base_rtt - rtt));
    PathConfig {
        link: resolved.link,
        limit: resolved.limit,
        // The emulator has no routers that send feedback; only the simulator has them.
        queue: PolicyConfig { assist: None, ..resolved.queue.clone() },
        reverse_delay: rtt.saturating_sub(resolved.link.delay),
        extra_delays: extra.filter(|(_, extra)| *extra > Span::ZERO).collect(),
        traffic: resolved
            .traffic
            .iter()
            .map(|traffic| (traffic.name.clone(), traffic.config.clone()))
            .collect(),
        seed: resolved.seed,
        mtu: u16::try_from(resolved.segment().get()).unwrap_or(u16::MAX),
        sample_every: Some(resolved.every),
        offload: true,
        back: None,
    }
}

pub(super) fn session(resolved: &Resolved) -> SessionConfig {
    let flow = |(port, flow): (u16, &ResolvedFlow)| FlowConfig {
        name: flow.name.clone(),
        control: flow.control.name.clone(),
        size: flow.size,
        start: flow.start.since(Time::ZERO),
        stop: resolved.end,
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
        port: Some(port),
    };
    SessionConfig {
        flows: (FIRST_PORT..=u16::MAX).zip(&resolved.flows).map(flow).collect(),
        warmup: resolved.warmup,
        end: resolved.end,
        every: resolved.every.max(Span::from_millis(1)),
    }
}

/// Returns the largest send memory of any flow, which is the kernel's one limit for all of them; `None` if it is
/// unlimited.
pub(super) fn send_memory(resolved: &Resolved) -> Option<Bytes> {
    let each = resolved.flows.iter().map(|flow| flow.transport.host.send_buffer.memory());
    each.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Returns a note if some flows should have smaller send buffers than the kernel's one limit.
fn send_memory_note(resolved: &Resolved) -> Option<String> {
    let most = send_memory(resolved);
    let all = |flow: &ResolvedFlow| flow.transport.host.send_buffer.memory() == most;
    let most = most.map_or_else(|| "unlimited".to_owned(), Bytes::rounded);
    (!resolved.flows.iter().all(all))
        .then(|| format!("live: the kernel has one limit for all send buffers: the largest, {most}"))
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, EngineError> {
    thread.join().map_err(|_| EngineError::Broken("a transfer's thread panicked".into()))
}
