//! Small inputs with right values: each file of `tests/cases` is a test of its name. `tests/cases/README.md` has the format.
//!
//! Reading order: `case.rs` is the format; `ask.rs` runs what a case asks; `number.rs` finds a number in the output.
//!
//! `TIGHTLINK_CASES_SHOW=1` prints each value, `TIGHTLINK_QUIET=1` runs the cases that need a quiet machine, too.

mod ask;
mod case;
mod number;

use case::Case;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder of the cases.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let quiet = std::env::var_os("TIGHTLINK_QUIET").is_some();
    let trials = files().iter().map(|file| trial(file, quiet)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The cases' files, by name.
fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).expect("tests/cases is there");
    let paths = entries.map(|entry| entry.expect("an entry of tests/cases").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

/// The test of one file. A file that cannot be read is a test that fails.
fn trial(file: &Path, quiet: bool) -> Trial {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let read = Case::read(file);
    let waits = matches!(&read, Ok(case) if case.quiet) && !quiet;
    Trial::test(name.clone(), move || {
        let case = read.map_err(Failed::from)?;
        judge(&name, &case, Path::new(FOLDER))
    })
    .with_ignored_flag(waits)
}

fn judge(name: &str, case: &Case, folder: &Path) -> Result<(), Failed> {
    if let Some(missing) = case.missing() {
        testkit::could_not_judge(format_args!("case {name} needs {missing}"));
        return Ok(());
    }
    let judged = ask::judge(case, folder)?;
    let text = format!("{} ({})\n{}", case.title, case.from, judged.lines.join("\n"));
    if judged.failed {
        return Err(format!("{text}\nwhy: {}", case.why.trim()).into());
    }
    if std::env::var_os("TIGHTLINK_CASES_SHOW").is_some() {
        println!("{name}: {text}");
    }
    Ok(())
}
