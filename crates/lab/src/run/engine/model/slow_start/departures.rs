//! The differences between a scenario and one file on one path.
//!
//! In a slow start without a loss, most controls and hosts and all kinds of loss detection behave alike, and the theory
//! follows the receive window. From the first loss on, each of these matters.

use super::super::departure::{self, Departure, Severity};
use super::path;
use crate::run::resolve::{Resolved, ResolvedFlow};
use model::slow_start::Transfer;
use transport::{Host, LossDetection, Recovery, Transport};
use units::{Complaint, Span, Time};

/// Controls whose slow start, up to its first loss, is that of RFC 5681.
const ALIKE: [&str; 8] = ["reno", "newreno", "cubic", "highspeed", "scalable", "bic", "westwood", "africa"];

/// The only control that the theory follows beyond a loss.
const RENO: [&str; 1] = ["reno"];

/// The share of the round trip up to which a random delay is left out.
const SMALL: f64 = 0.03;

/// The number of segments of a socket buffer below which a host that gathers them stops at times.
const GATHERED: u64 = 20;

/// Pacing does not matter to a file that takes at least this many round trips.
const SEVERAL: u64 = 4;

/// The share of a file's duration up to which one delayed acknowledgement does not matter.
const HELD_UP: f64 = 0.1;

/// The delay that CoDel, and policies based on it, tolerate (RFC 8289).
const TARGET: Span = Span::from_millis(5);

/// Lists the parts of `resolved` that the theory treats otherwise, given its result `found` for `flow`.
pub(super) fn departures(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> Vec<Departure> {
    let known: &[&str] = if found.in_slow_start { &ALIKE } else { &RENO };
    let policy = departure::not_drop_tail(resolved).filter(|_| !is_short(resolved, found));
    let mut departures = departure::of_links(resolved, [flow], known, departure::RENO, policy);
    departures.extend(others(resolved));
    departures.extend(slower(resolved, flow, found));
    departures.extend(timer(flow, found));
    departures.extend(departure::random_loss(resolved));
    departures.extend(held_back(resolved, flow, found));
    departures.extend(held_up(flow, found));
    if !found.in_slow_start {
        departures.extend(of_host(flow));
    }
    departures.extend(losses(resolved, flow, found));
    if departures.is_empty() {
        departures.extend(cut_short(resolved, flow, found));
    }
    departures
}

/// Returns true if the queue stays so short that its policy, which reacts to delays, does nothing.
fn is_short(resolved: &Resolved, found: &Transfer) -> bool {
    let by_delay =
        ["codel", "fq-codel", "pie", "fq-pie", "dualpi2", "cobalt"].contains(&resolved.queue.policy.as_str());
    by_delay && found.in_slow_start && found.longest_wait < resolved.queue.settings.target.unwrap_or(TARGET)
}

/// Lists the departures for other traffic.
fn others(resolved: &Resolved) -> Vec<Departure> {
    let mut departures = Vec::new();
    if let Some(other) = resolved.flows.get(1) {
        let complaint = Complaint::new(other.key("size"), "a second flow together with the file")
            .accepted("one flow")
            .help("ask the simulator");
        departures.push(Departure::new(Severity::Core, complaint, "the other flows are left out"));
    }
    departures.extend(departure::cross_traffic(resolved));
    departures
}

/// Lists the other influences on the file's windows and times.
fn slower(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> Vec<Departure> {
    let mut departures = Vec::new();
    let mut depart = |is_so: bool, place: String, found: &str, accepted: &str, assumption: &str| {
        if is_so {
            let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
            departures.push(Departure::new(Severity::Part, complaint, assumption));
        }
    };
    depart(
        flow.control.slow_start != "standard" && !is_before_its_end(resolved, flow, found),
        flow.key("slow_start"),
        "another slow start than RFC 5681's",
        "standard",
        "slow start is RFC 5681's",
    );
    // Pacing holds the second and third windows back by a part of a round trip.
    let few = found.peak_window > flow.initial_window() as f64 && found.completion < flow.base_rtt * SEVERAL;
    depart(
        flow.transport.pacing && (!found.in_slow_start || few),
        flow.key("pacing"),
        "a sender that spaces its packets",
        "false",
        "packets leave as acknowledgements come",
    );
    let jitter = flow.send_jitter.as_secs_f64();
    let small = if found.in_slow_start { SMALL * flow.base_rtt.as_secs_f64() } else { 0.0 };
    depart(
        jitter > small,
        flow.key("send_jitter"),
        "packets that leave at random times",
        "0s",
        "packets leave as acknowledgements come, without a random delay",
    );
    let slow = flow.access_rate.is_some_and(|own| own < resolved.link.rate);
    depart(
        slow || (flow.access_rate.is_some() && !found.in_slow_start),
        flow.key("access_rate"),
        "a line of the sender's own",
        "unlimited",
        "the sender's own line and the link are one queue",
    );
    depart(
        Time::ZERO + resolved.warmup > flow.start,
        "warmup".into(),
        "a transfer whose start is not measured",
        "0s",
        "the transfer is measured from its start",
    );
    departures
}

/// Returns true if the file ends before its slow start would differ from RFC 5681's.
fn is_before_its_end(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> bool {
    found.in_slow_start
        && match flow.control.slow_start.as_str() {
            "limited" => found.peak_window <= flow.control.tuning.max_ssthresh as f64,
            // HyStart may end slow start when the window is half of the one that fills the path.
            "hystart" | "hystart++" => found.peak_window <= path(resolved, flow).pipe() / 2.0,
            _ => false,
        }
}

/// Describes a queue or a path so long that the first timer expires before an acknowledgement comes.
fn timer(flow: &ResolvedFlow, found: &Transfer) -> Option<Departure> {
    let transport = &flow.transport;
    // The timer of RFC 6298 after a first sample, or before any sample, whichever is less.
    let first = transport.min_rto.max(flow.base_rtt * 3).min(transport.initial_rto);
    let turn = flow.base_rtt + found.longest_wait;
    let complaint =
        Complaint::new(flow.key("initial_rto"), format!("{first}: a round trip may take {}", turn.rounded()))
            .accepted("more than a round trip")
            .help("ask the simulator");
    let assumption = "the retransmission timer is taken not to expire before the first acknowledgement";
    (turn >= first && found.in_slow_start).then(|| Departure::new(Severity::Part, complaint, assumption))
}

/// Describes acknowledgements that a host holds up for a time that matters. A host that acknowledges each segment at
/// first stops doing so at some time, which the theory does not follow.
fn held_up(flow: &ResolvedFlow, found: &Transfer) -> Option<Departure> {
    let host = flow.transport.host;
    let few = flow.per_round_trip().is_some_and(|buffer| buffer / flow.payload < GATHERED);
    let late = flow.delayed_ack_timeout.as_secs_f64() > HELD_UP * found.completion.as_secs_f64();
    let segments = flow.size.unwrap_or_default().get().div_ceil(flow.payload.get().max(1));
    let is_so = host.gathers() && flow.delayed_ack > 1 && (few || (late && segments > host.quick_ack));
    let complaint = Complaint::new(flow.key("delayed_ack_timeout"), "acknowledgements that a host holds up")
        .accepted("a longer file, or a larger socket buffer")
        .help("ask the simulator");
    is_so.then(|| Departure::new(Severity::Part, complaint, "no acknowledgement is held up"))
}

/// Describes a slow start with losses. The theory's repair of them is near the behaviour of packets in published
/// results, which claims judge, but not in all others.
fn losses(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> Option<Departure> {
    let complaint = Complaint::new(flow.key("size"), "so large that the file meets losses")
        .accepted("a file that ends in its slow start")
        .help("ask the simulator");
    let is_so = resolved.source.is_none() && !found.in_slow_start;
    is_so.then(|| {
        Departure::new(Severity::Part, complaint, "losses are repaired without bursts and further losses")
    })
}

/// Describes a window that the hosts limit. Up to the first loss the theory follows a fixed window, and the kernel's
/// own sizing, which stays ahead of a slow start.
fn held_back(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> Option<Departure> {
    let follows = flow.asked_sizer().is_none_or(|sizer| sizer.name == "drs");
    if found.in_slow_start && follows {
        return None;
    }
    let path = path(resolved, flow);
    let enough = 2.0 * (path.pipe() + path.room());
    departure::held_back([flow], Severity::Core, enough, "\"max\", or twice what path and queue hold")
}

/// Describes a run, or a flow, that ends before the file does.
fn cut_short(resolved: &Resolved, flow: &ResolvedFlow, found: &Transfer) -> Option<Departure> {
    let stop = flow.stop.map_or(Span::MAX, |stop| stop.since(Time::ZERO));
    let end = resolved.end.unwrap_or(Span::MAX).min(stop);
    let complaint = Complaint::new("duration", format!("{end}: the file takes longer"))
        .accepted("none, or what the file takes")
        .help("ask the simulator");
    let assumption = "the file is followed to its end, which comes after that of the run";
    (flow.start.since(Time::ZERO) + found.completion > end)
        .then(|| Departure::new(Severity::Part, complaint, assumption))
}

/// Describes the behaviour of the two hosts beyond the RFCs.
fn of_host(flow: &ResolvedFlow) -> Vec<Departure> {
    let mut departures = Vec::new();
    let Transport { host, loss_detection, recovery, .. } = flow.transport;
    let Host { bbr_variant, cubic_variant, window_variant, .. } = host;
    if host != (Host { bbr_variant, cubic_variant, window_variant, ..Host::default() }) {
        let complaint = Complaint::new(flow.key("host"), "hosts that take segments together")
            .accepted("\"rfc\"")
            .help("ask the simulator");
        let assumption = "hosts send and acknowledge segment by segment";
        departures.push(Departure::new(Severity::Part, complaint, assumption));
    }
    if loss_detection == LossDetection::Rack || recovery == Recovery::Prr {
        let key = if loss_detection == LossDetection::Rack { "loss_detection" } else { "recovery" };
        let complaint = Complaint::new(flow.key(key), "another repair than those of the theory")
            .accepted("loss_detection = \"dupack\", and any recovery but \"prr\"")
            .help("ask the simulator");
        let assumption = "losses are found by duplicate acknowledgements, and repaired as RFC 6675 has it";
        departures.push(Departure::new(Severity::Part, complaint, assumption));
    }
    departures
}
