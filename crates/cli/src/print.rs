//! Writing to a reader who may leave: data on stdout, talk on stderr.
//!
//! `println!` panics when stdout is closed or full. Here a reader who has seen enough (`| head -1`) ends the program
//! quietly, as it ends any program in a pipe, and a full disk is an error with an exit code.

use crate::problem::Problem;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line of data to stdout.
pub(crate) fn data(line: impl Display) -> Result<(), Problem> {
    writeln!(io::stdout(), "{line}").map_err(|error| Problem::output(&error))
}

/// Writes a question to the terminal, in place of its last line; the answer is typed behind it.
pub(crate) fn ask(question: impl Display) {
    let _ = write!(io::stderr(), "\r\x1b[2K{question}").and_then(|()| io::stderr().flush());
}

/// Writes a line of talk to stderr. That nobody listens is no error.
pub(crate) fn talk(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
