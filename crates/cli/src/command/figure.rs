//! `tightlink figure`: reproduce a published result and check its claims.

use super::{compare, list};
use crate::args::FigureOptions;
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
        return Err(Problem::usage(
            Complaint::new("", format!("unknown figure \"{}\"", options.id))
                .accepted(format!("list, all, {}", ids.join(", "))),
        ));
    }
    if chosen.len() > 1 && options.output.report.is_some() {
        return Err(Problem::usage(
            Complaint::new("", "--report names one file, but there are several figures")
                .help("use --out DIR"),
        ));
    }
    let mut code = ExitCode::SUCCESS;
    for figure in chosen {
        print::talk(format_args!("{}: {}", figure.id, figure.title));
        let claims = claims(&figure.id)?;
        let mut experiment = compare::experiment(&figure.document, &options.output)?;
        experiment.seeds = options.seeds;
        let bars = compare::bars(&options.output).doing("runs that claims are judged by");
        let compared = bars.watch(|watch| experiment.figure(&claims, watch).map_err(compare::helped))?;
        if let Some((tried, valid)) = compared.tried {
            print::talk(format_args!(
                "{valid} of {tried} simulated runs are valid, and count; the report shows the first of each case"
            ));
        }
        let ended = compare::show(&experiment, &compared, &options.output)?;
        if ended != ExitCode::SUCCESS {
            code = ended;
        }
    }
    Ok(code)
}
