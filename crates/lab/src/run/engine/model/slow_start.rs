//! One file on one path: its first slow start, the repair of what that loses, and congestion avoidance
//! (`model::slow_start`).
//!
//! It fits a Reno flow with a size, alone at a drop-tail queue. The flow has RFC 5681's slow start, and its hosts
//! send and acknowledge segment by segment.

use super::Theory;
use super::answer::{Answer, Packets};
use super::departure::{self, Departure, Weight};
use super::tight::empty_rtt;
use crate::run::record::FlowSummary;
use crate::run::resolve::{Resolved, ResolvedFlow};
use link::Limit;
use model::OutOfRange;
use model::slow_start::{self, Connection, Growth, Path, Repair, Transfer, overflow_window};
use transport::{Host, LossDetection, Recovery, Transport};
use units::{Bytes, Complaint, Span};

/// The theory of one file's transfer.
pub(super) struct SlowStart;

impl Theory for SlowStart {
    fn name(&self) -> &'static str {
        "slow start"
    }

    fn source(&self) -> &'static str {
        "buffers:theorem1"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let flow = file(resolved)?;
        // What is out of range has no answer.
        path(resolved, flow).check().map_err(|error| placed(error, flow))?;
        connection(flow).growth.check().map_err(|error| placed(error, flow))?;
        let policy = departure::not_drop_tail(resolved);
        let mut departures = departure::of_links(resolved, [flow], &["reno"], departure::RENO, policy);
        departures.extend(others(resolved));
        departures.extend(beyond(resolved, flow));
        departures.extend(of_host(flow));
        if departures.is_empty() {
            departures.extend(cut_short(resolved, flow));
        }
        Ok(departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let flow = file(resolved)?;
        let path = path(resolved, flow);
        let connection = connection(flow);
        let found = slow_start::transfer(&path, &connection).map_err(|error| placed(error, flow))?;
        Ok(answer(resolved, flow, &path, &connection, &found))
    }
}

/// The flow that has a size.
fn file(resolved: &Resolved) -> Result<&ResolvedFlow, Complaint> {
    let first = resolved.flows.first().filter(|flow| flow.route.contains(&resolved.tight));
    first.filter(|flow| flow.size.is_some()).ok_or_else(|| {
        let place = resolved.flows.first().map_or_else(|| "flow".into(), |flow| flow.key("size"));
        Complaint::new(place, "the first flow has no size: this theory is for a file").accepted("a size")
    })
}

/// The key of the scenario in the place of what the model calls it.
fn placed(error: OutOfRange, flow: &ResolvedFlow) -> Complaint {
    let place = match error.what {
        "capacity" => "link.rate".into(),
        "buffer" | "held by path and buffer" => "link.queue.limit".into(),
        "segments" => flow.key("size"),
        "window" => flow.key("initial_window"),
        "threshold" => flow.key("initial_ssthresh"),
        key => flow.key(key),
    };
    Complaint { place, ..Complaint::from(error) }
}

fn path(resolved: &Resolved, flow: &ResolvedFlow) -> Path {
    let segment = flow.segment();
    let waiting = match resolved.limit {
        Limit::Packets(packets) => segment * packets,
        Limit::Bytes(bytes) => bytes,
    };
    Path {
        capacity: resolved.available(),
        segment,
        rtt: empty_rtt(resolved, flow),
        // A limit does not count the packet being sent.
        buffer: waiting + segment,
    }
}

fn connection(flow: &ResolvedFlow) -> Connection {
    let segments = |bytes: Bytes| bytes.get().div_ceil(flow.payload.get().max(1));
    let transport = &flow.transport;
    Connection {
        segments: flow.size.map_or(1, segments).max(1),
        growth: Growth { delayed_ack: flow.delayed_ack, byte_counting: flow.tuning.byte_counting },
        delayed_ack_timeout: flow.delayed_ack_timeout,
        initial_window: flow.initial_window,
        threshold: flow
            .initial_ssthresh
            .map_or(f64::INFINITY, |threshold| (threshold.get() as f64 / flow.payload.get() as f64).max(1.0)),
        repair: match (transport.sack, transport.recovery) {
            (false, Recovery::Reno) => Repair::Reno,
            (false, _) => Repair::NewReno,
            (true, Recovery::Sack1) => Repair::Sack1,
            (true, _) => Repair::Sack,
        },
        min_rto: transport.min_rto,
        initial_rto: transport.initial_rto,
        timestamps: transport.timestamps,
    }
}

/// Other traffic.
fn others(resolved: &Resolved) -> Vec<Departure> {
    let mut departures = Vec::new();
    if let Some(other) = resolved.flows.get(1) {
        let complaint = Complaint::new(other.key("size"), "a second flow beside the file")
            .accepted("one flow")
            .help("ask the simulator");
        departures.push(Departure::new(Weight::Core, complaint, "the other flows are left out"));
    }
    departures.extend(departure::cross_traffic(resolved));
    departures
}

/// What else decides on the file's windows and times.
fn beyond(resolved: &Resolved, flow: &ResolvedFlow) -> Vec<Departure> {
    let path = path(resolved, flow);
    let mut departures = Vec::new();
    let mut depart = |is_so: bool, weight, place: String, found: &str, accepted: &str, assumption: &str| {
        if is_so {
            let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
            departures.push(Departure::new(weight, complaint, assumption));
        }
    };
    depart(
        flow.slow_start != "standard",
        Weight::Part,
        flow.key("slow_start"),
        "another slow start than RFC 5681's",
        "standard",
        "slow start is RFC 5681's",
    );
    depart(
        flow.transport.pacing,
        Weight::Part,
        flow.key("pacing"),
        "a sender that spaces its packets",
        "false",
        "packets leave as acknowledgements come",
    );
    depart(
        flow.send_jitter > Span::ZERO,
        Weight::Part,
        flow.key("send_jitter"),
        "packets that leave at random times",
        "0s",
        "packets leave as acknowledgements come, without a random delay",
    );
    depart(
        flow.access_rate.is_some(),
        Weight::Part,
        flow.key("access_rate"),
        "a line of the sender's own",
        "unlimited",
        "the sender's own line has no limit",
    );
    depart(
        resolved.warmup > Span::ZERO,
        Weight::Part,
        "warmup".into(),
        "a transfer whose start is not measured",
        "0s",
        "the transfer is measured from its start",
    );
    let enough = 2.0 * (path.pipe() + path.room());
    let accepted = "\"max\", or twice what path and queue hold";
    departures.extend(departure::random_loss(resolved));
    departures.extend(departure::held_back([flow], Weight::Core, enough, accepted));
    departures
}

/// A run that ends before the file does.
fn cut_short(resolved: &Resolved, flow: &ResolvedFlow) -> Option<Departure> {
    let end = resolved.end?;
    let found = slow_start::transfer(&path(resolved, flow), &connection(flow)).ok()?;
    let complaint = Complaint::new("duration", format!("{end}: the file takes longer"))
        .accepted("none, or what the file takes")
        .help("ask the simulator");
    let assumption = "the file is followed to its end, which comes after that of the run";
    (flow.start + found.completion > end).then(|| Departure::new(Weight::Part, complaint, assumption))
}

/// What the two hosts do beyond the RFCs.
fn of_host(flow: &ResolvedFlow) -> Vec<Departure> {
    let mut departures = Vec::new();
    let Transport { host, loss_detection, recovery, .. } = flow.transport;
    let Host { bbr_variant, cubic_variant, window_variant, .. } = host;
    if host != (Host { bbr_variant, cubic_variant, window_variant, ..Host::default() }) {
        let complaint = Complaint::new(flow.key("host"), "hosts that take segments together")
            .accepted("\"rfc\"")
            .help("ask the simulator");
        let assumption = "hosts send and acknowledge segment by segment";
        departures.push(Departure::new(Weight::Part, complaint, assumption));
    }
    if loss_detection == LossDetection::Rack || recovery == Recovery::Prr {
        let key = if loss_detection == LossDetection::Rack { "loss_detection" } else { "recovery" };
        let complaint = Complaint::new(flow.key(key), "another repair than those of the theory")
            .accepted("loss_detection = \"dupack\", and any recovery but \"prr\"")
            .help("ask the simulator");
        let assumption = "losses are found by duplicate acknowledgements, and repaired as RFC 6675 has it";
        departures.push(Departure::new(Weight::Part, complaint, assumption));
    }
    departures
}

fn answer(
    resolved: &Resolved,
    flow: &ResolvedFlow,
    path: &Path,
    connection: &Connection,
    found: &Transfer,
) -> Answer {
    let seconds = found.completion.as_secs_f64();
    let size = flow.size.map_or(0.0, |size| size.get() as f64);
    let sent = (connection.segments + found.resent) as f64;
    let loss_rate = (found.lost as f64 / sent).min(1.0);
    let measured = resolved.end.map_or(seconds, Span::as_secs_f64).max(seconds);
    let own = FlowSummary {
        name: flow.name.clone(),
        goodput_bps: size * 8.0 / seconds,
        loss_rate: Some(loss_rate),
        retransmits: Some(found.resent),
        timeouts: Some(found.timeouts),
        first_loss_window_segments: found.first_loss.map(|loss| loss.overflow_window),
        threshold_segments: Some(found.threshold).filter(|threshold| threshold.is_finite()),
        completion_s: Some(seconds),
        delivered_bytes: Some(size),
        ..FlowSummary::default()
    };
    let left_out = resolved.flows[1..]
        .iter()
        .map(|flow| FlowSummary { name: flow.name.clone(), ..FlowSummary::default() });
    let mut notes = Vec::new();
    if let Ok(window) = overflow_window(path, connection.growth) {
        notes.push(format!(
            "Theorem 1: slow start overflows the buffer at a window of {window:.1} segments; with the timer of delayed \
             acknowledgements and whole segments it is {}",
            found.first_loss.map_or("not overflowed by this file".into(), |loss| format!("{:.0}", loss.overflow_window))
        ));
    }
    Answer {
        utilization: ((sent - found.lost as f64) * path.service() / measured).clamp(0.0, 1.0),
        loss_rate: Some(loss_rate),
        packets: Some(Packets {
            forwarded: (connection.segments + found.resent).saturating_sub(found.lost),
            dropped: found.lost,
        }),
        flows: std::iter::once(own).chain(left_out).collect(),
        windows: resolved.flows.iter().map(|_| None).collect(),
        notes: notes.into_iter().map(Into::into).collect(),
        ..Answer::default()
    }
}
