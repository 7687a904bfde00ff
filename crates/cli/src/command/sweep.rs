//! `tightlink sweep`: many points on all cores, or the smallest or largest value that meets a target.
//! `sweep/elsewhere.rs` has the points computed by a cluster.

mod elsewhere;

use crate::args::{EngineName, SweepOptions};
use crate::folder::Folder;
use crate::problem::Problem;
use crate::progress::Bars;
use crate::{print, source, table};
use lab::run::record::Engine;
use lab::study::experiment::{Experiment, ExperimentError, Swept};
use lab::study::lines::{FailedLine, ResultLine};
use lab::study::search::Target;
use lab::study::sweep::PointResult;
use lab::study::task::{self, Answer, Found, Sought, Task};
use std::process::ExitCode;
use units::Complaint;

pub(crate) fn run(options: &SweepOptions) -> Result<ExitCode, Problem> {
    if options.engine == EngineName::Live {
        return Err(Problem::usage(
            Complaint::new("--engine live", "kernel runs would disturb each other")
                .accepted("sim, model")
                .help("tightlink run --engine live runs the points one after the other"),
        ));
    }
    let document = source::document(&options.file, &options.changes)?;
    let folder = Folder::of(&options.out)?;
    let mut experiment = Experiment::new(&document, folder.path())?;
    match options.jobs {
        Some(0) => {
            return Err(Problem::usage(
                Complaint::new("--jobs 0", "nothing would run").accepted("1 or more"),
            ));
        }
        Some(jobs) => experiment.jobs = jobs,
        None => {}
    }
    match (&options.target, &options.over) {
        (Some(target), Some(over)) => search(options, &experiment, target, over),
        _ => {
            if let Some(on) = &options.on {
                let engine = options.engine.into();
                task::check(experiment.tasks(), &[engine]).map_err(ExperimentError::Misfit)?;
                experiment.failed = elsewhere::fill(&document, engine, folder.path(), on)?;
            }
            every_point(options, &experiment, folder.keeps())
        }
    }
}

fn every_point(options: &SweepOptions, experiment: &Experiment, keeps: bool) -> Result<ExitCode, Problem> {
    let engine = Engine::from(options.engine);
    let swept = Bars::default().watch(|watch| match &options.on {
        Some(_) => experiment.sweep_on(engine, watch),
        None => experiment.sweep(engine, watch),
    })?;
    let Swept { results, failed, files, ratios, .. } = swept;
    let points = counted(experiment.tasks().len());
    if options.json {
        let mut lines = results.iter().map(ResultLine::swept);
        lines.try_for_each(|line| print::json(&line))?;
        let mut lines = failed.iter().map(|point| FailedLine::new(point, engine));
        lines.try_for_each(|line| print::json(&line))?;
    } else {
        let is_failed = |number: usize| failed.iter().any(|point| point.number == number);
        let finished = experiment.tasks().iter().enumerate().filter(|(number, _)| !is_failed(*number));
        let answer = |((_, task), result): ((usize, &Task), PointResult)| {
            Answer::of(task.clone(), vec![result.into()])
        };
        let answers: Vec<Answer> = finished.zip(results).map(answer).collect();
        table::print_answers(&answers)?;
        for point in &failed {
            print::data(format_args!("{}: failed: {}", point.label, point.reason))?;
        }
        let baseline = experiment.document().sweep()?;
        table::print_ratios(baseline.baseline(), &ratios)?;
    }
    for file in files.iter().filter(|_| keeps) {
        print::talk(format_args!("{points}: {}", file.display()));
    }
    match failed.len() {
        0 => Ok(ExitCode::SUCCESS),
        some => Err(Problem::environment(format_args!("{some} of {points} failed; the others are finished"))),
    }
}

fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}

fn search(
    options: &SweepOptions,
    experiment: &Experiment,
    target: &str,
    over: &str,
) -> Result<ExitCode, Problem> {
    let target: Target = target.parse().map_err(|error: Complaint| {
        Problem::usage(Complaint { place: format!("--target {}", error.place), ..error })
    })?;
    let answers = Bars::default().watch(|watch| experiment.search(over, &target, watch))?;
    for (task, found) in &answers {
        if options.json {
            print::json(&ResultLine::found(&task.point, found))?;
        } else {
            print::data(as_text(task, over, &target, found))?;
        }
    }
    for (_, found) in &answers {
        for line in [undecided(over, &target, found), caution(over, &target, found), silent(&target, found)] {
            line.into_iter().for_each(print::talk);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_text(task: &Task, over: &str, target: &Target, found: &Found) -> String {
    let label = task.label();
    let at = if label.is_empty() { label } else { format!("{label}: ") };
    let value = found.room.map_or_else(|| found.value.clone(), |room| room.to_string());
    let most = if found.sought == Sought::Largest { ", the largest that meets the target" } else { "" };
    format!(
        "{at}{over} = {value}{most}{}   ({} = {:.5} ± {:.5}, {} runs)",
        if found.decided { "" } else { ", undecided" },
        target.metric,
        found.metric,
        found.half_width,
        found.runs
    )
}

/// Returns a note if the confidence interval still contains the bound after the last repetition.
fn undecided(over: &str, target: &Target, found: &Found) -> Option<String> {
    if found.decided {
        return None;
    }
    let (least, most) = (found.metric - found.half_width, found.metric + found.half_width);
    let surely = match &found.sure {
        Some(sure) => {
            format!("; {} surely meets it ({:.5} ± {:.5})", sure.value, sure.metric, sure.half_width)
        }
        None => "; no value was found that surely meets it".into(),
    };
    Some(format!(
        "note: {over} = {} is undecided: in the mean it meets {target}, but its 95 % interval, {least:.5} to {most:.5}, holds the bound{surely}",
        found.value
    ))
}

/// Returns a note if runs had no value to compare with the target.
fn silent(target: &Target, found: &Found) -> Option<String> {
    let runs = found.runs_without_value;
    (runs > 0).then(|| {
        let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
        format!("note: {runs} had no {}, and count as missing the target", target.metric)
    })
}

/// Returns a note if the metric does not move in one direction with every step.
fn caution(over: &str, target: &Target, found: &Found) -> Option<String> {
    let (misses, kind) = match found.sought {
        Sought::Smallest => (&found.misses_above, "larger"),
        Sought::Largest => (&found.misses_below, "smaller"),
    };
    let misses = misses.iter().map(|(value, mean)| match mean.is_finite() {
        true => format!("{value} ({mean:.5})"),
        false => format!("{value} (no value)"),
    });
    let misses: Vec<String> = misses.collect();
    (!misses.is_empty()).then(|| {
        format!(
            "note: {over} = {} meets {target}, but {kind} values miss it: {}; near the bound {} does not move one way with \
             every step",
            found.value,
            misses.join(", "),
            target.metric
        )
    })
}
