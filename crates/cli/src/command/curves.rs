//! A figure over a sweep: what `figure`, `compare` and `check` do with a scenario that has a `[figure]`.

use crate::args::{EngineName, ReportOptions};
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Count;
use crate::{print, source, table};
use lab::claims::{Claim, check};
use lab::compare::{self, Answer, Task, tasks};
use lab::curves::{Curves, CurvesError, draw, steps};
use lab::record::Engine;
use lab::report::Verdict;
use lab::report::figure::FigurePage;
use lab::store::{Store, replace, try_replace};
use scenario::{Document, FigureSpec};
use std::path::Path;
use std::process::ExitCode;

/// Computes the curves, writes the report, prints the numbers and checks the claims.
pub(crate) fn figure(
    document: &Document,
    spec: &FigureSpec,
    claims: &[Claim],
    options: &ReportOptions,
) -> Result<ExitCode, Problem> {
    if !options.engines.contains(&EngineName::Sim) {
        return Err(Problem::usage(
            "--engines leaves the simulator out, but a [figure] is drawn from simulations\n  accepted: sim among the engines",
        ));
    }
    let tasks = tasks(document)?;
    let file = super::compare::report_file(options, &tasks, document.name());
    Store::open(&options.out)?;
    try_replace(&file).map_err(|error| super::compare::cannot_write(&file, &error))?;
    let (curves, answers) = computed(document, spec, &tasks, &options.out)?;
    let verdicts = check(claims, &answers);
    let first = &tasks[0].resolved;
    let page = FigurePage {
        title: first.title.clone(),
        source: first.source.clone(),
        headline: headline(&answers, &verdicts),
        curves,
        verdicts,
        scenario_text: document.text().to_owned(),
        scenario_name: document.name().to_owned(),
        command: source::command_line(),
    };
    replace(&file, page.html().as_bytes()).map_err(|error| super::compare::cannot_write(&file, &error))?;
    if options.json {
        for chart in &page.curves.charts {
            print::data(serde_json::to_string(chart).map_err(Problem::environment)?)?;
        }
    } else {
        table::print_curves(&page.curves)?;
    }
    let held = if options.json || page.verdicts.is_empty() {
        page.verdicts.iter().all(|verdict| verdict.held)
    } else {
        table::print_verdicts(&page.verdicts)?
    };
    print::talk(format_args!("results in {}", options.out.display()));
    let line = format!("report: {}", file.display());
    if options.json {
        print::talk(line);
    } else {
        print::data(line)?;
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// The verdicts alone; finished points are kept in `folder`.
pub(crate) fn verdicts(
    document: &Document,
    spec: &FigureSpec,
    claims: &[Claim],
    folder: &Path,
) -> Result<Vec<Verdict>, Problem> {
    Store::open(folder)?;
    let (_, answers) = computed(document, spec, &tasks(document)?, folder)?;
    Ok(check(claims, &answers))
}

fn computed(
    document: &Document,
    spec: &FigureSpec,
    tasks: &[Task],
    folder: &Path,
) -> Result<(Curves, Vec<Answer>), Problem> {
    compare::check(document, tasks, Engine::Sim)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let count = Count::new(steps(spec, tasks));
    Ok(draw(document, spec, tasks, jobs, folder, &|done| count.tell(done))?)
}

/// "42 points simulated, 4.2e8 packets; 5 of 5 claims held."
fn headline(answers: &[Answer], verdicts: &[Verdict]) -> String {
    let packets: u64 = answers
        .iter()
        .flat_map(|answer| &answer.records)
        .filter_map(|record| record.summary.packets_forwarded)
        .sum();
    let mut text =
        format!("{} points simulated, {:.0} million packets.", answers.len(), packets as f64 / 1e6);
    if !verdicts.is_empty() {
        let held = verdicts.iter().filter(|verdict| verdict.held).count();
        text += &format!(" {held} of {} published claims held.", verdicts.len());
    }
    text
}

impl From<CurvesError> for Problem {
    fn from(error: CurvesError) -> Self {
        match error {
            CurvesError::Sweep(error) => error.into(),
            CurvesError::Search(error) => error.into(),
            unknown @ CurvesError::Unknown { .. } => Self::usage(unknown),
        }
    }
}
