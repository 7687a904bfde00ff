//! `tightlink figure`: reproduce a published result and check its claims.

use super::compare::{Judged, chosen};
use super::{compare, list};
use crate::args::FigureOptions;
use crate::print;
use crate::problem::Problem;
use crate::progress::Count;
use lab::run::record::Engine;
use lab::study::claims::{Claim, Evidence, Judging, evidence};
use lab::study::figures::{Figure, claims, figures};
use lab::study::store::Store;
use std::process::ExitCode;

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
        return Err(Problem::usage(format!(
            "unknown figure \"{}\"\n  accepted: list, all, {}",
            options.id,
            ids.join(", ")
        )));
    }
    if chosen.len() > 1 && options.output.report.is_some() {
        return Err(Problem::usage(
            "--report names one file, but there are several figures\n  help: use --out DIR",
        ));
    }
    let mut code = ExitCode::SUCCESS;
    for figure in chosen {
        print::talk(format_args!("{}: {}", figure.id, figure.title));
        let all = claims(&figure.id)?;
        let evidence = simulated(figure, &all, options)?;
        if let Some((tried, valid)) = evidence.tried {
            print::talk(format_args!(
                "{valid} of {tried} simulated runs are valid, and count; the report shows the first of each case"
            ));
        }
        // What says which runs count is no statement to judge.
        let claims: Vec<Claim> = all.into_iter().filter(|claim| !claim.validity).collect();
        let judged = Judged { claims: &claims, evidence: &evidence };
        let ended = compare::compare(&figure.document, &judged, &options.output)?;
        if ended != ExitCode::SUCCESS {
            code = ended;
        }
    }
    Ok(code)
}

/// The simulated runs that the claims are judged by, as `check` has them.
fn simulated(figure: &Figure, claims: &[Claim], options: &FigureOptions) -> Result<Evidence, Problem> {
    let asked = chosen(&options.output.engines);
    if claims.is_empty() || !asked.contains(&Engine::Sim) {
        return Ok(Evidence::default());
    }
    Store::open(&options.output.out)?;
    let count = Count::new(0);
    count.doing("runs that claims are judged by".into());
    let judging = Judging {
        asked: &asked,
        run: &[Engine::Sim],
        seeds: options.seeds,
        live: None,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        folder: &options.output.out,
        progress: &|done, all| count.of(done, all),
    };
    Ok(evidence(&figure.document, claims, &judging)?)
}
