//! Helpers that the tests of several rooms share; no product code uses them.
//!
//! [`could_not_judge`] and [`needs`] say that a test could not judge. [`tries`] gives tests of the real clock several
//! tries, and [`within`] waits for a condition. [`repository`] and [`files`] find files, [`close`] compares
//! numbers, and [`cpu_seconds`] serves benches.
//!
//! The test harness knows passed, failed and ignored. But a test finds out only while it runs that the machine lacks a right
//! or a tool, or stalls too often for the measurement. It returns then, which the harness counts as passed, and hides what
//! it prints. So it calls [`could_not_judge`] first: `make test` ends with a list of those that did.

pub mod tries;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The environment variable that names the file of the lines; the file is made if it is not there.
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

/// Returns `there`, and notes that the calling test could not judge for want of `what` if it is false.
#[track_caller]
pub fn needs(there: bool, what: &str) -> bool {
    if !there {
        could_not_judge(format_args!("needs {what}"));
    }
    there
}

/// Waits until `condition` holds, at most `limit`, and returns true if it does.
pub fn within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let started = now();
    while started.elapsed() < limit {
        if condition() {
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    condition()
}

/// Waits until the real clock shows `when`.
pub fn wait_until(when: Instant) {
    while let Some(rest) = when.checked_duration_since(now()).filter(|rest| !rest.is_zero()) {
        std::thread::park_timeout(rest);
    }
}

/// Returns the time of the real clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests with deadlines")]
pub fn now() -> Instant {
    Instant::now()
}

/// Returns the processor time that this process has used, seconds.
///
/// # Panics
/// If the system is not Linux.
#[must_use]
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanos: f64 = stat.split_whitespace().next().expect("a number").parse().expect("a number");
    nanos * 1e-9
}

/// Returns the folder of the whole repository.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files below `folder` whose names end with `extension`, sorted.
///
/// # Panics
/// If a folder cannot be read.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("a folder that can be listed").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Asserts that `found` is `expected` to within a relative `tolerance`.
///
/// # Panics
/// If it is not.
#[track_caller]
pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found}, not {expected}");
}

/// Returns the test, a tab and the reason. The harness calls a test's thread by its name, unless there is one thread for all.
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
    fn files_are_found_at_any_depth_by_their_ending() {
        let own = files(&repository().join("tests/testkit"), "rs");
        let names: Vec<_> = own.iter().map(|path| path.file_name().expect("a name")).collect();
        assert_eq!(names, ["lib.rs", "tries.rs"]);
    }

    #[test]
    #[should_panic = "0.9, not 1"]
    fn what_is_farther_than_the_tolerance_is_not_close() {
        close(-0.95, -1.0, 0.051);
        close(0.9, 1.0, 0.09);
    }

    #[test]
    fn waiting_ends_with_the_condition_or_the_limit() {
        let mut asked = 0;
        let third_time = || {
            asked += 1;
            asked == 3
        };
        assert!(within(Duration::from_secs(20), third_time));
        assert!(!within(Duration::ZERO, || false));
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
