//! The report for people, at most 80 columns wide.

use super::{Case, Report};
use crate::transfer_display::{bytes, rate};
use ::capture::connections::{Connection, Failure, FailureKind};
use estimate::diagnosis::{Cause, Evidence, Vantage};
use lab::study::diagnosis::Proposal;
use report::text::capitalized;
use units::{Foreign, Span};

/// The width of the bar of shares.
const BAR: usize = 60;
/// The width of a line.
const WIDTH: usize = 80;

/// Returns the lines about the connections that are shown.
pub(super) fn lines(report: &Report) -> Vec<String> {
    report.cases.iter().flat_map(of).chain(report.small.iter().flat_map(of_small)).collect()
}

/// Returns the lines about a connection that carried too little to be judged.
fn of_small(connection: &Connection) -> Vec<String> {
    let Connection { forward, directions, from, until, failure, .. } = connection;
    let mut lines = vec![format!("{} -> {}", forward.source, forward.destination)];
    let [there, back] = directions.each_ref().map(|direction| &direction.statistics);
    let sums = format!("{} there and {} back", bytes(there.payload.get()), bytes(back.payload.get()));
    let time = until.since(*from).as_secs_f64();
    let handshake = there.round_trip.handshake.map(|time| format!("RTT of the handshake {}", time.rounded()));
    lines.extend(folded([Some(format!("{sums} in {time:.1} s")), handshake].into_iter().flatten(), ", "));
    for (name, sums) in [("there", there), ("back", back)] {
        if sums.segments > 0 {
            lines.push(format!("  {name}: {}", super::capture::words(sums)));
        }
    }
    lines.extend(failure.iter().flat_map(failed));
    if there.segments + back.segments > 0 {
        lines.push("  Too little data to judge what limits it.".to_owned());
    }
    lines
}

/// Returns the lines about the way in which a connection failed.
fn failed(failure: &Failure) -> Vec<String> {
    let by = failure.by;
    let seconds = |over: &Span| over.rounded();
    let words = match &failure.kind {
        FailureKind::NoAnswer { requests: 1, .. } => {
            format!("{by} did not answer the request for a connection (SYN).")
        }
        FailureKind::NoAnswer { requests, over } => {
            format!("{by} did not answer: {requests} requests for a connection (SYN) in {}.", seconds(over))
        }
        FailureKind::Refused => format!("{by} refused the connection: it answered with a reset (RST)."),
        FailureKind::Silent { retransmissions, over } => format!(
            "{by} stopped answering: nothing came from it in {}, in which segments were sent again {retransmissions} times.",
            seconds(over)
        ),
        FailureKind::WindowClosed { over } => format!(
            "{by} had its receive window closed for the last {}: its application did not read.",
            seconds(over)
        ),
        FailureKind::Reset => format!("{by} ended the connection with a reset (RST)."),
    };
    folded(words.split_whitespace().map(str::to_owned), " ")
}

/// Returns the lines about one direction of a connection.
fn of(case: &Case) -> Vec<String> {
    let mut lines = vec![ends(case), format!("  {}", numbers(&case.evidence))];
    lines.extend(case.sums.iter().map(|sums| format!("  {}", super::capture::words(sums))));
    lines.extend(case.failure.iter().flat_map(failed));
    lines.extend(verdict(case));
    lines
}

/// Returns the lines from the shares of time to the proposal.
pub(in crate::command) fn verdict(case: &Case) -> Vec<String> {
    let Case { diagnosis, .. } = case;
    let mut lines = Vec::new();
    let parts = diagnosis.shares.percents();
    if !parts.is_empty() {
        lines.push(format!("  {}", bar(&parts)));
        let shares =
            parts.iter().map(|&(cause, percent)| format!("{} {} {percent} %", letter(cause), cause.title()));
        lines.extend(folded(shares, ", "));
    }
    let verdict = match diagnosis.cause {
        Some(cause) => format!("{} (confidence {}).", sentence(cause), diagnosis.confidence.name()),
        None => "The evidence does not show what limits it.".to_owned(),
    };
    let words = format!("{verdict} {}", diagnosis.reason);
    lines.extend(folded(words.split_whitespace().map(str::to_owned), " "));
    lines.extend(folded(path(case).into_iter(), ", "));
    lines.extend(case.proposal.iter().flat_map(proposed));
    lines
}

/// Returns the lines about the change that would help: its sentences, and the commands to paste.
fn proposed(proposal: &Proposal) -> Vec<String> {
    let words = proposal.sentences.iter().flat_map(|sentence| sentence.split(' ')).map(str::to_owned);
    let mut lines = folded(words, " ");
    // A command stays on one line, so that it can be pasted.
    for remedies in proposal.remedies.chunk_by(|one, next| one.place == next.place) {
        lines.push(format!("  {}:", capitalized(&remedies[0].place)));
        lines.extend(remedies.iter().map(|remedy| format!("    {}", remedy.command)));
    }
    lines
}

/// Returns the line about what is not shown.
pub(super) fn rest(report: &Report) -> Option<String> {
    let (count, moved) = report.rest;
    let connections = |count: usize| if count == 1 { "connection" } else { "connections" };
    let others = (count > 0).then(|| {
        // With `--all`, only those are left that moved too little to be judged.
        let why = if report.all { "too little to judge" } else { "--all shows them" };
        format!("{count} more {} with {} ({why})", connections(count), bytes(moved.get()))
    });
    let kinds = [(report.unanswered, "without an answer"), (report.refused, "refused")];
    let kinds: Vec<String> =
        kinds.iter().filter(|kind| kind.0 > 0).map(|(count, words)| format!("{count} {words}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let idle = (report.idle > 0)
        .then(|| format!("{} {} moved nothing{kinds}", report.idle, connections(report.idle)));
    let parts: Vec<String> = [others, idle].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns "path: self-induced", "bottleneck 20 Mbit/s", "buffer at least 45 kB", "3 episodes of loss", as far as known.
fn path(case: &Case) -> Vec<String> {
    let Case { evidence, diagnosis, .. } = case;
    let state = diagnosis.path.map(|state| format!("path: {}", state.title()));
    let bottleneck = evidence.capacity.map(|capacity| format!("bottleneck {}", rate(capacity.as_bps_f64())));
    let buffer = evidence.buffer.map(|buffer| {
        let least = if buffer.at_least { "at least " } else { "" };
        format!("buffer {least}{}", bytes(buffer.size.get()))
    });
    let episodes = match evidence.episode_count() {
        0 => None,
        1 => Some("1 episode of loss".to_owned()),
        count => Some(format!("{count} episodes of loss")),
    };
    [state, bottleneck, buffer, episodes].into_iter().flatten().collect()
}

/// Returns "192.0.2.1:443 -> 198.51.100.7:43210, process 4711 (curl) receives".
fn ends(case: &Case) -> String {
    let direction = case.evidence.direction;
    let does = match case.evidence.vantage {
        Vantage::SenderSocket => "sends",
        Vantage::ReceiverSocket => "receives",
        Vantage::SenderCapture => "seen at the sender",
        Vantage::MiddleCapture => "seen between the hosts",
        Vantage::ReceiverCapture => "seen at the receiver",
    };
    let who = case.program.as_ref().map_or_else(
        || does.to_owned(),
        |(pid, name)| format!("process {pid} ({}) {does}", Foreign::new(name)),
    );
    let closed = if case.closed { ", closed" } else { "" };
    format!("{} -> {}: {who}{closed}", direction.source, direction.destination)
}

/// Returns "94.1 Mbit/s, 118 MB in 10.0 s, RTT 81.2 ms, least 80.1 ms".
fn numbers(evidence: &Evidence) -> String {
    let (goodput, moved) = (evidence.goodput(), evidence.delivered());
    let mut parts = vec![
        rate(goodput.as_bps_f64()),
        format!("{} in {:.1} s", bytes(moved.get()), evidence.observed().as_secs_f64()),
    ];
    if let Some(round_trip) = round_trip(evidence) {
        parts.push(format!("RTT {}", round_trip.rounded()));
    }
    if let Some(least) = evidence.base_round_trip {
        parts.push(format!("least {}", least.rounded()));
    }
    parts.join(", ")
}

/// Returns the mean of the round-trip times.
pub(super) fn round_trip(evidence: &Evidence) -> Option<Span> {
    let times: Vec<f64> =
        evidence.intervals.iter().filter_map(|interval| Some(interval.round_trip?.as_secs_f64())).collect();
    (!times.is_empty()).then(|| Span::from_secs_f64(times.iter().sum::<f64>() / times.len() as f64))
}

/// Returns the shares as a bar, a letter for each cause.
fn bar(parts: &[(Cause, usize)]) -> String {
    let (mut bar, mut sum) = (String::new(), 0);
    for &(cause, percent) in parts {
        let before = sum * BAR / 100;
        sum += percent;
        bar.extend(std::iter::repeat_n(letter(cause), sum * BAR / 100 - before));
    }
    format!("[{bar}]")
}

/// Returns the letter of a cause in the bar.
const fn letter(cause: Cause) -> char {
    match cause {
        Cause::SendingProgram => 'a',
        Cause::SendBuffer => 'b',
        Cause::ReceiveWindow => 'w',
        Cause::ReceivingProgram => 'r',
        Cause::ProgramWindow => 'p',
        Cause::SlowStart => 's',
        Cause::Network => 'n',
    }
}

/// Returns the verdict as the beginning of a sentence.
const fn sentence(cause: Cause) -> &'static str {
    match cause {
        Cause::SendingProgram => "The sending application limits it: it has too little to send",
        Cause::SendBuffer => "The send buffer limits it",
        Cause::ReceiveWindow => "The receive window limits it",
        Cause::ReceivingProgram => "The receiving application limits it: it reads too slowly",
        Cause::ProgramWindow => "A window of the application's own limits it",
        Cause::SlowStart => "Slow start limits it: it has reached no other limit yet",
        Cause::Network => "The network limits it",
    }
}

/// Puts parts into lines that begin with two blanks.
fn folded(parts: impl Iterator<Item = String>, between: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + between.len() + part.chars().count() < WIDTH => {
                line.push_str(between);
                line.push_str(&part);
            }
            last => {
                if let Some(line) = last {
                    line.push_str(between.trim_end());
                }
                lines.push(format!("  {part}"));
            }
        }
    }
    lines
}

#[cfg(test)]
#[path = "../../../tests/within/diagnose_words.rs"]
mod tests;
