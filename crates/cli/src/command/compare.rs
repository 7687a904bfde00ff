//! `tightlink compare`: every engine that can, side by side, and a report.

use super::repeated::{Asked, answer, count};
use crate::args::{CompareOptions, EngineName, ReportOptions};
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Progress;
use crate::{print, source, table};
use lab::files::{replace, try_replace};
use lab::run::record::Engine;
use lab::study::claims::{Claim, Evidence, check, parse_claims};
use lab::study::lines::{OtherLine, results};
use lab::study::store::Store;
use lab::study::task::{Task, hopeless, tasks};
use report::{Case, Report};
use scenario::Document;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(options: &CompareOptions) -> Result<ExitCode, Problem> {
    let document = source::document(&options.file, &options.changes)?;
    let claims = options.claims.as_ref().map_or(Ok(Vec::new()), |file| own_claims(file, &document))?;
    compare(&document, &Judged { claims: &claims, evidence: &Evidence::default() }, &options.output)
}

/// Claims, and the simulated runs that judge them. The report shows one of these runs.
pub(crate) struct Judged<'a> {
    pub(crate) claims: &'a [Claim],
    pub(crate) evidence: &'a Evidence,
}

/// The claims of a file that are about this scenario.
fn own_claims(file: &Path, document: &Document) -> Result<Vec<Claim>, Problem> {
    let name = file.display().to_string();
    let source = tasks(document)?[0].resolved.source.clone().unwrap_or_default();
    let mut claims = parse_claims(&name, &source::claims(file)?)?;
    claims.retain(|claim| claim.figure.is_empty() || claim.figure == source);
    if claims.is_empty() {
        return Err(Problem::usage(format!(
            "{name}: no claim is about this scenario, whose source is \"{source}\"\n  accepted: claims with figure = its source, or \
             without figure"
        )));
    }
    Ok(claims)
}

/// Runs every point on every engine, keeps the records, writes the report and says where it is. With claims,
/// checks them, too.
pub(crate) fn compare(
    document: &Document,
    judged: &Judged<'_>,
    options: &ReportOptions,
) -> Result<ExitCode, Problem> {
    if let Some(spec) = document.figure()? {
        return super::curves::figure(document, &spec, judged, options);
    }
    // Everything that can be wrong with the scenario or the folder is found before anything runs.
    let first = |task| judged.evidence.first(document, task);
    let tasks = tasks(document)?.into_iter().map(first).collect::<Result<Vec<Task>, _>>()?;
    let engines = engines(options);
    if let Some(reasons) = hopeless(&tasks, &engines) {
        let reasons = reasons.join("\n  ");
        return Err(Problem::usage(format!("no engine can answer this scenario:\n  {reasons}")));
    }
    if engines.contains(&Engine::Live) {
        emu::prepare().map_err(|error| {
            Problem::environment(format!("{error}\n  help: or leave the kernel out: --engines model,sim"))
        })?;
    }
    let store = Store::open(&options.out)?;
    let file = report_file(options, &tasks, document.name());
    try_replace(&file).map_err(|error| cannot_write(&file, &error))?;
    let command = source::command_line();
    let repeat = options.repeat.unwrap_or(1);
    let each = count(&engines, repeat);
    let mut progress = Progress::new(tasks.len() * each);
    let asked = Asked { document, engines: &engines, repeat, store: Some((&store, &command)) };
    let mut answers = Vec::new();
    for task in tasks {
        let label = task.label();
        let before = answers.len() * each;
        let answered = answer(task, &asked, &mut |ended, engine, passed, end| {
            progress.at(before + ended);
            progress.tell(&label, engine, passed, end);
        })?;
        progress.finished(before + each);
        if options.json {
            results(&answered).try_for_each(|line| print::json(&line))?;
        }
        answers.push(answered);
    }
    drop(progress);
    let verdicts = check(judged.claims, &judged.evidence.beside(&answers), &engines);
    let first = &answers[0].task.resolved;
    let report = Report {
        title: first.title.clone(),
        source: first.source.clone(),
        scenario_text: document.text().to_owned(),
        scenario_name: document.name().to_owned(),
        cases: answers.iter().map(Case::of).collect(),
        verdicts,
        command,
    };
    // Before the table: its reader may leave.
    replace(&file, report.html().as_bytes()).map_err(|error| cannot_write(&file, &error))?;
    let held = if options.json {
        report.verdicts.iter().try_for_each(|verdict| print::json(&OtherLine::Verdict(verdict)))?;
        !report.verdicts.iter().any(lab::study::claims::Verdict::failed)
    } else {
        table::print_answers(&answers)?;
        report.verdicts.is_empty() || table::print_verdicts(&report.verdicts)?
    };
    ended(options, &file, held)
}

/// Says where the results and the report are, and whether the claims held.
pub(super) fn ended(options: &ReportOptions, file: &Path, held: bool) -> Result<ExitCode, Problem> {
    print::talk(format_args!("results in {}", options.out.display()));
    let line = format!("report: {}", file.display());
    if options.json {
        print::talk(line);
    } else {
        print::data(line)?;
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

pub(super) fn cannot_write(file: &Path, error: &io::Error) -> Problem {
    let help = "choose another file with --report, or mend the permission";
    Problem::environment(format!("{}: cannot write the report: {error}\n  help: {help}", file.display()))
}

/// The engines asked for, once each, in the order reports show them.
fn engines(options: &ReportOptions) -> Vec<Engine> {
    chosen(&options.engines)
}

pub(super) fn chosen(names: &[EngineName]) -> Vec<Engine> {
    let asked: Vec<Engine> = names.iter().map(|name| Engine::from(*name)).collect();
    Engine::ALL.into_iter().filter(|engine| asked.contains(engine)).collect()
}

/// `results/sobas-fig1-4.html` for a published result, `results/NAME.html` for the sweep of the scenario NAME.toml,
/// `results/<hash>.html` otherwise.
pub(super) fn report_file(options: &ReportOptions, tasks: &[Task], name: &str) -> PathBuf {
    options.report.clone().unwrap_or_else(|| {
        let first = &tasks[0].resolved;
        let stem = || Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let several = || (tasks.len() > 1).then(stem).flatten();
        let name = first.source.clone().or_else(several).unwrap_or_else(|| first.hash.clone());
        let safe = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
        options.out.join(format!("{safe}.html"))
    })
}
