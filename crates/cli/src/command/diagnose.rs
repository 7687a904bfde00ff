//! `tightlink diagnose`: what limits connections. `diagnose/running.rs` watches those that run, `diagnose/capture.rs` reads
//! those of a capture. `diagnose/words.rs` has the report for people, `diagnose/data.rs` the one for programs, and
//! `diagnose/page.rs` the page.

mod capture;
pub(super) mod data;
pub(super) mod page;
mod running;
pub(super) mod words;

use crate::args::DiagnoseOptions;
use crate::pictures;
use crate::print;
use crate::problem::Problem;
use ::capture::connections::{Connection, Failure, Statistics};
use estimate::diagnosis::{Diagnosis, Evidence, diagnose};
use lab::study::diagnosis::{Proposal, Subject, propose};
use std::process::ExitCode;
use units::{Bytes, Rate};

/// The connections that are reported without `--all`.
const SHOWN: usize = 5;
/// The directions for which a change is proposed, those with most data: a proposal simulates for up to half a second.
const PROPOSED: usize = 2 * SHOWN;

/// One direction of a connection: its evidence, and what limited it.
pub(super) struct Case {
    pub(super) evidence: Evidence,
    pub(super) diagnosis: Diagnosis,
    /// The process that has the socket, and its name; unknown of a capture.
    program: Option<(u32, String)>,
    /// True if the connection ended meanwhile.
    closed: bool,
    /// The change that would help; `None` if none was sought.
    pub(super) proposal: Option<Proposal>,
    /// The sums of a capture.
    sums: Option<Statistics>,
    /// The way in which the connection failed, if it did.
    failure: Option<Failure>,
}

/// A report on connections.
#[derive(Default)]
struct Report {
    /// The directions of the connections that are shown, those of one connection one after the other.
    cases: Vec<Case>,
    /// Connections of a capture that are shown, although they carried too little to be judged.
    small: Vec<Connection>,
    /// The number of connections that moved data and are not shown, and their data.
    rest: (usize, Bytes),
    /// The number of connections that moved nothing and are not shown.
    idle: usize,
    /// Those among them that got no answer, and those that were refused.
    unanswered: usize,
    refused: usize,
    /// True if all connections that can be shown are shown.
    all: bool,
}

impl Case {
    pub(super) fn new(evidence: Evidence, program: Option<(u32, String)>, closed: bool) -> Self {
        let diagnosis = diagnose(&evidence);
        Self { evidence, diagnosis, program, closed, proposal: None, sums: None, failure: None }
    }

    /// Seeks the change that would help, on a path whose bottleneck has this rate if it was never full.
    fn propose(&mut self, rate: Option<Rate>) {
        let (pid, program) = self.program.as_ref().map(|(pid, name)| (*pid, name.as_str())).unzip();
        self.proposal =
            Some(propose(&self.evidence, &self.diagnosis, &Subject { pid, program, rate, here: None }));
    }
}

pub(crate) fn run(options: &DiagnoseOptions) -> Result<ExitCode, Problem> {
    page::can_write(options.report.as_deref())?;
    pictures::check(&options.pictures)?;
    let mut report = match &options.file {
        Some(file) => capture::report(file, options)?,
        None => running::report(options)?,
    };
    report.cases.iter_mut().take(PROPOSED).for_each(|case| case.propose(options.rate));
    page::write(options.report.as_deref(), &report)?;
    if options.json {
        for case in &report.cases {
            print::json(&data::of(case))?;
        }
        for connection in &report.small {
            data::of_small(connection).iter().try_for_each(print::json)?;
        }
        pictures::write(&options.pictures, || page::pictures(&report))?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in words::lines(&report) {
        print::data(line)?;
    }
    if let Some(line) = words::rest(&report) {
        print::data(line)?;
    }
    pictures::write(&options.pictures, || page::pictures(&report))?;
    Ok(ExitCode::SUCCESS)
}
