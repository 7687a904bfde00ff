//! Says aloud that a test could not judge; [`tries`] gives tests of the real clock several.
//!
//! The harness knows passed, failed and ignored; a test finds out only while it runs that the machine lacks a right or a
//! tool, or stalls too often for what it measures. It returns then, which the harness counts as passed, and what it
//! prints is hidden. So it calls [`could_not_judge`] first: `make test` ends with a list of those that did.

pub mod tries;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;

/// Where the lines are kept, if they are: the path of a file, which is made if it is not there.
pub const KEPT_IN: &str = "TIGHTLINK_SKIPPED";

/// Notes that the calling test could not judge, or not all that it should, and why. The test returns after it.
///
/// The note goes to standard error, past the harness's capture, and as a line to the file named by [`KEPT_IN`].
///
/// # Panics
/// If that file cannot be written: a skipped test would pass for one that held.
#[track_caller]
pub fn could_not_judge(reason: impl Display) {
    let line = line(std::thread::current().name(), Location::caller(), &reason.to_string());
    // The macros of the standard library would be captured. Nobody is harmed if nobody listens.
    let _ = writeln!(io::stderr(), "could not judge: {}", line.replace('\t', ": "));
    if let Some(path) = std::env::var_os(KEPT_IN) {
        keep(Path::new(&path), &line).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// The test, a tab, the reason. The harness calls a test's thread by its name, unless there is one thread for all.
fn line(thread: Option<&str>, place: &Location<'_>, reason: &str) -> String {
    let place = format!("{}:{}", place.file(), place.line());
    let test = match thread {
        None | Some("main") => place,
        Some(name) => format!("{name} ({place})"),
    };
    format!("{test}\t{}", reason.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Appends `line` in one write, so that tests at the same time do not mix.
fn keep(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_test_and_the_reason_whatever_is_in_it() {
        let here = Location::caller();
        let place = format!("{}:{}", here.file(), here.line());
        assert_eq!(
            line(Some("a::test"), here, "no\tip\ncommand "),
            format!("a::test ({place})\tno ip command")
        );
        assert_eq!(line(Some("main"), here, "why"), format!("{place}\twhy"));
        assert_eq!(line(None, here, "why"), format!("{place}\twhy"));
    }

    #[test]
    fn lines_are_added_and_a_file_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().expect("room for a folder");
        let path = folder.path().join("skipped");
        keep(&path, "one\twhy").expect("it is made");
        keep(&path, "two\twhy").expect("it is there");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "one\twhy\ntwo\twhy\n");
        assert!(keep(folder.path(), "three").is_err(), "a folder");
    }
}
