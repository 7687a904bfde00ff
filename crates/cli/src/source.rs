//! Scenario files: from a file or standard input, with the changes from the command line.

use crate::args::Changes;
use crate::problem::Problem;
use scenario::Document;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use units::{Complaint, Rate};

/// The largest size of a scenario in bytes: a sweep of 100 000 values fits many times.
const LARGEST: u64 = 16 << 20;

/// Reads the scenario `file` and applies `changes`.
pub(crate) fn document(file: &Path, changes: &Changes) -> Result<Document, Problem> {
    let (name, text) = if file == Path::new("-") {
        let name = "standard input".to_owned();
        let text = text(&name, io::stdin())?;
        (name, text)
    } else {
        let name = file.display().to_string();
        let opened = File::open(file).map_err(|error| unreadable(&name, &error))?;
        let text = text(&name, opened)?;
        (name, text)
    };
    let mut document = Document::parse(&name, &text)?;
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
    text(&name, opened)
}

/// Reads the text of a scenario; refuses files that are too large or not UTF-8.
fn text(name: &str, from: impl Read) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > LARGEST {
        let (most, help) = (LARGEST >> 20, "give the path of a scenario file");
        return Err(Problem::usage(
            Complaint::new(name, "too large for a scenario").accepted(format!("up to {most} MB")).help(help),
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        let help = "give the path of a scenario file, or save it as UTF-8";
        Problem::usage(
            Complaint::new(format!("{name}:{line}"), "not valid UTF-8").accepted("TOML in UTF-8").help(help),
        )
    })
}

fn unreadable(name: &str, error: &io::Error) -> Problem {
    let help = match name.parse::<Rate>() {
        // The user typed a rate in place of the file.
        Ok(rate) => format!(
            "`size` and `emulate` take a rate with --rate {rate}, other commands a scenario with --set link.rate={rate}"
        ),
        Err(_) => "give the path of a scenario file; `tightlink figure list` names published ones".to_owned(),
    };
    Problem::usage(Complaint::new(name, error.to_string()).help(help))
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
