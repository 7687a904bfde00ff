//! `tightlink check`: the published claims, without a report.

use super::compare::chosen;
use super::curves;
use super::repeated::{Asked, answer, count};
use crate::args::CheckOptions;
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Progress;
use crate::{print, source, table};
use lab::claims::{Claim, check};
use lab::compare::{Task, tasks};
use lab::figures::{Figure, claims, figures};
use lab::record::Engine;
use lab::report::Verdict;
use lab::store::Store;
use std::process::ExitCode;

pub(crate) fn run(options: &CheckOptions) -> Result<ExitCode, Problem> {
    let known = figures()?;
    let of_paper = |figure: &&Figure| {
        let paper = figure.id.split(':').next();
        options.paper.is_none() || paper == options.paper.as_deref()
    };
    let chosen_figures: Vec<&Figure> = known.iter().filter(of_paper).collect();
    if chosen_figures.is_empty() {
        let mut papers: Vec<&str> = known.iter().filter_map(|figure| figure.id.split(':').next()).collect();
        papers.dedup();
        let asked = options.paper.as_deref().unwrap_or_default();
        return Err(Problem::usage(format!("unknown paper \"{asked}\"\n  accepted: {}", papers.join(", "))));
    }
    let mut all_held = true;
    let (mut prepared, mut known_claims, mut left_out) = (false, 0, 0);
    let engines = chosen(&options.engines);
    for figure in chosen_figures {
        let mut claims = claims(&figure.id)?;
        let all = claims.len();
        known_claims += all;
        claims.retain(|claim| claim.engines.iter().all(|engine| engines.contains(engine)));
        left_out += all - claims.len();
        if claims.is_empty() {
            continue;
        }
        if !prepared && claims.iter().any(|claim| claim.engines.contains(&Engine::Live)) {
            emu::prepare()?;
            prepared = true;
        }
        let verdicts = match figure.document.figure()? {
            Some(spec) => curves::verdicts(&figure.document, &spec, &claims, options)?,
            None => verdicts(figure, &claims, options)?,
        };
        if options.json {
            for verdict in &verdicts {
                print::json(verdict)?;
            }
            all_held &= !verdicts.iter().any(Verdict::failed);
        } else {
            print::data(format_args!("{}: {}", figure.id, figure.title))?;
            all_held &= table::print_verdicts(&verdicts)?;
        }
    }
    if let (0, Some(paper)) = (known_claims, &options.paper) {
        print::talk(format_args!("no claims about the figures of {paper}: nothing checked"));
    }
    if left_out > 0 {
        print::talk(format_args!("{left_out} claims ask an engine that --engines leaves out: not checked"));
    }
    Ok(if all_held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// Runs the figure on the engines its claims ask, each point that one of them looks at, and checks them. Single runs
/// are not kept.
fn verdicts(figure: &Figure, claims: &[Claim], options: &CheckOptions) -> Result<Vec<Verdict>, Problem> {
    let tasks = tasks(&figure.document)?;
    let repeat = options.repeat.unwrap_or(1);
    let store = if repeat > 1 { Some(Store::open(&options.out)?) } else { None };
    let command = source::command_line();
    let all: Vec<Vec<Engine>> = tasks.iter().map(|task| engines(claims, task)).collect();
    let mut progress = Progress::new(all.iter().map(|engines| count(engines, repeat)).sum());
    let (mut answers, mut before) = (Vec::new(), 0);
    for (task, engines) in tasks.into_iter().zip(&all) {
        let label = task.label();
        let store = store.as_ref().map(|store| (store, command.as_str()));
        let asked = Asked { document: &figure.document, engines, repeat, store };
        let answered = answer(task, &asked, &mut |ended, engine, passed, end| {
            progress.at(before + ended);
            progress.tell(&label, engine, passed, end);
        })?;
        answers.push(answered);
        before += count(engines, repeat);
        progress.finished(before);
    }
    Ok(check(claims, &answers))
}

/// The engines that claims ask about this task.
fn engines(claims: &[Claim], task: &Task) -> Vec<Engine> {
    let asks =
        |engine: &Engine| claims.iter().any(|claim| claim.engines.contains(engine) && claim.concerns(task));
    Engine::ALL.into_iter().filter(asks).collect()
}
