//! Scenario files: from a file or standard input, with the changes from the command line.

use crate::args::Changes;
use crate::problem::Problem;
use scenario::Document;
use std::fs::File;
use std::io;
use std::path::Path;
use tightlink::{read, read_text};
use units::Complaint;

/// Reads the scenario `file` and applies `changes`.
pub(crate) fn document(file: &Path, changes: &Changes) -> Result<Document, Problem> {
    let mut document = if file == Path::new("-") {
        let name = "standard input";
        Document::parse(name, &read_text(name, io::stdin())?)?
    } else {
        read(file)?
    };
    change(&mut document, changes)?;
    Ok(document)
}

/// Applies `changes` to a scenario.
pub(crate) fn change(document: &mut Document, changes: &Changes) -> Result<(), Problem> {
    for change in &changes.set {
        let Some((key, value)) = change.split_once('=') else {
            return Err(Problem::usage(
                Complaint::new(format!("--set {change}"), "no value")
                    .accepted("KEY=VALUE, such as --set link.rate=100Mbit/s"),
            ));
        };
        document.set(key.trim(), value.trim())?;
    }
    if let Some(seed) = changes.seed {
        document.set("seed", &seed.to_string())?;
    }
    Ok(())
}

/// Reads the text of a file of claims.
pub(crate) fn claims(file: &Path) -> Result<String, Problem> {
    let name = file.display().to_string();
    let opened = File::open(file).map_err(|error| {
        Problem::usage(
            Complaint::new(name.as_str(), error.to_string())
                .help("give the path of a file of claims, such as those in tests/claims"),
        )
    })?;
    Ok(read_text(&name, opened)?)
}

/// Returns the command line, for the record.
pub(crate) fn command_line() -> String {
    std::env::args()
        .enumerate()
        .map(|(index, word)| if index == 0 { "tightlink".into() } else { quoted(word) })
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: String) -> String {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || "'\"$*;&|<>()".contains(c)) {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        word
    }
}
