//! One file on one path: its first slow start, the repair of its losses, and congestion avoidance
//! (`model::slow_start`).
//!
//! It covers a flow with a size, alone at a drop-tail queue. If a file ends in its slow start without a loss, it takes
//! much the same time with most controls and hosts, which `slow_start/departures.rs` lists. For any other file the
//! theory assumes Reno, with RFC 5681's slow start, and hosts that send and acknowledge segment by segment.

mod departures;

use super::Theory;
use super::answer::{Answer, Packets, handshake};
use super::departure::Departure;
use super::offered::OfferedLoad;
use super::tight::empty_rtt;
use crate::run::record::FlowSummary;
use crate::run::resolve::{Resolved, ResolvedFlow};
use departures::departures;
use model::OutOfRange;
use model::slow_start::{self, Connection, Growth, Path, Repair, Transfer, overflow_window};
use transport::Recovery;
use units::{Bytes, Complaint, Span, Time};

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
        // Values out of range have no answer.
        path(resolved, flow).check().map_err(|error| placed(error, flow))?;
        let found = found(resolved, flow)?;
        Ok(departures(resolved, flow, &found))
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let flow = file(resolved)?;
        let found = found(resolved, flow)?;
        Ok(answer(resolved, flow, &path(resolved, flow), &connection(flow), &found))
    }
}

/// Computes the transfer, with the actual length of the last segment.
fn found(resolved: &Resolved, flow: &ResolvedFlow) -> Result<Transfer, Complaint> {
    let (path, connection) = (path(resolved, flow), connection(flow));
    let found = slow_start::transfer(&path, &connection).map_err(|error| placed(error, flow))?;
    let missing = flow.payload * connection.segments - flow.size.unwrap_or_default();
    let sooner = path.capacity.serialization(missing.min(flow.payload));
    let completion = found.completion.saturating_sub(if found.lost == 0 { sooner } else { Span::ZERO });
    Ok(Transfer { completion, ..found })
}

/// Returns the flow that has a size.
fn file(resolved: &Resolved) -> Result<&ResolvedFlow, Complaint> {
    let first = resolved.flows.first().filter(|flow| flow.route.contains(&resolved.tight));
    first.filter(|flow| flow.size.is_some()).ok_or_else(|| {
        let place = resolved.flows.first().map_or_else(|| "flow".into(), |flow| flow.key("size"));
        Complaint::new(place, "the first flow has no size: this theory is for a file").accepted("a size")
    })
}

/// Replaces the model's name of a quantity by the key of the scenario.
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
    let offered = OfferedLoad::new(resolved);
    let capacity = resolved.link.rate.saturating_sub(offered.rate);
    Path {
        // The capacity is that of the slower of the link and the sender's own line.
        capacity: flow.access_rate.map_or(capacity, |own| own.min(capacity)),
        segment,
        rtt: empty_rtt(resolved, flow),
        // A limit does not count the packet being sent.
        buffer: offered.room + segment,
    }
}

fn connection(flow: &ResolvedFlow) -> Connection {
    let segments = |bytes: Bytes| bytes.get().div_ceil(flow.payload.get().max(1));
    let transport = &flow.transport;
    // Hosts that acknowledge each segment at the start of a connection delay no acknowledgement.
    let quick = transport.host.quick_ack > 0 || transport.host.quick_growth;
    let delayed_ack = if quick { 1 } else { flow.delayed_ack };
    let most = |buffer: Bytes| ((buffer / flow.payload) as f64).max(1.0);
    Connection {
        segments: flow.size.map_or(1, segments).max(1),
        growth: Growth { delayed_ack, byte_counting: flow.control.tuning.byte_counting },
        delayed_ack_timeout: flow.delayed_ack_timeout,
        initial_window: flow.initial_window(),
        most: flow.per_round_trip().map_or(f64::INFINITY, most),
        threshold: Some(flow.control.start.threshold)
            .filter(|threshold| *threshold < Bytes::MAX)
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
    let begun = flow.start.since(Time::ZERO).saturating_sub(resolved.warmup).as_secs_f64();
    let end = resolved.end.map(|end| end.saturating_sub(resolved.warmup).as_secs_f64());
    let measured = end.unwrap_or(0.0).max(begun + handshake(flow) + seconds);
    // Bytes that the link sends; the last segment counts with its actual length.
    let header = flow.header.get() as f64;
    let wire = size
        + connection.segments as f64 * header
        + (found.resent as f64 - found.lost as f64) * flow.segment().get() as f64;
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
        utilization: (wire * 8.0 / resolved.link.rate.as_bps_f64() / measured).clamp(0.0, 1.0),
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
