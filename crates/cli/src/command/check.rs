//! `tightlink check`: the published claims, without a report.

use super::curves;
use crate::args::CheckOptions;
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Progress;
use crate::{print, table};
use lab::claims::{Claim, check};
use lab::compare::{answer, tasks};
use lab::figures::{Figure, claims, figures};
use lab::record::Engine;
use lab::report::Verdict;
use std::process::ExitCode;

pub(crate) fn run(options: &CheckOptions) -> Result<ExitCode, Problem> {
    let known = figures()?;
    let of_paper = |figure: &&Figure| {
        let paper = figure.id.split(':').next();
        options.paper.is_none() || paper == options.paper.as_deref()
    };
    let chosen: Vec<&Figure> = known.iter().filter(of_paper).collect();
    if chosen.is_empty() {
        let mut papers: Vec<&str> = known.iter().filter_map(|figure| figure.id.split(':').next()).collect();
        papers.dedup();
        let asked = options.paper.as_deref().unwrap_or_default();
        return Err(Problem::usage(format!("unknown paper \"{asked}\"\n  accepted: {}", papers.join(", "))));
    }
    let mut all_held = true;
    let mut prepared = false;
    for figure in chosen {
        let claims = claims(&figure.id)?;
        if claims.is_empty() {
            continue;
        }
        if !prepared && claims.iter().any(|claim| claim.engines.contains(&Engine::Live)) {
            emu::prepare()?;
            prepared = true;
        }
        let verdicts = match figure.document.figure()? {
            Some(spec) => curves::verdicts(&figure.document, &spec, &claims, &options.out)?,
            None => verdicts(figure, &claims)?,
        };
        if options.json {
            for verdict in &verdicts {
                print::data(serde_json::to_string(verdict).map_err(Problem::environment)?)?;
            }
            all_held &= verdicts.iter().all(|verdict| verdict.held);
        } else {
            print::data(format_args!("{}: {}", figure.id, figure.title))?;
            all_held &= table::print_verdicts(&verdicts)?;
        }
    }
    Ok(if all_held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// Runs the figure on the engines its claims ask, and checks them.
fn verdicts(figure: &Figure, claims: &[Claim]) -> Result<Vec<Verdict>, Problem> {
    let asked = |engine: &Engine| claims.iter().any(|claim| claim.engines.contains(engine));
    let engines: Vec<Engine> = Engine::ALL.into_iter().filter(asked).collect();
    let tasks = tasks(&figure.document)?;
    let mut progress = Progress::new(tasks.len());
    let mut answers = Vec::new();
    for task in tasks {
        let label = task.label();
        let answered =
            answer(task, &engines, &mut |engine, passed, end| progress.tell(&label, engine, passed, end))?;
        answers.push(answered);
        progress.finished(answers.len());
    }
    Ok(check(claims, &answers))
}
