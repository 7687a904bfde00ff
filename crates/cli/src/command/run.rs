//! `tightlink run`: a scenario on one engine.

use crate::args::RunOptions;
use crate::folder::Folder;
use crate::problem::Problem;
use crate::progress::Bars;
use crate::{print, source, table};
use lab::run::record::Engine;
use lab::study::experiment::Experiment;
use std::process::ExitCode;

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, Problem> {
    let document = source::document(&options.file, &options.changes)?;
    let folder = Folder::of(&options.out)?;
    let mut experiment = Experiment::new(&document, folder.path())?;
    experiment.engines = vec![Engine::from(options.engine)];
    experiment.repeat = Some(options.repeat);
    experiment.command = source::command_line();
    if let Some(file) = &options.pcap {
        experiment = experiment.capture(file, options.pcap_at.into()).map_err(Problem::usage)?;
    }
    let bars = if options.json { Bars::silent().printing() } else { Bars::default() };
    let answers = bars.watch(|watch| experiment.run(watch))?;
    if !options.json {
        table::print_answers(&answers)?;
    }
    let mut printed = Vec::new();
    for note in answers.iter().flat_map(|answer| &answer.records).flat_map(|record| &record.notes) {
        if !printed.contains(&note) {
            print::talk(format_args!("note: {note}"));
            printed.push(note);
        }
    }
    folder.print_place(&answers);
    if let Some(file) = &options.pcap {
        print::talk(format_args!("capture: {}", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}
