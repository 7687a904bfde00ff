//! `tightlink compare`: every engine that can, side by side, and a report.

use crate::args::{CompareOptions, ReportOptions};
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Progress;
use crate::{source, table};
use lab::claims::{Claim, check};
use lab::compare::{Answer, answer, tasks};
use lab::record::Engine;
use lab::report::Report;
use lab::store::{Store, replace};
use scenario::Document;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(options: &CompareOptions) -> Result<ExitCode, Problem> {
    let document = source::document(&options.file, &options.changes)?;
    compare(&document, &[], &options.output)
}

/// Runs every point on every engine, keeps the records, writes the report and says where it is. With claims,
/// checks them, too.
pub(crate) fn compare(
    document: &Document,
    claims: &[Claim],
    options: &ReportOptions,
) -> Result<ExitCode, Problem> {
    // Everything that can be wrong with the scenario or the folder is found before anything runs.
    let tasks = tasks(document)?;
    let engines = engines(options);
    if engines.contains(&Engine::Live) {
        emu::prepare()?;
    }
    let store = Store::open(&options.out)?;
    let command = source::command_line();
    let mut progress = Progress::new(tasks.len() * engines.len());
    let mut answers = Vec::new();
    for task in tasks {
        let label = task.label();
        let mut seen = None;
        let answered = answer(task, &engines, &mut |engine, passed, end| {
            if seen.replace(engine).is_some_and(|before| before != engine) {
                progress.finish_run();
            }
            progress.tell(&label, engine, passed, end);
        })?;
        progress.finish_run();
        for record in &answered.records {
            store.keep(&answered.task, document.text(), &command, record)?;
        }
        if options.json {
            print_json(&answered)?;
        }
        answers.push(answered);
    }
    drop(progress);
    if answers.iter().all(|answer| answer.records.is_empty()) {
        let reasons: Vec<String> = answers.into_iter().flat_map(|answer| answer.absent).collect();
        return Err(Problem::usage(format!(
            "no engine can answer this scenario:\n  {}",
            reasons.join("\n  ")
        )));
    }
    let verdicts = check(claims, &answers);
    if !options.json {
        table::print_answers(&answers);
    }
    let held = if verdicts.is_empty() {
        true
    } else if options.json {
        verdicts.iter().all(|verdict| verdict.held)
    } else {
        table::print_verdicts(&verdicts)
    };
    let file = report_file(options, &answers);
    let first = &answers[0].task.resolved;
    let report = Report {
        title: first.title.clone(),
        source: first.source.clone(),
        scenario_text: document.text().to_owned(),
        scenario_name: document.name().to_owned(),
        cases: answers.iter().map(Answer::case).collect(),
        verdicts,
        command,
    };
    replace(&file, report.html().as_bytes())
        .map_err(|error| Problem::environment(format!("{}: {error}", file.display())))?;
    eprintln!("results in {}", options.out.display());
    let line = format!("report: {}", file.display());
    if options.json {
        eprintln!("{line}")
    } else {
        println!("{line}")
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// The engines asked for, once each, in the order reports show them.
fn engines(options: &ReportOptions) -> Vec<Engine> {
    let asked: Vec<Engine> = options.engines.iter().map(|name| Engine::from(*name)).collect();
    Engine::ALL.into_iter().filter(|engine| asked.contains(engine)).collect()
}

fn print_json(answer: &Answer) -> Result<(), Problem> {
    for record in &answer.records {
        println!("{}", serde_json::to_string(&record.summary).map_err(Problem::environment)?);
    }
    Ok(())
}

/// `results/sobas-fig1-4.html` for a published result, `results/<hash>.html` otherwise.
fn report_file(options: &ReportOptions, answers: &[Answer]) -> PathBuf {
    options.report.clone().unwrap_or_else(|| {
        let first = &answers[0].task.resolved;
        let name = first.source.clone().unwrap_or_else(|| first.hash.clone());
        let safe = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
        options.out.join(format!("{safe}.html"))
    })
}
