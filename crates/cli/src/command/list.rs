//! `tightlink list`: the names that tightlink knows.

use crate::args::{ListKind, ListOptions};
use crate::print;
use crate::problem::Problem;
use clap::ValueEnum;
use lab::catalogue;
use lab::run::metric;
use lab::study::figures::claims;
use std::process::ExitCode;

type Kind = (ListKind, &'static str, fn() -> Vec<catalogue::Entry>);

/// The kinds of names, as the command line calls them, with their headings and entries.
const KINDS: [Kind; 5] = [
    (ListKind::Controls, "controls", catalogue::controls),
    (ListKind::SlowStarts, "slow starts", catalogue::slow_starts),
    (ListKind::Sizers, "sizers", catalogue::sizers),
    (ListKind::Queues, "queues", catalogue::queues),
    (ListKind::Engines, "engines", catalogue::engines),
];

pub(crate) fn run(options: &ListOptions) -> Result<ExitCode, Problem> {
    let wants = |what| options.what.is_none_or(|asked| asked == what);
    let heading = |text: &str| {
        if options.what.is_none() && !options.json { print::data(format_args!("{text}:")) } else { Ok(()) }
    };
    if wants(ListKind::Figures) {
        heading("figures")?;
        if options.json { figures_as_json()? } else { figures()? }
    }
    for (what, name, of) in KINDS.into_iter().filter(|(what, ..)| wants(*what)) {
        heading(name)?;
        if options.json { as_json(what, &of())? } else { entries(&of())? }
    }
    if wants(ListKind::Metrics) {
        heading("metrics")?;
        if options.json { metrics_as_json()? } else { metrics()? }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints `"kind": "queues", "name": "codel", …`, an object per line.
fn as_json(what: ListKind, entries: &[catalogue::Entry]) -> Result<(), Problem> {
    let kind = what.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    for entry in entries {
        print::json(&serde_json::json!({
            "kind": kind,
            "name": entry.name,
            "runs_on": entry.runs_on,
            "live_over": entry.live_over,
            "summary": entry.summary,
            "source": entry.source,
            "status": entry.status,
            "settings": entry.settings,
        }))?;
    }
    Ok(())
}

fn figures_as_json() -> Result<(), Problem> {
    for figure in lab::study::figures::figures()? {
        print::json(&serde_json::json!({
            "kind": "figures",
            "name": figure.id,
            "title": figure.title,
            "scenario": figure.document.name(),
            "claims": claims(&figure.id)?.len(),
        }))?;
    }
    Ok(())
}

fn metrics_as_json() -> Result<(), Problem> {
    for (key, metric) in metric::all() {
        print::json(&serde_json::json!({
            "kind": "metrics",
            "name": key,
            "summary": metric.words,
            "unit": metric.unit.in_files(),
            "shown_unit": metric.unit.shown(),
            "scale": metric.unit.scale(),
            "digits": metric.digits,
            "whole": metric.whole,
            "better": Some(metric.better.to_string()).filter(|better| !better.is_empty()),
        }))?;
    }
    Ok(())
}

/// Prints the keys, units and words of metrics.
fn metrics() -> Result<(), Problem> {
    let all: Vec<_> = metric::all().collect();
    let keys = all.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let units = all.iter().map(|(_, metric)| metric.unit.in_files().len()).max().unwrap_or(0);
    for (key, metric) in all {
        print::entry(&format!("  {key:keys$}  {:units$}  ", metric.unit.in_files()), metric.words)?;
    }
    Ok(())
}

/// Returns the engines that have the entry: "sim live", "sim live (kernel, quic)".
fn runs_on(entry: &catalogue::Entry) -> String {
    let engines = entry.runs_on.join(" ");
    if entry.live_over.is_empty() { engines } else { format!("{engines} ({})", entry.live_over.join(", ")) }
}

/// Prints names and engines in columns as wide as their widest entry; an empty column takes no room.
fn entries(entries: &[catalogue::Entry]) -> Result<(), Problem> {
    let width = |of: fn(&catalogue::Entry) -> usize| entries.iter().map(of).max().unwrap_or(0);
    let (names, engines) = (width(|entry| entry.name.len()), width(|entry| runs_on(entry).len()));
    for entry in entries {
        let engines = if engines > 0 { format!("  {:engines$}", runs_on(entry)) } else { String::new() };
        let status = if entry.status.is_empty() { String::new() } else { format!("; {}", entry.status) };
        let (name, summary, source) = (entry.name, entry.summary, entry.source);
        print::entry(&format!("  {name:names$}{engines}  "), &format!("{summary} ({source}{status})"))?;
        if !entry.settings.is_empty() {
            print::entry(&format!("  {:names$}  ", ""), &format!("settings: {}", entry.settings.join(", ")))?;
        }
    }
    Ok(())
}

/// Prints every published result with its number of claims.
pub(crate) fn figures() -> Result<(), Problem> {
    let figures = lab::study::figures::figures()?;
    let width = figures.iter().map(|figure| figure.id.len()).max().unwrap_or(0);
    for figure in figures {
        let count = claims(&figure.id)?.len();
        let claims = if count == 1 { "claim" } else { "claims" };
        let (id, title, file) = (&figure.id, &figure.title, figure.document.name());
        print::entry(&format!("  {id:width$}  "), &format!("{title} ({count} {claims}, {file})"))?;
    }
    Ok(())
}
