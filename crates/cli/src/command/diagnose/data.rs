//! The report for programs: an object for each direction of a connection.

use super::Case;
use super::words::round_trip;
use ::capture::connections::{Connection, Failure, FailureKind, Statistics};
use estimate::diagnosis::{Cause, Confidence, Vantage, WindowSizing};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use units::{Bytes, Span};

/// Returns the object of one direction of a connection.
pub(in crate::command) fn of(case: &Case) -> Value {
    let Case { evidence, diagnosis, program, closed, proposal, sums, failure } = case;
    let last = evidence.intervals.last().copied().unwrap_or_default();
    let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
    let bytes = |bytes: Option<Bytes>| bytes.map(Bytes::get);
    let sum = |of: fn(&estimate::diagnosis::Interval) -> u64| evidence.intervals.iter().map(of).sum::<u64>();
    let shares: Map<String, Value> = Cause::ALL
        .into_iter()
        .map(|cause| (cause.name().into(), json!(diagnosis.shares.of(cause))))
        .collect();
    let buffer = evidence.buffer;
    json!({
        "source": evidence.direction.source.to_string(),
        "destination": evidence.direction.destination.to_string(),
        "vantage": vantage(evidence.vantage),
        "pid": program.as_ref().map(|(pid, _)| pid),
        "program": program.as_ref().map(|(_, name)| name),
        "closed": closed,
        "observed_s": evidence.observed().as_secs_f64(),
        "delivered_bytes": evidence.delivered().get(),
        "goodput_bps": evidence.goodput().as_bps_f64(),
        "shares": shares,
        "cause": diagnosis.cause.map(Cause::name),
        "path": diagnosis.path.map(estimate::diagnosis::PathState::name),
        "confidence": diagnosis.confidence.name(),
        "reason": diagnosis.reason,
        "in_use_bytes": bytes(diagnosis.in_use),
        "rtt_s": seconds(round_trip(evidence)),
        "base_rtt_s": seconds(evidence.base_round_trip),
        "receive_window_bytes": bytes(last.receive_window),
        "window_scale": evidence.window_scale.filter(|_| !evidence.inferred_scale),
        "inferred_scale": evidence.window_scale.filter(|_| evidence.inferred_scale),
        "scaling_off": evidence.scaling_off,
        "autotuned": evidence.sizing.map(|sizing| sizing == WindowSizing::Kernel),
        "window_sizing": evidence.sizing.map(WindowSizing::name),
        "congestion_window_bytes": bytes(last.congestion_window),
        "control": evidence.control,
        "segment_bytes": evidence.segment.get(),
        "retransmitted": sum(|interval| interval.retransmitted),
        "needless_retransmissions": evidence.needless,
        "timeouts": evidence.timeouts,
        "loss_episodes": evidence.episode_count(),
        "out_of_order": sum(|interval| interval.out_of_order),
        "marked": sum(|interval| interval.marked),
        "capacity_bps": evidence.capacity.map(units::Rate::as_bps_f64),
        "buffer_bytes": buffer.map(|buffer| buffer.size.get()),
        "capture": sums.as_ref().map(super::capture::data),
        "failure": failure.as_ref().map(failed),
        "buffer_is_at_least": buffer.map(|buffer| buffer.at_least),
        "proposal": proposal,
    })
}

/// Returns the objects of a connection that carried too little to be judged: one for each direction with data, or one if
/// there were none.
pub(super) fn of_small(connection: &Connection) -> Vec<Value> {
    let ends = [connection.forward.source, connection.forward.destination];
    let observed = connection.until.since(connection.from);
    let [there, back] = connection.directions.each_ref().map(|direction| &direction.statistics);
    let mut directions = vec![(ends, there)];
    if back.segments > 0 {
        directions.push(([ends[1], ends[0]], back));
    }
    if there.segments == 0 && back.segments > 0 {
        directions.remove(0);
    }
    let mut failure = connection.failure.as_ref().map(failed);
    let object = |([source, destination], sums): ([SocketAddr; 2], &Statistics)| {
        json!({
            "source": source.to_string(),
            "destination": destination.to_string(),
            "observed_s": observed.as_secs_f64(),
            "cause": null,
            "confidence": Confidence::Low.name(),
            "reason": "It carried too little data to be judged.",
            "capture": super::capture::data(sums),
            "failure": failure.take(),
        })
    };
    directions.into_iter().map(object).collect()
}

/// Returns the object of a failure.
fn failed(failure: &Failure) -> Value {
    let (count, over) = match failure.kind {
        FailureKind::NoAnswer { requests, over } => (Some(requests), Some(over)),
        FailureKind::Silent { retransmissions, over } => (Some(retransmissions), Some(over)),
        FailureKind::WindowClosed { over } => (None, Some(over)),
        FailureKind::Refused | FailureKind::Reset => (None, None),
    };
    let name = failure.kind.name();
    json!({ "kind": name, "by": failure.by.to_string(), "count": count, "over_s": over.map(Span::as_secs_f64) })
}

/// Returns the name of a vantage in results.
const fn vantage(vantage: Vantage) -> &'static str {
    match vantage {
        Vantage::SenderSocket => "sender-socket",
        Vantage::ReceiverSocket => "receiver-socket",
        Vantage::SenderCapture => "sender-capture",
        Vantage::MiddleCapture => "middle-capture",
        Vantage::ReceiverCapture => "receiver-capture",
    }
}
