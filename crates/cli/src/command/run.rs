//! `tightlink run`: a scenario on one engine.

use crate::args::RunOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::{print, source, table};
use lab::compare::{Answer, Task, check, tasks};
use lab::engine;
use lab::record::Engine;
use lab::store::Store;
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
    let mut progress = if options.json { Progress::silent() } else { Progress::new(tasks.len()) };
    for task in tasks {
        let record = run_one(&task, engine, &mut progress)?;
        store.keep(&task, &document, &command, &record)?;
        if options.json {
            print::data(serde_json::to_string(&record.summary).map_err(Problem::environment)?)?;
        }
        answers.push(Answer { task, records: vec![record], absent: Vec::new(), found: None });
        progress.finished(answers.len());
    }
    drop(progress);
    if !options.json {
        table::print_answers(&answers)?;
    }
    let mut told = Vec::new();
    for note in answers.iter().flat_map(|answer| &answer.records[0].notes) {
        if !told.contains(&note) {
            print::talk(format_args!("note: {note}"));
            told.push(note);
        }
    }
    print::talk(format_args!("results in {}", options.out.display()));
    Ok(ExitCode::SUCCESS)
}

fn run_one(task: &Task, engine: Engine, progress: &mut Progress) -> Result<lab::record::Record, Problem> {
    let label = task.label();
    let told = std::cell::RefCell::new(progress);
    Ok(engine::run(engine, &task.resolved, &|passed, end| {
        told.borrow_mut().tell(&label, engine, passed, end);
    })?)
}
