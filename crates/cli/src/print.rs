//! Writing to a reader who may leave: data on stdout, talk on stderr.
//!
//! `println!` panics when stdout is closed or full. Here a reader who has seen enough (`| head -1`) ends the program
//! quietly, as it ends any program in a pipe, and a full disk is an error with an exit code.

use crate::problem::Problem;
use serde::Serialize;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use units::is_visible;

/// Writes a line of data to stdout.
pub(crate) fn data(line: impl Display) -> Result<(), Problem> {
    writeln!(io::stdout(), "{}", harmless(&line.to_string())).map_err(|error| Problem::output(&error))
}

/// Writes a value to stdout, as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Problem> {
    let text = serde_json::to_string(value).map_err(Problem::environment)?;
    let mut out = String::with_capacity(text.len() + 1);
    // JSON leaves letters alone that move a terminal all the same.
    for letter in text.chars() {
        if is_visible(letter) {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('\n');
    io::stdout().write_all(out.as_bytes()).map_err(|error| Problem::output(&error))
}

/// The text without what moves a terminal but the ends of its lines. What others chose in it is escaped before
/// ([`units::Foreign`]); this is for what the user's own arguments, files and the system's messages bring along.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_visible(letter) || matches!(letter, '\n' | '\t') {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

/// Writes a question to the terminal, in place of its last line; the answer is typed behind it.
pub(crate) fn ask(question: impl Display) {
    let _ = write!(io::stderr(), "\r\x1b[2K{}", harmless(&question.to_string()))
        .and_then(|()| io::stderr().flush());
}

/// Writes a line of talk to stderr. That nobody listens is no error.
pub(crate) fn talk(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", harmless(&line.to_string()));
}
