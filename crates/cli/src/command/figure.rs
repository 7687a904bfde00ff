//! `tightlink figure` reproduces a published result and checks its claims.

use super::{compare, list};
use crate::args::FigureOptions;
use crate::folder::Folder;
use crate::print;
use crate::problem::Problem;
use lab::study::figures::{Figure, claims, figures};
use std::process::ExitCode;
use units::Complaint;

pub(crate) fn run(options: &FigureOptions) -> Result<ExitCode, Problem> {
    if options.id == "list" {
        list::figures()?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = figures()?;
    let chosen: Vec<&Figure> =
        known.iter().filter(|figure| options.id == "all" || figure.id == options.id).collect();
    if chosen.is_empty() {
        let ids: Vec<&str> = known.iter().map(|figure| figure.id.as_str()).collect();
        // An id without its paper is tried first, because that is a more frequent mistake than a wrong letter.
        let part = ids.iter().find(|id| id.ends_with(&format!(":{}", options.id)));
        let part = part.or_else(|| ids.iter().find(|id| holds(id, &options.id)));
        let part = part.map(|id| format!("did you mean \"{id}\"?"));
        let help = part.or_else(|| scenario::did_you_mean(&options.id, ids.iter().copied()));
        // Only the figures of the named paper are listed. A list of all would fill a screen, on which the help would be
        // lost.
        let paper = options.id.split_once(':').map_or("", |(paper, _)| paper);
        let mut of_paper: Vec<&str> =
            ids.iter().copied().filter(|id| id.split_once(':').is_some_and(|(of, _)| of == paper)).collect();
        if of_paper.is_empty() {
            of_paper.push("or a figure of tightlink list figures");
        }
        let complaint = Complaint::new("", format!("unknown figure \"{}\"", options.id))
            .accepted(format!("list, all, {}", of_paper.join(", ")));
        return Err(Problem::usage(Complaint { help, ..complaint }));
    }
    if chosen.len() > 1 {
        let (report, pictures) = (options.output.report.is_some(), options.output.pictures.are_wanted());
        let named = [("--report", "use --out DIR", report), ("a picture", "draw one figure", pictures)];
        if let Some((what, help, _)) = named.into_iter().find(|(_, _, given)| *given) {
            let found = format!("{what} names one file, but there are several figures");
            return Err(Problem::usage(Complaint::new("", found).help(help)));
        }
    }
    let folder = Folder::of(&options.output.out)?;
    let mut code = ExitCode::SUCCESS;
    for figure in chosen {
        print::talk(format_args!("{}: {}", figure.id, figure.title));
        let claims = claims(&figure.id)?;
        let mut experiment = compare::experiment(&figure.document, &options.output, &folder)?;
        experiment.seeds = options.seeds;
        let bars = compare::bars(&options.output).doing("runs that judge claims");
        let compared = bars.watch(|watch| experiment.figure(&claims, watch).map_err(compare::helped))?;
        if let Some((tried, valid)) = compared.tried {
            print::talk(format_args!(
                "{valid} of {tried} simulated runs are valid, and count; the report shows the first of each case"
            ));
        }
        let ended = compare::show(&experiment, &compared, &options.output, &folder)?;
        if ended != ExitCode::SUCCESS {
            code = ended;
        }
    }
    Ok(code)
}

/// Returns true if `id` covers several figures, as `sobas:fig1-4` does, and `asked` is one of them.
fn holds(id: &str, asked: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let figures = || {
        let (first, last) = id.split_once(":fig")?.1.split_once('-')?;
        Some(number(first)?..=number(last)?)
    };
    let (paper, figure) = asked.split_once(':').unwrap_or(("", asked));
    let asked = number(figure.trim_start_matches("fig"));
    id.starts_with(paper) && asked.zip(figures()).is_some_and(|(asked, figures)| figures.contains(&asked))
}
