//! `tightlink check`: the published claims, without a report.

use super::compare::chosen;
use crate::args::CheckOptions;
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Count;
use crate::{print, table};
use lab::run::record::Engine;
use lab::study::claims::Verdict;
use lab::study::claims::{Claim, Judging, Tally, check, confirmed, evidence, judged_by, kernel_runs};
use lab::study::figures::{Figure, claims, figures};
use lab::study::lines::OtherLine;
use lab::study::store::Store;
use std::process::ExitCode;
use units::Span;

pub(crate) fn run(options: &CheckOptions) -> Result<ExitCode, Problem> {
    let mut known = figures()?;
    if let Some(seed) = options.seed {
        for figure in &mut known {
            figure.document.set("seed", &seed.to_string())?;
        }
    }
    let paper = |figure: &Figure| figure.id.split(':').next().unwrap_or_default().to_owned();
    let names = |about: &str, figure: &Figure| about == figure.id || about == paper(figure);
    if let Some(about) = options.about.iter().find(|about| !known.iter().any(|figure| names(about, figure))) {
        let mut papers: Vec<String> = known.iter().map(paper).collect();
        papers.dedup();
        return Err(Problem::usage(format!(
            "no paper and no figure is called \"{about}\"\n  accepted: {}; or a figure, see tightlink figure list",
            papers.join(", ")
        )));
    }
    let asked_for =
        |figure: &&Figure| options.about.is_empty() || options.about.iter().any(|about| names(about, figure));
    let chosen_figures: Vec<&Figure> = known.iter().filter(asked_for).collect();
    let (mut prepared, mut tally) = (false, Tally::default());
    let asked = chosen(&options.engines);
    Store::open(&options.out)?;
    let judging = Judging {
        asked: &asked,
        run: &asked,
        seeds: options.seeds,
        live: options.repeat,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        folder: &options.out,
        progress: &|_, _| (),
    };
    tell_length(&chosen_figures, &judging)?;
    for figure in chosen_figures {
        let claims = claims(&figure.id)?;
        if claims.is_empty() {
            continue;
        }
        if !prepared && judged_by(&claims, &asked).contains(&Engine::Live) {
            emu::prepare()?;
            prepared = true;
        }
        let count = Count::new(0);
        count.doing(figure.id.clone());
        let judging = Judging { progress: &|done, all| count.of(done, all), ..judging };
        let evidence = evidence(&figure.document, &claims, &judging)?;
        let (evidence, confirmed) = confirmed(&figure.document, &claims, evidence, &judging)?;
        drop(count);
        let judged: Vec<Claim> = claims.iter().filter(|claim| !claim.validity).cloned().collect();
        let verdicts = check(&judged, &evidence.answers, &asked);
        if options.json {
            for verdict in &verdicts {
                print::json(&OtherLine::Verdict(verdict))?;
            }
        } else if !verdicts.iter().all(Verdict::is_left_out) {
            print::data(format_args!("{}: {}", figure.id, figure.title))?;
            if let Some((tried, valid)) = evidence.tried {
                print::data(format_args!("series  {valid} of {tried} that were run are valid, and count"))?;
            }
            if confirmed > 0 {
                print::data(format_args!(
                    "kernel  {confirmed} cases were run three times, as one run did not bear a claim out: the median judges"
                ))?;
            }
            table::print_each(&verdicts)?;
        }
        tally.add(&verdicts);
    }
    if tally.is_empty() && !options.about.is_empty() {
        print::talk(format_args!("no claims about {}: nothing checked", options.about.join(", ")));
    } else if options.json {
        print::talk(&tally);
    } else {
        print::data(&tally)?;
    }
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

/// How long the runs of the kernel take, which go one after the other in real time.
fn tell_length(figures: &[&Figure], judging: &Judging<'_>) -> Result<(), Problem> {
    let (mut runs, mut time) = (0, Span::ZERO);
    for figure in figures {
        let (more, longer) = kernel_runs(&figure.document, &claims(&figure.id)?, judging)?;
        runs += more;
        time += longer;
    }
    if runs > 0 {
        let minutes = (time.as_secs_f64() / 60.0).ceil();
        print::talk(format_args!(
            "{runs} runs of the kernel take {minutes} minutes; those that are finished are kept in {}",
            judging.folder.display()
        ));
    }
    Ok(())
}
