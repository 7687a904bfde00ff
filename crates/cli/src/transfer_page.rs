//! The report of a transfer: a page that `report` draws from the summary, and its file.

use crate::print;
use crate::problem::Problem;
use lab::files::replace;
use report::text::capitalized;
use report::transfer::TransferPage;
use std::fmt::Write as _;
use std::path::Path;
use transfer::{Limits, PhaseEntry, Sample, Side, Summary};
use units::{Complaint, Span};

/// The number of phases in the page's headline; the text below has all of them.
const HEADLINE_PHASES: usize = 6;

/// Writes the page about `transfer` to `file`, completely or not at all.
pub(crate) fn write(file: &Path, transfer: &Summary) -> Result<(), Problem> {
    let command: Vec<String> =
        std::env::args().take(2).map(|word| word.rsplit('/').next().unwrap_or_default().to_owned()).collect();
    let page = page(transfer, command.join(" ")).html();
    replace(file, page.as_bytes()).map_err(|error| {
        let found = format!("cannot write the report: {error}");
        let complaint = Complaint::new(file.display().to_string(), found);
        Problem::environment(complaint.help("choose another file with --report; the transfer itself is done"))
    })?;
    print::talk(format_args!("report: {}", file.display()));
    Ok(())
}

fn page(transfer: &Summary, command: String) -> TransferPage {
    let done = match transfer.side {
        Side::Sent => "Sent",
        Side::Received => "Received",
    };
    let samples = transfer.history.samples();
    TransferPage {
        title: format!("{done}: {} entries, {:.1} MB", transfer.entries, transfer.bytes as f64 / 1e6),
        sentences: sentences(transfer),
        numbers: text(transfer),
        elapsed_s: transfer.elapsed.as_secs_f64(),
        min_rtt_s: transfer.min_rtt_s.map(Span::as_secs_f64),
        window_bytes: transfer.window_bytes.map(|window| window as f64),
        t_s: samples.iter().map(|sample| sample.t_s).collect(),
        rate_bps: rates(samples),
        rtt_s: samples.iter().map(|sample| sample.rtt_s).collect(),
        send_window_bytes: samples.iter().map(send_window).collect(),
        command,
    }
}

fn sentences(transfer: &Summary) -> Vec<String> {
    let mut sentences = vec![capitalized(&transfer.to_string())];
    let phases = transfer.history.phases();
    if !phases.is_empty() {
        let shown: Vec<String> = phases.iter().take(HEADLINE_PHASES).map(phase).collect();
        let more = phases.len().saturating_sub(HEADLINE_PHASES);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        sentences.push(format!("The receive window's phases: {}{more}.", shown.join("; ")));
    }
    sentences
}

/// Returns "grow at 1.20 s (the rate grows)".
fn phase(entry: &PhaseEntry) -> String {
    let reason = if entry.reason.is_empty() { String::new() } else { format!(" ({})", entry.reason) };
    format!("{} at {:.2} s{reason}", entry.phase, entry.at_ms as f64 / 1e3)
}

/// Returns every number on its own line, then the phases.
fn text(transfer: &Summary) -> String {
    let mut text = String::new();
    for (name, value) in numbers(transfer) {
        let _ = writeln!(text, "{name:<44} {value:>14}");
    }
    for (place, entry) in transfer.history.phases().iter().enumerate() {
        let head = if place == 0 { "\nPhases of the receive window\n" } else { "" };
        let reason = if entry.reason.is_empty() { String::new() } else { format!(": {}", entry.reason) };
        let _ = writeln!(text, "{head}{:>9.3} s  {}{reason}", entry.at_ms as f64 / 1e3, entry.phase);
    }
    text
}

/// Returns the numbers with their names.
fn numbers(transfer: &Summary) -> Vec<(&'static str, String)> {
    let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let mut numbers = vec![
        ("entries at the receiver", transfer.entries.to_string()),
        ("bytes of files at the receiver", mb(transfer.bytes)),
    ];
    numbers.extend(transfer.sent.map(|sent| ("sent by this run, without holes", mb(sent))));
    numbers.extend([
        ("files that were there before", transfer.skipped.to_string()),
        ("time", format!("{:.2} s", transfer.elapsed.as_secs_f64())),
        ("goodput", format!("{:.1} Mbit/s", transfer.goodput_bps / 1e6)),
        ("TCP connections for the data", transfer.streams.to_string()),
    ]);
    numbers.extend(transfer.min_rtt_s.map(|rtt| ("least round-trip time", ms(rtt.as_secs_f64()))));
    numbers.extend(transfer.mean_rtt_s.map(|rtt| ("mean round-trip time", ms(rtt))));
    let window = transfer.window_bytes.map_or_else(|| "not limited".to_owned(), mb);
    numbers.push(("receive window at the end", window));
    numbers.extend(shares(&transfer.limits));
    numbers
}

/// Returns the shares of the time by their cause.
fn shares(limits: &Limits) -> Vec<(&'static str, String)> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    vec![
        ("limited by", limits.limited_by.name().to_owned()),
        ("its share of the time", percent(limits.share)),
        ("sender: waited for the network", percent(limits.sender_network)),
        ("sender: read files", percent(limits.sender_disk)),
        ("sender: kept to --limit", percent(limits.sender_limit)),
        ("sender: had nothing to send", percent(limits.sender_idle)),
        ("receiver: waited for the network", percent(limits.receiver_network)),
        ("receiver: wrote files", percent(limits.receiver_disk)),
        ("connections: had data in flight or waiting", percent(limits.busy)),
        ("connections: in slow start", percent(limits.slow_start)),
        ("connections: limited by the receive window", percent(limits.receive_window)),
        ("connections: limited by the send buffer", percent(limits.send_buffer)),
        ("connections: limited by the congestion window", percent(limits.congestion_window)),
        ("segments sent again", limits.retransmits.to_string()),
    ]
}

/// Returns the goodput between each sample and the one before. It counts the data that have reached the receiver's
/// kernel, because its disk may take the data of several seconds at once.
fn rates(samples: &[Sample]) -> Vec<f64> {
    let mut before = (0.0, samples.first().map_or(0, |first| first.acknowledged));
    let rates = samples.iter().map(|sample| {
        let passed = sample.t_s - before.0;
        let moved = sample.acknowledged.saturating_sub(before.1) as f64;
        before = (sample.t_s, sample.acknowledged);
        if passed > 0.0 { moved * 8.0 / passed } else { 0.0 }
    });
    rates.collect()
}

fn send_window(sample: &Sample) -> f64 {
    let congestion = sample.congestion_window as f64;
    sample.window.map_or(congestion, |window| congestion.min(window as f64))
}
