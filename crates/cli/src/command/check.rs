//! `tightlink check`: the published claims, without a report.

use super::compare::chosen;
use crate::args::CheckOptions;
use crate::folder::Folder;
use crate::problem::{CLAIM_FAILED, Problem};
use crate::progress::Bars;
use crate::{print, table};
use lab::study::claims::{Claim, Tally, Verdict};
use lab::study::experiment::Experiment;
use lab::study::figures::{Figure, claims, figures};
use lab::study::lines::OtherLine;
use std::process::ExitCode;
use units::{Complaint, Span};

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
        let found = format!("no paper and no figure is called \"{about}\"");
        let accepted = format!("{}; or a figure of tightlink list figures", papers.join(", "));
        let ids = known.iter().map(|figure| figure.id.as_str()).chain(papers.iter().map(String::as_str));
        let help = scenario::did_you_mean(about, ids);
        return Err(Problem::usage(Complaint { help, ..Complaint::new("", found).accepted(accepted) }));
    }
    let asked_for =
        |figure: &&Figure| options.about.is_empty() || options.about.iter().any(|about| names(about, figure));
    let chosen_figures: Vec<&Figure> = known.iter().filter(asked_for).collect();
    let folder = Folder::of(&options.out)?;
    let mut experiments = Vec::new();
    for figure in chosen_figures {
        let claims = claims(&figure.id)?;
        if !claims.is_empty() {
            let mut experiment = Experiment::new(&figure.document, folder.path())?;
            experiment.engines = chosen(&options.engines);
            (experiment.repeat, experiment.seeds) = (options.repeat, options.seeds);
            experiments.push((figure, claims, experiment));
        }
    }
    print_length(&experiments, options)?;
    let mut tally = Tally::default();
    for (figure, claims, experiment) in experiments {
        let bars = Bars::default().doing(&figure.id);
        let checked = bars.watch(|watch| experiment.check(&claims, watch))?;
        if options.json {
            for verdict in &checked.verdicts {
                print::json(&OtherLine::Verdict(verdict))?;
            }
        } else if !checked.verdicts.iter().all(Verdict::is_left_out) {
            print::data(format_args!("{}: {}", figure.id, figure.title))?;
            if let Some((tried, valid)) = checked.tried {
                print::data(format_args!(
                    "series  {valid} of {tried} of the simulated runs are valid, and only these count"
                ))?;
            }
            if checked.confirmed > 0 {
                print::data(format_args!(
                    "kernel  {} cases were run three times, because one run contradicted a claim; the median judges",
                    checked.confirmed
                ))?;
            }
            table::print_each(&checked.verdicts)?;
        }
        tally.add(&checked.verdicts);
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

/// Prints the time for the runs of the kernel, which go one after the other in real time.
fn print_length(
    experiments: &[(&Figure, Vec<Claim>, Experiment)],
    options: &CheckOptions,
) -> Result<(), Problem> {
    let (mut runs, mut time) = (0, Span::ZERO);
    for (_, claims, experiment) in experiments {
        let (more, longer) = experiment.kernel_runs(claims)?;
        runs += more;
        time += longer;
    }
    if runs > 0 {
        let minutes = (time.as_secs_f64() / 60.0).ceil();
        print::talk(format_args!(
            "{runs} runs of the kernel take {minutes} minutes; those that are finished are kept in {}",
            options.out.display()
        ));
    }
    Ok(())
}
