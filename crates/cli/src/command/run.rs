//! `tightlink run`: a scenario on one engine.

use super::repeated::{Asked, answer};
use crate::args::RunOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::{print, source, table};
use lab::run::record::Engine;
use lab::study::lines::results;
use lab::study::store::Store;
use lab::study::task::{check, tasks};
use std::process::ExitCode;

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, Problem> {
    let document = source::document(&options.file, &options.changes)?;
    let tasks = tasks(&document)?;
    let engine = Engine::from(options.engine);
    check(&document, &tasks, engine)?;
    if engine == Engine::Live {
        emu::prepare()?;
    }
    let store = Store::open(&options.out)?;
    let command = source::command_line();
    let mut answers = Vec::new();
    let each = super::repeated::count(&[engine], options.repeat);
    let mut progress = if options.json { Progress::silent() } else { Progress::new(tasks.len() * each) };
    let asked = Asked {
        document: &document,
        engines: &[engine],
        repeat: options.repeat,
        store: Some((&store, &command)),
    };
    for task in tasks {
        let (label, before) = (task.label(), answers.len() * each);
        let answered = answer(task, &asked, &mut |ended, engine, passed, end| {
            progress.at(before + ended);
            progress.tell(&label, engine, passed, end);
        })?;
        if let Some(reason) = answered.absent.first() {
            return Err(Problem::usage(reason));
        }
        if options.json {
            results(&answered).try_for_each(|line| print::json(&line))?;
        }
        answers.push(answered);
        progress.finished(answers.len() * each);
    }
    drop(progress);
    if !options.json {
        table::print_answers(&answers)?;
    }
    let mut told = Vec::new();
    for note in answers.iter().flat_map(|answer| &answer.records).flat_map(|record| &record.notes) {
        if !told.contains(&note) {
            print::talk(format_args!("note: {note}"));
            told.push(note);
        }
    }
    print::talk(format_args!("results in {}", options.out.display()));
    Ok(ExitCode::SUCCESS)
}
