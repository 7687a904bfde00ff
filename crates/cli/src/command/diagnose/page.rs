//! The page of a diagnosis, and its file.

use super::{Report, words};
use crate::print;
use crate::problem::Problem;
use crate::source::command_line;
use lab::files::{replace, try_replace};
use report::diagnosis::{DiagnosedConnection, DiagnosisPage};
use report::picture::Picture;
use std::io;
use std::path::Path;
use units::Complaint;

/// Checks, before anything is watched, that the page can be written.
pub(in crate::command) fn can_write(file: Option<&Path>) -> Result<(), Problem> {
    file.map_or(Ok(()), |file| try_replace(file).map_err(|error| unwritable(file, &error)))
}

/// Writes the page about `report` to `file`.
pub(super) fn write(file: Option<&Path>, report: &Report) -> Result<(), Problem> {
    file.map_or(Ok(()), |file| keep(file, &page(report)))
}

/// Writes a page to `file`, completely or not at all.
pub(in crate::command) fn keep(file: &Path, page: &str) -> Result<(), Problem> {
    replace(file, page.as_bytes()).map_err(|error| unwritable(file, &error))?;
    print::talk(format_args!("report: {}", file.display()));
    Ok(())
}

fn page(report: &Report) -> String {
    DiagnosisPage {
        title: &title(report),
        connections: connections(report),
        remarks: words::rest(report).into_iter().collect(),
        numbers: words::lines(report).join("\n"),
        command: command_line(),
    }
    .html()
}

/// Returns the charts of the page as pictures.
pub(super) fn pictures(report: &Report) -> Vec<Picture> {
    report::diagnosis::pictures(&connections(report))
}

fn connections(report: &Report) -> Vec<DiagnosedConnection<'_>> {
    let shown = report.cases.iter().filter_map(|case| {
        Some(DiagnosedConnection {
            evidence: &case.evidence,
            diagnosis: &case.diagnosis,
            proposal: case.proposal.as_ref()?,
            program: case.program.as_ref().map(|(pid, name)| (*pid, name.as_str())),
            name: None,
            facts: &[],
        })
    });
    shown.collect()
}

/// Returns "What limits …", with the number of directions, if some can be judged.
fn title(report: &Report) -> String {
    match &report.cases[..] {
        [] if report.rest.0 + report.small.len() > 0 => {
            "No connection moved enough data to be judged".to_owned()
        }
        [] => "No connection moved data".to_owned(),
        [_] => "What limits this connection".to_owned(),
        several => format!("What limits {} directions of connections", several.len()),
    }
}

fn unwritable(file: &Path, error: &io::Error) -> Problem {
    let complaint = Complaint::new(file.display().to_string(), format!("cannot write the report: {error}"));
    Problem::environment(complaint.help("choose another file with --report"))
}
