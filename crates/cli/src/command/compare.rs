//! `tightlink compare`: the answers of every possible engine side by side, and a report.

use crate::args::{CompareOptions, EngineName, ReportOptions};
use crate::folder::Folder;
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Bars;
use crate::{pictures, print, source, table};
use emu::EmuError;
use lab::run::engine::EngineError;
use lab::run::record::Engine;
use lab::study::claims::{Claim, Verdict, parse_claims};
use lab::study::experiment::{Comparison, Experiment, ExperimentError, UNASKED, shortened};
use lab::study::lines::{OtherLine, drawn, results};
use report::{page_of, pictures_of};
use scenario::Document;
use std::path::Path;
use std::process::ExitCode;
use units::{Complaint, Span};

pub(crate) fn run(options: &CompareOptions) -> Result<ExitCode, Problem> {
    let mut document = source::document(&options.file, &options.changes)?;
    // The interval is shortened only if no option asks for it in full. Claims do, because they are about the unchanged
    // scenario.
    let unasked = options.output.engines.is_empty() && !options.full && options.claims.is_none();
    let own = if unasked { shortened(&document)? } else { None };
    let own = own.map(|(shorter, own)| {
        document = shorter;
        own
    });
    let folder = Folder::of(&options.output.out)?;
    let experiment = experiment(&document, &options.output, &folder)?;
    print_length(&experiment, own);
    let source = experiment.tasks()[0].resolved.source.as_deref().unwrap_or_default();
    let claims = options.claims.as_ref().map_or(Ok(Vec::new()), |file| own_claims(file, source))?;
    let compared = bars(&options.output).watch(|watch| experiment.compare(&claims, watch).map_err(helped))?;
    show(&experiment, &compared, &options.output, &folder)
}

/// Prints the time for the kernel's runs before they start; `own` is the interval that a shorter one replaces.
fn print_length(experiment: &Experiment, own: Option<Span>) {
    let (runs, time) = experiment.live_runs();
    if runs == 0 || time == Span::ZERO || experiment.document().figure().is_ok_and(|figure| figure.is_some())
    {
        return;
    }
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let shorter = own.map_or_else(String::new, |own| {
        let (unasked, own) = (UNASKED.rounded(), own.rounded());
        format!("; every engine measures {unasked} in place of {own}, which --full measures")
    });
    print::talk(format_args!("the kernel runs in real time: {runs}, {} in all{shorter}", time.rounded()));
}

/// Returns the claims of a file about the scenario of this source.
fn own_claims(file: &Path, source: &str) -> Result<Vec<Claim>, Problem> {
    let name = file.display().to_string();
    let mut claims = parse_claims(&name, &source::claims(file)?)?;
    claims.retain(|claim| claim.figure.is_empty() || claim.figure == source);
    if claims.is_empty() {
        let found = format!("no claim is about this scenario, whose source is \"{source}\"");
        let complaint = Complaint::new(name, found);
        return Err(Problem::usage(complaint.accepted("claims with figure = its source, or without figure")));
    }
    Ok(claims)
}

/// Makes the experiment of the options, with a page.
pub(super) fn experiment(
    document: &Document,
    options: &ReportOptions,
    folder: &Folder,
) -> Result<Experiment, Problem> {
    pictures::check(&options.pictures)?;
    let mut experiment = Experiment::new(document, folder.path())?;
    experiment.engines = chosen(&options.engines);
    experiment.estimates = !options.engines.is_empty();
    experiment.repeat = options.repeat;
    experiment.command = source::command_line();
    let usual = || folder.keeps().then(|| folder.path().join(experiment.page_name()));
    experiment.page = options.report.clone().or_else(usual);
    Ok(experiment)
}

/// Adds help to errors of the emulator: how to leave the kernel out.
pub(super) fn helped(error: ExperimentError) -> Problem {
    match error {
        ExperimentError::Engine(EngineError::Emulator(error)) if !matches!(error, EmuError::Ended(_)) => {
            let complaint = error.complaint();
            let leave = "leave the kernel out: --engines model,sim";
            let help =
                complaint.help.as_ref().map_or_else(|| leave.into(), |help| format!("{help}; or {leave}"));
            Problem::environment(complaint.help(help))
        }
        other => other.into(),
    }
}

pub(super) fn bars(options: &ReportOptions) -> Bars {
    if options.json { Bars::default().printing() } else { Bars::default() }
}

/// Writes the report, prints the answers, and names the places of results and report.
pub(super) fn show(
    experiment: &Experiment,
    compared: &Comparison,
    options: &ReportOptions,
    folder: &Folder,
) -> Result<ExitCode, Problem> {
    // The page is written before the table is printed, because the program ends if the reader of the table leaves.
    experiment.write_page(&page_of(experiment, compared))?;
    match &compared.drawn {
        Some(figure) if options.json => {
            compared.answers.iter().flat_map(results).try_for_each(|line| print::json(&line))?;
            drawn(&figure.curves).try_for_each(|line| print::json(&line))?;
        }
        Some(drawn) => table::print_curves(&drawn.curves)?,
        // Nothing is left to print, because the bars have printed each answer as it came.
        None if options.json => {}
        None => table::print_answers(&compared.answers)?,
    }
    let held = if options.json {
        let mut lines = compared.verdicts.iter().map(OtherLine::Verdict);
        lines.try_for_each(|line| print::json(&line))?;
        !compared.verdicts.iter().any(Verdict::failed)
    } else if compared.verdicts.is_empty() {
        true
    } else {
        table::print_verdicts(&compared.verdicts)?
    };
    let mut notes: Vec<String> = Vec::new();
    for task in experiment.tasks() {
        notes.extend(task.resolved.trace_notes(task.resolved.end));
    }
    notes.sort();
    notes.dedup();
    notes.iter().for_each(|note| print::talk(format_args!("note: {note}")));
    folder.print_place(&compared.answers);
    if let Some(page) = &experiment.page {
        let line = format!("report: {}", page.display());
        if options.json {
            print::talk(line);
        } else {
            print::data(line)?;
        }
    }
    pictures::write(&options.pictures, || pictures_of(experiment, compared))?;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// Returns the named engines, once each, in the order of reports; all engines without names.
pub(super) fn chosen(names: &[EngineName]) -> Vec<Engine> {
    if names.is_empty() {
        return Engine::ALL.into();
    }
    let asked: Vec<Engine> = names.iter().map(|name| Engine::from(*name)).collect();
    Engine::ALL.into_iter().filter(|engine| asked.contains(engine)).collect()
}
