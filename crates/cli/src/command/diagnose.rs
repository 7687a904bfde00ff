//! `tightlink diagnose`: what limits connections. `diagnose/running.rs` watches those that run, `diagnose/capture.rs` reads
//! those of a capture; `diagnose/words.rs` has the report for people, `diagnose/data.rs` the one for programs.

mod capture;
mod data;
mod running;
mod words;

use crate::args::DiagnoseOptions;
use crate::print;
use crate::problem::Problem;
use ::capture::connections::Statistics;
use estimate::diagnosis::{Diagnosis, Evidence, diagnose};
use std::process::ExitCode;
use units::Bytes;

/// The connections that are reported without `--all`.
const SHOWN: usize = 5;

/// One direction of a connection: its evidence, and what limited it.
struct Case {
    evidence: Evidence,
    diagnosis: Diagnosis,
    /// The process that has the socket, and its name; unknown of a capture.
    program: Option<(u32, String)>,
    /// True if the connection ended meanwhile.
    closed: bool,
    /// The sums of a capture.
    sums: Option<Statistics>,
}

/// A report on connections.
#[derive(Default)]
struct Report {
    /// The directions of the connections that are shown, those of one connection one after the other.
    cases: Vec<Case>,
    /// The number of connections that moved data and are not shown, and their data.
    rest: (usize, Bytes),
    /// The number of connections that moved nothing.
    idle: usize,
}

impl Case {
    fn new(evidence: Evidence, program: Option<(u32, String)>, closed: bool) -> Self {
        Self { diagnosis: diagnose(&evidence), evidence, program, closed, sums: None }
    }
}

pub(crate) fn run(options: &DiagnoseOptions) -> Result<ExitCode, Problem> {
    let report = match &options.file {
        Some(file) => capture::report(file, options)?,
        None => running::report(options)?,
    };
    if options.json {
        for case in &report.cases {
            print::json(&data::of(case))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    for case in &report.cases {
        for line in words::of(case) {
            print::data(line)?;
        }
    }
    if let Some(line) = words::rest(&report) {
        print::data(line)?;
    }
    Ok(ExitCode::SUCCESS)
}
