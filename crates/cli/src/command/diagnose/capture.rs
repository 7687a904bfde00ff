//! The evidence of a capture: reads it once, with the share that has been read, until its end or Ctrl-C.

use super::{Case, Report, SHOWN};
use crate::args::DiagnoseOptions;
use crate::interrupt::Interrupt;
use crate::print;
use crate::problem::Problem;
use ::capture::connections::{Connection, Connections, FailureKind, Statistics, connections};
use ::capture::{Place, TraceError};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{IsTerminal, stderr};
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::path::Path;
use units::{Bytes, Complaint};

/// Reads a capture and reports on its connections.
pub(super) fn report(path: &Path, options: &DiagnoseOptions) -> Result<Report, Problem> {
    let hosts = options.to.as_deref().map(super::running::addresses).transpose()?;
    let capture = read(path)?;
    for note in &capture.notes {
        print::talk(format_args!("note: {note}"));
    }
    if capture.stopped {
        print::talk(format_args!("note: stopped after {} packets; the report is on these", capture.frames));
    }
    let total = capture.connections.len();
    let wanted = |connection: &Connection| {
        let ends = [connection.forward.source, connection.forward.destination];
        ends.iter().any(|end| options.port.is_none_or(|port| end.port() == port))
            && hosts.as_deref().is_none_or(|hosts| ends.iter().any(|end| is_one_of(end, hosts)))
    };
    let chosen: Vec<Connection> = capture.connections.into_iter().filter(wanted).collect();
    if chosen.is_empty() && total > 0 {
        let found = format!("none of its {total} connections fits --port or --to");
        return Err(Problem::usage(Complaint::new(path.display().to_string(), found)));
    }
    let mut report = reported(chosen, options.all);
    report.rest.0 += capture.others.connections as usize;
    report.rest.1 += capture.others.payload;
    Ok(report)
}

fn is_one_of(end: &SocketAddr, hosts: &[IpAddr]) -> bool {
    hosts.contains(&end.ip().to_canonical())
}

/// Reads the file.
fn read(path: &Path) -> Result<Connections, Problem> {
    let place = path.display().to_string();
    let file = File::open(path)
        .map_err(|error| Problem::usage(Complaint::new(&place, format!("cannot be opened: {error}"))))?;
    let length = file.metadata().map_or(0, |about| about.len());
    let interrupt = Interrupt::attend();
    let bar = if stderr().is_terminal() { ProgressBar::new(length) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("reading {percent} % of {total_bytes} {wide_bar} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let result = connections(file, |read| {
        bar.set_position(read);
        match &interrupt {
            Some(interrupt) if interrupt.is_asked() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    bar.finish_and_clear();
    result.map_err(|error| Problem::usage(complaint(place, error)))
}

fn complaint(place: String, error: TraceError) -> Complaint {
    let place = match error.place {
        Place::Line(line) => format!("{place}:{line}"),
        Place::Packet(packet, offset) => format!("{place}: packet {packet} at byte {offset}"),
        Place::Whole => place,
    };
    let complaint = Complaint::new(place, error.found).accepted(error.accepted);
    match error.help {
        Some(help) => complaint.help(help),
        None => complaint,
    }
}

/// Chooses the connections that are shown: of those with evidence, the ones with most payload. If these are few, they
/// are followed by some without evidence, first those that failed.
fn reported(connections: Vec<Connection>, all: bool) -> Report {
    let shown = if all { usize::MAX } else { SHOWN };
    let evident =
        |connection: &Connection| connection.directions.iter().any(|direction| direction.evidence.is_some());
    let (mut judged, others): (Vec<_>, Vec<_>) = connections.into_iter().partition(evident);
    let (failed, quiet): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|connection| connection.failure.is_some());
    let mut report = Report { all, ..Report::default() };
    let mut rest = judged.split_off(judged.len().min(shown));
    let room = shown - judged.len();
    for connection in failed.into_iter().chain(quiet) {
        if report.small.len() < room && (connection.failure.is_some() || payload(&connection) > Bytes::ZERO) {
            report.small.push(connection);
        } else {
            rest.push(connection);
        }
    }
    for connection in judged {
        let mut failure = connection.failure;
        for direction in connection.directions {
            if let Some(evidence) = direction.evidence {
                let case = Case::new(evidence, None, false);
                report.cases.push(Case { sums: Some(direction.statistics), failure: failure.take(), ..case });
            }
        }
    }
    for connection in rest {
        let payload = payload(&connection);
        if payload > Bytes::ZERO {
            report.rest.0 += 1;
            report.rest.1 += payload;
            continue;
        }
        report.idle += 1;
        match connection.failure.map(|failure| failure.kind) {
            Some(FailureKind::NoAnswer { .. }) => report.unanswered += 1,
            Some(FailureKind::Refused) => report.refused += 1,
            _ => {}
        }
    }
    report
}

/// Returns the payload of both directions.
fn payload(connection: &Connection) -> Bytes {
    connection.directions.iter().map(|direction| direction.statistics.payload).sum()
}

/// Returns "13265 segments, 8 sent again (8 fast, 0 by timeout, 0 needless), 0 out of order".
pub(super) fn words(sums: &Statistics) -> String {
    let again = &sums.retransmitted;
    let noun = if sums.segments == 1 { "segment" } else { "segments" };
    let mut text = format!("{} {noun}, {} sent again", sums.segments, again.segments);
    if again.segments > 0 {
        let parts = [
            (again.fast, "fast"),
            (again.by_timeout, "by timeout"),
            (again.probes, "as probes"),
            (again.needless, "needless"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
        text += &format!(" ({})", parts.join(", "));
    }
    text += &format!(", {} out of order", sums.out_of_order);
    if sums.unseen > Bytes::ZERO {
        text += &format!(", {} not captured", sums.unseen.rounded());
    }
    text
}

/// Returns the sums as an object of JSON.
pub(super) fn data(sums: &Statistics) -> serde_json::Value {
    let again = &sums.retransmitted;
    let seconds = |span: Option<units::Span>| span.map(units::Span::as_secs_f64);
    serde_json::json!({
        "packets": sums.packets,
        "bytes": sums.bytes.get(),
        "segments": sums.segments,
        "payload_bytes": sums.payload.get(),
        "retransmitted_segments": again.segments,
        "retransmitted_bytes": again.payload.get(),
        "retransmitted_fast": again.fast,
        "retransmitted_by_timeout": again.by_timeout,
        "retransmitted_probes": again.probes,
        "retransmitted_needless": again.needless,
        "out_of_order": sums.out_of_order,
        "duplicates": sums.duplicates,
        "unseen_bytes": sums.unseen.get(),
        "marked": sums.marked,
        "keep_alives": sums.keep_alives,
        "zero_windows": sums.zero_windows,
        "zero_window_s": sums.zero_window_time.as_secs_f64(),
        "handshake_rtt_s": seconds(sums.round_trip.handshake),
        "least_rtt_s": seconds(sums.round_trip.least),
        "mean_rtt_s": seconds(sums.round_trip.mean),
        "largest_rtt_s": seconds(sums.round_trip.largest),
        "rtt_samples": sums.round_trip.samples,
        "largest_burst_bytes": sums.largest_burst.get(),
        "idle_s": sums.idle.as_secs_f64(),
        "pauses": sums.pauses,
        "slow_start_peak_bytes": sums.overshoot.map(|overshoot| overshoot.peak.get()),
        "slow_start_lost": sums.overshoot.map(|overshoot| overshoot.lost),
    })
}
