//! `tightlink sweep`: many points on all cores, or the smallest value that meets a target.

use crate::args::{EngineName, SweepOptions};
use crate::problem::Problem;
use crate::progress::Count;
use crate::{print, source, table};
use lab::run::record::{Engine, Record, Series};
use lab::study::lines::ResultLine;
use lab::study::search::{SearchError, Target, bound, smallest};
use lab::study::store::Store;
use lab::study::sweep::{PointResult, SweepError, sweep};
use lab::study::tabulate::tabulate;
use lab::study::task::{Answer, Found, Task, check, tasks};
use scenario::Document;
use std::process::ExitCode;

pub(crate) fn run(options: &SweepOptions) -> Result<ExitCode, Problem> {
    if options.engine == EngineName::Live {
        return Err(Problem::usage(
            "--engine live: kernel runs would disturb each other\n  accepted: sim, model\n  help: tightlink run --engine \
             live runs the points one after the other",
        ));
    }
    let document = source::document(&options.file, &options.changes)?;
    let tasks = tasks(&document)?;
    let engine = Engine::from(options.engine);
    check(&document, &tasks, engine)?;
    // A search repeats each point, a sweep has no use for more threads than points.
    let most = if options.target.is_some() { usize::MAX } else { tasks.len() };
    let jobs = jobs(options)?.min(most).min(MOST_JOBS);
    match (&options.target, &options.over) {
        (Some(target), Some(over)) => search(options, &document, &tasks, target, over, jobs),
        _ => every_point(options, &document, &tasks, engine, jobs),
    }
}

/// More threads than any machine has cores would only cost memory.
const MOST_JOBS: usize = 1024;

fn jobs(options: &SweepOptions) -> Result<usize, Problem> {
    match options.jobs {
        Some(0) => Err(Problem::usage("--jobs 0: nothing would run\n  accepted: 1 or more")),
        Some(jobs) => Ok(jobs),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

fn every_point(
    options: &SweepOptions,
    document: &Document,
    tasks: &[Task],
    engine: Engine,
    jobs: usize,
) -> Result<ExitCode, Problem> {
    Store::open(&options.out)?;
    let count = Count::new(tasks.len());
    let results = sweep(tasks, engine, jobs, &options.out, &|finished| count.tell(finished))?;
    drop(count);
    // Before the printing, which fails if its reader leaves.
    let files = tabulate(&options.out, &stem(document), &results).map_err(|error| {
        let help = "the points are kept: free some room and start again, or choose another folder with --out";
        Problem::environment(format!(
            "{}: cannot write the table: {error}\n  help: {help}",
            options.out.display()
        ))
    })?;
    if options.json {
        for result in &results {
            print::json(&ResultLine::new(&result.point, &result.summary))?;
        }
    } else {
        table::print_answers(&answers(tasks, &results))?;
    }
    for file in files {
        print::talk(format_args!("{} points: {}", results.len(), file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The results as a table shows them.
fn answers(tasks: &[Task], results: &[PointResult]) -> Vec<Answer> {
    let answer = |(task, result): (&Task, &PointResult)| Answer {
        task: task.clone(),
        records: vec![Record {
            summary: result.summary.clone(),
            series: Series::default(),
            notes: Vec::new(),
        }],
        absent: Vec::new(),
        runs: Vec::new(),
        found: None,
    };
    tasks.iter().zip(results).map(answer).collect()
}

/// The scenario's file name without its extension.
fn stem(document: &Document) -> String {
    let stem = std::path::Path::new(document.name()).file_stem();
    stem.map_or_else(|| "sweep".into(), |stem| stem.to_string_lossy().replace(' ', "-"))
}

fn search(
    options: &SweepOptions,
    document: &Document,
    tasks: &[Task],
    target: &str,
    over: &str,
    jobs: usize,
) -> Result<ExitCode, Problem> {
    let accepted = "METRIC=BOUND, such as idle_fraction=0.01 or loss_rate=0.1%";
    let parts = target.split_once('=').and_then(|(metric, text)| Some((metric.trim(), bound(text.trim())?)));
    let Some((metric, at_most)) = parts else {
        return Err(Problem::usage(format!("--target {target}\n  accepted: {accepted}")));
    };
    if document.sweep()?.axes().iter().any(|axis| axis.key == over) {
        let help = format!("leave it to the search: --set {over}=VALUE, with the value to start from");
        return Err(Problem::usage(format!(
            "--over {over}: [sweep] varies this key already\n  help: {help}"
        )));
    }
    let target = Target { metric: metric.into(), at_most };
    Store::open(&options.out)?;
    let count = Count::new(tasks.len());
    let mut answers = Vec::new();
    for (done, task) in tasks.iter().enumerate() {
        let doing = |value: &str, runs: usize| count.doing(format!("{over} = {value}, {runs} runs"));
        let found = smallest(document, &task.point, over, &target, jobs, &options.out, &doing)?;
        count.tell(done + 1);
        answers.push((task, found));
    }
    drop(count);
    for (task, found) in &answers {
        if options.json {
            print::json(&ResultLine::found(&task.point, found))?;
        } else {
            print::data(as_text(task, over, &target, found))?;
        }
    }
    for line in answers.iter().filter_map(|(_, found)| caution(over, &target, found)) {
        print::talk(line);
    }
    Ok(ExitCode::SUCCESS)
}

fn as_text(task: &Task, over: &str, target: &Target, found: &Found) -> String {
    let label = task.label();
    let at = if label.is_empty() { label } else { format!("{label}: ") };
    let written = found.written.as_ref().map_or(String::new(), |written| format!(" = {written}"));
    format!(
        "{at}{over} = {}{written}   ({} = {:.5} +- {:.5}, {} runs)",
        found.value, target.metric, found.metric, found.half_width, found.runs
    )
}

/// Said where the metric does not fall with every step.
fn caution(over: &str, target: &Target, found: &Found) -> Option<String> {
    let misses: Vec<String> =
        found.misses_above.iter().map(|(value, mean)| format!("{value} ({mean:.5})")).collect();
    (!misses.is_empty()).then(|| {
        format!(
            "note: {over} = {} meets {} <= {}, but larger values miss it: {}; near the bound it does not fall with every step",
            found.value,
            target.metric,
            target.at_most,
            misses.join(", ")
        )
    })
}

impl From<SweepError> for Problem {
    fn from(error: SweepError) -> Self {
        Self::environment(error)
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Faults(faults) => faults.into(),
            SearchError::Engine(error) => (*error).into(),
            SearchError::Keep(error) => (*error).into(),
            SearchError::NoAnswer(reason) => Self::usage(reason),
        }
    }
}
