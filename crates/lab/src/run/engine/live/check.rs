//! The parts of a scenario that neither the kernel, nor QUIC, nor the emulator can reproduce.

use super::{path_config, sessions};
use crate::run::engine::{Misfit, no_cell, no_hosts, no_users, one_queue};
use crate::run::record::Engine;
use crate::run::resolve::{Resolved, ResolvedFlow, kernel_controls, load_module, quic_controls};
use cc::RttScaling;
use emu::EmuError;
use rustix::process::{Resource, getrlimit};
use scenario::{Host, LossDetection, Stack};
use units::{Complaint, Span, Time};

/// The files that a run has open besides its sockets, with some to spare.
const OTHER_FILES: u64 = 64;

/// Refuses what the kernel and the emulator cannot reproduce.
pub(in crate::run::engine) fn check(resolved: &Resolved) -> Result<(), Misfit> {
    no_cell(Engine::Live, resolved)?;
    no_hosts(Engine::Live, resolved)?;
    one_queue(Engine::Live, resolved)?;
    no_users(Engine::Live, resolved, "ask the simulator: --engine sim")?;
    if resolved.acks.is_some() {
        let found = "acks = true, and the kernel does not show a program each acknowledgement";
        let complaint = Complaint::new("record.acks", found).accepted("false");
        let help = "leave it out, or use the simulator: --engine sim";
        return Err(Misfit { engine: Engine::Live, complaint: complaint.help(help) });
    }
    room_for_flows(resolved, getrlimit(Resource::Nofile).current)?;
    let first = &resolved.flows[0];
    for flow in &resolved.flows {
        if flow.segment() != first.segment() {
            let (one, other) = (first.segment(), flow.segment());
            let found = format!("segments of {one} and {other}, but the emulated path has one MTU");
            let help = "give all flows the same, or use the simulator: --engine sim";
            return misfit(flow, "segment", found, "one segment size for all flows", help);
        }
        if flow.stop.is_some() && flow.size.is_some() {
            let found = "a stop of a flow with a size, which flows on real packets do not have".into();
            let help = "leave out one of the two, or use the simulator: --engine sim";
            return misfit(flow, "stop", found, "a stop without a size", help);
        }
        let start = flow.start.since(Time::ZERO);
        if let Some(end) = resolved.end.filter(|end| start >= *end) {
            let found = format!("a start at {start}, when the run of {end} is over");
            let help = "let the flow start earlier, or the run last longer";
            return misfit(flow, "start", found, format!("a time before {end}"), help);
        }
        if flow.marking.sender > 0 || flow.marking.receiver > 0 {
            let key = if flow.marking.sender > 0 { "sending_host" } else { "receiving_host" };
            let found = "a host by name, and the emulated path has one host at each end".into();
            let help = "leave it out, or use the simulator: --engine sim";
            return misfit(flow, key, found, "no name of a host", help);
        }
        if flow.is_quic() && flow.marking.dscp > 0 {
            let found = format!("a DSCP of {} on packets of QUIC, which have none here", flow.marking.dscp);
            let help = "leave it out, or write transport = \"tcp\", or use the simulator: --engine sim";
            return misfit(flow, "dscp", found, "0", help);
        }
        let jitter = flow.send_jitter;
        let usual = Host::Linux.default_of("send_jitter", flow.control.name.as_str());
        if jitter != Span::ZERO && Some(jitter) != usual {
            let found = format!("a jitter of {jitter}, which is the simulator's: a real host has its own");
            let help = "leave it out, or use the simulator: --engine sim";
            return misfit(flow, "send_jitter", found, "0s", help);
        }
        if !flow.is_quic() {
            suits_kernel(flow, resolved)?;
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

/// Refuses more flows than there are ports, or than this process may open sockets for: `files` at the most.
fn room_for_flows(resolved: &Resolved, files: Option<u64>) -> Result<(), Misfit> {
    let (first, count) = (&resolved.flows[0], resolved.flows.len());
    let ports = sessions::ports(resolved);
    if ports > sessions::PORTS {
        let found = format!("{count} flows in all, and each needs a port of its own");
        let accepted = format!("up to {} flows and probers of QUIC flows", sessions::PORTS);
        let help = "use fewer, or the simulator: --engine sim";
        return misfit(first, "count", found, accepted, help);
    }
    let needed = sessions::sockets(resolved) + OTHER_FILES;
    if let Some(files) = files.filter(|files| *files < needed)
        && let Some(quic) = resolved.flows.iter().find(|flow| flow.is_quic())
    {
        let found = format!(
            "{count} flows, which need {needed} sockets and files in one process, and it may open {files}"
        );
        let each = sessions::sockets(resolved).div_ceil(count as u64);
        let accepted = format!("up to {} flows", files.saturating_sub(OTHER_FILES) / each);
        let help = format!("raise the limit: ulimit -n {needed}; or use fewer flows, or --engine sim");
        return misfit(quic, "count", found, accepted, &help);
    }
    Ok(())
}

/// Refuses what the kernel's TCP cannot reproduce.
fn suits_kernel(flow: &ResolvedFlow, resolved: &Resolved) -> Result<(), Misfit> {
    let kernel = kernel_controls();
    if !kernel.contains(&flow.control.name) {
        let found = format!("this kernel has no control \"{}\"", flow.control.name);
        let other = if quic_controls().contains(&flow.control.name.as_str()) {
            "write transport = \"quic\", which runs it on UDP packets; choose another control; or use the \
             simulator: --engine sim"
        } else {
            "choose another control, or the simulator: --engine sim"
        };
        let help = format!("{other}; {}", load_module(&flow.control.name));
        return misfit(flow, "control", found, kernel.join(", "), &help);
    }
    let own = flow.transport;
    let common = super::kernel_flows(resolved).next().map_or(own, |first| first.transport);
    for (key, differs) in
        [("timestamps", own.timestamps != common.timestamps), ("sack", own.sack != common.sack)]
    {
        if differs {
            let found = format!("{key} on some flows only; the kernel has one setting");
            let help = "give all flows the same, or use the simulator: --engine sim";
            return misfit(flow, key, found, "true or false for all flows", help);
        }
    }
    // A value that the preset of this kernel sets by itself is accepted, because the user did not ask for it.
    let (own, control) = (Host::Linux, flow.control.name.as_str());
    let slow_start = own.default_of::<String>("slow_start", control);
    if flow.control.slow_start != "standard" && Some(&flow.control.slow_start) != slow_start.as_ref() {
        let found = format!("slow start \"{}\", but the kernel has its own", flow.control.slow_start);
        let help = "leave it out, write transport = \"quic\", or use the simulator: --engine sim";
        return misfit(flow, "slow_start", found, "standard", help);
    }
    let counting = flow.control.tuning.byte_counting;
    if counting != 1 && Some(counting) != own.default_of("byte_counting", control) {
        let found = format!("byte counting by {counting}, but the kernel has its own");
        let help = "leave it out, write transport = \"quic\", or use the simulator: --engine sim";
        return misfit(flow, "byte_counting", found, "1", help);
    }
    if flow.control.tuning.prague_rtt != Some(RttScaling::default()) {
        let found =
            "an RTT scaling of Prague's other than the default, which the kernel has for all flows".into();
        let help = "leave the keys prague_rtt_* out, or use the simulator: --engine sim";
        return misfit(flow, "prague_rtt_scaling", found, "\"rate\"", help);
    }
    if flow.transport.loss_detection == LossDetection::Rack && resolved.stack == Stack::Classic {
        let found = "loss_detection \"rack\" with live.stack \"classic\", which turns RACK off".into();
        let help = "write live.stack = \"modern\", or use the simulator: --engine sim";
        return misfit(flow, "loss_detection", found, "\"dupack\"", help);
    }
    if flow.transport.pacing {
        let found = "pacing = true, which this version does not turn on in the kernel".into();
        let help = "leave it out, or use the simulator: --engine sim";
        return misfit(flow, "pacing", found, "false", help);
    }
    if flow.access_rate.is_some() && flow.access_rate != own.default_of("access_rate", control) {
        let found = "a rate of the host's own line, which this version's kernel hosts do not have".into();
        let help = "leave it out, or use the simulator: --engine sim";
        return misfit(flow, "access_rate", found, "unlimited", help);
    }
    Ok(())
}

/// Says that the kernel refuses to ask for the feedback of congestion marks that `flow` has.
pub(super) fn without_accurate_ecn(flow: &ResolvedFlow, kernel: &str) -> Misfit {
    let found = format!("accurate ECN, which this kernel does not turn on ({kernel})");
    let complaint = Complaint::new(flow.key("ecn"), found).accepted("\"off\" or \"classic\"");
    let help =
        "write one of these, take a kernel with net.ipv4.tcp_ecn = 3, or use the simulator: --engine sim";
    Misfit { engine: Engine::Live, complaint: complaint.help(help) }
}

fn misfit(
    flow: &ResolvedFlow,
    key: &str,
    found: String,
    accepted: impl Into<String>,
    help: &str,
) -> Result<(), Misfit> {
    let complaint = Complaint::new(flow.key(key), found).accepted(accepted).help(help);
    Err(Misfit { engine: Engine::Live, complaint })
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
