//! A figure over a sweep: what `figure`, `compare` and `check` do with a scenario that has a `[figure]`.

use super::compare::{Judged, chosen};
use crate::args::{EngineName, ReportOptions};
use crate::problem::Problem;
use crate::progress::Count;
use crate::{print, source, table};
use lab::files::{replace, try_replace};
use lab::run::engine;
use lab::run::record::Engine;
use lab::study::claims::Verdict;
use lab::study::claims::check;
use lab::study::curves::{Curves, CurvesError, check as suits, draw, engines, steps};
use lab::study::lines::{OtherLine, drawn, results};
use lab::study::repeat::too_busy;
use lab::study::store::Store;
use lab::study::task::{Answer, Task, tasks};
use report::figure::FigurePage;
use scenario::{Document, Drawn, FigureSpec};
use std::path::Path;
use std::process::ExitCode;

/// Computes the curves, writes the report, prints the numbers and checks the claims.
pub(crate) fn figure(
    document: &Document,
    spec: &FigureSpec,
    judged: &Judged<'_>,
    options: &ReportOptions,
) -> Result<ExitCode, Problem> {
    let spec = &narrowed(spec, &options.engines, options.repeat)?;
    let tasks = tasks(document)?;
    let file = super::compare::report_file(options, &tasks, document.name());
    Store::open(&options.out)?;
    try_replace(&file).map_err(|error| super::compare::cannot_write(&file, &error))?;
    let (curves, answers) = computed(document, spec, &tasks, &options.out)?;
    let verdicts = check(judged.claims, &judged.evidence.beside(&answers), &engines(spec));
    let first = &tasks[0].resolved;
    let page = FigurePage {
        title: first.title.clone(),
        source: first.source.clone(),
        headline: headline(&answers, spec, &verdicts),
        curves,
        verdicts,
        scenario_text: document.text().to_owned(),
        scenario_name: document.name().to_owned(),
        command: source::command_line(),
    };
    replace(&file, page.html().as_bytes()).map_err(|error| super::compare::cannot_write(&file, &error))?;
    if options.json {
        answers.iter().flat_map(results).try_for_each(|line| print::json(&line))?;
        drawn(&page.curves).try_for_each(|line| print::json(&line))?;
        page.verdicts.iter().try_for_each(|verdict| print::json(&OtherLine::Verdict(verdict)))?;
    } else {
        table::print_curves(&page.curves)?;
    }
    let held = if options.json || page.verdicts.is_empty() {
        !page.verdicts.iter().any(Verdict::failed)
    } else {
        table::print_verdicts(&page.verdicts)?
    };
    super::compare::ended(options, &file, held)
}

/// The figure from those of its engines that the command line leaves, repeated as it says.
fn narrowed(spec: &FigureSpec, names: &[EngineName], repeat: Option<u64>) -> Result<FigureSpec, Problem> {
    let left = chosen(names);
    let mut spec = spec.clone();
    let drawn: Vec<String> = engines(&spec).iter().map(ToString::to_string).collect();
    spec.engines.retain(|engine| left.contains(&Engine::from(*engine)));
    if spec.engines.is_empty() {
        let drawn = drawn.join(", ");
        return Err(Problem::usage(format!(
            "--engines leaves out what this [figure] is drawn from\n  accepted: {drawn} among the engines"
        )));
    }
    // A search repeats by itself.
    if let (Drawn::Numbers(_), Some(repeat)) = (&spec.y, repeat) {
        spec.repeat = repeat;
    }
    Ok(spec)
}

fn computed(
    document: &Document,
    spec: &FigureSpec,
    tasks: &[Task],
    folder: &Path,
) -> Result<(Curves, Vec<Answer>), Problem> {
    suits(document, spec, tasks)?;
    let suits_live = |task: &Task| engine::check(Engine::Live, &task.resolved).is_ok();
    if engines(spec).contains(&Engine::Live) && tasks.iter().any(suits_live) {
        emu::prepare()?;
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let count = Count::new(steps(spec, tasks));
    Ok(draw(document, spec, tasks, jobs, folder, &|done| count.tell(done))?)
}

/// "42 points simulated, 420 million packets. 5 of 5 published claims held."
fn headline(answers: &[Answer], spec: &FigureSpec, verdicts: &[Verdict]) -> String {
    let records = || answers.iter().flat_map(|answer| &answer.records);
    let of = |engine: Engine| records().filter(move |record| record.summary.engine == engine);
    let mut text = String::new();
    let runs = if spec.repeat > 1 { format!(", {} times each", spec.repeat) } else { String::new() };
    for engine in engines(spec) {
        let packets: u64 = of(engine).filter_map(|record| record.summary.packets_forwarded).sum();
        let (points, packets) = (of(engine).count(), packets as f64 / 1e6);
        text += &match engine {
            Engine::Model => format!("{points} points by formula. "),
            Engine::Sim => format!("{points} points simulated{runs}, {packets:.0} million packets. "),
            Engine::Live => format!("{points} points run on the kernel{runs}. "),
        };
    }
    if spec.repeat > 1 {
        text += "Medians are drawn, from the least to the most of the runs. ";
    }
    let again: u64 = records().filter_map(|record| Some(record.summary.repeats.as_ref()?.run_again)).sum();
    if again > 0 {
        text += &format!("Runs that were run again, as the machine was too busy: {again}. ");
    }
    let busy = records().filter(|record| too_busy(record)).count();
    if busy > 0 {
        text += &format!("At {busy} points the machine was too busy in the run that is shown. ");
    }
    text.truncate(text.trim_end().len());
    if !verdicts.is_empty() {
        let held = verdicts.iter().filter(|verdict| verdict.held).count();
        let judged = verdicts.iter().filter(|verdict| !verdict.is_left_out()).count();
        text += &format!(" {held} of {judged} published claims held.");
        if judged < verdicts.len() {
            text +=
                &format!(" {} were left out, as no engine that they ask was asked.", verdicts.len() - judged);
        }
    }
    text
}

impl From<CurvesError> for Problem {
    fn from(error: CurvesError) -> Self {
        match error {
            CurvesError::Sweep(error) => error.into(),
            CurvesError::Search(error) => error.into(),
            CurvesError::Faults(faults) => faults.into(),
            unknown @ CurvesError::Unknown { .. } => Self::usage(unknown),
        }
    }
}
