//! Scenario files: from a file or standard input, with the changes from the command line.

use crate::args::Changes;
use crate::problem::Problem;
use scenario::Document;
use std::io::Read;
use std::path::Path;

/// Reads the scenario `file` and applies `changes`.
pub(crate) fn document(file: &Path, changes: &Changes) -> Result<Document, Problem> {
    let (name, text) = if file == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Problem::usage(format!("standard input: {error}")))?;
        ("standard input".to_owned(), text)
    } else {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let help = "give the path of a scenario file; `tightlink figure list` names published ones";
            Problem::usage(format!("{}: {error}\n  help: {help}", file.display()))
        })?;
        (file.display().to_string(), text)
    };
    let mut document = Document::parse(&name, &text)?;
    for change in &changes.set {
        let Some((key, value)) = change.split_once('=') else {
            return Err(Problem::usage(format!(
                "--set {change}: no value\n  accepted: KEY=VALUE, such as --set link.rate=100Mbit/s"
            )));
        };
        document.set(key.trim(), value.trim())?;
    }
    if let Some(seed) = changes.seed {
        document.set("seed", &seed.to_string())?;
    }
    Ok(document)
}

/// The command line, for the record.
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
