//! `tightlink list`: what tightlink knows.

use crate::args::{ListOptions, Listed};
use crate::print;
use crate::problem::Problem;
use lab::catalogue;
use lab::figures::claims;
use std::process::ExitCode;

pub(crate) fn run(options: &ListOptions) -> Result<ExitCode, Problem> {
    let wants = |what| options.what.is_none_or(|asked| asked == what);
    let heading =
        |text: &str| if options.what.is_none() { print::data(format_args!("{text}:")) } else { Ok(()) };
    if wants(Listed::Figures) {
        heading("figures")?;
        figures()?;
    }
    if wants(Listed::Controls) {
        heading("controls")?;
        entries(&catalogue::controls())?;
    }
    if wants(Listed::SlowStarts) {
        heading("slow starts")?;
        entries(&catalogue::slow_starts())?;
    }
    if wants(Listed::Sizers) {
        heading("sizers")?;
        entries(&catalogue::sizers())?;
    }
    if wants(Listed::Queues) {
        heading("queues")?;
        entries(&catalogue::queues())?;
    }
    if wants(Listed::Engines) {
        heading("engines")?;
        entries(&catalogue::engines())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Names and engines in columns as wide as the widest of their list; an empty column takes no room.
fn entries(entries: &[catalogue::Entry]) -> Result<(), Problem> {
    let width =
        |of: fn(&catalogue::Entry) -> &str| entries.iter().map(|entry| of(entry).len()).max().unwrap_or(0);
    let (names, engines) = (width(|entry| entry.name), width(|entry| entry.runs_on));
    for entry in entries {
        let engines = if engines > 0 { format!("  {:engines$}", entry.runs_on) } else { String::new() };
        print::data(format_args!("  {:names$}{engines}  {} ({})", entry.name, entry.summary, entry.source))?;
        if !entry.settings.is_empty() {
            print::data(format_args!("  {:names$}  settings: {}", "", entry.settings.join(", ")))?;
        }
    }
    Ok(())
}

/// Every published result and how many claims it has.
pub(crate) fn figures() -> Result<(), Problem> {
    let figures = lab::figures::figures()?;
    let width = figures.iter().map(|figure| figure.id.len()).max().unwrap_or(0);
    for figure in figures {
        let count = claims(&figure.id)?.len();
        let claims = if count == 1 { "claim" } else { "claims" };
        let (id, title, file) = (&figure.id, &figure.title, figure.document.name());
        print::data(format_args!("  {id:width$}  {title} ({count} {claims}, {file})"))?;
    }
    Ok(())
}
