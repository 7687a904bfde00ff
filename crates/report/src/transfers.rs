//! The page of a transfer: the same as that of a run, of a path that nobody described.

use crate::text::capitalized;
use crate::{Case, Report};
use lab::run::record::{
    Engine, FlowSeries, FlowSummary, Record, RttStatistics, Series, SocketBufferSeries, Summary,
};
use std::fmt::Write as _;
use transfer::{Limits, PhaseEntry, Sample, Side};

/// Phases that the page's headline names; the text below has all of them.
const HEADLINE_PHASES: usize = 6;

/// The page about a transfer, made by `command`.
#[must_use]
pub fn page(transfer: &transfer::Summary, command: &str) -> String {
    let done = match transfer.side {
        Side::Sent => "Sent",
        Side::Received => "Received",
    };
    Report {
        title: format!("{done}: {} entries, {:.1} MB", transfer.entries, transfer.bytes as f64 / 1e6),
        source: None,
        scenario_text: text(transfer),
        scenario_name: String::new(),
        cases: vec![case(transfer)],
        verdicts: Vec::new(),
        command: command.into(),
    }
    .html()
}

fn case(transfer: &transfer::Summary) -> Case {
    let base_rtt = transfer.min_rtt_s.map_or(0.0, units::Span::as_secs_f64);
    Case {
        label: String::new(),
        settings: Vec::new(),
        // Nobody knows: zero draws no level.
        capacity_bps: 0.0,
        available_bps: 0.0,
        base_rtt_s: base_rtt,
        limit_bytes: 0.0,
        socket_buffer_bytes: transfer.window_bytes.map(|window| window as f64),
        warmup_s: 0.0,
        sentences: sentences(transfer),
        records: vec![record(transfer)],
        absent: Vec::new(),
    }
}

fn sentences(transfer: &transfer::Summary) -> Vec<String> {
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

/// "grow at 1.20 s (the rate grows)".
fn phase(entry: &PhaseEntry) -> String {
    let reason = if entry.reason.is_empty() { String::new() } else { format!(" ({})", entry.reason) };
    format!("{} at {:.2} s{reason}", entry.phase, entry.at_ms as f64 / 1e3)
}

/// All there is, for who wants to look closer: a line for each number.
fn text(transfer: &transfer::Summary) -> String {
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

/// The numbers with their names.
fn numbers(transfer: &transfer::Summary) -> Vec<(&'static str, String)> {
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

/// Where the time went.
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

fn record(transfer: &transfer::Summary) -> Record {
    let samples = transfer.history.samples();
    let elapsed = transfer.elapsed.as_secs_f64();
    let rtts: Vec<f64> = samples.iter().map(|sample| sample.rtt_s).filter(|&rtt| rtt > 0.0).collect();
    let rtt_s = transfer.min_rtt_s.filter(|_| !rtts.is_empty()).map(|min| RttStatistics {
        min: min.as_secs_f64(),
        mean: rtts.iter().sum::<f64>() / rtts.len() as f64,
        p95: None,
    });
    let flow = FlowSummary {
        name: "transfer".into(),
        goodput_bps: transfer.goodput_bps,
        loss_rate: None,
        retransmits: Some(transfer.limits.retransmits),
        marks: None,
        rtt_s,
        completion_s: Some(elapsed),
        ..FlowSummary::default()
    };
    let summary = Summary {
        engine: Engine::Live,
        measured_s: elapsed,
        wall_s: elapsed,
        flows: vec![flow],
        ..Summary::default()
    };
    let series = Series { flows: vec![series(samples)], ..Series::default() };
    Record { summary, series, notes: Vec::new() }
}

fn series(samples: &[Sample]) -> FlowSeries {
    // What the receiver's kernel has, and not its disk: that may take at once what came in seconds.
    let mut before = (0.0, samples.first().map_or(0, |first| first.acknowledged));
    let rates = samples.iter().map(|sample| {
        let passed = sample.t_s - before.0;
        let moved = sample.acknowledged.saturating_sub(before.1) as f64;
        before = (sample.t_s, sample.acknowledged);
        if passed > 0.0 { moved * 8.0 / passed } else { 0.0 }
    });
    let window = |sample: &Sample| {
        let congestion = sample.congestion_window as f64;
        sample.window.map_or(congestion, |window| congestion.min(window as f64))
    };
    let requested = samples.iter().any(|sample| sample.window.is_some());
    FlowSeries {
        name: "transfer".into(),
        t_s: samples.iter().map(|sample| sample.t_s).collect(),
        rate_bps: rates.collect(),
        rtt_s: samples.iter().map(|sample| sample.rtt_s).collect(),
        window_bytes: samples.iter().map(window).collect(),
        data_bytes: Vec::new(),
        socket_buffer: if requested {
            let requested =
                samples.iter().map(|sample| sample.window.map_or(f64::NAN, |window| window as f64));
            SocketBufferSeries { requested: requested.collect(), ..SocketBufferSeries::default() }
        } else {
            SocketBufferSeries::default()
        },
        measures: Vec::new(),
    }
}
