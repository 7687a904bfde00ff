//! `tightlink list`: what tightlink knows.

use crate::args::{ListOptions, Listed};
use crate::problem::Problem;
use lab::catalogue;
use lab::figures::claims;
use std::process::ExitCode;

pub(crate) fn run(options: &ListOptions) -> Result<ExitCode, Problem> {
    let wants = |what| options.what.is_none_or(|asked| asked == what);
    let heading = |text: &str| {
        if options.what.is_none() {
            println!("{text}:");
        }
    };
    if wants(Listed::Figures) {
        heading("figures");
        figures()?;
    }
    if wants(Listed::Controls) {
        heading("controls");
        catalogue::controls().iter().for_each(print_entry);
    }
    if wants(Listed::Queues) {
        heading("queues");
        catalogue::queues().iter().for_each(print_entry);
    }
    if wants(Listed::Engines) {
        heading("engines");
        catalogue::engines().iter().for_each(print_entry);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_entry(entry: &catalogue::Entry) {
    println!("  {:12} {:10} {} ({})", entry.name, entry.runs_on, entry.summary, entry.source);
}

/// Every published result and how many claims it has.
pub(crate) fn figures() -> Result<(), Problem> {
    for figure in lab::figures::figures()? {
        let count = claims(&figure.id)?.len();
        println!("  {:16} {} ({count} claims, {})", figure.id, figure.title, figure.document.name());
    }
    Ok(())
}
